/** The processes of a schedule: who runs, who has crashed and is to be started again. */
import type { VirtualWorld } from "../virtual-world.ts";
import type { Activity } from "./activity.ts";
import type { ComponentName } from "./components.ts";
import { createIncarnation, type Incarnation } from "./incarnation.ts";
import type { TakeNote } from "./record.ts";

export interface Processes {
  start(component: ComponentName): void;
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
    incarnation.kill();
    running.delete(incarnation.name);
    note("crash", incarnation.name, `down for ${downMs} ms`);
    unrest.begin();
    void world.sleep(downMs).then(() => {
      unrest.end();
      start(incarnation.component as ComponentName);
    });
  };
  const start = (component: ComponentName): void => {
    const incarnation = createIncarnation(component, `${component}.${++starts}`, world);
    running.set(incarnation.name, incarnation);
    note("start", incarnation.name, "");
    const end = (reason?: unknown): void => {
      if (!incarnation.alive()) return;
      if (mayEnd && reason === undefined) crash(incarnation, 1_000);
      else note("ended", incarnation.name, String(reason));
    };
    run(component, incarnation).then(() => end(), end);
  };
  return { start, crash, running: () => [...running.values()] };
}
