/**
 * The rules of a kind as admission policies of Kubernetes, which need no webhook. A policy refuses what the webhook refuses, with the same
 * field, code and remedy; a second one warns of what was broken before. docs/reference/admission-policies.md lists each rule.
 */
import { type KindName, kindRows } from "../api/kinds.ts";
import { onlyIfChanged, snapshotMembers } from "../api/manifests/webhook-configurations.ts";
import type { JsonObject } from "../base/json.ts";
import { anyOf, type Case, celText, type Side } from "./condition.ts";
import type { ChangeRule, ObjectRule, ObjectRules } from "./object-rules.ts";
import {
  bindingObject,
  brokenBefore,
  policyDomain,
  policyObject,
  type ValidationAction,
  validationObject,
} from "./policy-objects.ts";
import { createVariables, type Variables } from "./policy-variables.ts";
import { classRules, contentRules, snapshotRules } from "./snapshot-rules.ts";

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

const pluralOf = (kind: PolicySet["kind"]): keyof typeof snapshotMembers =>
  kindRows[kind satisfies KindName].plural as keyof typeof snapshotMembers;
export const policyName = (kind: PolicySet["kind"]): string => `${pluralOf(kind)}.${policyDomain}`;
const warningName = (kind: PolicySet["kind"]): string => `${pluralOf(kind)}-broken-before.${policyDomain}`;

/** Policies and what binds them, in the order in which they are applied. */
export const admissionPolicies = (actions: readonly ValidationAction[]): readonly JsonObject[] =>
  policySets.flatMap((set) => {
    const [name, warning] = [policyName(set.kind), warningName(set.kind)];
    return [
      policyOf(set.kind, name, refusals(set.rules)),
      bindingObject(name, actions),
      policyOf(set.kind, warning, warnings(set.rules)),
      bindingObject(warning, ["Warn"]),
    ];
  });

function policyOf(kind: PolicySet["kind"], name: string, validationsWith: ValidationsWith): JsonObject {
  const variables = createVariables();
  const validations = validationsWith(variables);
  return policyObject({
    name,
    failurePolicy: "Fail",
    rules: [
      {
        apiGroups: [kindRows[kind].group],
        apiVersions: [...kindRows[kind].versions],
        operations: ["CREATE", "UPDATE"],
        resources: [kindRows[kind].plural],
        scope: "*",
      },
    ],
    isConcerned: onlyIfChanged(...snapshotMembers[pluralOf(kind)]),
    variables: variables.all(),
    validations,
  });
}

export const hasPolicy = ({ withoutPolicy }: ObjectRule): boolean => withoutPolicy === undefined;

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

const warnings =
  ({ objects }: ObjectRules): ValidationsWith =>
  (variables) =>
    objects.filter(hasPolicy).map((rule) => {
      const [is, was] = [brokenIn(rule, variables, "object"), brokenIn(rule, variables, "oldObject")];
      const expression = `oldObject == null || !${is} || !${was}`;
      return validation(rule, expression, messageOf(rule, variables, brokenBefore), brokenBefore);
    });

const validation = (
  { code, field }: ObjectRule,
  expression: string,
  messageExpression: string,
  beginning?: string,
): JsonObject =>
  validationObject(
    expression,
    { code, field, messageExpression, ...(beginning === undefined ? {} : { beginning }) },
    "Invalid",
  );

function messageOf({ cases, code, field }: ObjectRule, variables: Variables, beginning = ""): string {
  const names = variables.names("object");
  const text = ([first, ...rest]: readonly Case[]): string => {
    if (first === undefined) return "''";
    const said = first.says.cel(names);
    return rest.length === 0 ? said : `${first.when.cel(names)} ? ${said} : ${text(rest)}`;
  };
  return `${celText(`${beginning}${field}: `)} + (${text(cases)}) + ${celText(` [${code}]`)}`;
}
