/** One start of a component: from its start until it is killed, frozen now and then. */
import { Fault } from "../../src/base/fault.ts";
import type { World } from "../../src/base/world.ts";
import type { SharedStores } from "../../src/kube/shared-stores.ts";
import type { VirtualWorld } from "../virtual-world.ts";
import type { Actor } from "./record.ts";
import type { Tap } from "./tap.ts";

export interface Incarnation {
  readonly component: Actor;
  /** "csi-snapshotter.2" */
  readonly name: string;
  readonly signal: AbortSignal;
  /** Its view of time: while it is frozen, no timer of it rings. */
  readonly world: World;
  readonly taps: Set<Tap>;
  /** The controllers of its process, itself among them: they die, freeze and know together. */
  mates(): readonly Incarnation[];
  /** The caches of the process; undefined: it is alone in it. */
  readonly shared: SharedStores | undefined;
  alive(): boolean;
  kill(): void;
  freeze(ms: number): void;
  /** From now on its wall clock is so far ahead of the others'. */
  skew(ms: number): void;
  /** Nothing to wait for unless it is frozen; then resolves when it thaws. Never resolves for the dead. */
  awake(): Promise<void> | undefined;
}

const killed = new Fault("Cancelled", "killed");
/** One for each who waits: a shared one would keep everything that ever waited for it. */
const never = (): Promise<never> => new Promise(() => undefined);

/** Controllers that share a process. */
export interface Joined {
  readonly shared: SharedStores;
  readonly members: Incarnation[];
}

export function createIncarnation(component: Actor, name: string, world: VirtualWorld, joined?: Joined): Incarnation {
  const stop = new AbortController();
  const taps = new Set<Tap>();
  let frozenUntilMs = 0;
  let skewMs = 0;
  const awake = (): Promise<void> | undefined =>
    world.elapsed() < frozenUntilMs || stop.signal.aborted ? thawed() : undefined;
  const thawed = async (): Promise<void> => {
    while (world.elapsed() < frozenUntilMs) await world.sleep(frozenUntilMs - world.elapsed());
    if (stop.signal.aborted) await never();
  };
  const own: Incarnation = {
    component,
    name,
    signal: stop.signal,
    taps,
    awake,
    shared: joined?.shared,
    mates: () => joined?.members ?? [own],
    world: {
      ...world,
      now: () => world.now() + skewMs,
      sleep: async (ms, signal) => {
        await world.sleep(ms, signal);
        if (world.elapsed() < frozenUntilMs) await awake();
      },
      after: (ms, ring) => {
        let stop = world.after(ms, () => {
          if (world.elapsed() < frozenUntilMs) stop = world.after(frozenUntilMs - world.elapsed(), ring);
          else ring();
        });
        return () => stop();
      },
    },
    skew: (ms) => {
      skewMs = ms;
    },
    alive: () => !stop.signal.aborted,
    kill: () => {
      stop.abort(killed);
      for (const tap of taps) tap.disconnect();
    },
    // After what is being done without waiting is done: a stopped process runs nothing at all.
    freeze: (ms) =>
      void world.sleep(0).then(() => {
        frozenUntilMs = Math.max(frozenUntilMs, world.elapsed() + ms);
      }),
  };
  joined?.members.push(own);
  return own;
}
