/**
 * A share is looked at when it comes, when its spec changes, and once per relist interval:
 *
 *   look up the reference ──▶ condition Available ──▶ look again after the relist interval
 *
 * Available is written once per look, so that another writer of Available is not fought: its change of the status alone is no reason
 * to look. Ready and all other conditions belong to others and are not part of any write.
 */
import { refOf } from "../../../api/builders.ts";
import { shareConditions } from "../../../api/names.ts";
import { type ClusterAction, type JsonPatchOperation, type Plan, type Ref, settled } from "../../../api/plan.ts";
import { because, type Reason } from "../../../api/reasons.ts";
import type { ShareKind } from "../../../api/share-lists.ts";
import type { Condition } from "../../../api/types.ts";
import { rfc3339 } from "../../../base/time.ts";
import { fix, withCode } from "../../../errors/codes.ts";
import { reservedNameProblem } from "../../../rules/shared-resources.ts";
import type { Finding, Look } from "./memory.ts";
import { referenceText, referredKinds, type ShareFacts, type ShareView } from "./observe.ts";
import { intervalMs, phaseOf } from "./phase.ts";

export type ShareAction =
  | ClusterAction
  /** Asks the API server whether the referenced object exists. */
  | { readonly kind: "look"; readonly facts: ShareFacts }
  | { readonly kind: "written"; readonly uid: string }
  /** Remembers that a reserved name was counted with this reference; undefined: it is no longer wrong. */
  | { readonly kind: "count"; readonly share: ShareKind; readonly uid: string; readonly reference: string | undefined };

export function planShare(view: ShareView): Plan<ShareAction> {
  const { facts, memory } = view;
  const { look } = memory;
  const phase = phaseOf(view);
  if (phase === "deleting")
    return { actions: [], next: settled, reason: because("Settled", "the share is being deleted") };
  const reports = nameReport(view);
  if (phase === "unread" || look === undefined)
    return {
      actions: [...reports, { kind: "look", facts }],
      next: { kind: "after", ms: 0 },
      reason: because("Writes", `the API server is asked for ${referredBy(facts)}`),
    };
  const writes = look.isWritten ? [] : availableWrite(view, look);
  const { uid } = facts.share.metadata;
  return {
    actions: [...writes, ...(look.isWritten ? [] : [{ kind: "written", uid } as const]), ...reports],
    next: { kind: "after", ms: Math.max(0, intervalMs(facts, look.finding) - look.ageMs) },
    reason: reasonOf(facts, look),
  };
}

function reasonOf(facts: ShareFacts, { finding }: Look): Reason {
  const { kind, reference, share } = facts;
  const { message, status } = wantedCondition(facts, finding);
  if (finding === "found") return because("Settled", message);
  const referred: Ref = { kind: referredKinds[kind], ...reference };
  const current = share.status?.conditions?.find(({ type }) => type === shareConditions.available);
  const since = current?.status === status ? Date.parse(current.lastTransitionTime) : undefined;
  return because(finding === "missing" ? "SecretNotFound" : "NotPermitted", message, [referred], since);
}

const referredBy = ({ kind, reference }: ShareFacts): string => `${referredKinds[kind]} ${referenceText(reference)}`;

/** The webhook refuses such a share; if it was down, the share is there. Each wrong reference is reported once. */
function nameReport({ facts, memory: { counted } }: ShareView): readonly ShareAction[] {
  const { kind, share, reference, lists } = facts;
  if (lists === undefined) return [];
  const { uid, name } = share.metadata;
  const problem = reservedNameProblem(kind, name, reference, lists);
  if (problem === undefined)
    return counted === undefined ? [] : [{ kind: "count", share: kind, uid, reference: undefined }];
  const text = referenceText(reference);
  if (counted === text) return [];
  return [
    { kind: "event", about: share, event: { type: "Warning", reason: "ReservedName", message: problem } },
    { kind: "count", share: kind, uid, reference: text },
  ];
}

type Wanted = Pick<Condition, "status" | "reason" | "message">;

function wantedCondition(facts: ShareFacts, finding: Finding): Wanted {
  const { kind, reference } = facts;
  const referred = referredBy(facts);
  switch (finding) {
    case "found":
      return { status: "True", reason: "ReferenceFound", message: `${referred} exists` };
    case "missing":
      return {
        status: "False",
        reason: "ReferenceNotFound",
        message: withCode(`${referred} does not exist; ${fix("SNAP-751", "it", "the reference")}`, "SNAP-751"),
      };
    case "forbidden":
      return {
        status: "Unknown",
        reason: "ReferenceForbidden",
        message: withCode(
          `the controller may not read ${referred}; let its service account get ${referredKinds[kind].toLowerCase()}s with resourceNames [${reference.name}] in namespace ${reference.namespace}`,
          "SNAP-752",
        ),
      };
  }
}

/** What this controller writes as a reason. Another writer's entry of the same status is left as it is. */
const ownReasons: ReadonlySet<string> = new Set(["ReferenceFound", "ReferenceNotFound", "ReferenceForbidden"]);

/** The write names the condition by its place in the list and is guarded by the version: it contains no other condition. */
function availableWrite({ facts, nowMs }: ShareView, look: Look): readonly ClusterAction[] {
  const { kind, share } = facts;
  const conditions = share.status?.conditions ?? [];
  const index = conditions.findIndex(({ type }) => type === shareConditions.available);
  const current = conditions[index];
  const wanted = wantedCondition(facts, look.finding);
  if (current !== undefined && !differs(current, wanted, look.generation)) return [];
  const lastTransitionTime = current?.status === wanted.status ? current.lastTransitionTime : rfc3339(nowMs);
  const generation = look.generation === undefined ? {} : { observedGeneration: look.generation };
  const value = { type: shareConditions.available, ...wanted, lastTransitionTime, ...generation };
  const body: readonly JsonPatchOperation[] = [
    { op: "test", path: "/metadata/resourceVersion", value: share.metadata.resourceVersion },
    ...placed(share.status, index, value),
  ];
  return [{ kind: "patch", ref: refOf(kind, share), patch: { type: "json", body }, subresource: "status" }];
}

const differs = (current: Condition, wanted: Wanted, generation: number | undefined): boolean =>
  current.status !== wanted.status ||
  (ownReasons.has(current.reason) &&
    (current.reason !== wanted.reason ||
      current.message !== wanted.message ||
      current.observedGeneration !== generation));

function placed(
  status: { readonly conditions?: readonly Condition[] } | undefined,
  index: number,
  value: Condition,
): readonly JsonPatchOperation[] {
  if (index >= 0) return [{ op: "replace", path: `/status/conditions/${index}`, value }];
  if (status === undefined) return [{ op: "add", path: "/status", value: { conditions: [value] } }];
  return status.conditions === undefined
    ? [{ op: "add", path: "/status/conditions", value: [value] }]
    : [{ op: "add", path: "/status/conditions/-", value }];
}
