/** Performs what plans ask for of sources: reads them, and takes our finalizer off. */
import type { ActionHandlers } from "../../../runtime/action-handlers.ts";
import type { LookAgain } from "../look-again.ts";
import type { ProvisionerAction } from "../plan-steps.ts";
import type { SnapshotReader } from "./snapshot-reader.ts";
import type { SourceProtection } from "./source-protection.ts";

export interface SourceParts {
  readonly snapshots: Pick<SnapshotReader, "read">;
  readonly protection: Pick<SourceProtection, "unprotect">;
  readonly lookAgain: Pick<LookAgain, "volume" | "source">;
}

export type SourceHandlers = Pick<ActionHandlers<ProvisionerAction>, "readSnapshot" | "unprotectSource">;

export const createSourceHandlers = ({ snapshots, protection, lookAgain }: SourceParts): SourceHandlers => ({
  readSnapshot: async ({ key, attempt }, signal) => {
    await snapshots.read(key, signal, attempt);
    if (attempt === undefined) lookAgain.source({ kind: "snapshot", key });
    else lookAgain.volume(attempt);
  },
  unprotectSource: ({ source }, signal) => protection.unprotect(source, signal),
});
