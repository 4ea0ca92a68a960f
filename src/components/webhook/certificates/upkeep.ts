/**
 * The webhook renews its own certificates: one of the replicas, the holder of a lease, takes the steps of plan-renewal.ts and looks again
 * every minute. All replicas load what the kubelet mounts. The lease only keeps the others from making the same request: each write names
 * the version that was read, so two leaders would lose a write and spoil nothing, and a lost lease does not end a process that answers reviews.
 */
import type { Millis } from "../../../base/brand.ts";
import { Fault, isFault } from "../../../base/fault.ts";
import type { Log } from "../../../base/log.ts";
import type { World } from "../../../base/world.ts";
import type { KubeApi } from "../../../kube/api.ts";
import { lead } from "../../../kube/lease.ts";
import type { RenewalStep } from "./plan-renewal.ts";
import { type CertificateOptions, createRenewal } from "./renewal.ts";

export interface UpkeepOptions extends CertificateOptions {
  readonly lease: string;
  /** The name by which this replica holds the lease. */
  readonly identity: string;
}

export interface UpkeepContext {
  readonly world: World;
  readonly log: Log;
  /** Waits until there is an API server; throws where none is configured. */
  connect(signal: AbortSignal): Promise<{ readonly api: KubeApi }>;
}

const lookEveryMs = 60_000;
const stepEveryMs = 1_000;
/** Nothing hurries for weeks: one request in 20 s, and another replica within a minute. */
const leaseTimes = { leaseDurationMs: 60_000, renewDeadlineMs: 40_000, retryPeriodMs: 20_000 } as const;

/** Until the signal aborts. Never fails: without renewals the webhook still answers, and an alert tells in time. */
export async function keepCertificates(
  { world, log, connect }: UpkeepContext,
  options: UpkeepOptions,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, lease: name, identity } = options;
  try {
    const { api } = await connect(signal);
    while (!signal.aborted)
      await lead({ api, world, log, namespace, name, identity, ...leaseTimes, signal }, (leadership) =>
        renewWhileLeading(api, { world, log }, options, leadership.signal),
      );
  } catch (reason) {
    if (!signal.aborted)
      log.warn("no API access: the webhook's certificate is not renewed", { reason: Fault.from(reason).message });
  }
}

async function renewWhileLeading(
  api: KubeApi,
  { world, log }: Pick<UpkeepContext, "world" | "log">,
  options: UpkeepOptions,
  signal: AbortSignal,
): Promise<void> {
  const say = (line: string): void => log.info("certificates", { step: line });
  // The right to create Secrets cannot be limited to a name: whoever installs creates it.
  const renewal = createRenewal({ api, world, options, needsSecret: true, say });
  let complaint: string | undefined;
  const look = async (): Promise<Millis> => {
    try {
      const pauseMs = pauseAfter(await renewal.advance(signal));
      complaint = undefined;
      return pauseMs;
    } catch (reason) {
      if (signal.aborted) return 0;
      if (isFault(reason, "Conflict", "AlreadyExists")) return stepEveryMs;
      const { message } = Fault.from(reason);
      const remedy = `snapkeep certs --apply --namespace=${options.namespace} does the same with your rights`;
      if (message !== complaint) log.warn("the webhook's certificate cannot be renewed", { reason: message, remedy });
      complaint = message;
      return lookEveryMs;
    }
  };
  while (!signal.aborted) {
    const pauseMs = await look();
    await world.sleep(pauseMs, signal).catch(() => undefined);
  }
}

/** A configuration that is applied without a caBundle, and a Secret that somebody has emptied, are seen at the next look. */
function pauseAfter(step: RenewalStep): Millis {
  if (step.kind === "good" || step.kind === "left") return lookEveryMs;
  return step.kind === "wait" ? step.ms : stepEveryMs;
}
