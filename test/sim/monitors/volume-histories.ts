/** One bad history for each monitor of volumes, that only this monitor notices. */
import { finalizers, provisioning } from "../../../src/api/names.ts";
import type { KubeObject } from "../../../src/api/types.ts";
import type { Intent } from "../../../src/components/csi-provisioner/stored-calls/intent.ts";
import { partsOf, textOf } from "../../../src/components/csi-provisioner/stored-calls/intent-text.ts";
import { intents } from "../components.ts";
import { type Bench, driver, going, object, type Parts } from "./bench.ts";

export const uid = "22222222-2222-4222-8222-222222222222";
export const name = `pvc-${uid}`;
const id = `volume-${name}-1`;
const bytes = 2n ** 30n;
const stored = { id, name, bytes, source: "" };

const aClaim = ({ metadata = {}, spec = {}, status = {} }: Parts = {}): KubeObject =>
  object(
    "PersistentVolumeClaim",
    { namespace: "default", name: "shop", uid, ...metadata },
    {
      spec: { storageClassName: "disk", resources: { requests: { storage: "1Gi" } }, ...spec },
      status: { phase: "Pending", ...status },
    },
  );
const aBoundClaim = aClaim({ spec: { volumeName: name }, status: { phase: "Bound" } });
const aClass = object("StorageClass", { name: "disk", uid: "class" }, {});

interface Change {
  readonly handle?: string;
  readonly policy?: string;
  readonly phase?: string;
  readonly storage?: string;
  readonly claimUid?: string;
  readonly metadata?: Parts["metadata"];
}
const aVolume = (change: Change = {}): KubeObject => {
  const { handle = id, policy = "Delete", phase = "Bound", storage = "1Gi", claimUid = uid, metadata = {} } = change;
  return object(
    "PersistentVolume",
    { name, uid: "volume", ...metadata },
    {
      spec: {
        csi: { driver, volumeHandle: handle },
        claimRef: { namespace: "default", name: "shop", uid: claimUid },
        persistentVolumeReclaimPolicy: policy,
        capacity: { storage },
      },
      status: { phase },
    },
  );
};

const aLease = (calls: object): KubeObject =>
  object(
    "Lease",
    {
      ...intents,
      uid: "lease",
      annotations: {
        "snapkeep.dev/create-volume-calls": textOf(
          Object.entries(calls).map(([volume, intent]) => [volume, partsOf(intent as Intent)] as const),
        ),
      },
    },
    {},
  );
const call = (source?: string) => ({
  claim: { namespace: "default", name: "shop", uid },
  published: id,
  call: { name, ...(source === undefined ? {} : { source: { kind: "snapshot", handle: source } }) },
  ...(source === undefined ? {} : { snapshotKey: "default/monday" }),
});
export const stores = ({ write }: Bench, calls: object = { [name]: call() }): void =>
  write("csi-provisioner", undefined, aLease(calls));
const settles = ({ write }: Bench, calls: object = { [name]: call() }): void =>
  write("csi-provisioner", aLease(calls), aLease({}));

/** A claim that has its volume. */
function served({ write, volumes }: Bench, change: Change = {}): void {
  volumes.set(id, stored);
  write("user", undefined, aBoundClaim);
  write("user", undefined, aVolume(change));
}

export const handle = "handle-monday";
const aSnapshot = (metadata: Parts["metadata"] = {}): KubeObject =>
  object(
    "VolumeSnapshot",
    { namespace: "default", name: "monday", uid: "snapshot", ...metadata },
    { spec: { source: { volumeSnapshotContentName: "c" } }, status: { boundVolumeSnapshotContentName: "c" } },
  );
const aContent = object(
  "VolumeSnapshotContent",
  { name: "c", uid: "content", ...going, finalizers: [finalizers.contentBound] },
  {
    spec: {
      driver,
      deletionPolicy: "Delete",
      source: { snapshotHandle: handle },
      volumeSnapshotRef: { namespace: "default", name: "monday", uid: "snapshot" },
    },
    status: { snapshotHandle: handle },
  },
);
const fromMonday = { dataSource: { kind: "VolumeSnapshot", name: "monday" } };

