/** Snapshots, contents and claims that do not go. */
import { annotations, finalizers } from "../../../src/api/names.ts";
import * as c from "../cluster.ts";
import type { StuckCase } from "../stuck-case.ts";

const monday = "VolumeSnapshot team/monday";
const content = `VolumeSnapshotContent ${c.contentName}` as const;
const deletedAt = { deletionTimestamp: c.ago(900), deletionGracePeriodSeconds: 0 };
const deleting = c.snapshot(c.ofClaim, { status: c.ready }, { ...c.protectedBy, ...deletedAt });
const beingDeleted = { annotations: { [annotations.beingDeleted]: "yes" } };
const going = { ...deletedAt, ...beingDeleted };
const goUpstream = c.pod(
  "snapkeep/snapshot-controller-0",
  [["snapshot-controller", "registry.k8s.io/sig-storage/snapshot-controller:v8.2.0"]],
  { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
);

export const deletionCases: readonly StuckCase[] = [
  {
    given: "a deleted snapshot from which a claim is being restored",
    thread: "kubernetes-csi/external-snapshotter#1366",
    explain: monday,
    objects: [deleting, c.content(c.taken), c.claim("team/restored", c.restoring, c.pending, c.provisionedBy)],
    cause: "WaitsForDriver",
    at: "PersistentVolumeClaim team/restored",
    actor: "driver",
    next: /team\/restored|-n team.*restored/,
    changed: "The chain goes on to what the claim itself waits for.",
  },
  {
    given: "a deleted snapshot whose restoring claim waits for a pod",
    thread: "kubernetes-csi/external-snapshotter#747",
    explain: monday,
    objects: [
      deleting,
      c.content(c.taken),
      c.storageClass("late", c.driver, "WaitForFirstConsumer"),
      c.claim("team/restored", { ...c.restoring, storageClassName: "late" }, c.pending),
    ],
    cause: "WaitsForNode",
    at: "PersistentVolumeClaim team/restored",
    actor: "user",
    next: /pod|kubectl delete persistentvolumeclaims? restored/,
  },
  {
    given: "a deletion that the driver refuses",
    explain: monday,
    objects: [
      deleting,
      c.content(
        {
          ...c.taken,
          error: { time: c.ago(30), message: 'Failed to delete snapshot: "snapshot has dependent volumes" [SNAP-531]' },
        },
        going,
      ),
    ],
    cause: "DriverFailed",
    at: content,
    actor: "driver",
    next: /dependent volumes|Retain.*snap-77|snap-77.*Retain/s,
  },
  {
    given: "a deletion while the driver's sidecar does not run",
    explain: monday,
    objects: [deleting, c.content(c.taken, going), c.lease(c.sidecarLease, "disk-controller-0", 4_000)],
    gone: ["Pod drivers/disk-controller-0"],
    cause: "ComponentDown",
    at: `Lease ${c.sidecarLease}`,
    actor: "administrator",
    next: /csi-snapshotter/,
  },
  {
    given: "a deletion after the driver was uninstalled",
    thread: "kubernetes-csi/external-snapshotter#1388",
    explain: content,
    objects: [deleting, c.content(c.taken, going)],
    gone: ["Pod drivers/disk-controller-0", `Lease ${c.sidecarLease}`, `CSIDriver ${c.driver}`],
    cause: "ComponentDown",
    at: content,
    actor: "administrator",
    next: /Retain[\s\S]*snap-77|snap-77[\s\S]*Retain/,
  },
  {
    given: "a deletion while no snapshot-controller runs",
    explain: monday,
    objects: [deleting, c.content(c.taken), c.lease(c.controllerLease, "snapshot-controller-0", 5_000)],
    gone: ["Pod snapkeep/snapshot-controller-0"],
    cause: "ComponentDown",
    at: `Lease ${c.controllerLease}`,
    actor: "administrator",
    next: /snapshot-controller/,
  },
  {
    given: "a deleted snapshot with the finalizer of a backup tool",
    thread: "velero#7511",
    explain: monday,
    objects: [c.snapshot(c.ofClaim, { status: c.ready }, { ...deletedAt, finalizers: ["backup.example.com/keep"] })],
    cause: "ForeignFinalizer",
    at: monday,
    actor: "user",
    next: /backup\.example\.com\/keep/,
  },
  {
    given: "a content that was deleted while its snapshot exists",
    thread: "velero#9625",
    explain: content,
    objects: [c.snapshot(c.ofClaim, { status: c.ready }, c.protectedBy), c.content(c.taken, deletedAt)],
    cause: "WaitsForDeletionConfirmed",
    at: monday,
    actor: "user",
    next: /kubectl delete volumesnapshots? (monday -n team|-n team monday)/,
  },
  {
    given: "a deleted content whose CreateSnapshot has no reply",
    thread: "velero#9699",
    explain: content,
    objects: [
      deleting,
      c.content(undefined, {
        ...deletedAt,
        annotations: { ...beingDeleted.annotations, [annotations.beingCreated]: "yes" },
      }),
    ],
    cause: "OutcomeUnknown",
    at: content,
    actor: "driver",
    next: /kubectl logs.*drivers/,
  },
  {
    given: "a deletion that needs a secret which is gone",
    thread: "kubernetes#91702",
    explain: content,
    objects: [
      deleting,
      c.content(
        {
          ...c.taken,
          error: {
            time: c.ago(30),
            message: "Failed to get snapshot credentials: secret drivers/credentials not found [SNAP-516]",
          },
        },
        {
          ...deletedAt,
          annotations: {
            ...beingDeleted.annotations,
            [annotations.deletionSecretName]: "credentials",
            [annotations.deletionSecretNamespace]: "drivers",
          },
        },
      ),
    ],
    cause: "SecretNotUsable",
    at: "Secret drivers/credentials",
    actor: "administrator",
    next: /credentials/,
  },
  {
    given: "a deleted snapshot whose content is retained",
    explain: monday,
    objects: [
      c.snapshot(
        c.ofClaim,
        { status: c.ready },
        { ...deletedAt, finalizers: [finalizers.snapshotAsSource], deletionTimestamp: c.ago(1) },
      ),
      c.content(c.taken, {}, { deletionPolicy: "Retain" }),
    ],
    cause: "NothingWrong",
    at: monday,
    actor: "component",
    next: /wait/,
  },
  {
    given: "a claim that is deleted while a snapshot of it is taken",
    explain: "PersistentVolumeClaim team/data",
    objects: [
      c.dataClaim({ ...deletedAt, finalizers: [finalizers.claimAsSource] }),
      c.snapshot(c.ofClaim, { status: c.bound }, c.protectedBy),
      c.content(undefined, { annotations: { [annotations.beingCreated]: "yes" }, creationTimestamp: c.ago(7_200) }),
    ],
    cause: "WaitsForDriver",
    at: content,
    actor: "driver",
    next: /kubectl logs.*drivers/,
  },
  {
    given: "a claim that is deleted while a pod uses it",
    explain: "PersistentVolumeClaim team/data",
    objects: [
      c.dataClaim({ ...deletedAt, finalizers: ["kubernetes.io/pvc-protection"] }),
      c.kubernetesObject("v1", "Pod", "team/app-0", {
        spec: {
          nodeName: "node-1",
          containers: [{ name: "app", image: "app" }],
          volumes: [{ name: "d", persistentVolumeClaim: { claimName: "data" } }],
        },
        status: { phase: "Running" },
      }),
    ],
    cause: "VolumeInUse",
    at: "Pod team/app-0",
    actor: "user",
    next: /app-0/,
  },
  {
    given: "a claim whose source finalizer was left by the Go snapshot-controller",
    thread: "kubernetes-csi/external-snapshotter#1305",
    explain: "PersistentVolumeClaim team/data",
    objects: [c.dataClaim({ ...deletedAt, finalizers: [finalizers.claimAsSource] }), goUpstream],
    cause: "KnownDefect",
    at: "PersistentVolumeClaim team/data",
    actor: "administrator",
    next: /#1305|restart/,
  },
  {
    given: "a snapshot whose deletion the Go snapshot-controller has given up",
    thread: "kubernetes-csi/external-snapshotter#1366",
    explain: monday,
    objects: [deleting, c.content(c.taken), goUpstream],
    cause: "KnownDefect",
    at: monday,
    actor: "administrator",
    next: /#1366|restart/,
  },
  {
    given: "a namespace that cannot end because a snapshot's deletion fails",
    thread: "snapscheduler#107",
    explain: monday,
    objects: [
      c.namespace("team", { deletionTimestamp: c.ago(1_000) }),
      deleting,
      c.content(
        { ...c.taken, error: { time: c.ago(9), message: 'Failed to delete snapshot: "timeout" [SNAP-531]' } },
        going,
      ),
    ],
    cause: "DriverFailed",
    at: content,
    actor: "driver",
    next: /timeout|kubectl logs/,
  },
];
