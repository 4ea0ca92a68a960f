/** The production components, started on the simulated lines. A new component joins the simulation by a row here. */
import type { Planner } from "../../src/api/plan.ts";
import type { PersistentVolumeClaim } from "../../src/api/types.ts";
import type { Fields, Log } from "../../src/base/log.ts";
import { createCsiSnapshotter } from "../../src/components/csi-snapshotter/index.ts";
import { createGrants } from "../../src/components/snapshot-controller/grants.ts";
import { createSnapshotController } from "../../src/components/snapshot-controller/index.ts";
import { anywhere, type Protection } from "../../src/components/snapshot-controller/observe.ts";
import { createCsiClientOver } from "../../src/csi/client.ts";
import type { KubeApi } from "../../src/kube/api.ts";
import { createClient } from "../../src/kube/client.ts";
import { createEventRecorder } from "../../src/kube/events.ts";
import { lead } from "../../src/kube/lease.ts";
import { createLeaderGuard, type LeaderGuard } from "../../src/runtime/leader-guard.ts";
import type { Backend } from "./backend.ts";
import { driver } from "./cluster.ts";
import { createCsiWire } from "./csi-wire.ts";
import type { Incarnation } from "./incarnation.ts";
import type { Recorder } from "./record.ts";
import { createWire, type Stage } from "./wire.ts";

/** Small enough that a run comes to rest in seconds; the doubling itself is the production code's. */
const backoff = { startMs: 200, maxMs: 5_000 };
const poll = { startMs: 500, maxMs: 4_000 };

/** Nothing comes or goes that would be noticed by asking again, and whoever asks for ever does not rest. */
const recheckMs = 86_400_000;

/** What a seeded bug replaces. */
export interface Sabotage {
  readonly planSnapshot?: (view: never) => ReturnType<Planner<never, never>>;
  readonly planClaim?: Sabotage["planSnapshot"];
  readonly planContent?: Sabotage["planSnapshot"];
  readonly planSidecar?: Sabotage["planSnapshot"];
  /** Wraps the client of both components. */
  api?(api: KubeApi): KubeApi;
  readonly leading?: () => boolean;
  readonly protectionOf?: (claim: PersistentVolumeClaim) => Protection;
  /** Instead of asking the grants. */
  readonly isGranted?: () => boolean;
  /** The transport that sends without asking again. */
  readonly sendsUnasked?: keyof LeaderGuard;
}

export interface Surroundings {
  readonly stage: Stage;
  readonly backend: Backend;
  readonly recorder: Recorder;
  /** Post events to the API server; otherwise they are only noted. */
  readonly postsEvents: boolean;
  /** Two of each, and an election between them. */
  readonly elects: boolean;
  /** Claims of other namespaces may be granted a snapshot. */
  readonly grants: boolean;
  /** The sidecar that contents are made for before it has shown itself; undefined: none until it has. */
  readonly cutter?: (() => string | undefined) | undefined;
  readonly sabotage: Sabotage;
}

type Start = (incarnation: Incarnation, surroundings: Surroundings) => Promise<unknown>;
export type ComponentName = "snapshot-controller" | "csi-snapshotter";

