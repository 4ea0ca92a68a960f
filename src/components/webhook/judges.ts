/** Which rules judge which resource. A verdict depends on the request alone, and for default classes on the cache of classes. */
import type { CodedMessage } from "../../api/plan.ts";
import { type ClaimGates, sourceToCopy } from "../../rules/claim-sources.ts";
import { after, withCode } from "../../rules/error-codes.ts";
import { type JudgedKind, judgedResource, type KindRules, kindRules } from "../../rules/kind-rules.ts";
import { type FieldViolation, type Verdict, valueAt } from "../../rules/object-rules.ts";
import { defaultClassDriver, secondDefault } from "../../rules/snapshot-rules.ts";
import type { AdmissionAnswer, AdmissionRequest } from "./admission-review.ts";

export interface Decision extends AdmissionAnswer {
  readonly verdict: Verdict;
}

export interface Surroundings {
  readonly gates: () => ClaimGates;
  /** Names of other default classes of a driver; undefined while that is not known. */
  readonly otherDefaults: (driver: string, name: string) => readonly string[] | undefined;
}

type Judge = (request: AdmissionRequest, surroundings: Surroundings) => Decision;

/** As the document asks for snapshots, and as the API server itself answers for claims. */
const snapshotDenialCode = 400;
const claimDenialCode = 422;

const allowed: Decision = { verdict: { refused: [], ratcheted: [] } };

const byRules =
  (rules: KindRules, denialCode: number): Judge =>
  ({ object, oldObject }, { gates }) =>
    decisionFrom(rules.judge(object, oldObject, gates()), denialCode);

const judgeClass: Judge = (request, surroundings) => {
  const decision = byRules(kindRules.VolumeSnapshotClass, snapshotDenialCode)(request, surroundings);
  const duplicate = duplicateDefault(request, surroundings.otherDefaults);
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
  otherDefaults: Surroundings["otherDefaults"],
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

const judgeClaim: Judge = (request, surroundings) => {
  const decision = byRules(kindRules.PersistentVolumeClaim, claimDenialCode)(request, surroundings);
  const { object, oldObject } = request;
  const mayCopy = oldObject === undefined && decision.denied === undefined;
  const copied = mayCopy ? sourceToCopy(object, surroundings.gates()) : undefined;
  return copied === undefined
    ? decision
    : { ...decision, patch: [{ op: "add", path: "/spec/dataSourceRef", value: copied }] };
};

function decisionFrom(verdict: Verdict, code: number): Decision {
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
  return kind === undefined ? undefined : judges[kind];
}

/** For metrics: anybody can send a review of anything, and labels must stay few. */
export const resourceLabel = (request: AdmissionRequest): string =>
  judgeOf(request) === undefined ? "other" : request.resource;

/** By the resource, whatever the path: the document sends several kinds to one. What is not known is not ours to refuse. */
export function decide(request: AdmissionRequest, surroundings: Surroundings): Decision {
  const found = judgeOf(request);
  const isJudged = request.operation === "CREATE" || request.operation === "UPDATE";
  return found === undefined || !isJudged ? allowed : found(request, surroundings);
}
