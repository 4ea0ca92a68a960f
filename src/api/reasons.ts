/**
 * Why a reconcile decided as it did. A plan carries its reason as data, so that the log, the gauge of waiting objects and the tools
 * that explain a cluster say the same. Codes come from one closed table; the sentence names the objects.
 */
import type { Millis } from "../base/brand.ts";
import type { Ref } from "./plan.ts";

export type Actor =
  /** Nobody has to do anything. */
  | "nobody"
  /** This component, or another one of the installation, acts next. */
  | "component"
  /** The CSI driver, or the storage behind it. */
  | "driver"
  /** Whoever owns the object. */
  | "user"
  /** Whoever runs the cluster. */
  | "administrator";

interface ReasonRow {
  /** Whether the object waits for somebody: then it is counted in snapkeep_waiting_objects. */
  readonly waits: boolean;
  readonly actor: Actor;
  /** What the code means, for the reference page. */
  readonly means: string;
}

export const reasonRows = {
  Settled: { waits: false, actor: "nobody", means: "The object is as it should be." },
  NotOurs: {
    waits: false,
    actor: "nobody",
    means: "Another component or another driver is responsible for the object.",
  },
  Writes: {
    waits: false,
    actor: "component",
    means: "The next writes or calls are sent now; their replies trigger the object again.",
  },
  Released: {
    waits: false,
    actor: "nobody",
    means: "Everything is done before the object may be removed; our finalizer is taken off.",
  },

  Invalid: {
    waits: true,
    actor: "user",
    means: "The object, or one that it names, breaks a rule. The sentence names the field and the remedy.",
  },
  ClaimNotFound: {
    waits: true,
    actor: "user",
    means: "The claim that the object names does not exist, or is being deleted.",
  },
  ClaimNotBound: { waits: true, actor: "user", means: "The claim has no volume yet." },
  VolumeNotUsable: {
    waits: true,
    actor: "user",
    means: "The volume of the claim is missing, belongs to another claim, or is not of a CSI driver.",
  },
  ClassNotFound: {
    waits: true,
    actor: "administrator",
    means: "The class that the object names does not exist, or there is no default class.",
  },
  ClassNotUsable: {
    waits: true,
    actor: "administrator",
    means:
      "The class is of another driver, or has a parameter that cannot be used, or its driver cannot do what is asked; or there are several default classes.",
  },
  SecretNotUsable: {
    waits: true,
    actor: "administrator",
    means: "A secret that the class names cannot be read or is not named clearly.",
  },
  ContentNotFound: {
    waits: true,
    actor: "user",
    means: "The VolumeSnapshotContent that the snapshot names does not exist.",
  },
  ContentLost: {
    waits: true,
    actor: "user",
    means: "The VolumeSnapshotContent of a snapshot that was taken has been removed.",
  },
  ContentNotUsable: {
    waits: true,
    actor: "user",
    means: "The VolumeSnapshotContent belongs to another snapshot, or is of another sort.",
  },
  SnapshotNotFound: {
    waits: true,
    actor: "user",
    means: "No VolumeSnapshot is there that the object names, and that names it.",
  },
  SnapshotNotReady: {
    waits: true,
    actor: "component",
    means: "The VolumeSnapshot that the claim restores is not ready.",
  },

  WaitsForProtection: { waits: true, actor: "component", means: "The source claim does not have our finalizer yet." },
  WaitsForSidecar: {
    waits: true,
    actor: "component",
    means: "The next step is one of the driver's csi-snapshotter or csi-provisioner, which has not taken it yet.",
  },
  WaitsForDriver: {
    waits: true,
    actor: "driver",
    means: "A call to the CSI driver has no reply yet, or its reply says that it still works.",
  },
  DriverFailed: {
    waits: true,
    actor: "driver",
    means: "A call to the CSI driver failed; the sentence has its error. It is repeated with growing pauses.",
  },
  OutcomeUnknown: {
    waits: true,
    actor: "driver",
    means: "A call to the CSI driver ended without a reply: it may have had its effect, and is repeated.",
  },
  WaitsForContentDeletion: {
    waits: true,
    actor: "component",
    means: "The VolumeSnapshotContent is being deleted first.",
  },
  WaitsForDeletionConfirmed: {
    waits: true,
    actor: "component",
    means: "The VolumeSnapshot of the content exists, or the snapshot-controller has not confirmed the deletion yet.",
  },
  InUseByClaim: {
    waits: true,
    actor: "user",
    means: "A claim is being restored from the snapshot, or cloned from the claim.",
  },
  InUseBySnapshot: { waits: true, actor: "component", means: "A snapshot is being taken of the claim." },
  PartOfGroup: {
    waits: true,
    actor: "component",
    means: "The snapshot is a member of a group snapshot: it becomes ready, and is deleted, with its group.",
  },
  WaitsForGrants: { waits: true, actor: "component", means: "The ReferenceGrants are not known yet." },
  WaitsForLists: {
    waits: true,
    actor: "component",
    means: "The API server is asked whether the caches have missed an object.",
  },

  NotGranted: {
    waits: true,
    actor: "user",
    means: "No ReferenceGrant allows the claim to use a source in another namespace.",
  },
  WaitsForNode: {
    waits: true,
    actor: "component",
    means: "No node is selected yet: the class binds a volume when a pod is scheduled, or no node has taken the claim.",
  },
  NodeNotUsable: {
    waits: true,
    actor: "administrator",
    means: "The selected node does not exist, its topology is not known, or no node reaches the volume.",
  },
  SourceNotUsable: {
    waits: true,
    actor: "user",
    means: "The data source of the claim does not exist or cannot be used by this claim.",
  },
  SourceNotServed: {
    waits: true,
    actor: "administrator",
    means: "The claim names its source with a namespace, and csi-provisioner does not serve such sources here.",
  },
  VolumeInUse: {
    waits: true,
    actor: "user",
    means: "The volume is still attached, or has a finalizer of somebody else.",
  },
  StoredCallUncertain: {
    waits: true,
    actor: "administrator",
    means: "A stored CreateVolume call cannot be proved to be unused. It is reported and not undone.",
  },
  StoredCallDiffers: {
    waits: true,
    actor: "administrator",
    means:
      "A stored CreateVolume call says otherwise than its claim does now. It is reported, and the volume is asked for as the claim says.",
  },
  VolumeAbandoned: {
    waits: true,
    actor: "driver",
    means: "A volume that nobody may use may be left at the driver: it is looked for, and deleted.",
  },

  SecretNotFound: { waits: true, actor: "user", means: "The Secret or ConfigMap that a share names does not exist." },
  ShareNotFound: {
    waits: true,
    actor: "user",
    means: "The SharedSecret or SharedConfigMap of a volume does not exist: the volume is empty, or not mounted.",
  },
  UseDenied: {
    waits: false,
    actor: "user",
    means: "The service account of the pod may not use the share: the volume is empty, or not mounted.",
  },
  NoRoom: {
    waits: true,
    actor: "administrator",
    means:
      "A set of files is larger than a volume, a namespace or a node may have. A mounted volume keeps its old set.",
  },
  NotPermitted: {
    waits: true,
    actor: "administrator",
    means: "The component lacks a right: the API server refuses a request with 401 or 403.",
  },
  ServerUnreachable: {
    waits: true,
    actor: "administrator",
    means: "The API server does not answer, or not with anything of use. The request is repeated.",
  },
  RequestRefused: {
    waits: true,
    actor: "administrator",
    means: "What was decided is refused, and not for a missing right. The sentence has the answer.",
  },
  UnexpectedError: {
    waits: true,
    actor: "administrator",
    means: "The reconcile ended with an error that nobody expects. The log has its stack: please report it.",
  },
} as const satisfies Record<string, ReasonRow>;

export type ReasonCode = keyof typeof reasonRows;

export interface Reason {
  readonly code: ReasonCode;
  /** One sentence that names the objects. */
  readonly says: string;
  /** The next links of the chain: what has to change first. */
  readonly waitsFor: readonly Ref[];
  /** Since when, where an object tells it. */
  readonly sinceMs?: Millis | undefined;
}

export const because = (code: ReasonCode, says: string, waitsFor: readonly Ref[] = [], sinceMs?: Millis): Reason => ({
  code,
  says,
  waitsFor,
  ...(sinceMs === undefined ? {} : { sinceMs }),
});

export const isWaiting = ({ code }: Reason): boolean => reasonRows[code].waits;
