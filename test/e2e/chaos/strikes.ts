/** The large faults: processes killed and stopped, servers restarted. One row each; a schedule puts them in an order. */
import { setTimeout as sleep } from "node:timers/promises";
import { createVolumeCallsSuffix } from "../../../src/api/names.ts";
import { until } from "../harness/until.ts";
import { type ChaosHarness, components } from "./harness.ts";
import type { ComponentName, Replica } from "./replica.ts";

export type StrikeName = "kill" | "gap" | "api-restart" | "etcd-restart" | "handover" | "driver-restart";

/** What one row does; it resolves when the fault is over (the server is back), not when the system has recovered. */
type Strike = (scenario: ScenarioRow) => Promise<void>;

export interface ScenarioRow {
  readonly stage: ChaosHarness;
  readonly dice: () => number;
  /** How many of the kind are still to be inflicted: a strike may inflict several. */
  readonly left: number;
  /** Says how many were inflicted, at the moment they were. */
  struck(count: number, what: string): void;
}

const downMs = { min: 0, spread: 1_500 };
const pausedMs = { min: 0, spread: 1_500 };
const takeoverMsMax = 120_000;

const drawn = ({ min, spread }: { min: number; spread: number }, dice: () => number): number => min + dice() * spread;
const either = (dice: () => number): ComponentName =>
  components[Math.floor(dice() * components.length)] ?? "snapshot-controller";

export const strikes: Readonly<Record<StrikeName, Strike>> = {
  kill: async ({ stage, dice, left, struck }) => {
    const { victims, what } = await victimsOf(stage, dice);
    const chosen = victims.slice(0, left).filter((replica) => replica.running());
    const kills = chosen.map((replica) => replica.kill(drawn(downMs, dice)));
    struck(chosen.length, what);
    await Promise.all(kills);
  },
  gap: async ({ stage, dice, left, struck }) => {
    const { what, isIt, when } = gaps[left % gaps.length] ?? gaps[0];
    const victim = await caught(stage.replicas, isIt, when);
    if (victim === undefined) return;
    const killed = victim.kill(drawn(downMs, dice));
    struck(1, `${when} ${what}`);
    await killed;
  },
  handover: async ({ stage, dice, struck }) => {
    const component = either(dice);
    const leader = await stage.leaderOf(component);
    const before = leader.identity();
    leader.pause();
    struck(1, component);
    try {
      await until({ what: `another ${component} takes over`, msMax: takeoverMsMax }, async () => {
        const holder = await stage.holderOf(component).catch(() => before);
        return holder === undefined || holder === before ? undefined : true;
      });
      await sleep(drawn(pausedMs, dice));
    } finally {
      leader.resume();
    }
  },
  "api-restart": async ({ stage, dice, struck }) => {
    const inGoodOrder = dice() < 0.5;
    struck(1, inGoodOrder ? "in good order" : "plug pulled");
    if (inGoodOrder) return stage.plane.restartApiServer();
    await stage.plane.killApiServer();
    await sleep(drawn(downMs, dice));
    await stage.plane.startApiServer();
  },
  "etcd-restart": async ({ stage, struck }) => {
    struck(1, "plug pulled");
    await stage.plane.restartEtcd();
  },
  "driver-restart": async ({ stage, dice, struck }) => {
    struck(1, "plug pulled");
    await stage.driver.kill();
    await sleep(drawn(downMs, dice));
    await stage.driver.start();
  },
};

interface Gap {
  readonly what: string;
  readonly when: "before" | "after";
  isIt(request: string): boolean;
}

/** The writes of a restore, in their order: the provisioner is killed before each leaves, and after each has had its effect. */
const writes: readonly Omit<Gap, "when">[] = [
  { what: "the snapshot's finalizer comes or goes", isIt: (request) => /^PUT .*\/volumesnapshots\//.test(request) },
  { what: "the call is stored or removed", isIt: (request) => request.includes(createVolumeCallsSuffix) },
  { what: "the PersistentVolume is stored", isIt: (request) => /^POST .*\/persistentvolumes/.test(request) },
  {
    what: "the PersistentVolume is deleted or changed",
    isIt: (request) => /^(PATCH|DELETE) .*\/persistentvolumes\//.test(request),
  },
];
const [firstWrite, ...otherWrites] = writes.flatMap((write): readonly Gap[] => [
  { ...write, when: "before" },
  { ...write, when: "after" },
]) as [Gap, ...Gap[]];
export const gaps: readonly [Gap, ...Gap[]] = [firstWrite, ...otherWrites];

/** How long users may take to cause such a write. */
const gapMsMax = 120_000;

/** Keeps the next such request of any replica, or its reply, until its sender is dead; undefined if none came. */
async function caught(
  replicas: readonly Replica[],
  isIt: Gap["isIt"],
  when: Gap["when"],
): Promise<Replica | undefined> {
  const isWrite = (request: string): boolean => !request.startsWith("GET ") && isIt(request);
  const provisioners = replicas.filter(({ component }) => component === "csi-provisioner");
  const armed = provisioners.map((replica) => {
    if (when === "after")
      return { came: replica.proxy.loseReply(isWrite).then(() => replica), release: () => undefined };
    const { held, release } = replica.proxy.hold(isWrite);
    return { came: held.then(() => replica), release };
  });
  const late = sleep(gapMsMax, undefined, { ref: false });
  const victim = await Promise.race([...armed.map(({ came }) => came), late]);
  // Where nothing is kept, nothing will be.
  for (const [index, { release }] of armed.entries()) if (provisioners[index] !== victim) release();
  return victim;
}

/** Mostly the leader, because standbys do nothing: one leader, all leaders, all of a component, or one that stands by. */
async function victimsOf(
  stage: ChaosHarness,
  dice: () => number,
): Promise<{ victims: readonly Replica[]; what: string }> {
  const lot = dice();
  const component = either(dice);
  const leader = await stage.leaderOf(component);
  if (lot < 0.5) return { victims: [leader], what: `leading ${component}` };
  if (lot < 0.7) return { victims: await Promise.all(components.map(stage.leaderOf)), what: "all leaders" };
  const all = stage.replicas.filter((replica) => replica.component === component);
  if (lot < 0.9) return { victims: all, what: `all of ${component}` };
  return { victims: all.filter((replica) => replica !== leader), what: `standing by ${component}` };
}
