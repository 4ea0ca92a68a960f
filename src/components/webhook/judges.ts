/** Which rules judge which resource. A verdict depends on the request alone, and for default classes on the cache of classes. */
import { type ClaimGates, claimSourceViolations, sourceToCopy } from "../../rules/claim-sources.ts";
import { type FieldViolation, judge, type RuleSet, type Verdict, valueAt } from "../../rules/object-rules.ts";
import {
  classRules,
  contentRules,
  defaultClassDriver,
  secondDefault,
  snapshotRules,
} from "../../rules/snapshot-rules.ts";
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

const snapshotGroup = "snapshot.storage.k8s.io";
/** As the document asks for snapshots, and as the API server itself answers for claims. */
const snapshotDenialCode = 400;
const claimDenialCode = 422;

const allowed: Decision = { verdict: { refused: [], ratcheted: [] } };

const byRules =
  (rules: RuleSet): Judge =>
  ({ object, oldObject }) =>
    decisionFrom(judge(rules, object, oldObject), snapshotDenialCode);

const judgeClass: Judge = (request, { otherDefaults }) => {
  const decision = byRules(classRules)(request, {} as Surroundings);
  const duplicate = duplicateDefault(request, otherDefaults);
  if (duplicate === undefined) return decision;
  return duplicate.kind === "unknown"
    ? { ...decision, warnings: [...(decision.warnings ?? []), duplicate.warning] }
    : decisionFrom(
        { ...decision.verdict, refused: [...decision.verdict.refused, duplicate.violation] },
        snapshotDenialCode,
      );
};

type Duplicate =
  | { readonly kind: "unknown"; readonly warning: string }
  | { readonly kind: "found"; readonly violation: FieldViolation };

function duplicateDefault(
  { object, oldObject }: AdmissionRequest,
  otherDefaults: Surroundings["otherDefaults"],
): Duplicate | undefined {
  const driver = defaultClassDriver(object);
  if (driver === undefined || driver === defaultClassDriver(oldObject)) return undefined;
  const others = otherDefaults(driver, String(valueAt(object, "metadata.name") ?? ""));
  if (others === undefined)
    return { kind: "unknown", warning: "whether the driver has another default class is not known yet" };
  return others.length === 0 ? undefined : { kind: "found", violation: secondDefault(driver, others) };
}

const judgeClaim: Judge = ({ object, oldObject }, { gates }) => {
  const refused = claimSourceViolations(object, oldObject, gates());
  const decision = decisionFrom({ refused, ratcheted: [] }, claimDenialCode);
  const copied = oldObject === undefined && refused.length === 0 ? sourceToCopy(object, gates()) : undefined;
  return copied === undefined
    ? decision
    : { ...decision, patch: [{ op: "add", path: "/spec/dataSourceRef", value: copied }] };
};

function decisionFrom(verdict: Verdict, code: number): Decision {
  const { refused, ratcheted } = verdict;
  return {
    verdict,
    denied: refused.length === 0 ? undefined : { code, message: refused.map(({ message }) => message).join("; ") },
    warnings: ratcheted.map(({ message }) => `already broken before this change: ${message}`),
  };
}

const judges: Readonly<Record<string, Judge>> = {
  [`${snapshotGroup}/volumesnapshots`]: byRules(snapshotRules),
  [`${snapshotGroup}/volumesnapshotcontents`]: byRules(contentRules),
  [`${snapshotGroup}/volumesnapshotclasses`]: judgeClass,
  "/persistentvolumeclaims": judgeClaim,
};

/** For metrics: anybody can send a review of anything, and labels must stay few. */
export const resourceLabel = ({ group, resource }: AdmissionRequest): string =>
  Object.hasOwn(judges, `${group}/${resource}`) ? resource : "other";

/** By the resource, whatever the path: the document sends several kinds to one. What is not known is not ours to refuse. */
export function decide(request: AdmissionRequest, surroundings: Surroundings): Decision {
  const { group, resource, operation } = request;
  const found = Object.hasOwn(judges, `${group}/${resource}`) ? judges[`${group}/${resource}`] : undefined;
  const isJudged = operation === "CREATE" || operation === "UPDATE";
  return found === undefined || !isJudged ? allowed : found(request, surroundings);
}
