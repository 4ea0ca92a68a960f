/**
 * The rules for data sources of claims as admission policies, for Kubernetes 1.36 or newer. A validating policy is asked too late: the API
 * server has dropped the source by then. So a mutating one, which is asked before, notes in annotations what would be dropped, and the
 * validating one refuses what was noted. It also copies a custom kind to spec.dataSourceRef, where the API server keeps it.
 */
import { annotations } from "../api/names.ts";
import type { JsonObject } from "../base/json.ts";
import { fix } from "../errors/codes.ts";
import { celText } from "./condition.ts";
import {
  bindingObject,
  mutatingBindingObject,
  mutatingPolicyObject,
  type PolicyVariable,
  policyDomain,
  policyObject,
  type ValidationAction,
} from "./policy-objects.ts";
import { isPlain } from "./policy-variables.ts";

const noting = `claim-sources-noted.${policyDomain}`;
export const claimPolicyName = `claim-sources.${policyDomain}`;

const onCreate: JsonObject = {
  apiGroups: [""],
  apiVersions: ["v1"],
  operations: ["CREATE"],
  resources: ["persistentvolumeclaims"],
  scope: "*",
};

export const claimPolicies = (actions: readonly ValidationAction[]): readonly JsonObject[] => [
  refusing,
  bindingObject(claimPolicyName, actions),
  mutatingPolicyObject({
    name: noting,
    rules: [onCreate],
    isConcerned: "has(object.spec.dataSource) || has(object.spec.dataSourceRef)",
    variables,
    mutations: [noted("problem", annotations.droppedSource), noted("elsewhere", annotations.sourceNamespace), copied],
  }),
  mutatingBindingObject(noting),
];

/** An absent group is null at this point, and a null must not get into a patch. */
const memberOf = (source: string, name: string): string =>
  `${source}.?${name}.orValue(null) == null ? '' : string(${source}.?${name}.orValue(''))`;
const isAbsent = (source: string): string => `${source}.orValue(null) == null`;
const [dataSource, dataSourceRef] = ["object.spec.?dataSource", "object.spec.?dataSourceRef"];

const variables: readonly PolicyVariable[] = [
  ...(
    [
      ["source", dataSource],
      ["reference", dataSourceRef],
    ] as const
  ).flatMap(([name, source]) => [
    { name: `${name}Group`, expression: memberOf(source, "apiGroup") },
    { name: `${name}Kind`, expression: memberOf(source, "kind") },
    { name: `${name}Name`, expression: memberOf(source, "name") },
  ]),
  { name: "elsewhere", expression: memberOf(dataSourceRef, "namespace") },
  { name: "sourceProblem", expression: problemOf("source", dataSource) },
  { name: "referenceProblem", expression: problemOf("reference", dataSourceRef) },
  {
    name: "problem",
    expression: "variables.sourceProblem != '' ? variables.sourceProblem : variables.referenceProblem",
  },
];

/** What would be said of a source, or nothing; in the order of `claim-sources.ts`, and in its words. */
function problemOf(name: "source" | "reference", source: string): string {
  const field = name === "source" ? "spec.dataSource" : "spec.dataSourceRef";
  const [group, kind, named] = ["Group", "Kind", "Name"].map((member) => `variables.${name}${member}`) as [
    string,
    string,
    string,
  ];
  const shown = (value: string): string => `(${isPlain(value)} ? '"' + ${value} + '"' : 'another text')`;
  const missing = (member: string): string => celText(`${field}.${member}: must be set; ${fix("SNAP-133")} [SNAP-133]`);
  const versioned = [
    celText(`${field}.apiGroup: is `),
    shown(group),
    celText(", but a group has no version; write "),
    `${shown(`${group}.split('/')[0]`)} + ${celText(" [SNAP-135]")}`,
  ].join(" + ");
  const core = [
    celText(`${field}: names a `),
    shown(kind),
    celText(" of the core group, which cannot be a data source: the volume would be empty; "),
    `(${kind} == 'VolumeSnapshot' ? 'add apiGroup: snapshot.storage.k8s.io' : ${celText(fix("SNAP-131"))})`,
    celText(" [SNAP-131]"),
  ].join(" + ");
  return [
    `${isAbsent(source)} ? ''`,
    `${kind} == '' ? ${missing("kind")}`,
    `${named} == '' ? ${missing("name")}`,
    `${group}.contains('/') ? ${versioned}`,
    `${group} == '' && ${kind} != 'PersistentVolumeClaim' ? ${core} : ''`,
  ].join(" : ");
}

/** The value of the variable as an annotation, if there is one. */
function noted(variable: string, annotation: string): string {
  const path = celText(`/metadata/annotations/${annotation.replaceAll("/", "~1")}`);
  const withMap = `object.metadata.?annotations.hasValue() ? [] : [JSONPatch{op: "add", path: "/metadata/annotations", value: {}}]`;
  return `variables.${variable} == '' ? [] : (${withMap}) + [JSONPatch{op: "add", path: ${path}, value: variables.${variable}}]`;
}

const isCustom =
  "variables.sourceGroup != '' && !(variables.sourceGroup == 'snapshot.storage.k8s.io' && variables.sourceKind == 'VolumeSnapshot')";
const copied = [
  `variables.problem == '' && ${isCustom} && ${isAbsent(dataSourceRef)}`,
  `? [JSONPatch{op: "add", path: "/spec/dataSourceRef", value: {"apiGroup": variables.sourceGroup, "kind": variables.sourceKind, "name": variables.sourceName}}] : []`,
].join(" ");

const annotation = (name: string): string => `object.metadata.?annotations[?${celText(name)}].orValue('')`;

/** It looks at what is about to be stored. */
const refusing = policyObject({
  name: claimPolicyName,
  failurePolicy: "Fail",
  rules: [onCreate],
  isConcerned: `${annotation(annotations.droppedSource)} != '' || ${annotation(annotations.sourceNamespace)} != ''`,
  variables: [
    { name: "problem", expression: annotation(annotations.droppedSource) },
    { name: "writtenNamespace", expression: annotation(annotations.sourceNamespace) },
  ],
  validations: [
    {
      expression: "variables.problem == ''",
      message: `spec.dataSource: ${fix("SNAP-131")} [SNAP-131]`,
      messageExpression: "variables.problem",
      reason: "Invalid",
    },
    {
      expression:
        "variables.writtenNamespace == '' || object.spec.?dataSourceRef.?namespace.orValue('') == variables.writtenNamespace",
      message: `spec.dataSourceRef.namespace: ${fix("SNAP-134")} [SNAP-134]`,
      messageExpression: [
        celText("spec.dataSourceRef.namespace: is "),
        `(${isPlain("variables.writtenNamespace")} ? '"' + variables.writtenNamespace + '"' : 'another text')`,
        celText(
          `, but this cluster drops the namespace and the source with it: its feature gate CrossNamespaceVolumeDataSource is off; ${fix("SNAP-134", "the gate")} [SNAP-134]`,
        ),
      ].join(" + "),
      reason: "Invalid",
    },
  ],
});
