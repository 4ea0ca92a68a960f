/** The large faults: processes killed and stopped, servers restarted. One row each; a schedule puts them in an order. */
import { setTimeout as sleep } from "node:timers/promises";
import { createVolumeCallsSuffix } from "../../../src/api/names.ts";
import type { KeptCall } from "../../csi-relay.ts";
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
  /** How often each sort of the kind was inflicted. */
  readonly kinds: Readonly<Record<string, number>>;
  /** How many strikes of the kind came before, in vain or not. */
  readonly turn: number;
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
  gap: async ({ stage, dice, kinds, turn, struck }) => {
    const gap = nextGap(kinds, turn);
    const victim = await caught(stage.replicas, gap);
    if (victim === undefined) return;
    const killed = victim.kill(drawn(downMs, dice));
    struck(1, gap.name);
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

/** Something of a replica is kept on its way, or its reply is. */
interface Armed {
  readonly came: Promise<unknown>;
  release(): void;
}

interface Gap {
  readonly name: string;
  arm(replica: Replica): Armed;
}

/** A write to the API server, or a call to the driver. */
type Step = { readonly what: string } & (
  | { readonly call: KeptCall }
  | { /** Matches the request line. */ readonly write: RegExp }
);

/** What a restore and the deletion of its volume consist of, in this order. */
const steps: readonly Step[] = [
  { what: "the snapshot's finalizer comes or goes", write: /^PUT .*\/volumesnapshots\// },
  { what: "the call is stored or removed", write: new RegExp(`^(PUT|POST|PATCH) .*${createVolumeCallsSuffix}`) },
  { what: "the driver creates the volume", call: "CreateVolume" },
  { what: "the PersistentVolume is stored", write: /^POST .*\/persistentvolumes/ },
  { what: "the driver deletes the volume", call: "DeleteVolume" },
  { what: "the PersistentVolume is deleted or changed", write: /^(PATCH|DELETE) .*\/persistentvolumes\// },
];

function arm(step: Step, when: "before" | "after", { proxy, relay }: Replica): Armed {
  if ("call" in step) {
    const kept = relay?.keep(step.call, when);
    return { came: kept?.held ?? new Promise(() => undefined), release: () => kept?.release() };
  }
  let isOver = false;
  const isIt = (request: string): boolean => !isOver && step.write.test(request);
  const kept = when === "after" ? { held: proxy.loseReply(isIt), release: () => undefined } : proxy.hold(isIt);
  return {
    came: kept.held,
    release: () => {
      isOver = true;
      kept.release();
    },
  };
}

/** The provisioner is killed before each step begins, and after each has had its effect. */
export const gaps: readonly Gap[] = steps.flatMap((step) =>
  (["before", "after"] as const).map((when) => ({
    name: `${when} ${step.what}`,
    arm: (replica: Replica) => arm(step, when, replica),
  })),
);

/** One that was hit least often; those that were not reached in time are tried again after the others. */
export function nextGap(kinds: ScenarioRow["kinds"], turn: number): Gap {
  const least = Math.min(...gaps.map(({ name }) => kinds[name] ?? 0));
  const open = gaps.filter(({ name }) => (kinds[name] ?? 0) === least);
  return open[turn % open.length] as Gap;
}

/** How long users may take to cause such a step. */
const gapMsMax = 120_000;

/** Keeps the next such step of any replica until its sender is dead; undefined if none came. */
async function caught(replicas: readonly Replica[], gap: Gap): Promise<Replica | undefined> {
  const provisioners = replicas.filter(({ component }) => component === "csi-provisioner");
  const armed = provisioners.map((replica) => ({ replica, ...gap.arm(replica) }));
  const late = sleep(gapMsMax, undefined, { ref: false });
  const victim = await Promise.race([...armed.map(({ came, replica }) => came.then(() => replica)), late]);
  // Where nothing is kept, nothing will be.
  for (const { replica, release } of armed) if (replica !== victim) release();
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
