/** Where a volume is in use. The mount table is the truth: it outlives every process, and goes with a reboot. */
import { loopBindsOf } from "./loops.ts";
import { bindsOf } from "./mounts.ts";
import type { Storage } from "./storage.ts";
import type { Volume } from "./things.ts";

export async function usesOf(storage: Storage, volume: Volume): Promise<readonly string[]> {
  const data = storage.dataOf(volume);
  const binds = volume.mode === "block" ? await loopBindsOf(data) : await bindsOf(data);
  return binds.map(({ at }) => at);
}
