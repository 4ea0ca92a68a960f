/** States that are told by the words of others: the API server's refusals, the Go components' errors, and versions of tomorrow. */
import { annotations } from "../../../src/api/names.ts";
import * as c from "../cluster.ts";
import type { StuckCase } from "../stuck-case.ts";

const monday = "VolumeSnapshot team/monday";
const restored = "PersistentVolumeClaim team/restored";
const content = `VolumeSnapshotContent ${c.contentName}` as const;
const bound = c.snapshot(c.ofClaim, { status: c.bound }, c.protectedBy);
const fresh = c.snapshot(c.ofClaim, {}, c.protectedBy);
const failed = (message: string, annotated: Record<string, string> = {}) =>
  c.content({ readyToUse: false, error: { time: c.ago(40), message } }, { annotations: annotated });
const secret = { [annotations.deletionSecretName]: "keys", [annotations.deletionSecretNamespace]: "drivers" };
const deletedAt = { deletionTimestamp: c.ago(900), deletionGracePeriodSeconds: 0 };
const deleting = c.snapshot(c.ofClaim, { status: c.ready }, { ...c.protectedBy, ...deletedAt });
const leaving = c.content(c.taken, {
  ...deletedAt,
  annotations: { ...secret, [annotations.beingDeleted]: "yes" },
});
const refused = (verb: string, what: string, where: string) =>
  `${what} is forbidden: User "system:serviceaccount:snapkeep:snapshot-controller" cannot ${verb} resource "${what}" in API group "snapshot.storage.k8s.io" ${where}`;
const guest = c.claim(
  "guest/restored",
  {
    ...c.restoring,
    dataSource: null,
    dataSourceRef: { ...c.restoring.dataSourceRef, namespace: "team" },
  },
  c.pending,
  c.provisionedBy,
);

