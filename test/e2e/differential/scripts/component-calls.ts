/**
 * Every kind of call that the components make, to each kind of object that they make it to. What they are refused matters as much
 * as what they are granted: a simulated server that were kinder here would hide what goes wrong on a real one.
 */
import { crossNamespaceCrds } from "../../../../src/api/crds/cross-namespace.ts";
import { referenceGrantCrd } from "../../../../src/api/crds/reference-grant.ts";
import { finalizers } from "../../../../src/api/names.ts";
import {
  create,
  get,
  gone,
  inPhase,
  patch,
  remove,
  replace,
  type Script,
  type Step,
  script,
  watch,
} from "../script.ts";
import { aClass, aContent, aSnapshot, classes, contents, snapshots } from "./snapshots.ts";

const claims = "/api/v1/namespaces/$NS/persistentvolumeclaims";
const volumes = "/api/v1/persistentvolumes";
const secrets = "/api/v1/namespaces/$NS/secrets";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const grants = "/apis/gateway.networking.k8s.io/v1beta1/namespaces/$NS/referencegrants";
const links = "/apis/snapshot.storage.k8s.io/v1alpha1/namespaces/$NS/volumesnapshotlinks";
const populators = "/apis/populator.storage.k8s.io/v1beta1/volumepopulators";
const storageClasses = "/apis/storage.k8s.io/v1/storageclasses";
const leases = "/apis/coordination.k8s.io/v1/namespaces/$NS/leases";

const old = { resourceVersion: "1" };
const another = { uid: "00000000-0000-0000-0000-000000000000" };

const only = "fieldSelector=metadata.name%3D$ID";
/** Without bookmarks: when a real server sends one depends on its load, and one of a built-in kind shows empty members of its Go type. */
const listed = (path: string): readonly Step[] => [get(`${path}?limit=500&${only}`), watch(path, only)];

/** Guarded writes, refused and granted, and a deletion that a finalizer holds for a while. */
const guarded = (path: string, finalizer: string): readonly Step[] => [
  get(`${path}/$ID`),
  patch("merge", `${path}/$ID`, { metadata: { ...old, finalizers: [finalizer] } }),
  patch("merge", `${path}/$ID`, { metadata: { finalizers: [finalizer], annotations: { note: "yes" } } }),
  patch("merge", `${path}/$ID/status`, { metadata: old, status: { readyToUse: true } }),
  patch("merge", `${path}/$ID/status`, { metadata: { labels: { not: "here" } }, status: { readyToUse: true } }),
  ...listed(path),
  remove(`${path}/$ID`, { body: { preconditions: another } }),
  remove(`${path}/$ID`, { body: { preconditions: old } }),
  remove(`${path}/$ID`),
  patch("merge", `${path}/$ID`, { metadata: { finalizers: [finalizer, "example.com/too-late"] } }),
  ...listed(path),
  patch("merge", `${path}/$ID`, { metadata: { finalizers: null } }),
  get(`${path}/$ID`),
  patch("merge", `${path}/$ID`, { metadata: { annotations: { note: null } } }),
  remove(`${path}/$ID`, { body: { preconditions: another } }),
  ...listed(path),
];