export const components: Readonly<Record<ComponentName, Start>> = {
  "snapshot-controller": (incarnation, around) =>
    elected(incarnation, around, (tools, leading, signal) => {
      const { sabotage, cutter } = around;
      const grants = around.grants ? createGrants({ ...tools, api: tools.client, recheckMs }) : undefined;
      const controller = createSnapshotController({
        ...tools,
        leading,
        activeSidecars:
          cutter === undefined
            ? undefined
            : { see: () => undefined, of: (of) => (of === driver ? cutter() : undefined) },
        options: {
          preventVolumeModeConversion: true,
          placeOf: () => anywhere,
          isGranted: sabotage.isGranted ?? grants?.allows,
        },
        onGrantsChange: grants?.onChange,
        protectionOf: sabotage.protectionOf,
        workers: 10,
        backoff,
        plans: { snapshot: sabotage.planSnapshot, claim: sabotage.planClaim, content: sabotage.planContent } as never,
      });
      const run = async (): Promise<void> => {
        await grants?.known(signal);
        await controller.run(signal);
      };
      return Promise.all([controller.watch(signal), grants?.watch(signal), run()]);
    }),
  "csi-snapshotter": (incarnation, around) =>
    elected(incarnation, around, (tools, leading, signal) => {
      const { stage, backend, recorder, sabotage } = around;
      const line = createCsiWire(stage, incarnation, backend, recorder, tools.refusals.ofCall);
      const sidecar = createCsiSnapshotter({
        ...tools,
        leading,
        csi: createCsiClientOver(line, { world: incarnation.world, log: tools.log }),
        sidecarId: incarnation.name,
        facts: () => ({ driver, canListSnapshots: true }),
        options: { snapshotNamePrefix: "snapshot", snapshotNameUuidLength: -1, extraCreateMetadata: false },
        callsAtOnce: 10,
        backoff,
        poll,
        plan: sabotage.planSidecar as never,
      });
      return Promise.all([sidecar.watch(signal), sidecar.run(signal)]);
    }),
};

type Tools = ReturnType<typeof toolsOf>;

function toolsOf(
  incarnation: Incarnation,
  { stage, recorder, postsEvents, sabotage }: Surroundings,
  leading: () => boolean,
) {
  const { world, component } = incarnation;
  const refusals: LeaderGuard = {
    ...createLeaderGuard(leading),
    ...(sabotage.sendsUnasked === undefined ? {} : { [sabotage.sendsUnasked]: () => undefined }),
  };
  const handler = createWire(stage, incarnation, refusals.ofRequest);
  const client = createClient({ handler, world, userAgent: component, read: stage.read });
  const api = sabotage.api?.(client) ?? client;
  const log = createNotingLog(incarnation, recorder);
  const say = (text: string): void =>
    recorder.take({ type: "note", atMs: world.elapsed(), what: "said", process: incarnation.name, text });
  const posted = postsEvents ? createEventRecorder({ api: client, world, log, component }) : undefined;
  const record: NonNullable<typeof posted>["record"] = (about, event) => {
    say(`event ${event.reason}: ${event.message}`);
    posted?.record(about, event);
  };
  return { api, client, world, log, record, refusals };
}

/** Runs the work at once, or, where there are two, as long as this one leads. */
async function elected(
  incarnation: Incarnation,
  around: Surroundings,
  work: (tools: Tools, leading: (() => boolean) | undefined, signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  let leads = (): boolean => !around.elects;
  const tools = toolsOf(incarnation, around, () => leads());
  if (!around.elects) return void (await work(tools, undefined, incarnation.signal));
  const election = {
    api: tools.api,
    world: tools.world,
    log: tools.log,
    namespace: "kube-system",
    name: incarnation.component,
    identity: incarnation.name,
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 5_000,
    signal: incarnation.signal,
  };
  await lead(election, async ({ signal, stillLeading }) => {
    leads = around.sabotage.leading ?? stillLeading;
    await work(tools, leads, signal);
  });
}

/** Only warnings and errors are kept; all of what they say, because a secret may hide in any field. */
function createNotingLog({ name, world }: Incarnation, recorder: Recorder): Log {
  const note = (message: string, fields: Fields = {}): void =>
    recorder.take({
      type: "note",
      atMs: world.elapsed(),
      what: message.includes("mistake in the program") ? "ended" : "said",
      process: name,
      text: `${message} ${JSON.stringify(fields, (_, value) => (typeof value === "bigint" ? String(value) : value))}`,
    });
  const ignore = (): void => undefined;
  const log: Log = { debug: ignore, info: ignore, warn: note, error: note, with: () => log };
  return log;
}
