/** Claims, classes, calls and views of the provisioner, in tests: an ordinary case, of which each test says what is different. */
import type { KeptNode } from "../src/api/kept.ts";
import { provisioning } from "../src/api/names.ts";
import type {
  CSINode,
  ObjectMeta,
  PersistentVolumeClaim,
  ReferenceGrant,
  StorageClass,
  VolumeSnapshot,
  VolumeSnapshotContent,
} from "../src/api/types.ts";
import { keyIn } from "../src/base/brand.ts";
import { Fault, type FaultCode } from "../src/base/fault.ts";
import type { CreateVolumeCall, VolumeReply } from "../src/components/csi-provisioner/driver/call.ts";
import { volumeName } from "../src/components/csi-provisioner/identity.ts";
import type { DriverFacts, ProvisionerOptions } from "../src/components/csi-provisioner/options.ts";
import type { ProvisionerAction } from "../src/components/csi-provisioner/plan-steps.ts";
import type { Intent } from "../src/components/csi-provisioner/stored-calls/intent.ts";
import { noVolumeMemory, type VolumeMemory } from "../src/components/csi-provisioner/volumes/memory.ts";
import type { VolumeFacts, VolumeView } from "../src/components/csi-provisioner/volumes/observe.ts";
import { volumePhaseOf } from "../src/components/csi-provisioner/volumes/phase.ts";
import { planVolume } from "../src/components/csi-provisioner/volumes/plan.ts";
import type { NamedSource } from "../src/rules/data-source.ts";
import { accessTo, type Permitted } from "../src/rules/source-access.ts";
import { aClaim, aContent, aSnapshot, driver } from "./builders.ts";
import { planTester, type ReasonedCase } from "./plan-cases.ts";

export const provisionerOptions: ProvisionerOptions = {
  volumeNamePrefix: "pvc",
  volumeNameUuidLength: -1,
  defaultFsType: "",
  extraCreateMetadata: false,
  strictTopology: false,
  immediateTopology: true,
  preventVolumeModeConversion: true,
  controllerPublishReadonly: false,
};

type ControllerCapability = DriverFacts["controller"] extends ReadonlySet<infer Name> ? Name : never;
type PluginCapability = DriverFacts["plugin"] extends ReadonlySet<infer Name> ? Name : never;

export const driverWith = (
  controller: readonly ControllerCapability[] = [],
  plugin: readonly PluginCapability[] = [],
): DriverFacts => ({
  name: driver,
  plugin: new Set(plugin),
  controller: new Set(["CREATE_DELETE_VOLUME", "CREATE_DELETE_SNAPSHOT", "CLONE_VOLUME", ...controller]),
});

/** A pending claim of one mebibyte that kube-controller-manager has given to our driver. */
export const aPendingClaim = ({
  metadata,
  spec,
  status = { phase: "Pending" },
}: {
  metadata?: Partial<ObjectMeta>;
  spec?: PersistentVolumeClaim["spec"];
  status?: PersistentVolumeClaim["status"];
} = {}): PersistentVolumeClaim =>
  aClaim({
    metadata: {
      name: "new",
      uid: "u-new",
      ...metadata,
      annotations: { [provisioning.storageProvisioner]: driver, ...metadata?.annotations },
    },
    spec: {
      accessModes: ["ReadWriteOnce"],
      volumeMode: "Filesystem",
      storageClassName: "fast",
      resources: { requests: { storage: "1Mi" } },
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  });

export const aStorageClass = (change: Partial<StorageClass> = {}): StorageClass => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "fast", uid: "uid-storage-class", resourceVersion: "1" },
  provisioner: driver,
  reclaimPolicy: "Delete",
  volumeBindingMode: "Immediate",
  ...change,
});

export const aReadySnapshot = (metadata: Partial<ObjectMeta> = {}, status: object = {}): VolumeSnapshot =>
  aSnapshot({
    metadata,
    status: { boundVolumeSnapshotContentName: "snapcontent-uid-snap", readyToUse: true, restoreSize: "1Mi", ...status },
  });

export const aReadyContent = (
  spec: Partial<VolumeSnapshotContent["spec"]> = {},
  annotations: Readonly<Record<string, string>> = {},
): VolumeSnapshotContent =>
  aContent({ spec, metadata: { annotations }, status: { snapshotHandle: "s-1", readyToUse: true } });

