/** What `restore` reads: each object by its name, and what the caller may not read is left out. */
import type { KindName } from "../../api/kinds.ts";
import type { ObjectOf } from "../../api/types.ts";
import { ifFound } from "../../base/fault.ts";
import type { KubeApi, VersionFinder } from "../../kube/api.ts";
import type { Want } from "../explain/cluster-copy.ts";
import { liveReader } from "../explain/live-reader.ts";
import type { RestoreObjects, RestoreWishes } from "./claim-draft.ts";

export async function readRestore(
  api: KubeApi & VersionFinder,
  { from, to, storageClass }: RestoreWishes,
  signal: AbortSignal,
): Promise<RestoreObjects> {
  const reader = liveReader(api);
  const all = async <K extends KindName>(want: Want & { readonly kind: K }) => {
    const answer = await reader.read(want, signal);
    return answer.kind === "objects" ? (answer.objects as readonly ObjectOf<K>[]) : undefined;
  };
  const one = async <K extends KindName>(kind: K, name: string | undefined, namespace?: string) =>
    name === undefined ? undefined : (await all({ kind, namespace, name }))?.[0];
  // Not through the reader: without the snapshot nothing can be said, so a missing right is the answer.
  const snapshot = await ifFound(api.get({ kind: "VolumeSnapshot", ...from }, { signal }));
  const { namespace } = from;
  const [content, source, storageClasses, grants] = await Promise.all([
    one("VolumeSnapshotContent", snapshot?.status?.boundVolumeSnapshotContentName),
    one("PersistentVolumeClaim", snapshot?.spec.source.persistentVolumeClaimName, namespace),
    storageClass === "" ? all({ kind: "StorageClass" }) : undefined,
    namespace === to.namespace ? [] : all({ kind: "ReferenceGrant", namespace }),
  ]);
  return { snapshot, content, source, storageClasses, grants };
}
