/** Turns a claim, its class and its source into the CreateVolume call that is to be sent, or says why there is none. */
import type { KeptNode } from "../../../api/kept.ts";
import type { CodedMessage } from "../../../api/plan.ts";
import type { CSINode, PersistentVolumeClaim, StorageClass } from "../../../api/types.ts";
import { type ErrorCode, withCode } from "../../../errors/codes.ts";
import type { CloneSource, RestoreSource, SourceViolation } from "../../../rules/restore-rules.ts";
import type { AccessMode, CreateVolumeCall, VolumeCapability } from "../driver/call.ts";
import { topologyRequirement } from "../driver/topology.ts";
import type { DriverFacts, ProvisionerOptions } from "../options.ts";
import { requestedBytes, selectedNodeOf, volumeNameFor } from "./claim.ts";
import { classParameters, fsTypeOf, metadataKeys, type SecretsByRole, secretsOf } from "./parameters.ts";

/** What a claim's VolumeAttributesClass says. */
export type AttributesClass =
  | { readonly kind: "missing" }
  | { readonly kind: "class"; readonly driverName: string; readonly parameters: Readonly<Record<string, string>> };

/** The source with its rules applied; none: an empty volume is wanted. */
export type JudgedSource = { readonly kind: "none" } | RestoreSource | CloneSource | SourceViolation;

export interface Wanted {
  readonly claim: PersistentVolumeClaim;
  readonly storageClass: StorageClass;
  readonly source: JudgedSource;
  /** Undefined: the claim names no VolumeAttributesClass. */
  readonly attributes?: AttributesClass | undefined;
  readonly driver: DriverFacts;
  readonly options: ProvisionerOptions;
  readonly nodes: readonly KeptNode[];
  readonly csiNodes: readonly CSINode[];
}

export type Prepared =
  | { readonly kind: "call"; readonly call: CreateVolumeCall; readonly secrets: SecretsByRole }
  | { readonly kind: "reschedule"; readonly code: ErrorCode; readonly message: CodedMessage }
  | { readonly kind: "wrong"; readonly code: ErrorCode; readonly message: CodedMessage };

const wrong = (code: ErrorCode, message: string): Prepared => ({
  kind: "wrong",
  code,
  message: withCode(message, code),
});

/** CSI has 63 bits for a size. */
const bytesMax = 2n ** 63n - 1n;

export function prepareCreate(wanted: Wanted): Prepared {
  const { claim, storageClass, source, driver, options } = wanted;
  const className = `StorageClass ${storageClass.metadata.name}`;
  if (source.kind === "wrong") return source;
  const missing = missingCapability(wanted);
  if (missing !== undefined)
    return wrong("SNAP-333", `driver ${driver.name} does not support ${missing}: use a StorageClass of another driver`);
  const attributesProblem = problemOfAttributes(wanted);
  if (attributesProblem !== undefined) return wrong("SNAP-339", attributesProblem);
  if (claim.spec?.selector !== undefined)
    return wrong("SNAP-334", "spec.selector cannot be satisfied by a new volume: remove it in a new claim");
  const bytes = requestedBytes(claim);
  if (bytes === undefined || bytes <= 0n || bytes > bytesMax)
    return wrong("SNAP-335", "spec.resources.requests.storage is missing or not a size: set it in a new claim");
  const fsType = fsTypeOf(storageClass.parameters ?? {}, options.defaultFsType);
  if (fsType.kind === "wrong") return wrong("SNAP-332", `${className}: ${fsType.message}`);
  const { passed, unknown } = classParameters(storageClass);
  if (unknown.length > 0)
    return wrong("SNAP-332", `${className} has unknown parameters ${unknown.join(", ")}: correct or remove them`);
  const name = volumeNameFor(options, claim.metadata.uid);
  const names = {
    volumeName: name,
    claimName: claim.metadata.name,
    claimNamespace: claim.metadata.namespace ?? "",
    claimAnnotations: claim.metadata.annotations,
  };
  const secrets = secretsOf(storageClass.parameters ?? {}, names);
  if (secrets.kind === "wrong") return wrong(secrets.code, `${className}: ${secrets.problem}`);
  const topology = topologyOf(wanted);
  if (topology.kind === "wrong") return wrong("SNAP-337", topology.message);
  if (topology.kind === "reschedule")
    return { kind: "reschedule", code: "SNAP-337", message: withCode(topology.message, "SNAP-337") };
  const { provisioner: secret } = secrets.byRole;
  return {
    kind: "call",
    secrets: secrets.byRole,
    call: {
      method: "create",
      name,
      bytes: String(bytes),
      capabilities: capabilitiesOf(wanted, fsType.fsType),
      parameters: options.extraCreateMetadata
        ? {
            ...passed,
            [metadataKeys.claimName]: names.claimName,
            [metadataKeys.claimNamespace]: names.claimNamespace,
            [metadataKeys.volumeName]: name,
          }
        : passed,
      ...(source.kind === "none" ? {} : { source: { kind: source.kind, handle: source.handle } }),
      ...(topology.kind === "none"
        ? {}
        : { topology: { requisite: topology.requisite, preferred: topology.preferred } }),
      ...(wanted.attributes?.kind === "class" ? { mutableParameters: wanted.attributes.parameters } : {}),
      ...(secret === undefined ? {} : { secret }),
    },
  };
}

