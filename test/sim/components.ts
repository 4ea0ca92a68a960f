/** The production components, started on the simulated lines. A new component joins the simulation by a row here. */
import { createVolumeCallsSuffix } from "../../src/api/names.ts";
import type { Planner } from "../../src/api/plan.ts";
import type { PersistentVolumeClaim } from "../../src/api/types.ts";
import { limits } from "../../src/base/limits.ts";
import type { Fields, Log } from "../../src/base/log.ts";
import { start as startCsiProvisioner } from "../../src/components/csi-provisioner/start.ts";
import { start as startCsiSnapshotter } from "../../src/components/csi-snapshotter/start.ts";
import { start as startSnapshotController } from "../../src/components/snapshot-controller/start.ts";
import type { KubeApi } from "../../src/kube/api.ts";
import { createClient } from "../../src/kube/client.ts";
import { createEventRecorder } from "../../src/kube/events.ts";
import type { Protection } from "../../src/kube/fence.ts";
import { type Leadership, lead } from "../../src/kube/lease.ts";
import type { ComponentContext } from "../../src/runtime/component.ts";
import type { Component } from "../../src/runtime/frame.ts";
import { createLeaderGuard, type LeaderGuard } from "../../src/runtime/leader-guard.ts";
import { queueObserver } from "../../src/runtime/measure.ts";
import { createMetrics } from "../../src/runtime/metrics.ts";
import type { Backend } from "./backend.ts";
import { driver } from "./backend.ts";
import { createCsiWire } from "./csi-wire.ts";
import type { Incarnation } from "./incarnation.ts";
import type { Recorder } from "./record.ts";
import type { Decide } from "./webhook.ts";
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
  readonly planVolume?: Sabotage["planSnapshot"];
  readonly planStored?: Sabotage["planSnapshot"];
  readonly planSource?: Sabotage["planSnapshot"];
  /** Wraps the client of all components. */
  api?(api: KubeApi): KubeApi;
  readonly leading?: () => boolean;
  readonly protectionOf?: (claim: PersistentVolumeClaim) => Protection;
  /** Instead of the webhook's own verdicts. */
  readonly decide?: Decide;
  /** The webhook's configuration has no match conditions. */
  readonly isAskedAlways?: boolean;
  /** Instead of asking the grants. */
  readonly grantFor?: () => string | undefined;
  /** The transport that sends without asking again. */
  readonly sendsUnasked?: keyof LeaderGuard;
}

export interface Surroundings {
  readonly harness: Stage;
  readonly backend: Backend;
  readonly recorder: Recorder;
  /** Post events to the API server; otherwise they are only noted. */
  readonly postsEvents: boolean;
  /** Two of each, and an election between them. */
  readonly elects: boolean;
  /** Claims of other namespaces may be granted a snapshot. */
  readonly grants: boolean;
  /** The sidecar that contents are made for before it has shown itself; undefined: none until it has. */
  readonly sidecar?: (() => string | undefined) | undefined;
  readonly sabotage: Sabotage;
}

type Start = (context: ComponentContext, around: Surroundings, incarnation: Incarnation) => Promise<Component>;
export const componentNames = ["snapshot-controller", "csi-snapshotter", "csi-provisioner"] as const;
export type ComponentName = (typeof componentNames)[number];

/** Where the provisioner stores its calls: not where the elections are, whose leases no fault strikes. */
export const intents = { namespace: "default", name: `disk-example-com${createVolumeCallsSuffix}` } as const;

const starts: Readonly<Record<ComponentName, Start>> = {
  "snapshot-controller": (context, { sabotage, sidecar, grants }) =>
    startSnapshotController(
      context,
      { enableDistributedSnapshotting: false, preventVolumeModeConversion: true },
      {
        readsGrants: grants,
        grantsRecheckMs: recheckMs,
        grantFor: sabotage.grantFor,
        activeSidecars:
          sidecar === undefined
            ? undefined
            : { see: () => undefined, of: (of) => (of === driver ? sidecar() : undefined) },
        protectionOf: sabotage.protectionOf,
        plans: { snapshot: sabotage.planSnapshot, claim: sabotage.planClaim, content: sabotage.planContent } as never,
      },
    ),
  "csi-snapshotter": (context, { harness: stage, backend, recorder, sabotage }, incarnation) =>
    startCsiSnapshotter(
      context,
      {
        csiAddress: "the simulated driver",
        timeout: limits.csiCallMsMax,
        snapshotNamePrefix: "snapshot",
        snapshotNameUuidLength: -1,
        extraCreateMetadata: false,
        nodeDeployment: false,
        nodeName: "",
      },
      {
        calls: createCsiWire(stage, incarnation, backend, recorder, context.refusal),
        sidecarId: turnOf(incarnation),
        poll,
        plan: sabotage.planSidecar as never,
      },
    ),
  "csi-provisioner": (context, { harness: stage, backend, recorder, sabotage, grants }, incarnation) =>
    startCsiProvisioner(
      context,
      {
        csiAddress: "the simulated driver",
        timeout: limits.csiCallMsMax,
        namespace: intents.namespace,
        volumeNamePrefix: "pvc",
        volumeNameUuidLength: -1,
        defaultFsType: "",
        extraCreateMetadata: false,
        strictTopology: false,
        immediateTopology: true,
        preventVolumeModeConversion: true,
        controllerPublishReadonly: false,
        crossNamespace: grants,
        crossNamespaceSnapshot: grants,
      },
      {
        calls: createCsiWire(stage, incarnation, backend, recorder, context.refusal),
        identity: turnOf(incarnation),
        recheckMs,
        plans: { volume: sabotage.planVolume, stored: sabotage.planStored, source: sabotage.planSource } as never,
      },
    ),
};

