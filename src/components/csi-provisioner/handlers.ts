/** Performs what the plans of the provisioner ask for, beside the writes that every component makes. This file only wires. */
import type { PersistentVolumeClaim } from "../../api/types.ts";
import type { ActionHandlers } from "../../runtime/action-handlers.ts";
import { type CallParts, createCallHandler } from "./driver/call-handler.ts";
import type { VolumeName } from "./identity.ts";
import type { LookAgain } from "./look-again.ts";
import type { ProvisionerMemory } from "./memory.ts";
import type { ProvisionerAction } from "./plan-steps.ts";
import { createReports, type ReportParts } from "./reports.ts";
import { createSourceHandlers } from "./sources/handlers.ts";
import type { SnapshotReader } from "./sources/snapshot-reader.ts";
import { createStoredCallHandlers } from "./stored-calls/handlers.ts";
import { createVolumeHandlers, type VolumeParts } from "./volumes/handlers.ts";

type MadeHere = "remembered" | "intents" | "protection" | "unconfirmed" | "writes" | "beforeCalls" | "reports";

export interface HandlerParts
  extends Omit<CallParts, MadeHere>,
    Omit<ReportParts, MadeHere>,
    Omit<VolumeParts, MadeHere | "cluster" | "csi" | "lookAgain"> {
  readonly memory: ProvisionerMemory;
  readonly snapshots: SnapshotReader;
  readonly lookAgain: LookAgain;
  claimOf(name: VolumeName): PersistentVolumeClaim | undefined;
  isStored(name: VolumeName): boolean;
}

export function createProvisionerHandlers({ memory, ...parts }: HandlerParts): ActionHandlers<ProvisionerAction> {
  const { claimOf, isStored, cluster } = parts;
  const shared = { ...parts, ...memory };
  const reports = createReports(shared);
  const storedCalls = createStoredCallHandlers({
    ...shared,
    isWanted: (name) => claimOf(name) !== undefined && !isStored(name),
  });
  return {
    ...cluster,
    ...reports.handlers,
    ...storedCalls.handlers,
    ...createSourceHandlers(shared),
    ...createVolumeHandlers({ ...shared, reports }),
    csi: createCallHandler({ ...shared, beforeCalls: storedCalls.beforeCalls }),
  };
}