const snapshot = aSnapshot({ source: { persistentVolumeClaimName: "c" } }, { metadata: { name: "$ID" } });
const claim = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "$ID" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, storageClassName: "" },
};
const volume = {
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: "$ID" },
  spec: {
    accessModes: ["ReadWriteOnce"],
    capacity: { storage: "1Gi" },
    csi: { driver: "d.example.com", volumeHandle: "$ID" },
    storageClassName: "$ID",
  },
};
const grant = {
  apiVersion: "gateway.networking.k8s.io/v1beta1",
  kind: "ReferenceGrant",
  metadata: { name: "$ID" },
  spec: {
    from: [{ group: "", kind: "PersistentVolumeClaim", namespace: "other" }],
    to: [{ group: "snapshot.storage.k8s.io", kind: "VolumeSnapshot" }],
  },
};
const storageClass = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "$ID" },
  provisioner: "d.example.com",
};
const link = {
  apiVersion: "snapshot.storage.k8s.io/v1alpha1",
  kind: "VolumeSnapshotLink",
  metadata: { name: "$ID" },
  spec: { source: { name: "monday", namespace: "other" } },
};
const populator = {
  apiVersion: "populator.storage.k8s.io/v1beta1",
  kind: "VolumePopulator",
  metadata: { name: "$ID" },
  sourceKind: { group: "snapshot.storage.k8s.io", kind: "VolumeSnapshotLink" },
};
const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "$ID" }, stringData: { user: "me" } };
const lease = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: "$ID" },
  spec: { holderIdentity: "a", leaseDurationSeconds: 15 },
};

export const componentCallScripts: readonly Script[] = [
  script(
    "a content as the components treat it",
    create(contents, aContent({})),
    create(contents, aContent({})),
    ...guarded(contents, finalizers.contentBound),
  ),
  script(
    "a snapshot as the components treat it",
    create(snapshots, snapshot),
    replace(`${snapshots}/$ID`, { ...snapshot, metadata: { name: "$ID", ...old } }),
    ...guarded(snapshots, finalizers.snapshotBound),
  ),
  script(
    "a class as the components see it",
    get(`${classes}/$ID`),
    create(classes, aClass({})),
    get(`${classes}/$ID`),
    ...listed(classes),
  ),
  script(
    "a claim as the components treat it",
    create(claims, claim),
    get(`${claims}/$ID`),
    replace(`${claims}/$ID`, { ...claim, metadata: { name: "$ID", ...old, finalizers: [finalizers.claimAsSource] } }),
    ...listed(claims),
  ),
  script(
    "a volume as the components see it",
    create(volumes, volume),
    inPhase(`${volumes}/$ID`, "Available"),
    ...listed(volumes),
    patch("merge", `${volumes}/$ID`, { metadata: { ...old, finalizers: null } }),
    patch("merge", `${volumes}/$ID`, { metadata: { annotations: { note: "yes" } } }),
    remove(`${volumes}/$ID`, { body: { preconditions: another } }),
    remove(`${volumes}/$ID`, { unseen: true }),
    gone(`${volumes}/$ID`),
  ),
  script(
    "a StorageClass as the components see it",
    create(storageClasses, storageClass),
    get(`${storageClasses}/$ID`),
    ...listed(storageClasses),
  ),
  script(
    "links and populators as the components treat them",
    get(`${links}?limit=500`),
    ...crossNamespaceCrds().map((crd) => create(definitions, crd)),
    get(`${links}?limit=500`, { until: (_, status) => status === 200 }),
    create(links, link),
    ...listed(links),
    get(`${links}/$ID`),
    get(`${populators}?limit=500`, { until: (_, status) => status === 200 }),
    create(populators, populator),
    create(populators, populator),
    ...crossNamespaceCrds().map(({ metadata: { name } }) => remove(`${definitions}/${name}`)),
  ),
  script(
    "a grant as the components see it",
    get(`${grants}?limit=500`),
    create(definitions, referenceGrantCrd()),
    get(`${grants}?limit=500`, { until: (_, status) => status === 200 }),
    create(grants, grant),
    ...listed(grants),
    get(`${grants}/$ID`),
    remove(`${definitions}/referencegrants.gateway.networking.k8s.io`),
  ),
  script("a secret as the sidecar reads it", get(`${secrets}/$ID`), create(secrets, secret), get(`${secrets}/$ID`)),
  script(
    "a lease as the components treat it",
    get(`${leases}/$ID`),
    create(leases, lease),
    create(leases, lease),
    replace(`${leases}/$ID`, { ...lease, metadata: { name: "$ID", ...old } }),
    get(`${leases}/$ID`),
  ),
];
