/**
 * Which rules judge which resource. A verdict depends on the request alone; for default classes on the cache of classes too, and for
 * shares on the allow-lists that were read at the start. No request is sent while judging.
 */
import type { CodedMessage } from "../../api/plan.ts";
import type { ShareKind } from "../../api/share-lists.ts";
import { after, withCode } from "../../errors/codes.ts";
import { type ClaimGates, sourceToCopy } from "../../rules/claim-sources.ts";
import { type JudgedKind, judgedResource, type KindRules, kindRules } from "../../rules/kind-rules.ts";
import type { FieldViolation, RuleVerdict } from "../../rules/object-rules.ts";
import type { AllowLists } from "../../rules/share-allow-lists.ts";
import { judgedBySharing, judgeSharing, shareVolumes } from "../../rules/shared-resources.ts";
import { defaultClassDriver, secondDefault } from "../../rules/snapshot-rules.ts";
import { valueAt } from "../../rules/values.ts";
import type { AdmissionAnswer, AdmissionRequest } from "./admission-review.ts";
import { isOwnProbe, type UserInfo } from "./own-probe.ts";

export interface ReviewDecision extends AdmissionAnswer {
  readonly verdict: RuleVerdict;
  /** The share that was judged, or that the object has volumes of shares. */
  readonly sharing?: ShareKind | "volumes" | undefined;
}

export interface ReviewContext {
  readonly gates: () => ClaimGates;
  /** Names of other default classes of a driver; undefined while that is not known. */
  readonly otherDefaults: (driver: string, name: string) => readonly string[] | undefined;
  /** The shares that may have a reserved name, as they were read at the start. */
  readonly allowLists: () => AllowLists;
  /** As whom the API server knows this webhook; undefined while that is not known. */
  readonly self: () => UserInfo | undefined;
}

type Judge = (request: AdmissionRequest, context: ReviewContext) => ReviewDecision;

/** As the document asks for snapshots, as the API server itself answers for claims, and as upstream's webhook does for shares. */
const snapshotDenialCode = 400;
const claimDenialCode = 422;
const sharingDenialCode = 403;

const allowed: ReviewDecision = { verdict: { refused: [], ratcheted: [] } };

const byRules =
  (rules: KindRules, denialCode: number): Judge =>
  ({ object, oldObject }, { gates }) =>
    decisionFrom(rules.judge(object, oldObject, gates()), denialCode);

const judgeClass: Judge = (request, context) => {
  const decision = byRules(kindRules.VolumeSnapshotClass, snapshotDenialCode)(request, context);
  const duplicate = duplicateDefault(request, context.otherDefaults);
  if (duplicate === undefined) return decision;
  return duplicate.kind === "unknown"
    ? { ...decision, warnings: [...(decision.warnings ?? []), duplicate.warning] }
    : decisionFrom(
        { ...decision.verdict, refused: [...decision.verdict.refused, duplicate.violation] },
        snapshotDenialCode,
      );
};

type Duplicate =
  | { readonly kind: "unknown"; readonly warning: CodedMessage }
  | { readonly kind: "found"; readonly violation: FieldViolation };

function duplicateDefault(
  { object, oldObject }: AdmissionRequest,
  otherDefaults: ReviewContext["otherDefaults"],
): Duplicate | undefined {
  const driver = defaultClassDriver(object);
  if (driver === undefined || driver === defaultClassDriver(oldObject)) return undefined;
  const others = otherDefaults(driver, String(valueAt(object, "metadata.name") ?? ""));
  if (others === undefined)
    return {
      kind: "unknown",
      warning: withCode("whether the driver has another default class is not known yet", "SNAP-123"),
    };
  return others.length === 0 ? undefined : { kind: "found", violation: secondDefault(driver, others) };
}

const judgeClaim: Judge = (request, context) => {
  const decision = byRules(kindRules.PersistentVolumeClaim, claimDenialCode)(request, context);
  const { object, oldObject } = request;
  const mayCopy = oldObject === undefined && decision.denied === undefined;
  const copied = mayCopy ? sourceToCopy(object, context.gates()) : undefined;
  return copied === undefined
    ? decision
    : { ...decision, patch: [{ op: "add", path: "/spec/dataSourceRef", value: copied }] };
};

function decisionFrom(verdict: RuleVerdict, code: number): ReviewDecision {
  const { refused, ratcheted } = verdict;
  return {
    verdict,
    denied: refused.length === 0 ? undefined : { code, message: allOf(refused) },
    warnings: ratcheted.map(({ message }) => after("already broken before this change: ", message)),
  };
}

const allOf = (violations: readonly FieldViolation[]): CodedMessage =>
  violations.map(({ message }) => message).reduce((all, message) => after(`${all}; `, message));

const judges: Partial<Record<JudgedKind, Judge>> = {
  VolumeSnapshot: byRules(kindRules.VolumeSnapshot, snapshotDenialCode),
  VolumeSnapshotContent: byRules(kindRules.VolumeSnapshotContent, snapshotDenialCode),
  VolumeSnapshotClass: judgeClass,
  PersistentVolumeClaim: judgeClaim,
};

function judgeOf({ group, resource }: AdmissionRequest): Judge | undefined {
  const kind = judgedResource(group, resource);
  return kind === undefined ? sharingJudge(group, resource) : judges[kind];
}

function sharingJudge(group: string, plural: string): Judge | undefined {
  const judged = judgedBySharing(group, { plural });
  if (judged === undefined) return undefined;
  return ({ object, oldObject }, { allowLists }) => {
    const decision = decisionFrom(judgeSharing(judged, object, oldObject, allowLists()), sharingDenialCode);
    if (judged.isShare) return { ...decision, sharing: judged.kind };
    return shareVolumes(judged.kind, object).length === 0 ? allowed : { ...decision, sharing: "volumes" };
  };
}

/** For metrics: anybody can send a review of anything, and labels must stay few. */
export const resourceLabel = (request: AdmissionRequest): string =>
  judgeOf(request) === undefined ? "other" : request.resource;

/** The resource decides which rules apply, not the path: the document sends several kinds to one path. Unknown kinds are allowed. */
export function decideReview(request: AdmissionRequest, context: ReviewContext): ReviewDecision {
  const found = judgeOf(request);
  const isJudged = request.operation === "CREATE" || request.operation === "UPDATE";
  if (found === undefined || !isJudged || isOwnProbe(request, context.self())) return allowed;
  return found(request, context);
}