const abroadMonday = { ...fromMonday.dataSource, namespace: "default" };
const anAbroadClaim = object(
  "PersistentVolumeClaim",
  { namespace: "abroad", name: "shop", uid },
  {
    spec: {
      storageClassName: "disk",
      volumeName: name,
      resources: { requests: { storage: "1Gi" } },
      dataSourceRef: abroadMonday,
    },
    status: { phase: "Bound" },
  },
);
const aGrant = object(
  "ReferenceGrant",
  { namespace: "default", name: "lend", uid: "grant" },
  {
    spec: { from: [{ kind: "PersistentVolumeClaim", namespace: "abroad" }], to: [{ kind: "VolumeSnapshot" }] },
  },
);
const aKeptContent = {
  ...aContent,
  metadata: { name: "c", uid: "content", finalizers: [finalizers.contentBound] },
} as unknown as KubeObject;
/** A claim of another namespace, the snapshot that it names, and a stored call. */
function abroad(bench: Bench): void {
  bench.write("user", undefined, aKeptContent);
  bench.write("user", undefined, aSnapshot());
  bench.write("user", undefined, anAbroadClaim);
  stores(bench, { [name]: call(handle) });
  bench.storage.set(handle, { id: handle, name: "by-hand", volumeId: "vol", takenAtMs: 0, readyAtMs: 0 });
}

export const volumeHistories: Readonly<Record<string, (bench: Bench) => void>> = {
  "V-1": (bench) => {
    bench.write("user", undefined, aBoundClaim);
    bench.volumes.set(id, stored);
    bench.volumes.set(`${id}0`, { ...stored, id: `${id}0` });
    bench.call("DeleteVolume", "volume-of-nobody");
    bench.end("ok", true);
    bench.volumes.clear();
  },
  "V-2": ({ write, call: calls }) => {
    write("user", undefined, aBoundClaim);
    calls("CreateVolume", name);
  },
  "V-3": (bench) => {
    bench.write("user", undefined, aBoundClaim);
    stores(bench);
    bench.busy.add(name);
    settles(bench);
  },
  "V-4": (bench) => {
    served(bench);
    bench.call("DeleteVolume", id);
  },
  "V-5": ({ write, volumes }) => {
    write("user", undefined, aBoundClaim);
    volumes.set("volume-x", { ...stored, id: "volume-x", name: "pvc-of-another" });
    write("csi-provisioner", undefined, aVolume({ handle: "volume-x" }));
  },
  "V-6": ({ volumes }) => void volumes.set(id, stored),
  "V-7": (bench) => {
    bench.write("user", undefined, aBoundClaim);
    bench.volumes.set(id, stored);
    bench.write("csi-provisioner", undefined, aVolume());
    bench.volumes.clear();
  },
  "V-8": (bench) => {
    bench.write("user", undefined, aContent);
    bench.write("user", undefined, aSnapshot(going));
    bench.write("user", undefined, aClaim({ spec: fromMonday }));
    stores(bench, { [name]: call(handle) });
    bench.call("DeleteSnapshot", handle);
    settles(bench, { [name]: call(handle) });
    bench.write("csi-snapshotter", aContent, undefined);
    bench.write("user", aSnapshot(going), undefined);
  },
  "V-9": ({ write }) =>
    write("user", undefined, aClaim({ metadata: { finalizers: [provisioning.claimCloningFinalizer] } })),
  "V-10": ({ write }) => {
    write("user", undefined, aClass);
    write("user", undefined, aClaim({ metadata: { annotations: { [provisioning.storageProvisioner]: driver } } }));
  },
  "V-11": (bench) => {
    const { published: _, ...unnoted } = call();
    bench.write("user", undefined, aBoundClaim);
    stores(bench, { [name]: unnoted });
    bench.volumes.set(id, stored);
    bench.write("csi-provisioner", undefined, aVolume());
    settles(bench, { [name]: unnoted });
  },
  "I-21": (bench) => {
    abroad(bench);
    bench.call("CreateVolume", name, handle);
    settles(bench, { [name]: call(handle) });
  },
  "I-22": (bench) => {
    bench.write("user", undefined, aGrant);
    abroad(bench);
    bench.note(
      "call",
      "GET /apis/gateway.networking.k8s.io/v1/namespaces/default/referencegrants/lend",
      "csi-provisioner.1",
    );
    bench.call("CreateVolume", name, handle);
    bench.write("user", aGrant, undefined);
    bench.note(
      "call",
      "GET /apis/gateway.networking.k8s.io/v1/namespaces/default/referencegrants/lend",
      "csi-provisioner.1",
    );
    bench.call("CreateVolume", name, handle);
    bench.volumes.set(id, { ...stored, source: handle });
    bench.write("csi-provisioner", undefined, aVolume());
    settles(bench, { [name]: call(handle) });
  },
  "I-23": ({ write, volumes }) => {
    write("user", undefined, aClaim({ spec: { ...fromMonday, volumeName: name } }));
    volumes.set(id, stored);
    write("csi-provisioner", undefined, aVolume());
  },
  "I-24": ({ write, volumes }) => {
    write("user", undefined, aBoundClaim);
    volumes.set(id, { ...stored, bytes: 1n });
    write("csi-provisioner", undefined, aVolume());
  },
};
