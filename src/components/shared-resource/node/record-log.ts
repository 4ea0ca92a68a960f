/**
 * The records of volumes in the log, for whoever helps: `snapkeep gather` asks for them before it reads the log. Anybody who reaches the
 * pod may ask; what is written is read only by those who may read logs. So the page itself names no volume, and does not fill the log.
 *
 * Memory: when they were written last. Lost: they may be written once more.
 */
import { loggable } from "../../../base/fault.ts";
import type { Log } from "../../../base/log.ts";
import type { World } from "../../../base/world.ts";
import { nodeLimits } from "./limits.ts";
import type { Records } from "./records.ts";

export interface RecordLogOptions {
  readonly records: Pick<Records, "all">;
  readonly log: Log;
  readonly world: Pick<World, "elapsed">;
}

/** The path of the status server; its answer says whether the log has them. */
export const recordsPath = "/volumes";

export function createRecordLog({ records, log, world }: RecordLogOptions): () => Promise<string> {
  let last: { readonly atMs: number; readonly answer: Promise<string> } | undefined;
  const write = async (): Promise<string> => {
    try {
      const { records: all, skipped } = await records.all();
      for (const { spec, source } of all.slice(0, nodeLimits.recordsLoggedMax)) {
        const { id, target, shareKind, share, pod, refresh } = spec;
        log.info("record of a volume", { volume: id, target, kind: shareKind, share, pod, refresh, source });
      }
      for (const [name, reason] of Object.entries(skipped).slice(0, nodeLimits.recordsLoggedMax))
        log.info("record of a volume cannot be read", { volume: name, reason });
      return `the log has ${all.length} records of volumes, and ${Object.keys(skipped).length} that cannot be read\n`;
    } catch (reason) {
      log.info("records of volumes cannot be read", { reason: loggable(reason) });
      return "the records of volumes cannot be read; the log says why\n";
    }
  };
  return () => {
    const elapsedMs = world.elapsed();
    if (last === undefined || elapsedMs - last.atMs >= nodeLimits.recordsLoggedEveryMs)
      last = { atMs: elapsedMs, answer: write() };
    return last.answer;
  };
}