/** Each turn of a controller in a shared process has an id that no other had: the second is "csi-snapshotter.2/2". */
function turnOf(incarnation: Incarnation): string {
  const turn = (turns.get(incarnation) ?? 0) + 1;
  turns.set(incarnation, turn);
  return turn === 1 ? incarnation.name : `${incarnation.name}/${turn}`;
}
const turns = new WeakMap<Incarnation, number>();

/** Runs a component at once, or, where there are two, as long as this one leads. */
export async function runSimulated(name: ComponentName, incarnation: Incarnation, around: Surroundings): Promise<void> {
  let leading = (): boolean => !around.elects;
  let term: Leadership["term"] = () => undefined;
  const { context, election } = contextOf(incarnation, around, () => leading());
  const work = async (signal: AbortSignal): Promise<void> => {
    const component = await starts[name]({ ...context, signal, term }, around, incarnation);
    await Promise.all([component.watch?.(signal), component.run(signal)]);
  };
  if (!around.elects) return work(incarnation.signal);
  await lead(election, async ({ signal, stillLeading, term: own }) => {
    term = own;
    leading = around.sabotage.leading ?? stillLeading;
    await work(signal);
  });
}

function contextOf(
  incarnation: Incarnation,
  { harness: stage, recorder, postsEvents, sabotage }: Surroundings,
  leading: () => boolean,
) {
  const { world, component, signal } = incarnation;
  const refusals: LeaderGuard = {
    ...createLeaderGuard(leading),
    ...(sabotage.sendsUnasked === undefined ? {} : { [sabotage.sendsUnasked]: () => undefined }),
  };
  const handler = createWire(stage, incarnation, refusals.ofRequest);
  const client = createClient({ handler, world, userAgent: component, read: stage.read });
  const api = { ...client, ...sabotage.api?.(client) };
  const log = createNotingLog(incarnation, recorder);
  const metrics = createMetrics();
  const say = (text: string): void =>
    recorder.take({ type: "note", atMs: world.elapsed(), what: "said", process: incarnation.name, text });
  const posted = postsEvents ? createEventRecorder({ api: client, world, log, component }) : undefined;
  const context: ComponentContext = {
    api,
    world,
    log,
    metrics,
    signal,
    shared: incarnation.shared,
    workers: 10,
    backoff,
    resyncMs: 0,
    leading,
    refusal: refusals.ofCall,
    recordAs: () => (about, event) => {
      say(`event ${event.reason}: ${event.message}`);
      posted?.record(about, event);
    },
    observer: (queue) => queueObserver(metrics, queue),
  };
  const election = {
    api,
    world,
    log,
    namespace: "kube-system",
    name: component,
    identity: incarnation.name,
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 5_000,
    signal,
  };
  return { context, election };
}

/** Only warnings and errors are kept; all of what they say, because a secret may hide in any field. */
function createNotingLog({ name, world }: Incarnation, recorder: Recorder): Log {
  const note = (message: string, fields: Fields = {}): void =>
    recorder.take({
      type: "note",
      atMs: world.elapsed(),
      what: message.includes("unexpected error") ? "ended" : "said",
      process: name,
      text: `${message} ${JSON.stringify(fields, (_, value) => (typeof value === "bigint" ? String(value) : value))}`,
    });
  const ignore = (): void => undefined;
  const log: Log = {
    verbosity: 0,
    trace: ignore,
    debug: ignore,
    info: ignore,
    warn: note,
    error: note,
    with: () => log,
  };
  return log;
}
