/** The kinds of storage.k8s.io. */
import type { TopologySelectorTerm } from "kubernetes-types/core/v1.js";
import type {
  CSIDriver,
  CSINode,
  CSINodeDriver,
  CSIStorageCapacity,
  StorageClass,
  VolumeAttachment,
  VolumeError,
} from "kubernetes-types/storage/v1.js";
import { equal } from "../../base/json.ts";
import {
  child,
  duplicate,
  forbidden,
  indexed,
  invalid,
  notSupported,
  required,
  tooLong,
} from "../../schema/field-error.ts";
import { goStructJson } from "../../schema/go-text.ts";
import type { ApiObject, FieldError, Strategy } from "../contracts.ts";
import {
  as,
  driverNameErrors,
  ensure,
  immutable,
  immutableField,
  labelSelectorErrors,
  oneOf,
  part,
  qualifiedNameErrors,
  quantityOf,
  setDefault,
  subdomainErrors,
} from "./check.ts";

const parametersMax = 512;
const parameterBytesMax = 256 * 1024;
const errorMessageBytesMax = 1024;
const nodeIdBytesMax = 256;
const tokenSecondsMin = 600;

const bytesIn = (entries: Readonly<Record<string, string>>): number =>
  Object.entries(entries).reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);

export const storageClassStrategy: Strategy = {
  defaults: (object) => {
    setDefault(object, "reclaimPolicy", "Delete");
    setDefault(object, "volumeBindingMode", "Immediate");
  },
  validateCreate: (object) => classErrors(as<StorageClass>(object)),
  validateUpdate: (object, old) => {
    const [now, before] = [as<StorageClass>(object), as<StorageClass>(old)];
    return [
      ...classErrors(now),
      ...immutableField("parameters", now.parameters, before.parameters),
      ...immutableField("provisioner", now.provisioner, before.provisioner),
      ...immutableField("reclaimPolicy", now.reclaimPolicy, before.reclaimPolicy),
      ...immutableField("volumeBindingMode", now.volumeBindingMode, before.volumeBindingMode),
    ];
  },
};

function classErrors(storageClass: StorageClass): readonly FieldError[] {
  const { provisioner, parameters = {}, allowedTopologies = [] } = storageClass;
  return [
    ...(provisioner === "" ? [required("provisioner")] : qualifiedNameErrors("provisioner", provisioner.toLowerCase())),
    ...parameterErrors(parameters),
    ...oneOf("reclaimPolicy", storageClass.reclaimPolicy, ["Delete", "Retain"]),
    ...oneOf("volumeBindingMode", storageClass.volumeBindingMode, ["Immediate", "WaitForFirstConsumer"]),
    ...allowedTopologies.flatMap((term, index) => topologyErrors(term, indexed("allowedTopologies", index))),
  ];
}

function parameterErrors(parameters: Readonly<Record<string, string>>): readonly FieldError[] {
  const keys = Object.keys(parameters);
  if (keys.length > parametersMax) return [tooLong("parameters", parametersMax)];
  const errors: FieldError[] = keys.includes("") ? [invalid("parameters", "", "field can not be empty.")] : [];
  if (bytesIn(parameters) > parameterBytesMax) errors.push(tooLong("parameters", parameterBytesMax));
  return errors;
}

function topologyErrors({ matchLabelExpressions = [] }: TopologySelectorTerm, at: string): readonly FieldError[] {
  const seen = new Set<string>();
  return matchLabelExpressions.flatMap(({ key, values: given }, index) => {
    const values = given ?? [];
    const field = indexed(child(at, "matchLabelExpressions"), index);
    const errors: FieldError[] = values.length === 0 ? [required(child(field, "values"))] : [];
    for (const [position, value] of values.entries())
      if (values.indexOf(value) !== position) errors.push(duplicate(indexed(child(field, "values"), position), value));
    errors.push(...qualifiedNameErrors(child(field, "key"), key));
    if (seen.has(key)) errors.push(duplicate(child(field, "key"), key));
    seen.add(key);
    return errors;
  });
}

