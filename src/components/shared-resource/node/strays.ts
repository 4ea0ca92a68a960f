/**
 * Volumes of shares that are mounted here without a record: an earlier driver has kept its records elsewhere, or somebody has removed
 * them. Nobody knows of which share they are, so they keep what they show, and are counted until their pods end.
 *
 * Memory: how many there are, and since when that is known. Lost with the process, and looked for again.
 */
import type { Millis } from "../../../base/brand.ts";
import { loggable } from "../../../base/fault.ts";
import type { Log } from "../../../base/log.ts";
import type { World } from "../../../base/world.ts";
import type { VolumeHost } from "./host.ts";
import type { MountedVolumes } from "./mounted.ts";
import type { TroubleSummary } from "./trouble-reports.ts";

export interface StraysOptions {
  readonly host: Pick<VolumeHost, "strays">;
  readonly mounted: Pick<MountedVolumes, "all">;
  readonly world: Pick<World, "elapsed">;
  readonly log: Log;
}

export function createStrays({ host, mounted, world, log }: StraysOptions) {
  let targets: readonly string[] = [];
  let sinceMs: Millis = 0;
  return {
    /** To be called at the start, and again while there are some: none comes later. */
    async look(): Promise<void> {
      const known = new Set(mounted.all().map(({ spec }) => spec.id));
      try {
        const found = await host.strays(known);
        if (targets.length === 0 && found.length > 0) {
          sinceMs = world.elapsed();
          log.error("volumes of shares are mounted without a record, and are neither updated nor emptied", {
            targets: found,
            remedy: "give the folder of the earlier driver's records as --volume-map-folder, or replace these pods",
          });
        }
        targets = found;
      } catch (reason) {
        log.warn("cannot look for volumes without a record", { reason: loggable(reason) });
      }
    },
    summary: (): TroubleSummary => ({
      count: targets.length,
      ageMs: targets.length === 0 ? 0 : world.elapsed() - sinceMs,
    }),
  };
}
