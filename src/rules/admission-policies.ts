/**
 * The rules of a kind as admission policies of Kubernetes, which need no webhook. A policy refuses what the webhook refuses, with the same
 * field, code and remedy; a second one warns of what was broken before. docs/reference/admission-policies.md lists each rule.
 */
import { type KindName, kindRows } from "../api/kinds.ts";
import { onlyIfChanged, snapshotMembers } from "../api/manifests/webhook-configurations.ts";
import type { JsonObject } from "../base/json.ts";
import { type ErrorCode, errorRows, remedyOf } from "../errors/codes.ts";
import { anyOf, type Case, celText, type Side } from "./condition.ts";
import type { ChangeRule, ObjectRule, ObjectRules } from "./object-rules.ts";
import { createVariables, type Variables } from "./policy-variables.ts";
import { classRules, contentRules, snapshotRules } from "./snapshot-rules.ts";

export const policyApi = "admissionregistration.k8s.io/v1";
/** What happens with a request that a policy refuses: Deny, or Warn and Audit to look first. */
export type ValidationAction = "Deny" | "Warn" | "Audit";

interface PolicySet {
  readonly kind: "VolumeSnapshot" | "VolumeSnapshotContent" | "VolumeSnapshotClass";
  readonly rules: ObjectRules;
}

/** Document 000. */
export const policySets: readonly PolicySet[] = [
  { kind: "VolumeSnapshot", rules: snapshotRules },
  { kind: "VolumeSnapshotContent", rules: contentRules },
  { kind: "VolumeSnapshotClass", rules: classRules },
];

const domain = "storage.snapkeep.dev";
const pluralOf = (kind: PolicySet["kind"]): keyof typeof snapshotMembers =>
  kindRows[kind satisfies KindName].plural as keyof typeof snapshotMembers;
export const policyName = (kind: PolicySet["kind"]): string => `${pluralOf(kind)}.${domain}`;
const warningName = (kind: PolicySet["kind"]): string => `${pluralOf(kind)}-broken-before.${domain}`;

/** All policies and what binds them, in the order in which they are applied. */
export const admissionPolicies = (actions: readonly ValidationAction[]): readonly JsonObject[] =>
  policySets.flatMap((set) => {
    const [name, warning] = [policyName(set.kind), warningName(set.kind)];
    return [
      policyOf(set.kind, name, refusals(set.rules)),
      bindingOf(name, actions),
      policyOf(set.kind, warning, warnings(set.rules)),
      bindingOf(warning, ["Warn"]),
    ];
  });

function policyOf(kind: PolicySet["kind"], name: string, validationsWith: ValidationsWith): JsonObject {
  const variables = createVariables();
  const validations = validationsWith(variables);
  return {
    apiVersion: policyApi,
    kind: "ValidatingAdmissionPolicy",
    metadata: { name },
    spec: {
      // The server evaluates it by itself: there is nothing that could be down.
      failurePolicy: "Fail",
      matchConstraints: {
        matchPolicy: "Equivalent",
        resourceRules: [
          {
            apiGroups: [kindRows[kind].group],
            apiVersions: [...kindRows[kind].versions],
            operations: ["CREATE", "UPDATE"],
            resources: [kindRows[kind].plural],
            scope: "*",
          },
        ],
      },
      // An update that leaves alone what the rules read is not judged: finalizers can always be removed.
      matchConditions: [{ name: "rules-are-concerned", expression: onlyIfChanged(...snapshotMembers[pluralOf(kind)]) }],
      variables: variables.all().map((variable) => ({ ...variable })),
      validations: [...validations],
    },
  };
}

const bindingOf = (policy: string, actions: readonly ValidationAction[]): JsonObject => ({
  apiVersion: policyApi,
  kind: "ValidatingAdmissionPolicyBinding",
  metadata: { name: policy },
  spec: { policyName: policy, validationActions: [...actions] },
});

export const hasPolicy = ({ withoutPolicy }: ObjectRule): boolean => withoutPolicy === undefined;

/** A rule, and the policy that has it; or why none has. */
export interface PolicyRow {
  readonly code: ErrorCode;
  readonly kind: string;
  readonly field: string;
  readonly policy?: string;
  readonly why?: string;
}

