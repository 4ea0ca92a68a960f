/** What the naming and establishing controllers of Kubernetes write into a definition's status. */
import { equal, isObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { object, objects, text, texts, versionsOf } from "../../../schema/fields.ts";
import { goQuote } from "../../../schema/go-text.ts";
import type { ApiObject } from "../../contracts.ts";
import { approvalOf, isProtectedGroup } from "./approval.ts";
import { type NamesView, readNames } from "./view.ts";

export const storageVersionOf = (definition: JsonObject): string | undefined =>
  versionsOf(definition)
    .filter((version) => version.storage === true)
    .map((version) => text(version.name))[0];

/** The storage version has been stored in, from the moment it is one. */
export function withStored(stored: readonly string[], definition: JsonObject): string[] {
  const storage = storageVersionOf(definition);
  return storage === undefined || stored.includes(storage) ? [...stored] : [...stored, storage];
}

interface Taken {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

/** Names that other definitions of the group already hold. */
export function namesTaken(definition: JsonObject, others: readonly ApiObject[]): Taken {
  const group = text(object(definition.spec).group);
  const name = text(object(definition.metadata).name);
  const accepted = others
    .filter((other) => other.metadata.name !== name && text(object(other.spec).group) === group)
    .map((other) => readNames(object(other.status).acceptedNames));
  return {
    resources: new Set(accepted.flatMap((names) => [names.plural, names.singular, ...names.shortNames])),
    kinds: new Set(accepted.flatMap((names) => [names.kind, names.listKind])),
  };
}

interface Naming {
  readonly acceptedNames: JsonObject;
  readonly conflict: { readonly reason: string; readonly message: string } | undefined;
}

function decideNames(requested: NamesView, accepted: NamesView, taken: Taken): Naming {
  let conflict: Naming["conflict"];
  const settle = (
    name: "plural" | "singular" | "kind" | "listKind",
    reason: string,
    used: ReadonlySet<string>,
  ): string => {
    if (requested[name] === accepted[name] || !used.has(requested[name])) return requested[name];
    conflict = { reason, message: `${goQuote(requested[name])} is already in use` };
    return accepted[name];
  };
  const plural = settle("plural", "PluralConflict", taken.resources);
  const singular = settle("singular", "SingularConflict", taken.resources);
  const clashing = requested.shortNames.filter(
    (name) => !accepted.shortNames.includes(name) && taken.resources.has(name),
  );
  if (clashing.length > 0) {
    const messages = clashing.map((name) => `${goQuote(name)} is already in use`);
    conflict = {
      reason: "ShortNamesConflict",
      message: messages.length === 1 ? (messages[0] ?? "") : `[${messages.join(", ")}]`,
    };
  }
  const shortNames = clashing.length > 0 ? accepted.shortNames : requested.shortNames;
  const kind = settle("kind", "KindConflict", taken.kinds);
  const listKind = settle("listKind", "ListKindConflict", taken.kinds);
  const acceptedNames: JsonObject = {
    plural,
    ...(singular === "" ? {} : { singular }),
    ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
    kind,
    ...(listKind === "" ? {} : { listKind }),
    ...(requested.categories.length === 0 ? {} : { categories: [...requested.categories] }),
  };
  return { acceptedNames, conflict };
}

interface Condition {
  readonly type: string;
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

/** The whole status after names were looked at; `time` (RFC 3339) dates conditions that changed. */
export function settledStatus(definition: JsonObject, taken: Taken, time: string): JsonObject {
  const spec = object(definition.spec);
  const status = object(definition.status);
  const { acceptedNames, conflict } = decideNames(readNames(spec.names), readNames(status.acceptedNames), taken);
  const wasEstablished = isTrue(status, "Established");
  const wanted: Condition[] = [
    ...approvalConditions(definition),
    conflict === undefined
      ? { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" }
      : { type: "NamesAccepted", status: "False", ...conflict },
  ];
  if (!wasEstablished)
    wanted.push(
      conflict === undefined
        ? {
            type: "Established",
            status: "True",
            reason: "InitialNamesAccepted",
            message: "the initial names have been accepted",
          }
        : { type: "Established", status: "False", reason: "NotAccepted", message: "not all names are accepted" },
    );
  const storedVersions = withStored(texts(status.storedVersions), definition);
  return { conditions: mergeConditions(status.conditions, wanted, time), acceptedNames, storedVersions };
}

const approvalReasons = {
  approved: { status: "True", reason: "ApprovedAnnotation" },
  bypassed: { status: "False", reason: "UnapprovedAnnotation" },
  missing: { status: "False", reason: "MissingAnnotation" },
  invalid: { status: "False", reason: "InvalidAnnotation" },
} as const;

function approvalConditions(definition: JsonObject): readonly Condition[] {
  if (!isProtectedGroup(text(object(definition.spec).group))) return [];
  const { state, message } = approvalOf(definition);
  return [{ type: "KubernetesAPIApprovalPolicyConformant", ...approvalReasons[state], message }];
}

const isTrue = (status: JsonObject, type: string): boolean =>
  objects(status.conditions).some((condition) => condition.type === type && condition.status === "True");

function mergeConditions(current: JsonValue | undefined, wanted: readonly Condition[], time: string): JsonValue[] {
  const kept: JsonValue[] = [...objects(current)];
  for (const condition of wanted) {
    const at = kept.findIndex((old) => isObject(old) && old.type === condition.type);
    const old = at === -1 ? undefined : object(kept[at]);
    const lastTransitionTime = old?.status === condition.status ? text(old.lastTransitionTime) : time;
    const made: JsonObject = { ...(old ?? {}), lastTransitionTime, ...condition };
    if (at === -1) kept.push(made);
    else if (!equal(old, made)) kept[at] = made;
  }
  return kept;
}
