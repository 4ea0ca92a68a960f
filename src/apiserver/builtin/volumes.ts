/** PersistentVolume: defaults, what is valid, and what may change afterwards. */
import type { PersistentVolume, PersistentVolumeSpec } from "kubernetes-types/core/v1.js";
import { equal, isObject, type JsonObject } from "../../base/json.ts";
import { rfc3339 } from "../../base/time.ts";
import { child, forbidden, indexed, invalid, notSupported, required } from "../../schema/field-error.ts";
import type { ApiObject, Context, FieldError, Strategy } from "../contracts.ts";
import {
  as,
  driverNameErrors,
  ensure,
  immutableField,
  labelNameErrors,
  nodeSelectorErrors,
  oneOf,
  part,
  positiveQuantityErrors,
  resourceErrors,
  setDefault,
  subdomainErrors,
} from "./check.ts";
import { accessModeErrors, volumeModeErrors } from "./claims.ts";

/** In the order in which Kubernetes looks at them; the first is taken, each further one is an error. */
const sourceNames = [
  "hostPath",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "glusterfs",
  "flocker",
  "nfs",
  "rbd",
  "quobyte",
  "cephfs",
  "iscsi",
  "cinder",
  "fc",
  "flexVolume",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "scaleIO",
  "local",
  "storageos",
  "csi",
] as const;

const specOf = (object: ApiObject): PersistentVolumeSpec => as<PersistentVolume>(object).spec ?? {};

export const volumeStrategy: Strategy = {
  defaults: (object) => {
    const spec = ensure(object, "spec");
    setDefault(spec, "persistentVolumeReclaimPolicy", "Retain");
    setDefault(spec, "volumeMode", "Filesystem");
    if (isObject(spec.hostPath)) setDefault(spec.hostPath, "type", "");
    setDefault(ensure(object, "status"), "phase", "Pending");
  },
  prepareForCreate: (object, { world }) => {
    object.status = { phase: "Pending", lastPhaseTransitionTime: rfc3339(world.now()) };
  },
  validateCreate: (object) => volumeErrors(object),
  prepareForUpdate: (object, old, context) => {
    if (context.subresource === "status") stampPhase(object, old, context);
    else object.status = old.status;
  },
  validateUpdate: (object, old, { subresource }) =>
    subresource === "status" ? [] : [...volumeErrors(object), ...changeErrors(object, old)],
  warnings: (object, _old, { subresource }) => (subresource === "status" ? [] : warningsFor(object)),
};

/** The time of a phase's change is the server's business, unless the client says it. */
function stampPhase(object: ApiObject, old: ApiObject, { world }: Context): void {
  const [now, before] = [part(object, "status"), part(old, "status")];
  const said = now.lastPhaseTransitionTime ?? undefined;
  if (now.phase === before.phase) {
    if (said === undefined && before.lastPhaseTransitionTime !== undefined)
      now.lastPhaseTransitionTime = before.lastPhaseTransitionTime;
  } else if (said === undefined || said === before.lastPhaseTransitionTime)
    now.lastPhaseTransitionTime = rfc3339(world.now());
}

function volumeErrors(object: ApiObject): readonly FieldError[] {
  const spec = specOf(object);
  const modes = spec.accessModes ?? [];
  const affinity = spec.nodeAffinity;
  const className = spec.storageClassName ?? "";
  return [
    ...(modes.length === 0 ? [required("spec.accessModes")] : []),
    ...accessModeErrors(modes, "spec.accessModes"),
    ...capacityErrors(spec.capacity ?? {}),
    ...oneOf("spec.persistentVolumeReclaimPolicy", spec.persistentVolumeReclaimPolicy, ["Delete", "Recycle", "Retain"]),
    ...(affinity === undefined ? [] : affinityErrors(affinity)),
    ...sourceErrors(spec),
    ...recycleErrors(spec),
    ...(className === "" ? [] : subdomainErrors("spec.storageClassName", className)),
    ...volumeModeErrors(spec.volumeMode, "spec.volumeMode"),
    ...mountOptionErrors(object),
  ];
}

function capacityErrors(capacity: Readonly<Record<string, string>>): readonly FieldError[] {
  const names = Object.keys(capacity);
  const errors: FieldError[] = names.length === 0 ? [required("spec.capacity")] : [];
  if (!names.includes("storage") || names.length > 1)
    errors.push(notSupported("spec.capacity", names.length === 0 ? null : capacity, ["storage"]));
  for (const [name, value] of Object.entries(capacity)) {
    const field = indexed("spec.capacity", name);
    errors.push(...resourceErrors(field, value), ...positiveQuantityErrors(field, value));
  }
  return errors;
}

const affinityErrors = ({ required: selector }: NonNullable<PersistentVolumeSpec["nodeAffinity"]>) =>
  selector === undefined
    ? [required("spec.nodeAffinity.required", "must specify required node constraints")]
    : nodeSelectorErrors(selector, "spec.nodeAffinity.required");

const sourcesIn = (spec: PersistentVolumeSpec): JsonObject => {
  const all = spec as unknown as JsonObject;
  return Object.fromEntries(sourceNames.filter((name) => all[name] !== undefined).map((name) => [name, all[name]]));
};

function sourceErrors(spec: PersistentVolumeSpec): readonly FieldError[] {
  const [first, ...others] = Object.entries(sourcesIn(spec));
  if (first === undefined) return [required("spec", "must specify a volume type")];
  const [name, source] = first;
  const errors = [...oneSourceErrors(name, isObject(source) ? source : {}, `spec.${name}`)];
  if (name === "local" && spec.nodeAffinity === undefined)
    errors.push(required("spec.nodeAffinity", "Local volume requires node affinity"));
  for (const [other] of others) errors.push(forbidden(`spec.${other}`, "may not specify more than 1 volume type"));
  return errors;
}

