/** What users do in the middle of everything. */
import { finalizers } from "../../../src/api/names.ts";
import type { Draft } from "../../../src/api/types.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import type { WatchedKind } from "../record.ts";
import { boundaryKinds, pass } from "../verdict.ts";
import { type FaultRow, oneOf, type Strike } from "./fault.ts";

const edits = (name: string, edit: (strike: Strike) => Promise<void>, needs?: Pick<FaultRow, "needs">): FaultRow => ({
  name,
  family: "user",
  ...needs,
  on: boundaryKinds,
  strike: (strike) => {
    void edit(strike);
    return pass;
  },
});

function anyKey({ recorder, draw }: Strike, kind: WatchedKind): string | undefined {
  const [first, ...others] = recorder.objects(kind).keys();
  return first === undefined ? undefined : oneOf(draw, [first, ...others]);
}

const ownAnnotations = Object.values(finalizers);

async function strip(strike: Strike, kind: WatchedKind): Promise<void> {
  const key = anyKey(strike, kind);
  const object = key === undefined ? undefined : strike.recorder.objects(kind).get(key);
  if (key === undefined || object === undefined) return;
  const { uid, finalizers: before = [] } = object.metadata;
  strike.recorder.excused.add(uid);
  await strike.user.patch(kind, key, {
    metadata: { finalizers: before.filter((name) => !ownAnnotations.includes(name as never)) },
  });
}

const ofVolumes = (name: string, edit: (strike: Strike) => Promise<void>): FaultRow =>
  edits(name, edit, { needs: "provisions" });

/** What only owners of volumes do. */
const volumeEdits: readonly FaultRow[] = [
  ofVolumes("user-keeps-volume", (strike) => setPolicy(strike, "Retain")),
  ofVolumes("user-gives-volume-up", (strike) => setPolicy(strike, "Delete")),
  ofVolumes("user-deletes-volume", async (strike) => {
    const key = anyKey(strike, "PersistentVolume");
    if (key !== undefined) await strike.user.remove("PersistentVolume", key);
  }),
  ofVolumes("user-deletes-storage-class", async (strike) => {
    const key = anyKey(strike, "StorageClass");
    if (key !== undefined) await strike.user.remove("StorageClass", key);
  }),
  ofVolumes("user-recreates-claim", async (strike) => {
    const key = anyKey(strike, "PersistentVolumeClaim");
    const old = key === undefined ? undefined : strike.recorder.objects("PersistentVolumeClaim").get(key);
    if (key === undefined || old === undefined) return;
    const { apiVersion, kind, spec } = old as unknown as { apiVersion: string; kind: string; spec: JsonObject };
    const { namespace, name, uid } = old.metadata;
    const { volumeName: _, ...wanted } = spec;
    await strike.user.remove("PersistentVolumeClaim", key);
    await strike.user.until((seen) => seen.objects("PersistentVolumeClaim").get(key)?.metadata.uid !== uid, 120_000);
    await strike.user.create("PersistentVolumeClaim", {
      apiVersion,
      kind,
      metadata: { namespace, name },
      spec: wanted,
    } as unknown as Draft);
  }),
];

/** What only owners of snapshots do who let others use them. */
const consentEdits: readonly FaultRow[] = [
  edits("user-revokes-grant", (strike) => revoke(strike), { needs: "consents" }),
  edits(
    "user-grants-again",
    async (strike) => {
      const key = anyKey(strike, "ReferenceGrant");
      const old = key === undefined ? undefined : strike.recorder.objects("ReferenceGrant").get(key);
      await revoke(strike);
      if (old === undefined) return;
      const { apiVersion, kind, spec } = old as unknown as { apiVersion: string; kind: string; spec: JsonObject };
      const { namespace, name } = old.metadata;
      await strike.user.create("ReferenceGrant", { apiVersion, kind, metadata: { namespace, name }, spec } as never);
    },
    { needs: "consents" },
  ),
  edits(
    "user-deletes-link",
    async (strike) => {
      const key = anyKey(strike, "VolumeSnapshotLink");
      if (key !== undefined) await strike.user.remove("VolumeSnapshotLink", key);
    },
    { needs: "consents" },
  ),
];
async function revoke(strike: Strike): Promise<void> {
  const key = anyKey(strike, "ReferenceGrant");
  if (key !== undefined) await strike.user.remove("ReferenceGrant", key);
}

async function setPolicy(strike: Strike, persistentVolumeReclaimPolicy: "Retain" | "Delete"): Promise<void> {
  const key = anyKey(strike, "PersistentVolume");
  if (key !== undefined) await strike.user.patch("PersistentVolume", key, { spec: { persistentVolumeReclaimPolicy } });
}

export const userEdits: readonly FaultRow[] = [
  edits("user-deletes-snapshot", async (strike) => {
    const key = anyKey(strike, "VolumeSnapshot");
    if (key !== undefined) await strike.user.remove("VolumeSnapshot", key);
  }),
  edits("user-recreates-snapshot", async (strike) => {
    const key = anyKey(strike, "VolumeSnapshot");
    const old = key === undefined ? undefined : strike.recorder.objects("VolumeSnapshot").get(key);
    if (key === undefined || old === undefined) return;
    const { apiVersion, kind, spec } = old as unknown as { apiVersion: string; kind: string; spec: JsonObject };
    const { namespace, name } = old.metadata;
    await strike.user.remove("VolumeSnapshot", key);
    await strike.user.until(
      (seen) => seen.objects("VolumeSnapshot").get(key)?.metadata.uid !== old.metadata.uid,
      120_000,
    );
    await strike.user.create("VolumeSnapshot", {
      apiVersion,
      kind,
      metadata: { namespace, name },
      spec,
    } as unknown as Draft);
  }),
  edits("user-flips-policy", async (strike) => {
    const key = anyKey(strike, "VolumeSnapshotContent");
    if (key === undefined) return;
    await strike.user.patch("VolumeSnapshotContent", key, {
      spec: { deletionPolicy: oneOf(strike.draw, ["Retain", "Delete"]) },
    });
  }),
  edits("user-deletes-content", async (strike) => {
    const key = anyKey(strike, "VolumeSnapshotContent");
    if (key !== undefined) await strike.user.remove("VolumeSnapshotContent", key);
  }),
  edits("user-deletes-class", async (strike) => {
    const key = anyKey(strike, "VolumeSnapshotClass");
    if (key !== undefined) await strike.user.remove("VolumeSnapshotClass", key);
  }),
  edits("user-deletes-claim", async (strike) => {
    const key = anyKey(strike, "PersistentVolumeClaim");
    if (key !== undefined) await strike.user.remove("PersistentVolumeClaim", key);
  }),
  edits("user-strips-snapshot", (strike) => strip(strike, "VolumeSnapshot")),
  edits("user-strips-content", (strike) => strip(strike, "VolumeSnapshotContent")),
  edits("user-labels-everything", async (strike) => {
    for (const kind of ["VolumeSnapshot", "VolumeSnapshotContent", "PersistentVolumeClaim"] as const) {
      const key = anyKey(strike, kind);
      const mark = { metadata: { labels: { team: "blue" }, annotations: { note: "mine" } } };
      if (key !== undefined) await strike.user.patch(kind, key, mark);
    }
  }),
  ...volumeEdits,
  ...consentEdits,
];
