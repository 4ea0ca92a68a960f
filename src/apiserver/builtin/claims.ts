/** PersistentVolumeClaim: defaults, what is valid, and what may change afterwards. */
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from "kubernetes-types/core/v1.js";
import { equal, type JsonObject } from "../../base/json.ts";
import { compareQuantities, printQuantity } from "../../base/quantity.ts";
import { child, forbidden, indexed, invalid, notSupported, required } from "../../schema/field-error.ts";
import type { ApiObject, Context, FieldError, Strategy } from "../contracts.ts";
import {
  as,
  ensure,
  immutableField,
  labelSelectorErrors,
  oneOf,
  part,
  positiveQuantityErrors,
  quantityOf,
  resourceErrors,
  setDefault,
  subdomainErrors,
} from "./check.ts";
import { type DataSourceTable, kubernetesDataSources, sourcesOf } from "./data-sources.ts";

const classAnnotation = "volume.beta.kubernetes.io/storage-class";
const accessModes = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const volumeModes = ["Block", "Filesystem"];
const crossNamespaceGate = "CrossNamespaceVolumeDataSource";
const anySourceGate = "AnyVolumeDataSource";

const specOf = (object: ApiObject): PersistentVolumeClaimSpec => as<PersistentVolumeClaim>(object).spec ?? {};
const storageOf = (spec: PersistentVolumeClaimSpec): string | undefined => spec.resources?.requests?.storage;

export function createClaimStrategy(sources: DataSourceTable = kubernetesDataSources): Strategy {
  const sourceContext = (old: ApiObject | undefined, context: Context) => ({
    old: old === undefined ? undefined : sourcesOf(specOf(old)),
    crossNamespace: context.gates.enabled(crossNamespaceGate),
    anyVolumeDataSource: context.gates.enabled(anySourceGate),
  });
  const specErrors = (object: ApiObject, old: ApiObject | undefined, context: Context): readonly FieldError[] => {
    const spec = specOf(object);
    return [...claimSpecErrors(spec, "spec"), ...sources.errors(sourcesOf(spec), sourceContext(old, context))];
  };
  return {
    defaults: (object) => {
      setDefault(ensure(object, "spec"), "volumeMode", "Filesystem");
      setDefault(ensure(object, "status"), "phase", "Pending");
    },
    prepareForCreate: (object, context) => {
      object.status = { phase: "Pending" };
      sources.prepare(sourcesOf(specOf(object)), sourceContext(undefined, context));
    },
    validateCreate: (object, context) => specErrors(object, undefined, context),
    prepareForUpdate: (object, old, context) => {
      if (context.subresource === "status") return;
      object.status = old.status;
      sources.prepare(sourcesOf(specOf(object)), sourceContext(old, context));
    },
    validateUpdate: (object, old, context) =>
      context.subresource === "status"
        ? statusErrors(object)
        : [...specErrors(object, old, context), ...changeErrors(object, old)],
    warnings: (object, _old, context) => (context.subresource === "status" ? [] : warningsFor(object)),
  };
}

export function accessModeErrors(modes: readonly string[], field: string): readonly FieldError[] {
  const unknown = modes.filter((mode) => !accessModes.includes(mode));
  const errors = unknown.map((mode) => notSupported(field, mode, accessModes));
  const known = modes.filter((mode) => accessModes.includes(mode));
  if (known.includes("ReadWriteOncePod") && known.some((mode) => mode !== "ReadWriteOncePod"))
    errors.push(forbidden(field, "may not use ReadWriteOncePod with other access modes"));
  return errors;
}

export const volumeModeErrors = (mode: string | undefined, field: string): readonly FieldError[] =>
  oneOf(field, mode, volumeModes);

/** Without the data sources, which a table of their own judges. */
export function claimSpecErrors(spec: PersistentVolumeClaimSpec, field: string): readonly FieldError[] {
  const modes = spec.accessModes ?? [];
  const storage = storageOf(spec);
  const storageField = indexed(child(field, "resources"), "storage");
  const className = spec.storageClassName ?? "";
  return [
    ...(modes.length === 0 ? [required(child(field, "accessModes"), "at least 1 access mode is required")] : []),
    ...(spec.selector === undefined ? [] : labelSelectorErrors(spec.selector, child(field, "selector"))),
    ...accessModeErrors(modes, child(field, "accessModes")),
    ...(storage === undefined ? [required(storageField)] : positiveQuantityErrors(storageField, storage)),
    ...(className === "" ? [] : subdomainErrors(child(field, "storageClassName"), className)),
    ...volumeModeErrors(spec.volumeMode, child(field, "volumeMode")),
  ];
}