function problemOfAttributes({ claim, attributes, driver }: Wanted): string | undefined {
  if (attributes === undefined) return undefined;
  const named = `VolumeAttributesClass ${claim.spec?.volumeAttributesClassName}`;
  if (attributes.kind === "missing") return `${named} does not exist: create it`;
  return attributes.driverName === driver.name
    ? undefined
    : `${named} belongs to driver ${attributes.driverName}, the StorageClass of the claim to ${driver.name}: use one of ${driver.name}`;
}

function missingCapability({ source, driver, attributes }: Wanted): string | undefined {
  if (!driver.controller.has("CREATE_DELETE_VOLUME")) return "creating volumes (CREATE_DELETE_VOLUME)";
  if (source.kind === "snapshot" && !driver.controller.has("CREATE_DELETE_SNAPSHOT"))
    return "restoring snapshots (CREATE_DELETE_SNAPSHOT)";
  if (source.kind === "volume" && !driver.controller.has("CLONE_VOLUME")) return "cloning volumes (CLONE_VOLUME)";
  if (attributes !== undefined && !driver.controller.has("MODIFY_VOLUME"))
    return "VolumeAttributesClasses (MODIFY_VOLUME)";
  return undefined;
}

function topologyOf({ claim, storageClass, driver, options, nodes, csiNodes }: Wanted) {
  if (!driver.plugin.has("VOLUME_ACCESSIBILITY_CONSTRAINTS")) return { kind: "none" } as const;
  return topologyRequirement({
    driver: driver.name,
    claimName: claim.metadata.name,
    selectedNode: selectedNodeOf(claim),
    storageClass,
    nodes,
    csiNodes,
    strict: options.strictTopology,
    immediate: options.immediateTopology,
  });
}

/** One capability for each access mode of the claim. */
function capabilitiesOf({ claim, storageClass, driver }: Wanted, fsType: string): readonly VolumeCapability[] {
  const distinguishes = driver.controller.has("SINGLE_NODE_MULTI_WRITER");
  const modes: Readonly<Record<string, AccessMode>> = {
    ReadWriteOnce: distinguishes ? "SINGLE_NODE_MULTI_WRITER" : "SINGLE_NODE_WRITER",
    ReadWriteOncePod: distinguishes ? "SINGLE_NODE_SINGLE_WRITER" : "SINGLE_NODE_WRITER",
    ReadOnlyMany: "MULTI_NODE_READER_ONLY",
    ReadWriteMany: "MULTI_NODE_MULTI_WRITER",
  };
  const isBlock = claim.spec?.volumeMode === "Block";
  const mount = isBlock ? {} : { mount: { fsType, flags: storageClass.mountOptions ?? [] } };
  return (claim.spec?.accessModes ?? []).flatMap((name) => {
    const mode = modes[name];
    return mode === undefined ? [] : [{ mode, ...mount }];
  });
}
