/** Says how far a long command has come: after two seconds, then every two seconds, on standard error. */
import { printableLine } from "../base/printable.ts";
import type { World } from "../base/world.ts";
import type { Writer } from "../runtime/command.ts";

const everyMs = 2_000;

export function createProgress(world: Pick<World, "elapsed">, error: Writer): (text: () => string) => void {
  let saidAt = world.elapsed();
  return (text) => {
    if (world.elapsed() - saidAt < everyMs) return;
    saidAt = world.elapsed();
    error.write(printableLine(text()));
  };
}
