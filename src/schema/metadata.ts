/** What is the same for the metadata of every kind: what may be written into it, and what may never change. */
import { equal, isObject, type JsonValue } from "../base/json.ts";
import type { Metadata, NameRule, OwnerReference } from "./contracts.ts";
import { child, type FieldError, forbidden, indexed, invalid, required, tooLong } from "./field-error.ts";
import { goQuote, goStructJson } from "./go-text.ts";
import { labelProblems, labelValueProblems, nameProblems, qualifiedNameProblems } from "./names.ts";

const annotationBytesMax = 256 * 1024;
const immutable = "field is immutable";
export const orphanFinalizer = "orphan";
export const foregroundFinalizer = "foregroundDeletion";

interface Rules {
  readonly scope: "namespace" | "cluster";
  readonly nameRule: NameRule;
}

/** Judges the metadata of an object about to be created, and again of every later state. */
export function metadataErrors(metadata: Metadata, { scope, nameRule }: Rules): readonly FieldError[] {
  return [
    ...nameErrors(metadata, nameRule),
    ...namespaceErrors(metadata, scope),
    ...labelErrors(metadata.labels ?? {}),
    ...annotationErrors(metadata.annotations ?? {}),
    ...ownerErrors(metadata.ownerReferences ?? []),
    ...finalizerErrors(metadata.finalizers ?? []),
    ...managedFieldsErrors(metadata.managedFields ?? []),
  ];
}

function nameErrors(metadata: Metadata, rule: NameRule): readonly FieldError[] {
  const { name = "", generateName = "" } = metadata;
  const prefix = generateName === "" ? [] : nameProblems(rule, generateName, true);
  const errors = prefix.map((problem) => invalid("metadata.generateName", generateName, problem));
  if (name === "") return [...errors, required("metadata.name", "name or generateName is required")];
  return [...errors, ...nameProblems(rule, name).map((problem) => invalid("metadata.name", name, problem))];
}

function namespaceErrors({ namespace = "" }: Metadata, scope: Rules["scope"]): readonly FieldError[] {
  const field = "metadata.namespace";
  if (scope === "cluster") return namespace === "" ? [] : [forbidden(field, "not allowed on this type")];
  if (namespace === "") return [required(field)];
  return labelProblems(namespace).map((problem) => invalid(field, namespace, problem));
}

export function labelErrors(
  labels: Readonly<Record<string, string>>,
  field = "metadata.labels",
): readonly FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...qualifiedNameProblems(key).map((problem) => invalid(field, key, problem)),
    ...labelValueProblems(value).map((problem) => invalid(field, value, problem)),
  ]);
}

export function annotationErrors(
  annotations: Readonly<Record<string, string>>,
  field = "metadata.annotations",
): readonly FieldError[] {
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    for (const problem of qualifiedNameProblems(key.toLowerCase())) errors.push(invalid(field, key, problem));
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > annotationBytesMax) errors.push(tooLong(field, annotationBytesMax));
  return errors;
}

function ownerErrors(owners: readonly OwnerReference[]): readonly FieldError[] {
  const field = "metadata.ownerReferences";
  const errors = owners.flatMap((owner) => oneOwnerErrors(owner, field));
  const controllers = owners.filter(({ controller }) => controller === true);
  const [first, ...others] = controllers.map(({ kind, name }) => `${kind}/${name}`);
  for (const other of others)
    errors.push(
      invalid(
        field,
        goStructJson(owners.map(inOrder)),
        `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${other}`,
      ),
    );
  return errors;
}

/** As the Go struct has them. */
const inOrder = ({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): object => ({
  apiVersion,
  kind,
  name,
  uid,
  controller,
  blockOwnerDeletion,
});

function oneOwnerErrors(owner: OwnerReference, field: string): FieldError[] {
  const { apiVersion = "", kind = "", name = "", uid = "" } = owner;
  const errors: FieldError[] = [];
  if (apiVersion.split("/").at(-1) === "")
    errors.push(invalid(child(field, "apiVersion"), apiVersion, "version must not be empty"));
  if (kind === "") errors.push(invalid(child(field, "kind"), kind, "must not be empty"));
  if (name === "") errors.push(invalid(child(field, "name"), name, "must not be empty"));
  if (uid === "") errors.push(invalid(child(field, "uid"), uid, "must not be empty"));
  if (apiVersion === "v1" && kind === "Event")
    errors.push(invalid(field, owner, "/v1, Kind=Event is disallowed from being an owner"));
  return errors;
}

function finalizerErrors(finalizers: readonly string[]): readonly FieldError[] {
  const field = "metadata.finalizers";
  const errors = finalizers.flatMap((name) =>
    qualifiedNameProblems(name).map((problem) => invalid(field, name, problem)),
  );
  if (finalizers.includes(orphanFinalizer) && finalizers.includes(foregroundFinalizer))
    errors.push(
      invalid(field, finalizers, `finalizer ${orphanFinalizer} and ${foregroundFinalizer} cannot be both set`),
    );
  return errors;
}

function managedFieldsErrors(entries: readonly JsonValue[]): readonly FieldError[] {
  return entries.flatMap((entry, index) => {
    const field = indexed("metadata.managedFields", index);
    const { operation = "", fieldsType = "" } = isObject(entry) ? entry : {};
    const errors: FieldError[] = [];
    if (operation !== "Apply" && operation !== "Update")
      errors.push(invalid(child(field, "operation"), operation, "must be `Apply` or `Update`"));
    if (fieldsType !== "" && fieldsType !== "FieldsV1")
      errors.push(invalid(child(field, "fieldsType"), fieldsType, "must be `FieldsV1`"));
    return errors;
  });
}

/** What Kubernetes says of updated metadata besides `metadataErrors`, some of it once more. */
export const metadataUpdateErrors = (metadata: Metadata, old: Metadata): readonly FieldError[] => [
  ...metadataChangeErrors(metadata, old),
  ...labelErrors(metadata.labels ?? {}),
  ...annotationErrors(metadata.annotations ?? {}),
  ...ownerErrors(metadata.ownerReferences ?? []),
  ...managedFieldsErrors(metadata.managedFields ?? []),
];

/** What an update may not touch. The core has already put back what clients may leave out (uid, dates). */
export function metadataChangeErrors(metadata: Metadata, old: Metadata): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp !== undefined) errors.push(...newFinalizerErrors(metadata, old));
  if ((metadata.resourceVersion ?? "") === "")
    errors.push(invalid("metadata.resourceVersion", "", "must be specified for an update"));
  for (const field of ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp"] as const)
    if (!equal(metadata[field], old[field]))
      errors.push(invalid(`metadata.${field}`, metadata[field] ?? null, immutable));
  if (metadata.deletionGracePeriodSeconds !== old.deletionGracePeriodSeconds)
    errors.push(invalid("metadata.deletionGracePeriodSeconds", metadata.deletionGracePeriodSeconds ?? null, immutable));
  return errors;
}

function newFinalizerErrors(metadata: Metadata, old: Metadata): readonly FieldError[] {
  const added = (metadata.finalizers ?? []).filter((name) => !old.finalizers?.includes(name));
  if (added.length === 0) return [];
  const names = `[]string{${[...new Set(added)].sort().map(goQuote).join(", ")}}`;
  return [
    forbidden(
      "metadata.finalizers",
      `no new finalizers can be added if the object is being deleted, found new finalizers ${names}`,
    ),
  ];
}
