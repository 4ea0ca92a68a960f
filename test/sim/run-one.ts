/** One schedule: a scenario, a seed, a list of faults. Runs to rest and says what was wrong. */
import { createHash } from "node:crypto";
import { createVirtualWorld, diceFrom } from "../virtual-world.ts";
import { createCluster } from "./cluster.ts";
import { type ComponentName, components, type Sabotage, type Surroundings } from "./components.ts";
import { endStateOf } from "./end-state.ts";
import { type FaultContext, faultNamed, type PlannedFault } from "./faults/index.ts";
import { createIncarnation, type Incarnation } from "./incarnation.ts";
import { createJudge, type Violation } from "./monitors/index.ts";
import { describe, type Entry } from "./record.ts";
import type { Scenario } from "./scenarios.ts";
import { createUser } from "./user.ts";
import { type Boundary, pass } from "./verdict.ts";
import type { Stage } from "./wire.ts";

export interface Schedule {
  readonly scenario: Scenario;
  readonly seed: number;
  readonly faults: readonly PlannedFault[];
  readonly sabotage?: Sabotage | undefined;
}

export interface Outcome {
  readonly violations: readonly Violation[];
  readonly boundaries: readonly Boundary[];
  /** Faults that struck, by name. */
  readonly struck: readonly string[];
  readonly entries: readonly Entry[];
  readonly endState: () => string;
  readonly userFaults: boolean;
  /** From the last fault, restart or act of the user until the components had nothing left to do. */
  readonly recoveryMs: number;
  /** The same for the same schedule, byte for byte. */
  readonly digest: () => string;
  readonly trace: () => readonly string[];
}

/** Nothing is under way for longer than this unless a fault holds it. */
const quietMs = 12_000;
/** How long nobody notices that an answer does not come. */
const silenceMs = { csi: 60_000, watch: 90_000, list: 30_000, get: 30_000, write: 30_000 } as const;
/** A leader that is gone is noticed when its lease has run out. */
const leaseMs = 20_000;
/** The bound within which everything must have come to rest after the last fault. */
const settleMsMax = 300_000;
const stepMsMin = quietMs;
const latencyMsMax = 6;

