/** The processes of a schedule: who runs, who has crashed and is to be started again. */
import { createSharedStores } from "../../src/kube/shared-stores.ts";
import type { VirtualWorld } from "../virtual-world.ts";
import type { Activity } from "./activity.ts";
import type { ComponentName } from "./components.ts";
import { createIncarnation, type Incarnation, type Joined } from "./incarnation.ts";
import type { TakeNote } from "./record.ts";

export interface Processes {
  start(component: ComponentName): void;
  /** Starts controllers in one process. */
  startJoined(components: readonly ComponentName[]): void;
  /** It is gone at once, and started again after a while. */
  crash(incarnation: Incarnation, downMs: number): void;
  running(): readonly Incarnation[];
}

export interface ProcessesOptions {
  readonly world: VirtualWorld;
  readonly unrest: Activity;
  readonly note: TakeNote;
  /** Whoever loses the lease ends, and is started again by the node; everybody else must not end at all. */
  readonly mayEnd: boolean;
  run(component: ComponentName, incarnation: Incarnation): Promise<unknown>;
}

export function createProcesses({ world, unrest, note, mayEnd, run }: ProcessesOptions): Processes {
  const running = new Map<string, Incarnation>();
  let starts = 0;

  const crash = (incarnation: Incarnation, downMs: number): void => {
    if (!incarnation.alive()) return;
    const mates = incarnation.mates();
    for (const mate of mates) {
      mate.kill();
      running.delete(mate.name);
      note("crash", mate.name, `down for ${downMs} ms`);
    }
    unrest.begin();
    void world.sleep(downMs).then(() => {
      unrest.end();
      const components = mates.map(({ component }) => component as ComponentName);
      if (incarnation.shared === undefined) start(incarnation.component as ComponentName);
      else startJoined(components);
    });
  };
  const startIn = (component: ComponentName, joined?: Joined): void => {
    const incarnation = createIncarnation(component, `${component}.${++starts}`, world, joined);
    running.set(incarnation.name, incarnation);
    note("start", incarnation.name, "");
    const end = (reason?: unknown): void => {
      if (!incarnation.alive()) return;
      if (!mayEnd || reason !== undefined) note("ended", incarnation.name, String(reason));
      else if (joined === undefined) crash(incarnation, 1_000);
      // In a process with others it takes another turn.
      else void incarnation.world.sleep(1_000).then(takeTurn);
    };
    const takeTurn = (): void => void (incarnation.alive() && run(component, incarnation).then(() => end(), end));
    takeTurn();
  };
  const start = (component: ComponentName): void => startIn(component);
  const startJoined = (components: readonly ComponentName[]): void => {
    const joined: Joined = { shared: createSharedStores(), members: [] };
    for (const component of components) startIn(component, joined);
  };
  return { start, startJoined, crash, running: () => [...running.values()] };
}
