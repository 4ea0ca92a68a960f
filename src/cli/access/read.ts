/** The objects that decide on access, from a cluster or from manifests. */
import type { KindName } from "../../api/kinds.ts";
import type { PersistentVolume, VolumeSnapshotContent } from "../../api/types.ts";
import { isFault } from "../../base/fault.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { KubeApi, PageReader, PathReader, VersionFinder } from "../../kube/api.ts";
import type { AccessObjects } from "../../rules/access.ts";
import type { BindingObject, RoleObject } from "../../rules/rbac.ts";
import type { Manifest } from "../lint/manifests.ts";

type AccessApi = KubeApi & PageReader & PathReader & VersionFinder;

const rbacPath = "/apis/rbac.authorization.k8s.io/v1";

export async function readCluster(api: AccessApi, signal: AbortSignal): Promise<AccessObjects> {
  const optional = async <K extends KindName>(kind: K) => {
    const isServed = (await api.findVersion(kind, { signal })) !== undefined;
    return isServed ? (await api.list(kind, { signal })).objects : [];
  };
  const rbac = async <T>(plural: string, kind: string): Promise<readonly T[]> => {
    const list = await api.getPath(`${rbacPath}/${plural}`, { signal });
    const items = isObject(list) && Array.isArray(list.items) ? list.items.filter(isObject) : [];
    return items.map((item) => ({ ...item, kind })) as unknown as readonly T[];
  };
  return {
    snapshots: (await api.list("VolumeSnapshot", { signal })).objects,
    contents: (await api.list("VolumeSnapshotContent", { signal })).objects,
    claims: (await api.list("PersistentVolumeClaim", { signal })).objects,
    volumes: await volumesIn(api, signal),
    namespaces: (await api.list("Namespace", { signal })).objects.map(({ metadata }) => metadata.name),
    links: await optional("VolumeSnapshotLink"),
    grants: await optional("ReferenceGrant"),
    roles: [...(await rbac<RoleObject>("clusterroles", "ClusterRole")), ...(await rbac<RoleObject>("roles", "Role"))],
    bindings: [
      ...(await rbac<BindingObject>("clusterrolebindings", "ClusterRoleBinding")),
      ...(await rbac<BindingObject>("rolebindings", "RoleBinding")),
    ],
  };
}

/** Their dates tell which claims an earlier snapshot has filled. Whoever may not list them sees all claims as the present one's. */
const volumesIn = async (api: AccessApi, signal: AbortSignal): Promise<readonly PersistentVolume[]> => {
  try {
    return (await api.list("PersistentVolume", { signal })).objects;
  } catch (reason) {
    if (isFault(reason, "PermissionDenied")) return [];
    throw reason;
  }
};

/** A snapshot that was named must exist. */
export const exists = ({ snapshots }: AccessObjects, namespace: string, name: string): boolean =>
  snapshots.some(({ metadata }) => metadata.namespace === namespace && metadata.name === name);

/** What stands in manifests. */
export function readObjects(manifests: readonly Manifest[]): AccessObjects {
  const of = <T>(...kinds: readonly string[]): readonly T[] =>
    manifests
      .map(({ object }) => object)
      .filter(({ kind }: JsonObject) => kinds.includes(String(kind)))
      .map(withNamespace) as unknown as readonly T[];
  return {
    snapshots: of("VolumeSnapshot"),
    contents: of<VolumeSnapshotContent>("VolumeSnapshotContent").filter(({ spec }) => isObject(spec)),
    claims: of("PersistentVolumeClaim"),
    volumes: of("PersistentVolume"),
    links: of("VolumeSnapshotLink"),
    grants: of("ReferenceGrant"),
    namespaces: of<{ metadata: { name: string } }>("Namespace").map(({ metadata }) => metadata.name),
    roles: of("Role", "ClusterRole"),
    bindings: of("RoleBinding", "ClusterRoleBinding"),
  };
}

const clusterWide: readonly string[] = [
  "Namespace",
  "PersistentVolume",
  "VolumeSnapshotContent",
  "ClusterRole",
  "ClusterRoleBinding",
];

/** kubectl apply puts what names no namespace into "default", unless it is told another. */
const withNamespace = (object: JsonObject): JsonObject => {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  return clusterWide.includes(String(object.kind))
    ? { ...object, metadata }
    : { ...object, metadata: { namespace: "default", ...metadata } };
};
