/** One schedule: a scenario, a seed, a list of faults. Runs to rest and says what was wrong. */
import { createHash } from "node:crypto";
import { provisioning } from "../../src/api/names.ts";
import type { KubeObject } from "../../src/api/types.ts";
import { createVirtualWorld, diceFrom } from "../virtual-world.ts";
import { createActivity } from "./activity.ts";
import { createCluster } from "./cluster.ts";
import { type ComponentName, runSimulated, type Sabotage, type Surroundings } from "./components.ts";
import { endStateOf } from "./end-state.ts";
import { faultNamed, type PlannedFault } from "./faults/index.ts";
import { createJudge, type Violation } from "./monitors/index.ts";
import { wasUncertain } from "./monitors/volume.ts";
import { createProcesses, type Processes } from "./processes.ts";
import { describe, type Entry, type TakeNote } from "./record.ts";
import type { Scenario } from "./scenario.ts";
import { createStrikes } from "./strikes.ts";
import { createUser, type User } from "./user.ts";
import type { Boundary } from "./verdict.ts";
import type { Stage } from "./wire.ts";

export interface Schedule {
  readonly scenario: Scenario;
  readonly seed: number;
  readonly faults: readonly PlannedFault[];
  /** A fresh one for each run: some remember. */
  readonly sabotage?: (() => Sabotage) | undefined;
}

export interface Outcome {
  readonly violations: readonly Violation[];
  readonly boundaries: readonly Boundary[];
  /** Faults that struck, by name. */
  readonly struck: readonly string[];
  readonly entries: readonly Entry[];
  readonly endState: () => string;
  /** Volumes that were left and reported, because their PersistentVolume may have been retained. */
  readonly reported: number;
  /** Whether the faults made another script of it, which need not end as without faults. */
  readonly endsOtherwise: boolean;
  /** From the last fault, restart or act of the user until the components had nothing left to do. */
  readonly recoveryMs: number;
  /** The same for the same schedule, byte for byte. */
  readonly digest: () => string;
  readonly trace: () => readonly string[];
}

/** A leader that is gone is noticed when its lease has run out. */
const leaseMs = 20_000;
/** Stored calls of the provisioner that are over go with the next write, or after this time. */
const flushMs = 31_000;
const latencyMsMax = 6;

/** Whatever an odd driver has said, and whatever is invalid: what its user wants gone must go, or I-15 or I-26 is broken. */
async function deleteAll(user: User): Promise<void> {
  for (const kind of ["PersistentVolumeClaim", "VolumeSnapshot", "VolumeSnapshotContent"] as const)
    for (const [key, object] of [...user.seen.objects(kind)])
      if (kind !== "PersistentVolumeClaim" || isProvisioned(object)) await user.remove(kind, key);
}
/** One of each, or two where they elect. */
function startAll(
  { components, elects, joined }: Scenario,
  { start, startJoined }: Pick<Processes, "start" | "startJoined">,
): void {
  for (const component of components)
    for (let copy = 0; copy < (elects ? 2 : 1); copy++) if (!joined || !isSidecar(component)) start(component);
  for (let copy = 0; joined && copy < (elects ? 2 : 1); copy++) startJoined(components.filter(isSidecar));
}

const isSidecar = (component: ComponentName): boolean => component.startsWith("csi-");

/** The others stood there from the start. */
const isProvisioned = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.[provisioning.storageProvisioner] !== undefined;

export async function runOne({ scenario, seed, faults, sabotage = () => ({}) }: Schedule): Promise<Outcome> {
  const world = createVirtualWorld(seed);
  const dice = diceFrom(seed * 31 + 7);
  const bug = sabotage();
  const cluster = createCluster(world, { ...scenario, decide: bug.decide, isAskedAlways: bug.isAskedAlways });
  const { recorder, backend } = cluster;
  const judge = createJudge(recorder);
  const user = createUser(cluster, world);
  const unrest = createActivity(world, {
    heldMs: scenario.elects ? leaseMs : 0,
    lateMs: scenario.provisions ? flushMs : 0,
  });
  const note: TakeNote = (what, process, text) =>
    recorder.take({ type: "note", atMs: world.elapsed(), what, process, text });
  recorder.listen((entry) => {
    if (entry.type === "write" && entry.kind !== "Lease" && entry.actor !== "server") unrest.act();
    judge.look();
    if (entry.type === "write") user.look();
  });

  const { start, startJoined, crash, running } = createProcesses({
    world,
    unrest,
    note,
    mayEnd: scenario.elects,
    run: (component, incarnation) => runSimulated(component, incarnation, surroundings),
  });
  const context = { world, backend, webhook: cluster.webhook, user, recorder, running, crash, slow: unrest.hold };
  const strikes = createStrikes(faults, context, { note, unrest });
  const stage: Stage = {
    world,
    latencyMs: () => Math.floor(dice() * latencyMsMax),
    strike: strikes.strike,
    left: (incarnation, text) => note("call", incarnation.name, text),
    crash,
    serve: cluster.serve,
    olderList: cluster.olderList,
    knowledge: recorder.knowledge,
    read: cluster.read,
  };
  /** The only one that runs: contents are made for it from the first moment on, be it at work or not. */
  const onlySidecar = (): string | undefined =>
    running().find(({ component }) => component === "csi-snapshotter")?.name;
  const surroundings: Surroundings = {
    harness: stage,
    backend,
    recorder,
    postsEvents: seed % 16 === 0,
    elects: scenario.elects,
    grants: scenario.grants,
    // Of two, only the one that leads ever shows itself.
    sidecar: seed % 2 === 0 && !scenario.elects ? onlySidecar : undefined,
    sabotage: bug,
  };

  scenario.prepare?.(backend);
  startAll(scenario, { start, startJoined });
  let scriptFault: unknown;
  unrest.begin();
  void scenario.script(user, diceFrom(seed * 17 + 3)).then(unrest.end, (reason: unknown) => {
    scriptFault = reason;
    unrest.end();
  });

  const isBroken = (): boolean => judge.violations().length > 0;
  const isInCircles = (): boolean => recorder.entries.length > scenario.entriesMax;
  const comeToRest = async (): Promise<void> => {
    while (!unrest.isAtRest() && !isBroken())
      if (isInCircles() || unrest.isOverdue()) judge.restless();
      else await world.advance(unrest.restMs(), () => isBroken() || isInCircles());
  };
  await comeToRest();
  while (strikes.isTooCalm() && !isBroken()) {
    strikes.disturbRest();
    await comeToRest();
  }
  if (scriptFault !== undefined) throw scriptFault;
  if (!isBroken()) judge.rest();
  let endState = (): string => endStateOf(recorder);
  const wasOdd = strikes.struck.some((name) => faultNamed(name).family === "odd");
  if (!isBroken() && (wasOdd || scenario.loose)) {
    const end = endState();
    endState = () => end;
    unrest.begin();
    void deleteAll(user).then(unrest.end);
    await comeToRest();
    if (!isBroken()) judge.rest();
  }
  // Whoever still runs is left as it is: the clock never moves again, so that nothing of this world goes on.
  const trace = (): readonly string[] => recorder.entries.map(describe);
  return {
    violations: judge.violations(),
    boundaries: strikes.boundaries,
    struck: strikes.struck,
    entries: recorder.entries,
    endState,
    reported: [...recorder.volumes.values()].filter(({ name }) => wasUncertain(recorder, name)).length,
    endsOtherwise: strikes.endsOtherwise(),
    recoveryMs: unrest.recoveryMs(),
    trace,
    digest: () => createHash("sha256").update(trace().join("\n")).digest("hex"),
  };
}
