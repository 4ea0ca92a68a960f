/** The large faults: processes killed and stopped, servers restarted. One row each; a schedule puts them in an order. */
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../harness/until.ts";
import { type ChaosHarness, components } from "./harness.ts";
import type { ComponentName, Replica } from "./replica.ts";

export type StrikeName = "kill" | "api-restart" | "etcd-restart" | "handover" | "driver-restart";

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
const either = (dice: () => number): ComponentName => (dice() < 0.5 ? "snapshot-controller" : "csi-snapshotter");

export const strikes: Readonly<Record<StrikeName, Strike>> = {
  kill: async ({ stage, dice, left, struck }) => {
    const { victims, what } = await victimsOf(stage, dice);
    const chosen = victims.slice(0, left).filter((replica) => replica.running());
    const kills = chosen.map((replica) => replica.kill(drawn(downMs, dice)));
    struck(chosen.length, what);
    await Promise.all(kills);
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

/** Mostly the leader, because standbys do nothing: one leader, both leaders, all of a component, or one that stands by. */
async function victimsOf(
  stage: ChaosHarness,
  dice: () => number,
): Promise<{ victims: readonly Replica[]; what: string }> {
  const lot = dice();
  const component = either(dice);
  const leader = await stage.leaderOf(component);
  if (lot < 0.5) return { victims: [leader], what: `leading ${component}` };
  if (lot < 0.7) return { victims: await Promise.all(components.map(stage.leaderOf)), what: "both leaders" };
  const all = stage.replicas.filter((replica) => replica.component === component);
  if (lot < 0.9) return { victims: all, what: `all of ${component}` };
  return { victims: all.filter((replica) => replica !== leader), what: `standing by ${component}` };
}
