/** Claims that do not get their volume. */
import * as c from "../cluster.ts";
import type { StuckCase } from "../stuck-case.ts";

const restored = "PersistentVolumeClaim team/restored";
const ready = c.snapshot(c.ofClaim, { status: c.ready }, c.protectedBy);
const content = `VolumeSnapshotContent ${c.contentName}` as const;
const wants = (spec: Parameters<typeof c.claim>[1] = {}, metadata: Parameters<typeof c.claim>[3] = c.provisionedBy) =>
  c.claim("team/restored", { ...c.restoring, ...spec }, c.pending, metadata);
const late = c.storageClass("late", c.driver, "WaitForFirstConsumer");
const abroad = {
  dataSource: null,
  dataSourceRef: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "monday", namespace: "team" },
};
const guest = (spec: Parameters<typeof c.claim>[1] = {}) =>
  c.claim("guest/restored", { ...abroad, ...spec }, c.pending, c.provisionedBy);
const guestId = "PersistentVolumeClaim guest/restored";
const grantNeeded = /ReferenceGrant[\s\S]*(namespace: )?team/;
const provisioningFailed = (message: string) =>
  c.event(wants(), "Warning", "ProvisioningFailed", message, 20, "csi-provisioner");

export const claimCases: readonly StuckCase[] = [
  {
    given: "a claim whose snapshot does not exist",
    explain: restored,
    objects: [wants()],
    cause: "SnapshotNotFound",
    at: "VolumeSnapshot team/monday",
    actor: "user",
    next: /kubectl get volumesnapshots?/,
  },
  {
    given: "a claim whose snapshot is not ready because the driver fails",
    explain: restored,
    objects: [
      wants(),
      c.snapshot(c.ofClaim, { status: c.bound }, c.protectedBy),
      c.content({
        readyToUse: false,
        error: { time: c.ago(30), message: 'Failed to create snapshot: "quota exceeded" [SNAP-501]' },
      }),
    ],
    cause: "DriverFailed",
    at: content,
    actor: "driver",
    next: /quota exceeded|kubectl logs/,
  },
  {
    given: "a claim whose snapshot has no content and no controller",
    explain: restored,
    objects: [
      wants(),
      c.snapshot(c.ofClaim, {}, { creationTimestamp: c.ago(800) }),
      c.lease(c.controllerLease, "snapshot-controller-0", 900),
    ],
    gone: ["Pod snapkeep/snapshot-controller-0"],
    cause: "ComponentDown",
    at: `Lease ${c.controllerLease}`,
    actor: "administrator",
    next: /snapshot-controller/,
  },
  {
    given: "a claim that is smaller than its snapshot",
    thread: "aws-ebs-csi-driver#1072",
    explain: restored,
    objects: [wants({ resources: { requests: { storage: "100Mi" } } }), ready, c.content(c.taken)],
    cause: "Invalid",
    at: restored,
    actor: "user",
    next: /1Gi|1073741824/,
    changed: "The claim breaks the rule, not its source.",
  },
  {
    given: "a claim whose storage class is of another driver than its snapshot",
    explain: restored,
    objects: [
      wants(
        { storageClassName: "other" },
        { annotations: { "volume.kubernetes.io/storage-provisioner": "nfs.example.com" } },
      ),
      c.storageClass("other", "nfs.example.com"),
      c.lease("drivers/nfs-example-com", "nfs-0", 1),
      ready,
      c.content(c.taken),
    ],
    cause: "SourceNotUsable",
    at: "VolumeSnapshot team/monday",
    actor: "user",
    next: /disk\.example\.com|nfs\.example\.com/,
    changed: "The plan names the source, and its sentence names both drivers.",
  },
  {
    given: "a claim of a class that does not exist",
    explain: restored,
    objects: [c.claim("team/restored", { storageClassName: "gone" }, c.pending)],
    cause: "ClassNotFound",
    at: "StorageClass gone",
    actor: "administrator",
    next: /kubectl get storageclass/,
  },
  {
    given: "a claim without a class where no class is the default",
    explain: restored,
    objects: [c.claim("team/restored", { storageClassName: null }, c.pending)],
    cause: "ClassNotFound",
    at: restored,
    actor: "administrator",
    next: /is-default-class|storageClassName/,
  },
  {
    given: "a claim that waits for its first pod",
    explain: restored,
    objects: [c.claim("team/restored", { storageClassName: "late" }, c.pending), late],
    cause: "WaitsForNode",
    at: restored,
    actor: "user",
    next: /pod/,
  },
  {
    given: "a claim whose pod cannot be scheduled",
    explain: restored,
    objects: [
      c.claim("team/restored", { storageClassName: "late" }, c.pending),
      late,
      c.kubernetesObject("v1", "Pod", "team/app-0", {
        spec: {
          containers: [{ name: "app", image: "app" }],
          volumes: [{ name: "d", persistentVolumeClaim: { claimName: "restored" } }],
        },
        status: {
          phase: "Pending",
          conditions: [
            {
              type: "PodScheduled",
              status: "False",
              reason: "Unschedulable",
              message: "0/1 nodes are available: 1 Insufficient cpu.",
            },
          ],
        },
      }),
    ],
    cause: "WaitsForNode",
    at: "Pod team/app-0",
    actor: "user",
    next: /Insufficient cpu/,
  },
  {
    given: "a claim whose selected node does not exist any more",
    thread: "kubernetes-csi/external-provisioner#1437",
    explain: restored,
    objects: [
      c.claim("team/restored", { storageClassName: "late" }, c.pending, {
        annotations: { ...c.provisionedBy.annotations, "volume.kubernetes.io/selected-node": "node-9" },
      }),
      late,
      c.kubernetesObject("storage.k8s.io/v1", "CSINode", "node-1", {
        spec: { drivers: [{ name: c.driver, nodeID: "node-1", topologyKeys: ["topology.disk.example.com/zone"] }] },
      }),
    ],
    changed: "A driver without topology is not asked for a node: this one has it.",
    cause: "NodeNotUsable",
    at: "Node node-9",
    actor: "administrator",
    next: /node-9/,
  },
  {
    given: "a claim whose provisioner does not run",
    explain: restored,
    objects: [
      c.claim("team/restored", {}, c.pending, { ...c.provisionedBy, creationTimestamp: c.ago(700) }),
      c.lease(c.provisionerLease, "disk-controller-0", 800),
    ],
    gone: ["Pod drivers/disk-controller-0"],
    cause: "ComponentDown",
    at: `Lease ${c.provisionerLease}`,
    actor: "administrator",
    next: /csi-provisioner/,
  },
  {
    given: "a claim whose driver is not installed",
    thread: "trident#419",
    explain: restored,
    objects: [
      c.claim("team/restored", { storageClassName: "other" }, c.pending, {
        annotations: { "volume.kubernetes.io/storage-provisioner": "nfs.example.com" },
      }),
      c.storageClass("other", "nfs.example.com"),
    ],
    cause: "ComponentDown",
    at: restored,
    actor: "administrator",
    next: /nfs\.example\.com/,
  },
  {
    given: "a claim for which the driver has no room",
    explain: restored,
    objects: [
      c.claim("team/restored", {}, c.pending, c.provisionedBy),
      provisioningFailed('driver disk.example.com cannot create volume pvc-1: "pool is full" [SNAP-341]'),
    ],
    cause: "DriverFailed",
    at: restored,
    actor: "driver",
    next: /pool is full|kubectl logs/,
  },
  {
    given: "a claim that was created three seconds ago",
    explain: restored,
    objects: [c.claim("team/restored", {}, c.pending, { ...c.provisionedBy, creationTimestamp: c.ago(3) })],
    cause: "NothingWrong",
    at: restored,
    actor: "driver",
    next: /wait/,
    changed: "Whether the driver was asked already is not stored.",
  },
  {
    given: "a claim that is bound",
    explain: "PersistentVolumeClaim team/data",
    objects: [],
    cause: "NothingWrong",
    at: "PersistentVolumeClaim team/data",
    actor: "nobody",
    next: /nothing/,
  },
  {
    given: "a claim of another namespace without a grant",
    thread: "kubernetes/enhancements#3294",
    explain: guestId,
    objects: [c.namespace("guest"), guest(), ready, c.content(c.taken)],
    cause: "NotGranted",
    at: guestId,
    actor: "user",
    next: grantNeeded,
    changed: "A plan says nothing of a source that the claim may not use.",
  },
  {
    given: "a claim of another namespace whose grant names another snapshot",
    explain: guestId,
    objects: [c.namespace("guest"), guest(), ready, c.content(c.taken), c.grant("team/share", "guest", "tuesday")],
    cause: "NotGranted",
    at: guestId,
    actor: "user",
    next: grantNeeded,
    changed: "A plan says nothing of a source that the claim may not use.",
  },
  {
    given: "a claim of another namespace whose grant names another namespace",
    explain: guestId,
    objects: [c.namespace("guest"), guest(), ready, c.content(c.taken), c.grant("team/share", "stranger")],
    cause: "NotGranted",
    at: guestId,
    actor: "user",
    next: grantNeeded,
    changed: "A plan says nothing of a source that the claim may not use.",
  },
  {
    given: "a claim of another namespace with a grant, where the caller may not read snapshots of the source",
    explain: guestId,
    objects: [c.namespace("guest"), guest(), ready, c.content(c.taken), c.grant("team/share", "guest")],
    unreadable: ["VolumeSnapshot", "VolumeSnapshotContent", "ReferenceGrant"],
    cause: "NotReadable",
    at: "VolumeSnapshot team/monday",
    actor: "administrator",
    next: /get volumesnapshots/,
  },
  {
    given: "a claim that converts the volume mode of its snapshot",
    explain: restored,
    objects: [wants({ volumeMode: "Block" }), ready, c.content(c.taken, {}, { sourceVolumeMode: "Filesystem" })],
    cause: "SourceNotUsable",
    at: "VolumeSnapshot team/monday",
    actor: "user",
    next: /volumeMode|allow-volume-mode-change/,
    changed: "The plan names the source, whose content has the mode.",
  },
  {
    given: "a clone of a claim that has no volume",
    explain: "PersistentVolumeClaim team/copy",
    objects: [
      c.claim(
        "team/copy",
        {
          dataSource: { kind: "PersistentVolumeClaim", name: "empty" },
          dataSourceRef: { kind: "PersistentVolumeClaim", name: "empty" },
        },
        c.pending,
        c.provisionedBy,
      ),
      c.claim("team/empty", { storageClassName: "late" }, c.pending),
      late,
    ],
    cause: "WaitsForNode",
    at: "PersistentVolumeClaim team/empty",
    actor: "user",
    next: /pod/,
  },
];
