/**
 * Which rules judge which kind: the one table for the webhook, the controllers, lint and the embedded server.
 *
 * judge:  what admission refuses; lint calls it an error.
 * strict: the same for an object by itself, whatever the cluster supports. The snapshot-controller labels objects that break it.
 * hints:  mistakes that an API server accepts and that do not do what their writer meant. For whoever reads manifests.
 */
import { type KindName, kindRows } from "../api/kinds.ts";
import type { JsonObject } from "../base/json.ts";
import { type ClaimGates, claimSourceViolations } from "./claim-sources.ts";
import { backupClassViolations, grantViolations } from "./manifest-rules.ts";
import {
  type FieldViolation,
  judgeObject,
  type ObjectRules,
  type RuleVerdict,
  strictViolations,
} from "./object-rules.ts";
import { classRules, contentRules, snapshotRules } from "./snapshot-rules.ts";

interface Hint {
  readonly severity: "error" | "warning";
  readonly violation: FieldViolation;
}

export interface KindRules {
  /** Without an old object this is a creation. */
  judge(after: JsonObject, before: JsonObject | undefined, gates: ClaimGates): RuleVerdict;
  hints?(object: JsonObject): readonly Hint[];
}

const allowed: RuleVerdict = { refused: [], ratcheted: [] };

const bySet = (rules: ObjectRules) => ({
  judge: (after: JsonObject, before: JsonObject | undefined): RuleVerdict => judgeObject(rules, after, before),
  strict: (object: JsonObject): readonly FieldViolation[] => strictViolations(rules, object),
});

const hints =
  (severity: Hint["severity"], violationsOf: (object: JsonObject) => readonly FieldViolation[]) =>
  (object: JsonObject): readonly Hint[] =>
    violationsOf(object).map((violation) => ({ severity, violation }));

export const kindRules = {
  VolumeSnapshot: bySet(snapshotRules),
  VolumeSnapshotContent: bySet(contentRules),
  VolumeSnapshotClass: { ...bySet(classRules), hints: hints("warning", backupClassViolations) },
  PersistentVolumeClaim: {
    judge: (after, before, gates) => ({ ...allowed, refused: claimSourceViolations(after, before, gates) }),
  },
  ReferenceGrant: { judge: () => allowed, hints: hints("error", grantViolations) },
} as const satisfies Partial<Record<KindName, KindRules>>;

export type JudgedKind = keyof typeof kindRules;
const kinds = Object.keys(kindRules) as readonly JudgedKind[];

/** Finds the kind that an object names; undefined: there are no rules for it. */
export const judgedKind = (group: string, kind: unknown): JudgedKind | undefined =>
  kinds.find((name) => name === kind && kindRows[name].group === group);
/** Finds the kind whose resource a request names. */
export const judgedResource = (group: string, plural: string): JudgedKind | undefined =>
  kinds.find((name) => kindRows[name].plural === plural && kindRows[name].group === group);
