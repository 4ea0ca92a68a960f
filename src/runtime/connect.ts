/**
 * From flags to an API server that answers and knows our kinds. A component started before its API server, its network,
 * its RBAC or its CRDs waits for them, as long as its flag says; a tool does not wait. Each change of what is missing is
 * one line of the log, not each attempt.
 */
import type { KindName } from "../api/kinds.ts";
import { kindRows, pathOf } from "../api/kinds.ts";
import { backoffMs } from "../base/backoff.ts";
import type { Millis } from "../base/brand.ts";
import { Fault, isFault, loggable } from "../base/fault.ts";
import type { Handler } from "../base/http.ts";
import { limits } from "../base/limits.ts";
import type { Log } from "../base/log.ts";
import type { World } from "../base/world.ts";
import { withDeadline } from "../base/world.ts";
import type { KubeApi, PageReader, PathAsker, PathReader, PathWriter, TextReader, VersionFinder } from "../kube/api.ts";
import type { Measure } from "../kube/call.ts";
import { createClient } from "../kube/client.ts";
import { loadConfig } from "../kube/config.ts";
import { createLimiter, type Limiter } from "../kube/limiter.ts";
import type { Target } from "../kube/target.ts";
import { createTransport } from "../kube/transport.ts";
import type { Refusal } from "../kube/transport-send.ts";
import type { Environment } from "./flags.ts";
import { traced } from "./traced.ts";

/** Zero or less: no limit. */
export interface RateFlags {
  readonly kubeApiQps: number;
  readonly kubeApiBurst: number;
}

export interface ConnectOptions {
  readonly flags: RateFlags & {
    readonly kubeconfig: string;
    readonly context: string;
    /** Address of the API server, instead of the one in the kubeconfig. */
    readonly master?: string;
  };
  /** What will be read: each is asked for once before anything starts. */
  readonly kinds: readonly KindName[];
  /** How long to wait for all of them; 0: one attempt. */
  readonly waitMsMax: Millis;
  /** The longest pause between two attempts. */
  readonly pauseMsMax?: Millis | undefined;
  readonly userAgent: string;
  readonly environment: Environment;
  readonly world: World;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly measure?: ((host: string) => Measure) | undefined;
  readonly refusal?: Refusal | undefined;
  /** Whoever asks who wrote what keeps them. */
  readonly managedFields?: "keep" | "strip" | undefined;
}

type Api = KubeApi & PageReader & PathReader & PathAsker & PathWriter & TextReader & VersionFinder;

export interface Clients {
  readonly api: Api;
  /** Another client over the same connections, with a rate limit of its own. */
  atRate(rate: RateFlags): Api;
}

/** One of several controllers in a process, as the API server and the log know it. */
export interface GuardedCaller extends Pick<ConnectOptions, "userAgent" | "log"> {
  readonly refusal: Refusal;
}

export interface Connection extends Clients {
  /** Clients of one controller: over the same connections, within the same rate limit, guarded by its own lease. */
  clientsOf(caller: GuardedCaller): Clients;
  readonly target: Target;
  close(): void;
}

export async function connect(options: ConnectOptions): Promise<Connection> {
  const { flags, world, environment, signal } = options;
  const configured = await loadConfig({
    kubeconfig: flags.kubeconfig,
    context: flags.context || undefined,
    environment,
    world,
  });
  const target = flags.master ? { ...configured, server: serverAt(flags.master) } : configured;
  const transport = createTransport(target, { refusal: options.refusal });
  const { managedFields } = options;
  const measure = options.measure?.(target.server.host);
  const limiterOf = (rate: RateFlags): Limiter | undefined => {
    const limit = rateLimitOf(rate);
    return limit && createLimiter(limit, world);
  };
  const limiter = limiterOf(flags);
  const clientsOver = (handler: Handler, { userAgent, log }: Omit<GuardedCaller, "refusal">): Clients => {
    const client = { handler, world, userAgent, measure: traced(log, measure), managedFields };
    return {
      api: namingMissing(createClient({ ...client, limiter })),
      atRate: (rate) => namingMissing(createClient({ ...client, limiter: limiterOf(rate) })),
    };
  };
  const clients = clientsOver(transport.handler, options);
  try {
    await retryUntil(options, (deadline) => findKinds(clients.api, options.kinds, deadline));
    const clientsOf = (caller: GuardedCaller): Clients => clientsOver(transport.guarded(caller.refusal), caller);
    return { ...clients, clientsOf, target, close: transport.close };
  } catch (reason) {
    transport.close();
    throw signal.aborted ? new Fault("Cancelled", "stopped before the API server answered") : reason;
  }
}