/** The kinds of volume Kubernetes still serves; the others are stored as they come. */
function oneSourceErrors(name: string, source: JsonObject, field: string): readonly FieldError[] {
  const text = (key: string): string => String(source[key] ?? "");
  switch (name) {
    case "hostPath":
    case "local":
      return text("path") === ""
        ? [required(child(field, "path"))]
        : backstepErrors(child(field, "path"), text("path"));
    case "nfs":
      return [
        ...(text("server") === "" ? [required(child(field, "server"))] : []),
        ...(text("path") === "" ? [required(child(field, "path"))] : []),
        ...(text("path").startsWith("/")
          ? []
          : [invalid(child(field, "path"), text("path"), "must be an absolute path")]),
      ];
    case "csi":
      return csiErrors(source, field);
    default:
      return [];
  }
}

const backstepErrors = (field: string, path: string): readonly FieldError[] =>
  path.split("/").includes("..") ? [invalid(field, path, "must not contain '..'")] : [];

/** The secret for staging is the one Kubernetes does not look at. */
const checkedSecrets = [
  "controllerPublishSecretRef",
  "controllerExpandSecretRef",
  "nodePublishSecretRef",
  "nodeExpandSecretRef",
];

function csiErrors(source: JsonObject, field: string): readonly FieldError[] {
  return [
    ...driverNameErrors(child(field, "driver"), String(source.driver ?? "")),
    ...((source.volumeHandle ?? "") === "" ? [required(child(field, "volumeHandle"))] : []),
    ...checkedSecrets.flatMap((name) => {
      const reference = source[name];
      return isObject(reference) ? secretReferenceErrors(reference, child(field, name)) : [];
    }),
  ];
}

function secretReferenceErrors(reference: JsonObject, field: string): readonly FieldError[] {
  const [name, namespace] = [String(reference.name ?? ""), String(reference.namespace ?? "")];
  return [
    ...(name === "" ? [required(child(field, "name"))] : subdomainErrors(child(field, "name"), name)),
    ...(namespace === ""
      ? [required(child(field, "namespace"))]
      : labelNameErrors(child(field, "namespace"), namespace)),
  ];
}

const recycleErrors = (spec: PersistentVolumeSpec): readonly FieldError[] =>
  spec.persistentVolumeReclaimPolicy === "Recycle" && /^\/+$/.test(spec.hostPath?.path ?? "")
    ? [forbidden("spec.persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'")]
    : [];

const mountOptions = "volume.beta.kubernetes.io/mount-options";
const withoutMountOptions = ["hostPath", "local", "csi", "fc", "flexVolume", "flocker", "portworxVolume", "scaleIO"];

const mountOptionErrors = (object: ApiObject): readonly FieldError[] =>
  object.metadata.annotations?.[mountOptions] !== undefined &&
  Object.keys(sourcesIn(specOf(object))).every((name) => withoutMountOptions.includes(name))
    ? [forbidden(`metadata.annotations.${mountOptions}`, "may not specify mount options for this volume type")]
    : [];

function changeErrors(object: ApiObject, old: ApiObject): readonly FieldError[] {
  const [now, before] = [specOf(object), specOf(old)];
  const errors: FieldError[] = [];
  if (!equal(comparableSources(now, before), sourcesIn(before)))
    errors.push(forbidden("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation\n"));
  errors.push(...immutableField("volumeMode", now.volumeMode, before.volumeMode));
  if (before.nodeAffinity !== undefined)
    errors.push(...immutableField("nodeAffinity", now.nodeAffinity, before.nodeAffinity));
  return errors;
}

/** A secret for expansion may be added where there was none. */
function comparableSources(now: PersistentVolumeSpec, before: PersistentVolumeSpec): JsonObject {
  const sources = sourcesIn(now);
  if (before.csi === undefined || before.csi.controllerExpandSecretRef !== undefined || now.csi === undefined)
    return sources;
  const { controllerExpandSecretRef: _, ...csi } = now.csi;
  return { ...sources, csi: csi as unknown as JsonObject };
}

const deprecated: Readonly<Record<string, string>> = {
  cephfs: "deprecated in v1.28, non-functional in v1.31+",
  photonPersistentDisk: "deprecated in v1.11, non-functional in v1.16+",
  scaleIO: "deprecated in v1.16, non-functional in v1.22+",
  storageos: "deprecated in v1.22, non-functional in v1.25+",
  glusterfs: "deprecated in v1.25, non-functional in v1.26+",
  rbd: "deprecated in v1.28, non-functional in v1.31+",
};

function warningsFor(object: ApiObject): readonly string[] {
  const spec = specOf(object);
  const annotations = object.metadata.annotations ?? {};
  const warnings: string[] = [];
  const classAnnotation = "volume.beta.kubernetes.io/storage-class";
  if (annotations[classAnnotation] !== undefined)
    warnings.push(
      `metadata.annotations[${classAnnotation}]: deprecated since v1.8; use "storageClassName" attribute instead`,
    );
  if (annotations[mountOptions] !== undefined)
    warnings.push(
      `metadata.annotations[${mountOptions}]: deprecated since v1.31; use "mountOptions" attribute instead`,
    );
  if (spec.persistentVolumeReclaimPolicy === "Recycle")
    warnings.push(
      "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.",
    );
  for (const name of Object.keys(sourcesIn(spec)))
    if (deprecated[name] !== undefined)
      warnings.push(`spec.${name === "storageos" ? "storageOS" : name}: ${deprecated[name]}`);
  return warnings;
}
