/**
 * The two rules of shared resources as admission policies: reserved names, with the ConfigMaps of the allow-lists as parameters, and
 * read-only volumes of whatever makes pods. test/share-policies.test.ts compares each with `shared-resources.ts`.
 */
import {
  onlyIfChanged,
  podMakerMembers,
  shareNamespaces,
  shareRules,
} from "../api/manifests/webhook-configurations.ts";
import { allowListSources, type ShareKind, shareKinds } from "../api/share-lists.ts";
import type { JsonObject } from "../base/json.ts";
import { fix } from "../errors/codes.ts";
import { celText } from "./condition.ts";
import { podMakers } from "./pod-specs.ts";
import {
  bindingObject,
  brokenBefore,
  type PolicyDraft,
  type PolicyVariable,
  policyDomain,
  policyObject,
  type ValidationAction,
  validationObject,
} from "./policy-objects.ts";
import { isPlain } from "./policy-variables.ts";
import { reservedPrefix, shareDriver, shareReferenceFields } from "./shared-resources.ts";

/** Where the ConfigMaps of the allow-lists are. */
export function sharePolicies(actions: readonly ValidationAction[], namespace: string): readonly JsonObject[] {
  return [
    ...shareKinds.flatMap((kind) =>
      pair(namePolicy(kind), actions, { name: allowListSources[kind].configMap, namespace }),
    ),
    ...volumeShapes.flatMap((shape) => pair(volumePolicy(shape), actions)),
  ];
}

/** A policy that refuses, and one that warns. */
interface PolicyPair {
  readonly draft: Omit<PolicyDraft, "validations">;
  readonly refusals: readonly JsonObject[];
  readonly warnings: readonly JsonObject[];
}

function pair({ draft, refusals, warnings }: PolicyPair, actions: readonly ValidationAction[], params?: JsonObject) {
  const warning = draft.name.replace(`.${policyDomain}`, `-broken-before.${policyDomain}`);
  return [
    policyObject({ ...draft, validations: refusals }),
    bindingObject(draft.name, actions, params),
    policyObject({ ...draft, name: warning, validations: warnings }),
    bindingObject(warning, ["Warn"], params),
  ];
}

/** The rules of the webhook for these resources. */
const rulesFor = (plurals: readonly string[]): readonly JsonObject[] =>
  shareRules.flatMap((rule) => {
    const resources = (rule.resources as readonly string[]).filter((plural) => plurals.includes(plural));
    return resources.length === 0 ? [] : [{ ...rule, resources }];
  });

const isLeaving = "object.metadata.?deletionTimestamp.hasValue()";
const said = (text: string): string => `(${isPlain(text)} ? ${text} : 'another text')`;

export const sharePolicyName = (kind: ShareKind): string => `${kind.toLowerCase()}s.${policyDomain}`;

function namePolicy(kind: ShareKind): PolicyPair {
  const field = shareReferenceFields[kind];
  const { configMap } = allowListSources[kind];
  const member = (side: string, name: string): string => `${side}.?spec.?${field}.?${name}.orValue('').trim()`;
  const listed = "variables.parts[0] + '/' + variables.parts[1]";
  const variables: readonly PolicyVariable[] = [
    { name: "name", expression: "object.metadata.?name.orValue('')" },
    { name: "reference", expression: `[${member("object", "namespace")}, ${member("object", "name")}]` },
    // "namespace:name"; anything else is no entry.
    {
      name: "parts",
      expression: "params.?data[?variables.name].orValue('').split(':').map(part, part.trim())",
    },
    { name: "isListed", expression: "size(variables.parts) == 2 && variables.parts.all(part, part != '')" },
    {
      name: "isBroken",
      expression: `!${isLeaving} && variables.name.startsWith(${celText(reservedPrefix)}) && !(variables.isListed && variables.parts == variables.reference)`,
    },
    {
      name: "isKept",
      expression: `oldObject != null && [${member("oldObject", "namespace")}, ${member("oldObject", "name")}] == variables.reference`,
    },
    { name: "found", expression: "variables.reference[0] + '/' + variables.reference[1]" },
  ];
  const message = (beginning: string): string =>
    [
      `variables.isListed ? ${celText(`${beginning}spec.${field}: ${kind} `)} + variables.name + ' refers to ' + ${said("variables.found")}`,
      ` + ${celText(`, but ConfigMap ${configMap} reserves this name for `)} + ${listed} + ${celText(`; refer to that, or ${fix("SNAP-152")} [SNAP-152]`)}`,
      ` : ${celText(`${beginning}metadata.name: ${kind} `)} + variables.name + ${celText(` begins with ${reservedPrefix}, which is reserved for shares that ConfigMap ${configMap} lists; ${fix("SNAP-152")} [SNAP-152]`)}`,
    ].join("");
  const validation = (expression: string, beginning = ""): JsonObject =>
    validationObject(
      expression,
      { code: "SNAP-152", field: "metadata.name", messageExpression: message(beginning), beginning },
      "Forbidden",
    );
  return {
    draft: {
      name: sharePolicyName(kind),
      failurePolicy: "Fail",
      rules: rulesFor([`${kind.toLowerCase()}s`]),
      isConcerned: onlyIfChanged("?spec"),
      variables,
      params: { apiVersion: "v1", kind: "ConfigMap" },
    },
    refusals: [validation("!variables.isBroken || variables.isKept")],
    warnings: [validation("!variables.isBroken || !variables.isKept", brokenBefore)],
  };
}