/** Every rule of admission, whoever enforces it. */
export const policyRows: readonly PolicyRow[] = [
  ...policySets.flatMap(({ kind, rules: { objects, changes } }) =>
    [...changes, ...objects].map(({ code, field, withoutPolicy }) => ({
      code,
      kind,
      field,
      ...(withoutPolicy === undefined ? { policy: policyName(kind) } : { why: withoutPolicy }),
    })),
  ),
  {
    code: "SNAP-121",
    kind: "VolumeSnapshotClass",
    field: "metadata.annotations",
    why: "It compares classes with each other, and a policy sees no other objects: the webhook has it.",
  },
  ...(["SNAP-131", "SNAP-132", "SNAP-133", "SNAP-134", "SNAP-135"] as const).map((code) => ({
    code,
    kind: "PersistentVolumeClaim",
    field: "spec.dataSource, spec.dataSourceRef",
    why: "The API server drops the source before it asks a validating policy: the webhook has it.",
  })),
  ...(["SNAP-151", "SNAP-152"] as const).map((code) => ({
    code,
    kind: code === "SNAP-151" ? "whatever makes pods" : "SharedSecret, SharedConfigMap",
    field: code === "SNAP-151" ? "csi.readOnly of a volume" : "metadata.name",
    why: "Not yet: the webhook, the controller and the driver have it.",
  })),
];

type ValidationsWith = (variables: Variables) => readonly JsonObject[];

/** A variable that says whether the rule is broken, now or before. */
function brokenIn({ cases, code }: ObjectRule, { define, names }: Variables, side: Side): string {
  const condition = anyOf(...cases.map(({ when }) => when));
  const name = `${side === "object" ? "is" : "was"}Broken${code.replace("SNAP-", "")}`;
  return define(name, condition.cel(names(side)));
}

/** The webhook names changes first. Kubernetes answers with the first validation that fails. */
const refusals =
  ({ objects, changes }: ObjectRules): ValidationsWith =>
  (variables) => [
    ...changes
      .filter(hasPolicy)
      .map((rule) => validation(rule, changeHolds(rule, objects, variables), messageOf(rule, variables))),
    ...objects.filter(hasPolicy).map((rule) => {
      const [is, was] = [brokenIn(rule, variables, "object"), brokenIn(rule, variables, "oldObject")];
      return validation(rule, `!${is} || (oldObject != null && ${was})`, messageOf(rule, variables));
    }),
  ];

function changeHolds(rule: ChangeRule, objects: ObjectRules["objects"], variables: Variables): string {
  const mayBeMended = objects
    .filter(({ code }) => rule.unlessBroken.includes(code))
    .map((earlier) => brokenIn(earlier, variables, "oldObject"));
  const changes = anyOf(...rule.cases.map(({ when }) => when)).cel(variables.names("object"));
  return ["oldObject == null", ...mayBeMended, `!${changes}`].join(" || ");
}

const brokenBefore = "already broken before this change: ";
const warnings =
  ({ objects }: ObjectRules): ValidationsWith =>
  (variables) =>
    objects.filter(hasPolicy).map((rule) => {
      const [is, was] = [brokenIn(rule, variables, "object"), brokenIn(rule, variables, "oldObject")];
      const expression = `oldObject == null || !${is} || !${was}`;
      return validation(rule, expression, messageOf(rule, variables, brokenBefore), brokenBefore);
    });

/** Invalid is status 422: a policy cannot answer 400, which document 000 asks for. */
const validation = (rule: ObjectRule, expression: string, messageExpression: string, beginning = ""): JsonObject => ({
  expression,
  // Said where the expression for the message fails.
  message: `${beginning}${rule.field}: ${errorRows[rule.code].title}. ${remedyOf(rule.code)} [${rule.code}]`,
  messageExpression,
  reason: "Invalid",
});

function messageOf({ cases, code, field }: ObjectRule, variables: Variables, beginning = ""): string {
  const names = variables.names("object");
  const text = ([first, ...rest]: readonly Case[]): string => {
    if (first === undefined) return "''";
    const said = first.says.cel(names);
    return rest.length === 0 ? said : `${first.when.cel(names)} ? ${said} : ${text(rest)}`;
  };
  return `${celText(`${beginning}${field}: `)} + (${text(cases)}) + ${celText(` [${code}]`)}`;
}
