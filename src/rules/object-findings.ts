/** All that is wrong with one object by itself: what admission refuses, and the mistakes that an API server accepts. */
import type { JsonObject } from "../base/json.ts";
import type { ClaimGates } from "./claim-sources.ts";
import { judgedKind, type KindRules, kindRules } from "./kind-rules.ts";
import { manifestHints } from "./manifest-hints.ts";
import type { FieldViolation } from "./object-rules.ts";
import { textMember } from "./values.ts";

export interface ObjectFinding {
  readonly severity: "error" | "warning";
  readonly violation: FieldViolation;
}

export const apiGroupOf = ({ apiVersion }: JsonObject): string => {
  const [group, version] = String(apiVersion ?? "").split("/", 2);
  return version === undefined ? "" : (group ?? "");
};

export const nameOf = (object: JsonObject): string =>
  textMember(object, "metadata.name") ?? textMember(object, "metadata.generateName") ?? "";

/** "VolumeSnapshot team/monday" */
export function describeObject(object: JsonObject): string {
  const namespace = textMember(object, "metadata.namespace");
  return `${object.kind} ${namespace === undefined ? "" : `${namespace}/`}${nameOf(object)}`.trim();
}

/** With an old object the change is judged: what was broken before is a warning. */
export function objectFindings(
  object: JsonObject,
  before: JsonObject | undefined,
  gates: ClaimGates,
): readonly ObjectFinding[] {
  const group = apiGroupOf(object);
  const kind = judgedKind(group, object.kind);
  const hinted = manifestHints(group, object);
  if (kind === undefined) return hinted;
  const rules: KindRules = kindRules[kind];
  const { refused, ratcheted } = rules.judge(object, before, gates);
  return [
    ...refused.map((violation) => ({ severity: "error", violation }) as const),
    ...ratcheted.map((violation) => ({ severity: "warning", violation }) as const),
    ...hinted,
    ...(rules.hints?.(object) ?? []),
  ];
}