/** Kinds that keep their volumes in the same place. */
interface VolumeShape {
  readonly makers: readonly [(typeof podMakers)[number], ...(typeof podMakers)[number][]];
}

const volumeShapes: readonly VolumeShape[] = [
  ...Map.groupBy(podMakers, ({ volumes, source }) => JSON.stringify([volumes, source])).values(),
].map((makers) => ({ makers: makers as [(typeof podMakers)[number], ...(typeof podMakers)[number][]] }));

export const volumePolicyName = (kind: string): string | undefined => {
  const shape = volumeShapes.find(({ makers }) => makers.some((maker) => maker.kind === kind));
  return shape && `${shape.makers[0].kind.toLowerCase()}-volumes.${policyDomain}`;
};

function volumePolicy({ makers }: VolumeShape): PolicyPair {
  const [first] = makers;
  const lists = first.volumes.map((path, index) => volumeList(path, first.source, index));
  return {
    draft: {
      name: volumePolicyName(first.kind) ?? "",
      // The driver refuses the same: nothing here may keep a pod from starting.
      failurePolicy: "Ignore",
      rules: rulesFor(makers.map(({ plural }) => plural)),
      namespaceSelector: shareNamespaces,
      isConcerned: onlyIfChanged(...podMakerMembers),
      variables: lists.flatMap(({ variables }) => variables),
    },
    refusals: lists.map(({ refusal }) => refusal),
    warnings: lists.map(({ warning }) => warning),
  };
}

interface VolumeList {
  readonly variables: readonly PolicyVariable[];
  readonly refusal: JsonObject;
  readonly warning: JsonObject;
}

/** A volume is the same one by its name within its list, wherever it stands there. */
function volumeList(path: readonly string[], source: readonly string[], index: number): VolumeList {
  const at = (side: string): string => `${[side, ...path].join(".?")}.orValue([])`;
  const csi = ["v", ...source, "csi"].join(".?");
  const writable = `v, ${csi}.?driver.orValue('') == ${celText(shareDriver)} && !${csi}.?readOnly.orValue(false)`;
  const named = (name: string): string => `${name}${index === 0 ? "" : index + 1}`;
  const [volumes, found, old, added, kept] = ["volumes", "writable", "oldNames", "added", "kept"].map(named);
  const message = (list: string, beginning: string): string => {
    const one = `variables.${list}[0]`;
    const position = `string(variables.${volumes}.map(v, v.name).indexOf(${one}.name))`;
    const field = [...source, "csi", "readOnly"].join(".");
    const object = "request.kind.kind + ' ' + request.namespace + '/' + object.metadata.?name.orValue('')";
    const value = `(${[one, ...source, "csi", "readOnly"].join(".?")}.hasValue() ? 'false' : 'nothing')`;
    return [
      `${celText(`${beginning}${path.join(".")}[`)} + ${position}`,
      celText(`].${field}: must be true, because volumes of ${shareDriver} are read-only, but volume "`),
      `${one}.name + '" of ' + ${object} + ' has ' + ${value}`,
      celText(`; ${fix("SNAP-151", "readOnly: true")} [SNAP-151]`),
    ].join(" + ");
  };
  const validation = (list: string, beginning = ""): JsonObject =>
    validationObject(
      `${isLeaving} || size(variables.${list}) == 0`,
      {
        code: "SNAP-151",
        field: `${path.join(".")}.${["csi", "readOnly"].join(".")}`,
        messageExpression: message(list, beginning),
        beginning,
      },
      "Forbidden",
    );
  return {
    variables: [
      { name: volumes ?? "", expression: at("object") },
      { name: found ?? "", expression: `variables.${volumes}.filter(${writable})` },
      {
        name: old ?? "",
        expression: `oldObject == null ? [] : ${at("oldObject")}.filter(${writable}).map(v, v.name)`,
      },
      { name: added ?? "", expression: `variables.${found}.filter(v, !(v.name in variables.${old}))` },
      { name: kept ?? "", expression: `variables.${found}.filter(v, v.name in variables.${old})` },
    ],
    refusal: validation(added ?? ""),
    warning: validation(kept ?? "", brokenBefore),
  };
}
