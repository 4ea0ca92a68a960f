/** Carries out what is planned for a mounted volume. */
import { Fault } from "../../../base/fault.ts";
import type { Log } from "../../../base/log.ts";
import type { ActionHandlers } from "../../../runtime/action-handlers.ts";
import type { MemoryUse } from "./memory-use.ts";
import type { Mounted, MountedVolumes } from "./mounted.ts";
import type { VolumeAction } from "./plan.ts";
import type { createShareReads } from "./share-reads.ts";
import { aboutOf, type VolumeWriter } from "./volume-writer.ts";
import type { WriteTurns } from "./write-turns.ts";

export interface VolumeHandlersOptions {
  readonly mounted: MountedVolumes;
  readonly shareReads: ReturnType<typeof createShareReads>;
  readonly writer: VolumeWriter;
  readonly memoryUse: Pick<MemoryUse, "awaitRoom" | "refusal">;
  readonly turns: WriteTurns;
  readonly log: Log;
}

export function createVolumeHandlers(options: VolumeHandlersOptions): ActionHandlers<VolumeAction> {
  const { mounted, shareReads, writer, memoryUse, turns, log } = options;
  /** Nothing else works on the volume meanwhile, so it is still there. */
  const on =
    <A extends VolumeAction>(work: (entry: Mounted, action: A) => Promise<void> | void) =>
    async (action: A): Promise<void> => {
      const entry = mounted.get(action.id);
      if (entry !== undefined) await work(entry, action);
    };
  return {
    follow: on((entry, { source }) => mounted.follow(entry, source)),
    readShare: on((entry, { since }) => shareReads.read(since, entry.spec)),
    wipe: on(async (entry, { because }) => {
      await writer.empty(entry, because);
      entry.failure = undefined;
    }),
    measure: on(async ({ spec }, { content }) => {
      await writer.measure(spec);
      const full = memoryUse.refusal(spec.id, spec.pod.namespace, content.bytes);
      if (full !== undefined) throw new Fault("Conflict", `volume ${spec.id} takes more than was known: ${full}`);
    }),
    write: on(async (entry, { source, content }) => {
      if (!turns.take(entry.spec.id)) return;
      try {
        writer.reserve(entry.spec, content.bytes);
        // The record first: killed in between, the next process must not look for what is not in the volume.
        await writer.record(entry, source);
        await writer.write(entry, source);
        entry.failure = undefined;
        log.debug("volume updated", aboutOf(entry));
      } finally {
        turns.end();
      }
    }),
    awaitRoom: on((entry, { refusal }) => {
      memoryUse.awaitRoom(entry.spec.id);
      if (refusal !== entry.refusal) log.warn("volume keeps its old content", { ...aboutOf(entry), reason: refusal });
      entry.refusal = refusal;
    }),
  };
}
