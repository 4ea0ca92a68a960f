/** One run: users at work, large faults one after the other, small ones all the while, then quiet, then the verdict. */
import { copyFileSync, globSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { diceFrom } from "../../virtual-world.ts";
import { look, lookClosely } from "./evidence.ts";
import { type ChaosHarness, startHarness } from "./harness.ts";
import { createIntentions, type Intentions } from "./intentions.ts";
import { createNetwork, type Network } from "./network.ts";
import type { ChaosOptions } from "./options.ts";
import { createProbes, type Probes, type Recovery } from "./probes.ts";
import type { End } from "./replica.ts";
import { gaps, type StrikeName, strikes } from "./strikes.ts";
import { work } from "./user.ts";
import { judge, type State, type Violation } from "./verdict.ts";

export interface Inflicted {
  readonly asked: number;
  done: number;
  /** In detail, where a fault has kinds. */
  readonly kinds: Record<string, number>;
}

type FaultName = StrikeName | "watch cut" | "delay" | "lost reply";

export interface Result {
  readonly options: ChaosOptions;
  readonly seconds: { readonly faults: number; readonly untilQuiet: number; readonly total: number };
  readonly inflicted: Readonly<Record<FaultName, Inflicted>>;
  readonly recoveries: readonly Recovery[];
  readonly load: Readonly<Record<string, number>>;
  readonly ends: Readonly<Record<End["how"], number>>;
  /** What was there when all was quiet. */
  readonly left: Readonly<Record<string, number>>;
  readonly violations: readonly Violation[];
}

export type Report = (line: string) => void;

const baselineProbes = 3;
const restMs = { min: 100, spread: 900 };

export async function runChaos(options: ChaosOptions, report: Report): Promise<Result> {
  const startedAt = performance.now();
  const secondsSince = (at: number): number => Math.round((performance.now() - at) / 100) / 10;
  const harness = await startHarness();
  try {
    const intentions = createIntentions();
    const probes = await createProbes(harness, intentions);
    const done = new AbortController();
    const users = Array.from({ length: options.users }, (_, number) =>
      work({
        context: harness,
        requests: intentions,
        number,
        dice: diceFrom(options.seed * 1_000 + number),
        signal: done.signal,
      }),
    );
    for (let probe = 0; probe < baselineProbes; probe++) await probes.probe("no fault");
    report(`two replicas of each component are at work, ${options.users} users with them`);
    const faultsAt = performance.now();
    const scenario: ScenarioRow = { stage: harness, options, probes, wishes: intentions, tell: report };
    const inflicted = await inflict(scenario);
    const faults = secondsSince(faultsAt);
    done.abort();
    await Promise.all(users);
    await probes.settled();
    report(`all faults are inflicted after ${faults} s; waiting until all is quiet`);
    const { state, untilQuiet } = await quiet(scenario);
    if (options.logs !== "") copyLogs(harness.plane.folder, options.logs);
    return {
      options,
      seconds: { faults, untilQuiet, total: secondsSince(startedAt) },
      inflicted,
      recoveries: probes.recoveries,
      load: intentions.counters,
      ends: tally(state.ends),
      left: leftIn(state),
      violations: judge(state),
    };
  } finally {
    await harness.stop();
  }
}

interface ScenarioRow {
  readonly stage: ChaosHarness;
  readonly options: ChaosOptions;
  readonly probes: Probes;
  readonly wishes: Intentions;
  readonly tell: Report;
}

async function inflict({ stage, options, probes, tell }: ScenarioRow): Promise<Result["inflicted"]> {
  const inflicted = countersFor(options);
  const dice = diceFrom(options.seed);
  const endAt = performance.now() + options.minutes * 60_000;
  const network = createNetwork(stage, diceFrom(options.seed + 1));
  /** Large faults not yet recovered from: what is measured meanwhile is measured under two faults. */
  const state = { underWay: 0, struck: 0, finished: false };
  const small = inflictSmall({ network, inflicted, probes, state, dice: diceFrom(options.seed + 2), endAt });
  const order = orderOf(inflicted, dice);
  const turns = new Map<StrikeName, number>();
  const strike = async (name: StrikeName, number: number): Promise<void> => {
    const mine = inflicted[name];
    let since = performance.now();
    const begun = Promise.withResolvers<void>();
    const struck = (count: number, what: string): void => {
      since = performance.now();
      mine.done += count;
      mine.kinds[what] = (mine.kinds[what] ?? 0) + count;
      state.struck += 1;
      begun.resolve();
    };
    const turn = turns.get(name) ?? 0;
    turns.set(name, turn + 1);
    state.underWay += 1;
    const over = strikes[name]({ stage, dice, left: mine.asked - mine.done, kinds: mine.kinds, turn, struck });
    await Promise.race([begun.promise, over]);
    await Promise.all([over, probes.probe(name, since)]);
    state.underWay -= 1;
    const tookMs = Math.round(performance.now() - since);
    tell(
      `${String(number).padStart(3)}/${order.length} ${name.padEnd(14)} ready again after ${(tookMs / 1000).toFixed(1)} s · ${progress(inflicted)}`,
    );
    await sleep(restMs.min + dice() * restMs.spread);
  };
  const isOver = (): boolean => performance.now() > endAt;
  const isMissing = (name: StrikeName): boolean => inflicted[name].done < inflicted[name].asked;
  for (const [index, name] of order.entries()) if (!isOver() && isMissing(name)) await strike(name, index + 1);
  // What did not come to pass in its turn, because users did not do what it waits for.
  for (let late = order.find(isMissing); late !== undefined && !isOver(); late = order.find(isMissing))
    await strike(late, order.length);
  state.finished = true;
  await small;
  network.calm();
  return inflicted;
}

const progress = (inflicted: Result["inflicted"]): string =>
  Object.entries(inflicted)
    .map(([name, { done, asked }]) => `${name} ${done}/${asked}`)
    .join(", ");

function countersFor(options: ChaosOptions): Record<FaultName, Inflicted> {
  const counter = (asked: number): Inflicted => ({ asked, done: 0, kinds: {} });
  return {
    kill: counter(options.kills),
    gap: counter(options.gaps),
    handover: counter(options.handovers),
    "api-restart": counter(options.apiRestarts),
    "etcd-restart": counter(options.etcdRestarts),
    "driver-restart": counter(options.driverRestarts),
    "watch cut": counter(options.disconnects),
    delay: counter(options.delays),
    "lost reply": counter(options.lostReplies),
  };
}

/**
 * Shuffled. A strike may kill two, so there are more entries than needed; those too many are passed over. One strike in each gap comes in
 * the first half: a run that ends early has been in all of them.
 */
function orderOf(inflicted: Result["inflicted"], dice: () => number): readonly StrikeName[] {
  const names = Object.keys(strikes) as StrikeName[];
  const spanOf = (name: StrikeName, index: number): number => (name === "gap" && index < gaps.length ? 0.5 : 1);
  const drawn = names.flatMap((name) =>
    Array.from({ length: inflicted[name].asked }, (_, index) => ({ name, lot: dice() * spanOf(name, index) })),
  );
  return drawn.sort((a, b) => a.lot - b.lot).map(({ name }) => name);
}

interface SmallScenario {
  readonly network: Network;
  readonly inflicted: Record<FaultName, Inflicted>;
  readonly probes: Probes;
  readonly state: { readonly underWay: number; readonly struck: number; readonly finished: boolean };
  readonly dice: () => number;
  readonly endAt: number;
}

const largeNames: readonly FaultName[] = ["kill", "gap", "handover", "api-restart", "etcd-restart", "driver-restart"];
const smallPauseMs = { min: 50, spread: 700 };

/** Spread over the large ones: never further ahead of them than their share. */
async function inflictSmall({ network, inflicted, probes, state, dice, endAt }: SmallScenario): Promise<void> {
  const share = (): number => {
    const large = largeNames.map((name) => inflicted[name]);
    const asked = large.reduce((sum, one) => sum + one.asked, 0);
    const done = large.reduce((sum, one) => sum + one.done, 0);
    return state.finished || asked === 0 ? 1 : (done + 1) / asked;
  };
  const isDue = (name: FaultName): boolean => {
    const { asked, done } = inflicted[name];
    return done < Math.min(asked, Math.ceil(asked * share()));
  };
  let probing: Promise<void> | undefined;
  const probeOnce = (name: FaultName): void => {
    if (probing !== undefined) return;
    const { struck } = state;
    const alone = state.underWay === 0;
    const after = (): string => (alone && state.struck === struck ? name : `${name}, with a large fault`);
    probing = probes.probe(after).finally(() => {
      probing = undefined;
    });
  };
  const isLeft = (): boolean =>
    !state.finished || isDue("watch cut") || isDue("delay") || (isDue("lost reply") && state.finished);
  let delaying: Promise<void> | undefined;
  while (isLeft() && performance.now() < endAt) {
    if (isDue("watch cut")) {
      const broken = network.breakWatches();
      inflicted["watch cut"].done += broken;
      if (broken > 0) probeOnce("watch cut");
    }
    if (isDue("lost reply") && dice() < 0.3)
      network.loseReply(() => {
        inflicted["lost reply"].done += 1;
      });
    if (isDue("delay") && delaying === undefined) {
      inflicted.delay.done += 1;
      probeOnce("delay");
      delaying = network.delayReplies().finally(() => {
        delaying = undefined;
      });
    }
    await sleep(smallPauseMs.min + dice() * smallPauseMs.spread);
  }
  await Promise.all([probing, delaying]);
}

const lookMs = 1_000;

async function quiet({ stage, wishes, options, tell }: ScenarioRow): Promise<{ state: State; untilQuiet: number }> {
  const startedAt = performance.now();
  let reported = "";
  for (;;) {
    const violations = judge(await look(stage, wishes));
    const tookMs = performance.now() - startedAt;
    if (violations.length === 0 || tookMs > options.quietMinutes * 60_000)
      return { state: await lookClosely(stage, wishes), untilQuiet: Math.round(tookMs / 100) / 10 };
    const line = `not quiet yet: ${violations.length}, as ${violations[0]?.text}`;
    if (line !== reported) tell(line);
    reported = line;
    await sleep(lookMs);
  }
}

const leftIn = ({ snapshots, contents, stored, retained, letGo, claims, ledger, volumes }: State): Result["left"] => ({
  snapshots: snapshots.length,
  contents: contents.length,
  "of them retained": retained.size,
  "in the storage": stored.size,
  "of them let go": letGo.size,
  claims: claims.length,
  "volumes at the driver": ledger.size,
  PersistentVolumes: volumes.length,
});

function copyLogs(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const log of globSync("*.log", { cwd: from })) copyFileSync(join(from, log), join(to, log));
}

function tally(ends: readonly { readonly end: End }[]): Record<End["how"], number> {
  const counts = { killed: 0, "lost the lease": 0, "by itself": 0 };
  for (const { end } of ends) counts[end.how] += 1;
  return counts;
}