export const othersWords: readonly StuckCase[] = [
  {
    given: "a Go csi-snapshotter that does not say why it cannot read the secret of the class",
    explain: monday,
    objects: [
      bound,
      failed(
        'Failed to check and update snapshot content: failed to get input parameters to create snapshot for content x: "cannot get credentials for snapshot content \\"x\\""',
        secret,
      ),
    ],
    cause: "SecretNotUsable",
    at: "Secret drivers/keys",
    actor: "administrator",
    next: /kubectl get secrets -n drivers/,
  },
  {
    given: "a deletion that the driver refuses, of which the Go csi-snapshotter has only told in an event",
    explain: monday,
    objects: [deleting, leaving, c.event(leaving, "Warning", "SnapshotDeleteError", "Failed to delete snapshot")],
    cause: "DriverFailed",
    at: content,
    actor: "driver",
    next: /kubectl logs[\s\S]*snap-77[\s\S]*Retain/,
  },
  {
    given: "a Go csi-snapshotter that misses the secret for a deletion",
    explain: monday,
    objects: [
      deleting,
      leaving,
      c.event(leaving, "Warning", "SnapshotDeleteError", "Failed to get snapshot credentials"),
    ],
    cause: "SecretNotUsable",
    at: "Secret drivers/keys",
    actor: "administrator",
    next: /kubectl get secrets -n drivers/,
  },
  {
    given:
      "a content that the Go snapshot-controller has made for the driver of the class, which is not that of the volume",
    explain: monday,
    objects: [bound, c.content(undefined, {}, { driver: "other.example.com", volumeSnapshotClassName: "other" })],
    cause: "ClassNotUsable",
    at: "VolumeSnapshotClass other",
    actor: "administrator",
    next: /belongs to driver disk\.example\.com/,
  },
  {
    given: "a Go csi-snapshotter that misses the class of the content",
    explain: monday,
    objects: [bound, failed("failed to get snapshot class gold for snapshot content x: not found")],
    cause: "ClassNotFound",
    at: "VolumeSnapshotClass gold",
    actor: "administrator",
    next: /kubectl get volumesnapshotclasses/,
  },
  {
    given: "a Go csi-provisioner that misses the secret of the class",
    explain: restored,
    objects: [
      c.claim("team/restored", {}, c.pending, c.provisionedBy),
      c.event(
        c.claim("team/restored", {}, c.pending),
        "Warning",
        "ProvisioningFailed",
        'failed to provision volume with StorageClass "fast": error getting secret keys in namespace drivers: secrets "keys" not found',
        20,
        "csi-provisioner",
      ),
    ],
    cause: "SecretNotUsable",
    at: "Secret drivers/keys",
    actor: "administrator",
    next: /kubectl get secrets -n drivers/,
  },
  {
    given: "a snapshot-controller that may not create contents",
    explain: monday,
    objects: [
      fresh,
      c.event(
        fresh,
        "Warning",
        "SnapshotContentCreationFailed",
        `Failed to create snapshot content with error ${refused("create", "volumesnapshotcontents", "at the cluster scope")}`,
      ),
    ],
    cause: "NotPermitted",
    at: monday,
    actor: "administrator",
    next: /kubectl create clusterrole create-volumesnapshotcontents --verb=create --resource=volumesnapshotcontents\.snapshot\.storage\.k8s\.io\n[\s\S]*--serviceaccount=snapkeep:snapshot-controller/,
  },
  {
    given: "a snapshot that a leading controller does not touch, where a webhook can refuse its writes",
    explain: monday,
    objects: [
      c.snapshot(c.ofClaim),
      c.kubernetesObject("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "validation", {
        webhooks: [
          {
            name: "validation.snapshots.example.com",
            failurePolicy: "Fail",
            clientConfig: { service: { namespace: "snapkeep", name: "validation" } },
            rules: [{ apiGroups: ["snapshot.storage.k8s.io"], resources: ["volumesnapshots"] }],
          },
        ],
      }),
    ],
    cause: "WaitsForProtection",
    at: "PersistentVolumeClaim team/data",
    actor: "component",
    next: /kubectl logs[\s\S]*kubectl get endpointslices -n snapkeep -l kubernetes\.io\/service-name=validation/,
  },
  {
    given: "a SharedConfigMap whose ConfigMap the controller may not read, which runs in a pod",
    explain: "SharedConfigMap settings",
    objects: [
      c.share("SharedConfigMap", "settings", { configMapRef: { namespace: "vault", name: "settings" } }, [
        {
          type: "Available",
          status: "Unknown",
          reason: "ReferenceForbidden",
          message: "as written",
          lastTransitionTime: c.ago(300),
          observedGeneration: 1,
        },
      ]),
      c.lease("shares/shared-resource-controller-leader", "shares-0", 2),
      c.kubernetesObject("v1", "Pod", "shares/shares-0", {
        spec: {
          serviceAccountName: "shares",
          containers: [{ name: "shared-resource", image: "registry.example.com/snapkeep:0.2.0" }],
        },
        status: { phase: "Running" },
      }),
    ],
    cause: "NotPermitted",
    at: "ConfigMap vault/settings",
    actor: "administrator",
    next: /kubectl create role get-configmaps --verb=get --resource=configmaps --resource-name=settings -n vault\n[\s\S]*--serviceaccount=shares:shares -n vault/,
  },
  {
    given: "a csi-snapshotter that may not read the secret of the class",
    explain: monday,
    objects: [
      bound,
      failed(
        'Failed to create snapshot: secrets "keys" is forbidden: User "system:serviceaccount:drivers:disk" cannot get resource "secrets" in API group "" in the namespace "drivers" [SNAP-516]',
        secret,
      ),
    ],
    cause: "NotPermitted",
    at: content,
    actor: "administrator",
    next: /kubectl create role get-secrets --verb=get --resource=secrets --resource-name=keys -n drivers\n[\s\S]*kubectl create rolebinding get-secrets --role=get-secrets --serviceaccount=drivers:disk -n drivers/,
  },
  {
    given: "a content that the caller may not read, while the snapshot shows its error",
    explain: monday,
    objects: [
      c.snapshot(
        c.ofClaim,
        { status: { ...c.bound, error: { time: c.ago(40), message: 'Failed: "pool is full" [SNAP-501]' } } },
        c.protectedBy,
      ),
      failed("x"),
    ],
    unreadable: ["VolumeSnapshotContent"],
    cause: "DriverFailed",
    at: monday,
    actor: "driver",
    next: /pool is full/,
  },
  {
    given: "grants that the caller may not read",
    explain: "PersistentVolumeClaim guest/restored",
    objects: [c.namespace("guest"), guest, c.snapshot(c.ofClaim, { status: c.ready }), c.content(c.taken)],
    unreadable: ["ReferenceGrant"],
    cause: "NotReadable",
    at: "PersistentVolumeClaim guest/restored",
    actor: "administrator",
    next: /referencegrants/,
  },
  {
    given: "claims that the caller may not read",
    explain: monday,
    objects: [fresh],
    unreadable: ["PersistentVolumeClaim"],
    cause: "NotReadable",
    at: "PersistentVolumeClaim team/data",
    actor: "administrator",
    next: /kubectl auth can-i get persistentvolumeclaims -n team/,
  },
  {
    given: "a content with a source of a newer release",
    explain: content,
    objects: [bound, c.content(undefined, {}, { source: { volumeImage: "x" } })],
    cause: "NewerThanProgram",
    at: content,
    actor: "administrator",
    next: /newer/,
  },
  {
    given: "an object in a version of a newer release",
    explain: monday,
    objects: [{ ...fresh, apiVersion: "snapshot.storage.k8s.io/v2" }],
    cause: "NewerThanProgram",
    at: monday,
    actor: "administrator",
    next: /v2 is newer than this program/,
  },
  {
    given: "an API server that serves only a newer version of the kind",
    explain: monday,
    objects: [
      c.kubernetesObject(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "volumesnapshots.snapshot.storage.k8s.io",
        { spec: { versions: [{ name: "v2", served: true, storage: true }] } },
      ),
    ],
    unserved: ["VolumeSnapshot"],
    cause: "NewerThanProgram",
    at: monday,
    actor: "administrator",
    next: /in v2, which is newer than this program/,
  },
];
