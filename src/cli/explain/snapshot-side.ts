/** What the snapshot-controller sees of a copied cluster. */
import type { KindName } from "../../api/kinds.ts";
import type { KubeObject } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import type { SnapshotContext } from "../../components/snapshot-controller/observe.ts";
import { storeTable } from "../../components/snapshot-controller/triggers.ts";
import { grantToOf, referrerOf } from "../../rules/data-source.ts";
import { anywhere } from "../../rules/node-affinity.ts";
import { grantAllows } from "../../rules/reference-grant.ts";
import type { ClusterCopy } from "./cluster-copy.ts";
import { copiedStores } from "./copied-stores.ts";

/**
 * Where an index looks: at the snapshot that a content names, at the snapshots of a claim's namespace, and, only for a snapshot that is
 * being deleted, at the claims of its namespace, one of which may be restored from it.
 */
function scopeOf(copy: ClusterCopy, kind: KindName, index: string, value: string): readonly KubeObject[] {
  const [name = "", namespace] = value.split("/").reverse();
  if (kind === "VolumeSnapshot" && index === "content") return namedBy(copy, value);
  if (kind === "VolumeSnapshot") return copy.list("VolumeSnapshot", { namespace });
  if (kind !== "PersistentVolumeClaim" || index !== "restoresFrom") return [];
  const snapshot = copy.get("VolumeSnapshot", namespace, name);
  return snapshot?.metadata.deletionTimestamp === undefined ? [] : copy.list("PersistentVolumeClaim", { namespace });
}

function namedBy(copy: ClusterCopy, contentName: string): readonly KubeObject[] {
  const { namespace, name } = copy.get("VolumeSnapshotContent", undefined, contentName)?.spec.volumeSnapshotRef ?? {};
  const snapshot = name === undefined ? undefined : copy.get("VolumeSnapshot", namespace, name);
  return snapshot === undefined ? [] : [snapshot];
}

export const snapshotStores = (copy: ClusterCopy) =>
  copiedStores(copy, storeTable, (kind, index, value) => scopeOf(copy, kind, index, value));

/** The grant that lets something of one namespace refer to a snapshot of another. */
export const snapshotContext = (
  copy: ClusterCopy,
  nowMs: Millis,
  memory: SnapshotContext["memory"],
): SnapshotContext => ({
  options: {
    preventVolumeModeConversion: true,
    placeOf: () => anywhere,
    grantFor: (claimNamespace, { metadata: { namespace = "", name } }, referrer) => {
      const from = referrerOf(referrer ?? "PersistentVolumeClaim", claimNamespace);
      const to = grantToOf({ kind: "snapshot", namespace, name });
      return copy.list("ReferenceGrant", { namespace }).find((grant) => grantAllows(grant, from, to))?.metadata.name;
    },
  },
  memory,
  nowMs,
});