export async function runOne({ scenario, seed, faults, sabotage = {} }: Schedule): Promise<Outcome> {
  const world = createVirtualWorld(seed);
  const dice = diceFrom(seed * 31 + 7);
  const cluster = createCluster(world, scenario);
  const { recorder, backend } = cluster;
  const judge = createJudge(recorder);
  const user = createUser(cluster, world);
  const boundaries: Boundary[] = [];
  const struck: string[] = [];
  const running = new Map<string, Incarnation>();
  const waiting = [...faults].sort((a, b) => a.at - b.at);
  let starts = 0;
  let lastActMs = 0;
  let lastFaultMs = 0;
  let heldMs = scenario.elects ? leaseMs : 0;
  let userFaults = false;
  let open = 1; // The script, and restarts to come.

  const note = (what: "fault" | "crash" | "start" | "ended" | "call" | "frozen", process: string, text: string): void =>
    recorder.take({ type: "note", atMs: world.elapsed(), what, process, text });
  recorder.listen((entry) => {
    if (entry.type === "write" && entry.kind !== "Lease" && entry.actor !== "server") lastActMs = world.elapsed();
    judge.look();
    if (entry.type === "write") user.look();
  });

  const context: FaultContext = {
    world,
    backend,
    user,
    recorder,
    running: () => [...running.values()],
    crash: (incarnation, downMs) => crash(incarnation, downMs),
    slow: (ms) => {
      heldMs = Math.max(heldMs, ms);
    },
  };

  const strike: Stage["strike"] = (incarnation, kind, text) => {
    const boundary: Boundary = { n: boundaries.length, process: incarnation.name, kind, text };
    if (text.includes("/leases")) return { boundary, verdict: pass };
    boundaries.push(boundary);
    if (kind === "csi" || kind === "write") lastActMs = world.elapsed();
    note("call", incarnation.name, text);
    const isNext = ({ at, name }: PlannedFault): boolean => at <= boundary.n && faultNamed(name).on.includes(kind);
    // In their order: when the first is for later, so are the others.
    const index = waiting[0] === undefined || waiting[0].at > boundary.n ? -1 : waiting.findIndex(isNext);
    const planned = index === -1 ? undefined : waiting.splice(index, 1)[0];
    if (planned === undefined) return { boundary, verdict: pass };
    const row = faultNamed(planned.name);
    struck.push(row.name);
    lastFaultMs = world.elapsed();
    userFaults ||= row.family === "user";
    note("fault", incarnation.name, `${row.name} at ${boundary.n}: ${text}`);
    const verdict = row.strike({ ...context, incarnation, boundary, draw: diceFrom(planned.pick) });
    userFaults ||= verdict.endsOtherwise === true;
    context.slow((verdict.delayMs ?? 0) + (verdict.replyMs ?? 0) + (verdict.silent ? silenceMs[kind] : 0));
    return { boundary, verdict };
  };

  const crash = (incarnation: Incarnation, downMs: number): void => {
    if (!incarnation.alive()) return;
    incarnation.kill();
    running.delete(incarnation.name);
    note("crash", incarnation.name, `down for ${downMs} ms`);
    restart(incarnation.component as ComponentName, downMs);
  };
  const restart = (component: ComponentName, downMs: number): void => {
    open += 1;
    void world.sleep(downMs).then(() => {
      open -= 1;
      lastFaultMs = Math.max(lastFaultMs, world.elapsed());
      start(component);
    });
  };
  const start = (component: ComponentName): void => {
    const incarnation = createIncarnation(component, `${component}.${++starts}`, world);
    running.set(incarnation.name, incarnation);
    note("start", incarnation.name, "");
    const end = (reason?: unknown): void => {
      if (!incarnation.alive()) return;
      // Whoever loses the lease ends, and is started again by the node; everybody else must not end at all.
      if (scenario.elects && reason === undefined) crash(incarnation, 1_000);
      else note("ended", incarnation.name, String(reason));
    };
    components[component](incarnation, surroundings).then(() => end(), end);
  };

  /** The only one that runs: contents are made for it from the first moment on, be it at work or not. */
  const onlySidecar = (): string | undefined =>
    [...running.values()].find(({ component }) => component === "csi-snapshotter")?.name;

  const stage: Stage = {
    world,
    latencyMs: () => Math.floor(dice() * latencyMsMax),
    strike,
    left: (incarnation, text) => note("call", incarnation.name, text),
    crash,
    serve: cluster.serve,
    olderList: cluster.olderList,
    knowledge: recorder.knowledge,
    read: cluster.read,
  };
  const surroundings: Surroundings = {
    stage,
    backend,
    recorder,
    postsEvents: seed % 16 === 0,
    elects: scenario.elects,
    // Of two, only the one that leads ever shows itself.
    cutter: seed % 2 === 0 && !scenario.elects ? onlySidecar : undefined,
    sabotage,
  };

  scenario.prepare?.(backend);
  for (const component of ["snapshot-controller", "csi-snapshotter"] as const)
    for (let copy = 0; copy < (scenario.elects ? 2 : 1); copy++) start(component);
  let scriptFault: unknown;
  void scenario.script(user, diceFrom(seed * 17 + 3)).then(
    () => {
      open -= 1;
      lastFaultMs = Math.max(lastFaultMs, world.elapsed());
    },
    (reason: unknown) => {
      scriptFault = reason;
      open -= 1;
    },
  );

  const pauseMs = (): number => quietMs + heldMs;
  const restMs = (): number => Math.max(lastActMs, lastFaultMs) + pauseMs() - world.elapsed();
  const isRestless = (): boolean =>
    recorder.entries.length > scenario.entriesMax ||
    (open === 0 && world.elapsed() - lastFaultMs > settleMsMax + pauseMs());
  const isOver = (): boolean => judge.violations().length > 0 || recorder.entries.length > scenario.entriesMax;
  while ((restMs() > 0 || open > 0) && judge.violations().length === 0) {
    if (isRestless()) judge.restless();
    else await world.advance(Math.max(restMs(), stepMsMin), isOver);
  }
  if (scriptFault !== undefined) throw scriptFault;
  if (judge.violations().length === 0) judge.rest();
  // Whoever still runs is left as it is: the clock never moves again, so that nothing of this world goes on.
  const trace = (): readonly string[] => recorder.entries.map(describe);
  return {
    violations: judge.violations(),
    boundaries,
    struck,
    entries: recorder.entries,
    endState: () => endStateOf(recorder),
    userFaults,
    recoveryMs: Math.max(0, lastActMs - lastFaultMs),
    trace,
    digest: () => createHash("sha256").update(trace().join("\n")).digest("hex"),
  };
}
