/** Plans of the sidecar for a content, in tests: views, and a short name for each action. */
import { annotations } from "../src/api/names.ts";
import { Fault, type FaultCode } from "../src/base/fault.ts";
import { print } from "../src/base/json.ts";
import type { ContentView } from "../src/components/csi-snapshotter/observe.ts";
import { phaseOf } from "../src/components/csi-snapshotter/phase.ts";
import { planContent } from "../src/components/csi-snapshotter/plan.ts";
import type { SidecarAction } from "../src/components/csi-snapshotter/plan-steps.ts";
import type { SnapshotInfo } from "../src/components/csi-snapshotter/reply.ts";
import { planTester, type ReasonedCase } from "./plan-cases.ts";
import { aContentView, type ContentSituation } from "./views.ts";

export const deletionTimestamp = "2026-01-01T01:00:00Z";
export const ourId = "our-id";
export const beingCreated = { annotations: { [annotations.beingCreated]: "yes", [annotations.snapshotterId]: ourId } };
/** With upstream's annotation, which has no id. */
export const beingCreatedByAnother = { annotations: { [annotations.beingCreated]: "yes" } };
export const terminating = { deletionTimestamp, annotations: { [annotations.beingDeleted]: "yes" } };
export const info: SnapshotInfo = {
  handle: "s-1",
  ready: true,
  creationTimeNs: 1_767_225_601_123_456_789n,
  sizeBytes: 5n,
  oddities: [],
};
export const ready = { snapshotHandle: "s-1", readyToUse: true, creationTime: info.creationTimeNs, restoreSize: 5n };
export const taken: ContentSituation["reply"] = { kind: "taken", snapshot: info };
export const failure = (code: FaultCode): ContentSituation["reply"] => ({
  kind: "failed",
  fault: new Fault(code, `rpc error: code = ${code}`),
});

/** Five seconds after the content was created. */
export const aYoungView = (change: Partial<ContentSituation> = {}): ContentView =>
  aContentView({ sidecarId: ourId, nowMs: Date.parse("2026-01-01T00:00:05Z"), ...change });

export const brief = (action: SidecarAction): string => {
  switch (action.kind) {
    case "csi":
      return [
        ...action.intent.map((write) => (write.kind === "patch" ? "annotate" : write.kind)),
        action.call.method,
      ].join(", ");
    case "event":
      return `event ${action.event.reason}`;
    case "patch":
      return `patch${action.subresource === undefined ? "" : "/status"} ${print(action.patch.body).includes(annotations.beingCreated) ? "annotation" : "rest"}`;
    default:
      return action.kind;
  }
};

export const testPlans: (cases: readonly ReasonedCase<ContentView>[]) => void = planTester({
  phaseOf: ({ facts }: ContentView) => phaseOf(facts),
  plan: planContent,
  brief,
});