/** Two nodes in one zone each; the driver has registered its keys on both. */
export const aNode = (name: string, labels: Readonly<Record<string, string>>): KeptNode => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, uid: `uid-${name}`, resourceVersion: "1", labels },
});
export const aCsiNode = (name: string, topologyKeys: readonly string[], driverName = driver): CSINode => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "CSINode",
  metadata: { name, uid: `uid-csi-${name}`, resourceVersion: "1" },
  spec: { drivers: [{ name: driverName, nodeID: name, topologyKeys: [...topologyKeys] }] },
});

export const aCreateCall = (change: Partial<CreateVolumeCall> = {}): CreateVolumeCall => ({
  method: "create",
  name: "pvc-u-new",
  bytes: "1048576",
  capabilities: [{ mode: "SINGLE_NODE_WRITER", mount: { fsType: "", flags: [] } }],
  parameters: {},
  ...change,
});

export const anIntent = (change: Partial<Intent> = {}): Intent => ({
  claim: { namespace: "team", name: "new", uid: "u-new" },
  call: aCreateCall(),
  secrets: {},
  reclaimPolicy: "Delete",
  ...change,
});

export const created: VolumeReply = {
  kind: "created",
  volume: { id: "vol-9", bytes: 1_048_576n, context: {}, topology: [] },
};
export const refusal = (code: FaultCode): VolumeReply => ({ kind: "failed", fault: new Fault(code, `no: ${code}`) });
export const unsent = (code: FaultCode): VolumeReply => ({ kind: "unsent", fault: new Fault(code, `secret: ${code}`) });

export const nowMs = Date.parse("2026-01-01T12:00:00Z");

/** A pending claim of an ordinary class; a reply counts for another second. */
export const aVolumeView = (facts: Partial<VolumeFacts> = {}, memory: Partial<VolumeMemory> = {}): VolumeView => ({
  facts: {
    name: volumeName("pvc-u-new"),
    claim: aPendingClaim(),
    storageClass: aStorageClass(),
    volume: undefined,
    source: { kind: "none" },
    attributes: undefined,
    intent: undefined,
    holder: undefined,
    driver: driverWith(),
    options: provisionerOptions,
    nodes: [],
    csiNodes: [],
    identity: "me",
    watchesSnapshots: true,
    protectsSnapshots: true,
    ...facts,
  },
  memory: {
    ...noVolumeMemory,
    replyLeftMs: memory.reply === undefined ? 0 : 1_000,
    isUncertain: facts.intent !== undefined,
    ...memory,
  },
  nowMs,
});

const local = { namespace: "team", name: "monday", referrer: undefined } as const;
/** The source of a claim, and that the claim may use it; with a referrer, by a grant. */
export const permitted = (
  kind: NamedSource["kind"],
  change: Partial<NamedSource> = {},
): { readonly named: NamedSource; readonly access: Permitted } => {
  const named = { ...local, kind, ...change };
  return { named, access: accessTo(named, { isOn: () => true, find: () => ({}) as ReferenceGrant }) as Permitted };
};

export const snapshotFacts = (change: object = {}): VolumeFacts["source"] => ({
  ...permitted("snapshot"),
  kind: "snapshot",
  key: keyIn("team", "monday"),
  snapshot: aReadySnapshot(),
  content: aReadyContent(),
  isUnread: false,
  ...change,
});

/** An action in a few words. */
export const briefAction = (action: ProvisionerAction): string => {
  switch (action.kind) {
    case "csi": {
      const secret = action.call.secret === undefined ? "" : ` with ${action.call.secret.name}`;
      return `${[...action.intent.map(({ kind }) => kind), action.call.method].join(", ")}${secret}`;
    }
    case "event":
      return action.event.reason;
    case "reportCall":
    case "reportError":
      return `${action.reason} ${/SNAP-\d+/.exec(action.message)?.[0]}`;
    case "pause":
      return action.forgetsIntent ? "pause, forgetting the intent" : "pause";
    case "unprotectSource":
      return `unprotect ${action.source.kind}`;
    case "patch":
    case "replace":
    case "delete":
    case "create":
      return `${action.kind} ${action.ref.kind}`;
    default:
      return action.kind;
  }
};

export const testVolumePlans: (cases: readonly ReasonedCase<VolumeView>[]) => void = planTester<
  VolumeView,
  ProvisionerAction
>({
  phaseOf: volumePhaseOf,
  plan: planVolume,
  brief: briefAction,
});