export const csiDriverStrategy: Strategy = {
  defaults: (object) => {
    const spec = ensure(object, "spec");
    setDefault(spec, "attachRequired", true);
    setDefault(spec, "podInfoOnMount", false);
    setDefault(spec, "storageCapacity", false);
    setDefault(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    setDefault(spec, "volumeLifecycleModes", ["Persistent"]);
    setDefault(spec, "requiresRepublish", false);
    setDefault(spec, "seLinuxMount", false);
  },
  warnings: (object, old) => tokenWarnings(object, old),
  validateCreate: (object) => driverErrors(as<CSIDriver>(object)),
  validateUpdate: (object, old) => {
    const [{ spec: now }, { spec: before }] = [as<CSIDriver>(object), as<CSIDriver>(old)];
    return [
      ...driverErrors(as<CSIDriver>(object)),
      ...immutableField("spec.attachedRequired", now.attachRequired, before.attachRequired),
      ...immutableField("spec.volumeLifecycleModes", now.volumeLifecycleModes, before.volumeLifecycleModes),
    ];
  },
};

function tokenWarnings(object: ApiObject, old: ApiObject | undefined): readonly string[] {
  const { tokenRequests = [], serviceAccountTokenInSecrets } = part(object, "spec");
  const before = old === undefined ? [] : (part(old, "spec").tokenRequests ?? []);
  const isNews = Array.isArray(tokenRequests) && tokenRequests.length > 0 && !equal(tokenRequests, before);
  return isNews && serviceAccountTokenInSecrets === undefined
    ? [
        "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes",
      ]
    : [];
}

function driverErrors({ spec }: CSIDriver): readonly FieldError[] {
  const audiences = new Set<string>();
  const lifecycles = ["Persistent", "Ephemeral"];
  return [
    ...oneOf("spec.fsGroupPolicy", spec.fsGroupPolicy, ["File", "None", "ReadWriteOnceWithFSType"]),
    ...(spec.tokenRequests ?? []).flatMap(({ audience, expirationSeconds: seconds }, index) => {
      const field = indexed("spec.tokenRequests", index);
      if (audiences.has(audience)) return [duplicate(child(field, "audience"), audience)];
      audiences.add(audience);
      if (seconds === undefined || seconds >= tokenSecondsMin) return [];
      return [invalid(child(field, "expirationSeconds"), seconds, "may not specify a duration less than 10 minutes")];
    }),
    ...(spec.volumeLifecycleModes ?? [])
      .filter((mode) => !lifecycles.includes(mode))
      .map((mode) => notSupported("spec.volumeLifecycleModes", mode, lifecycles)),
  ];
}

export const csiNodeStrategy: Strategy = {
  validateCreate: (object) => nodeDriverErrors(as<CSINode>(object).spec.drivers ?? []),
  validateUpdate: (object, old) => {
    const before = new Map((as<CSINode>(old).spec.drivers ?? []).map((driver) => [driver.name, driver]));
    const drivers = as<CSINode>(object).spec.drivers ?? [];
    return [
      ...nodeDriverErrors(drivers),
      ...drivers.flatMap((driver) => {
        const known = before.get(driver.name);
        return known === undefined ? [] : changedDriver(driver, known);
      }),
    ];
  },
};

const withoutCount = ({ allocatable: _, ...rest }: CSINodeDriver) => rest;

/** Values in messages are shown as the internal Go structs, whose fields begin with capitals. */
const changedDriver = (now: CSINodeDriver, before: CSINodeDriver): readonly FieldError[] =>
  equal(withoutCount(now), withoutCount(before))
    ? []
    : [
        invalid(
          "spec.drivers",
          goStructJson({
            Name: now.name,
            NodeID: now.nodeID,
            TopologyKeys: now.topologyKeys ?? null,
            Allocatable: null,
          }),
          immutable,
        ),
      ];

function nodeDriverErrors(drivers: readonly CSINodeDriver[]): readonly FieldError[] {
  const names = new Set<string>();
  return drivers.flatMap((driver, index) => {
    const field = indexed("spec.drivers", index);
    const count = driver.allocatable?.count ?? 0;
    const errors = [...driverNameErrors(child(field, "name"), driver.name)];
    if (driver.nodeID === "") errors.push(required(child(field, "nodeID")));
    if (Buffer.byteLength(driver.nodeID) > nodeIdBytesMax)
      errors.push(invalid(child(field, "nodeID"), driver.nodeID, `must be ${nodeIdBytesMax} characters or less`));
    if (count < 0)
      errors.push(invalid(child(child(field, "allocatable"), "count"), count, "must be greater than or equal to 0"));
    if (names.has(driver.name)) errors.push(duplicate(child(field, "name"), driver.name));
    names.add(driver.name);
    return [...errors, ...topologyKeyErrors(driver.topologyKeys ?? [], field)];
  });
}

const topologyKeyErrors = (keys: readonly string[], field: string): readonly FieldError[] =>
  keys.flatMap((key, index) => [
    ...(key === "" ? [required(field)] : []),
    ...(keys.indexOf(key) === index ? [] : [duplicate(field, key)]),
    ...qualifiedNameErrors(field, key),
  ]);

export const attachmentStrategy: Strategy = {
  prepareForCreate: (object) => {
    object.status = { attached: false };
  },
  validateCreate: (object) => attachmentErrors(as<VolumeAttachment>(object)),
  prepareForUpdate: (object, old, { subresource }) => {
    if (subresource !== "status") object.status = old.status;
  },
  validateUpdate: (object, old) => [
    ...attachmentErrors(as<VolumeAttachment>(object)),
    ...changedAttachment(as<VolumeAttachment>(object), as<VolumeAttachment>(old)),
  ],
};

const changedAttachment = (
  { spec: now }: VolumeAttachment,
  { spec: before }: VolumeAttachment,
): readonly FieldError[] =>
  equal(now, before)
    ? []
    : [
        invalid(
          "spec",
          goStructJson({
            Attacher: now.attacher,
            Source: {
              PersistentVolumeName: now.source.persistentVolumeName ?? null,
              InlineVolumeSpec: now.source.inlineVolumeSpec ?? null,
            },
            NodeName: now.nodeName,
          }),
          immutable,
        ),
      ];

const exactlyOneSource = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";

function attachmentErrors({ spec, status }: VolumeAttachment): readonly FieldError[] {
  const { inlineVolumeSpec, persistentVolumeName } = spec.source;
  const errors = [...driverNameErrors("spec.attacher", spec.attacher)];
  if (inlineVolumeSpec === undefined && persistentVolumeName === undefined)
    errors.push(required("spec.source", exactlyOneSource));
  else if (inlineVolumeSpec !== undefined && persistentVolumeName !== undefined)
    errors.push(forbidden("spec.source", exactlyOneSource));
  else if (persistentVolumeName === "")
    errors.push(required("spec.source.persistentVolumeName", "must specify non empty persistentVolumeName"));
  errors.push(...subdomainErrors("spec.nodeName", spec.nodeName));
  if (bytesIn(status?.attachmentMetadata ?? {}) > parameterBytesMax)
    errors.push(tooLong("status.attachmentMetadata", parameterBytesMax));
  errors.push(...reportErrors(status?.attachError, "status.attachError"));
  errors.push(...reportErrors(status?.detachError, "status.detachError"));
  if (persistentVolumeName !== undefined)
    errors.push(...subdomainErrors("spec.source.persistentVolumeName", persistentVolumeName));
  return errors;
}

const reportErrors = (error: VolumeError | undefined, field: string): readonly FieldError[] =>
  Buffer.byteLength(error?.message ?? "") > errorMessageBytesMax
    ? [tooLong(child(field, "message"), parameterBytesMax)]
    : [];

export const capacityStrategy: Strategy = {
  validateCreate: (object) => capacityErrors(object),
  validateUpdate: (object, old) => [
    ...capacityErrors(object),
    ...immutableField("nodeTopology", object.nodeTopology, old.nodeTopology),
    ...immutableField("storageClassName", object.storageClassName, old.storageClassName),
  ],
};

function capacityErrors(object: ApiObject): readonly FieldError[] {
  const { nodeTopology, storageClassName, capacity } = as<CSIStorageCapacity>(object);
  const errors = nodeTopology === undefined ? [] : [...labelSelectorErrors(nodeTopology, "nodeTopology")];
  errors.push(...subdomainErrors("storageClassName", storageClassName));
  if (capacity !== undefined && quantityOf(capacity).nanos < 0n)
    errors.push(invalid("capacity", capacity, "must be greater than or equal to 0"));
  return errors;
}