const immutableSpec =
  "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";

/** What a claim may change: its volume once, its class from nothing, and, once bound, its size and attributes. */
function changeErrors(object: ApiObject, old: ApiObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  const [now, before] = [specOf(object), specOf(old)];
  const fromAnnotation = old.metadata.annotations?.[classAnnotation];
  const annotation = object.metadata.annotations?.[classAnnotation];
  const classSet = before.storageClassName === undefined && now.storageClassName !== undefined;
  const fitsAnnotation = fromAnnotation === undefined || now.storageClassName === fromAnnotation;
  const upgraded =
    classSet && fromAnnotation !== undefined && fitsAnnotation && (annotation ?? fromAnnotation) === fromAnnotation;
  if (!upgraded && annotation !== fromAnnotation)
    errors.push(invalid(child("metadata.annotations", classAnnotation), annotation ?? "", "field is immutable"));

  const isBound = part(object, "status").phase === "Bound";
  const same = (key: keyof PersistentVolumeClaimSpec): boolean => equal(now[key], before[key]);
  const changed = (Object.keys({ ...now, ...before }) as (keyof PersistentVolumeClaimSpec)[]).filter((key) => {
    if (key === "volumeName") return (before.volumeName ?? "") !== "" && !same(key);
    if (key === "storageClassName") return !(classSet && fitsAnnotation) && !same(key);
    if (key === "volumeAttributesClassName") return !isBound && !same(key);
    if (key === "resources") return !equal(comparable(now, isBound), comparable(before, isBound));
    return !same(key);
  });
  if (changed.length > 0) errors.push(forbidden("spec", `${immutableSpec}\nchanged: ${changed.sort().join(", ")}`));
  errors.push(...shrinkErrors(object, old), ...immutableField("volumeMode", now.volumeMode, before.volumeMode));
  return errors;
}

/** A bound claim may ask for another size. */
function comparable(spec: PersistentVolumeClaimSpec, isBound: boolean): JsonObject {
  const resources = { ...(spec.resources as unknown as JsonObject | undefined) };
  if (isBound && resources.requests !== undefined) resources.requests = { ...part(resources, "requests"), storage: "" };
  return resources;
}

function shrinkErrors(object: ApiObject, old: ApiObject): readonly FieldError[] {
  const [now, before] = [quantityOf(storageOf(specOf(object))), quantityOf(storageOf(specOf(old)))];
  if (compareQuantities(now, before) >= 0) return [];
  const given = quantityOf(part(part(old, "status"), "capacity").storage);
  if (compareQuantities(now, given) > 0) return [];
  return [forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")];
}

const resizeStates = [
  "ControllerResizeInProgress",
  "ControllerResizeInfeasible",
  "NodeResizeInProgress",
  "NodeResizeInfeasible",
  "NodeResizePending",
];

function statusErrors(object: ApiObject): readonly FieldError[] {
  const status = as<PersistentVolumeClaim>(object).status ?? {};
  const states = Object.entries(
    (status as { allocatedResourceStatuses?: Record<string, string> }).allocatedResourceStatuses ?? {},
  );
  return [
    ...Object.entries(status.capacity ?? {}).flatMap(([name, value]) =>
      resourceErrors(indexed("status.capacity", name), value),
    ),
    ...states
      .filter(([, state]) => !resizeStates.includes(state))
      .map(([name]) => notSupported("status.allocatedResourceStatuses", name, [...resizeStates].sort())),
  ];
}

function warningsFor(object: ApiObject): readonly string[] {
  const { requests, limits } = specOf(object).resources ?? {};
  const warnings: string[] = [];
  if (object.metadata.annotations?.[classAnnotation] !== undefined)
    warnings.push(
      `metadata.annotations[${classAnnotation}]: deprecated since v1.8; use "storageClassName" attribute instead`,
    );
  for (const [word, value] of [
    ["requests", requests?.storage],
    ["limits", limits?.storage],
  ] as const)
    if (value !== undefined && quantityOf(value).nanos % 1_000_000_000n !== 0n)
      warnings.push(
        `spec.resources.${word}[storage]: fractional byte value "${printQuantity(quantityOf(value))}" is invalid, must be an integer`,
      );
  return warnings;
}