export function serverAt(master: string): URL {
  const server = URL.parse(master);
  if (server === null || !/^https?:$/.test(server.protocol))
    throw new Fault(
      "InvalidArgument",
      `--master: ${JSON.stringify(master)} is not valid: expected the address of the API server; for example --master=https://10.0.0.1:6443`,
    );
  return server;
}

/** As for client-go: a rate below zero is none. */
export function rateLimitOf({ kubeApiQps: qps, kubeApiBurst: burst }: RateFlags) {
  return qps <= 0 ? undefined : { qps, burst: Math.max(1, burst === 0 ? Math.ceil(qps) : burst) };
}

/** Every kind is served and has answered a list of one. */
export async function findKinds(
  api: PathReader & VersionFinder,
  kinds: readonly KindName[],
  signal: AbortSignal,
): Promise<void> {
  for (const kind of kinds) {
    const version = await api.findVersion(kind, { signal });
    if (version === undefined) throw unknownKind(kind);
    await api.getPath(`${pathOf(kind, { version })}?limit=1`, { signal }).catch((reason: unknown) => {
      throw isFault(reason, "NotFound") ? unknownKind(kind) : reason;
    });
  }
}

/** A collection that was there and is not found in any version went with its CRD, which may come back. */
export const namingMissing = <Client extends KubeApi>(api: Client): Client => ({
  ...api,
  list: async (kind, query) => {
    try {
      return await api.list(kind, query);
    } catch (reason) {
      throw isFault(reason, "NotFound") ? unknownKind(kind) : reason;
    }
  },
});

export function unknownKind(kind: KindName): Fault {
  const { group, custom, plural } = kindRows[kind];
  const printed = group === kindRows.SharedSecret.group ? "snapkeep crds --for shared-resources" : "snapkeep crds";
  const remedy = custom === true ? `install the CRDs: ${printed} | kubectl apply -f -` : "use a newer Kubernetes";
  return new Fault("FailedPrecondition", `the API server does not know ${plural}.${group}; ${remedy}`);
}

const pause = { startMs: 200, maxMs: 5_000 } as const;

/** Tries until it works or the time is over; then what was wrong last is thrown. */
export async function retryUntil<T>(
  options: Pick<ConnectOptions, "world" | "log" | "signal" | "waitMsMax" | "pauseMsMax">,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { world, log, signal, waitMsMax, pauseMsMax = pause.maxMs } = options;
  const startedAt = world.elapsed();
  const leftMs = (): Millis => Math.max(0, waitMsMax - (world.elapsed() - startedAt));
  let said: string | undefined;
  for (let failures = 0; ; failures++) {
    try {
      const attemptMs =
        waitMsMax === 0 ? limits.requestMsMax : Math.min(limits.requestMsMax, Math.max(1_000, leftMs()));
      const result = await withDeadline(world, signal, attemptMs, attempt);
      if (said !== undefined) log.info("API server answers", { afterMs: Math.round(world.elapsed() - startedAt) });
      return result;
    } catch (reason) {
      const { message } = Fault.from(reason);
      if (leftMs() === 0 || signal.aborted) throw reason;
      // Whoever waits without a limit says no time.
      const limit = Number.isFinite(leftMs()) ? { forMs: Math.round(leftMs()) } : {};
      if (message !== said) log.warn("waiting for the API server", { reason: loggable(reason), ...limit });
      said = message;
      await world.sleep(
        Math.min(leftMs(), backoffMs({ ...pause, maxMs: pauseMsMax }, failures, world.random())),
        signal,
      );
    }
  }
}
