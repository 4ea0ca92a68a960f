/** Changes what is in a volume, and keeps its record, its memory and what is remembered of it in step. */
import { Fault } from "../../../base/fault.ts";
import type { Log } from "../../../base/log.ts";
import { createTurns } from "../../../runtime/turns.ts";
import type { VolumeHost } from "./host.ts";
import { nodeLimits } from "./limits.ts";
import type { MemoryUse } from "./memory-use.ts";
import type { Mounted } from "./mounted.ts";
import type { Withdrawal } from "./phase.ts";
import { type FileSizes, footprintOf, sizesOf } from "./plan-memory.ts";
import { noRoom } from "./refusals.ts";
import type { Reviews, Verdict } from "./reviews.ts";
import type { Sources } from "./sources.ts";
import { type Source, shareKey, sourceKey, subjectOf, type VolumeSpec } from "./types.ts";

export interface VolumeWriterOptions {
  readonly host: VolumeHost;
  readonly reviews: Pick<Reviews, "current">;
  readonly sources: Pick<Sources, "read">;
  readonly memoryUse: MemoryUse;
  readonly pageBytes: number;
  readonly log: Log;
}

export interface VolumeWriter {
  /** Takes the room that a set needs, or throws why there is none. */
  reserve(spec: VolumeSpec, setBytes: number): void;
  /** Asks the kernel what the volume takes: only it knows of files that were replaced and that a process in the pod has open. */
  measure(spec: VolumeSpec): Promise<void>;
  /** The volume shows these files now. */
  settle(spec: VolumeSpec, shown: FileSizes): Promise<void>;
  record(entry: Mounted, source: Source): Promise<void>;
  /**
   * Waiting for a turn, reading the source and writing the files take time, in which the permission may go or age: the last look at it is
   * right before the set is shown. The old set stays when it says no.
   */
  write(entry: Mounted, source: Source, words?: WriteFailures): Promise<void>;
  empty(entry: Mounted, because: Withdrawal): Promise<void>;
  /** The mount and the record go too. */
  remove(spec: VolumeSpec): Promise<void>;
}

/** How a write that fails is worded. */
export interface WriteFailures {
  /** What the read of the source failed with. */
  unread(reason: unknown): unknown;
  /** What is known of the permission now; undefined: its review has aged. */
  unpermitted(verdict: Verdict | undefined): unknown;
}

/** The next look at the volume says what is to become of it. */
const ofUpdate: WriteFailures = {
  unread: (reason) => reason,
  unpermitted: (verdict) => new Fault("Conflict", `the permission is ${verdict ?? "not known"} by now`),
};

export const aboutOf = ({ spec }: Pick<Mounted, "spec">) => ({
  share: shareKey(spec),
  pod: `${spec.pod.namespace}/${spec.pod.name}`,
  volume: spec.id,
});

export function createVolumeWriter(options: VolumeWriterOptions): VolumeWriter {
  const { host, reviews, sources, memoryUse, pageBytes, log } = options;
  /** Sets of files in memory at once, of updates and of publishes. */
  const writing = createTurns(nodeLimits.writesAtOnceMax);
  const reserve = ({ id, pod }: VolumeSpec, setBytes: number): void => {
    const full = memoryUse.take(id, pod.namespace, setBytes);
    if (full !== undefined) throw noRoom(full).fault;
  };
  const settle = async ({ id, target, pod }: VolumeSpec, shown: FileSizes): Promise<void> => {
    const use = await host.use(target);
    memoryUse.settle(id, pod.namespace, footprintOf(shown, pageBytes), use);
  };
  return {
    reserve,
    settle,
    async measure({ id, target }) {
      const use = await host.use(target);
      if (use !== undefined) memoryUse.measured(id, use);
    },
    async record(entry, source) {
      if (entry.recorded === sourceKey(source)) return;
      await host.records.write({ spec: entry.spec, source: sourceKey(source) });
      entry.recorded = sourceKey(source);
    },
    write: (entry, source, { unread, unpermitted } = ofUpdate) =>
      writing(async () => {
        const content = await sources.read(source).catch((reason: unknown) => {
          throw unread(reason);
        });
        // It may be newer than what was looked at.
        reserve(entry.spec, content.bytes);
        const before = entry.written;
        const verdict = (): Verdict | undefined => reviews.current(subjectOf(entry.spec));
        entry.written = { digest: undefined, source: sourceKey(source) };
        if (!(await host.write(entry.spec.target, content.files, () => verdict() === "allowed"))) {
          entry.written = before;
          throw unpermitted(verdict());
        }
        entry.written = { digest: content.digest, source: sourceKey(source) };
        await settle(entry.spec, sizesOf(content.files));
      }),
    async empty(entry, because) {
      entry.written &&= { ...entry.written, digest: undefined };
      await host.wipe(entry.spec.target);
      entry.written = undefined;
      await settle(entry.spec, []);
      log.info("volume emptied", { ...aboutOf(entry), because });
    },
    async remove(spec) {
      await host.unmount({ ...spec, spec });
      await host.records.remove(spec.id);
      memoryUse.release(spec.id);
    },
  };
}
