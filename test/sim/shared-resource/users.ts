/** What users do at the API server, and what is true afterwards. */

import type { ShareKind } from "../../../src/api/share-lists.ts";
import { sourceKinds } from "../../../src/components/shared-resource/node/types.ts";
import { type createTruth, filesOf, type Reference, shareId, sourceId, useId } from "./truth.ts";

type Must = (method: string, path: string, body?: unknown) => Promise<void>;

/** Nothing is done that would change nothing. */
export function createUsers(must: Must, truth: ReturnType<typeof createTruth>) {
  const group = "sharedresource.openshift.io";
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const plural = (kind: ShareKind): string => `${kind.toLowerCase()}s`;
  const sharePath = (kind: ShareKind): string => `/apis/${group}/v1alpha1/${plural(kind)}`;
  const sourcePath = (kind: ShareKind, { namespace }: Pick<Reference, "namespace">): string =>
    `/api/v1/namespaces/${namespace}/${sourceKinds[kind].toLowerCase()}s`;
  const roleName = (kind: ShareKind, share: string): string => `use-${plural(kind)}-${share}`;
  const encoded = (files: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(files).map(([name, text]) => [name, Buffer.from(text).toString("base64")]));
  const note = (map: Map<string, Set<string>>, key: string, value: string): void =>
    void map.set(key, (map.get(key) ?? new Set()).add(value));
  return {
    async furnish(namespaces: readonly string[]) {
      for (const name of namespaces)
        await must("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    },
    async grant(kind: ShareKind, share: string, namespace: string) {
      const id = useId(kind, share, namespace);
      if (truth.permitted.has(id)) return;
      truth.permitted.add(id);
      const metadata = { name: roleName(kind, share), namespace };
      const rules = [{ apiGroups: [group], resources: [plural(kind)], resourceNames: [share], verbs: ["use"] }];
      const apiVersion = "rbac.authorization.k8s.io/v1";
      await must("POST", `${rbac}/namespaces/${namespace}/roles`, { apiVersion, kind: "Role", metadata, rules });
      await must("POST", `${rbac}/namespaces/${namespace}/rolebindings`, {
        apiVersion,
        kind: "RoleBinding",
        metadata,
        roleRef: { kind: "Role", name: metadata.name, apiGroup: "rbac.authorization.k8s.io" },
        subjects: [{ kind: "ServiceAccount", name: "reader", namespace }],
      });
    },
    async revoke(kind: ShareKind, share: string, namespace: string) {
      if (!truth.permitted.delete(useId(kind, share, namespace))) return;
      for (const what of ["rolebindings", "roles"])
        await must("DELETE", `${rbac}/namespaces/${namespace}/${what}/${roleName(kind, share)}`);
    },
    async point(kind: ShareKind, name: string, reference: Reference) {
      const id = shareId(kind, name);
      const isNew = !truth.shares.has(id);
      truth.shares.set(id, reference);
      note(truth.references, id, sourceId(kind, reference));
      const spec = { [kind === "SharedSecret" ? "secretRef" : "configMapRef"]: reference };
      const share = { apiVersion: `${group}/v1alpha1`, kind, metadata: { name }, spec };
      await (isNew ? must("POST", sharePath(kind), share) : must("PATCH", `${sharePath(kind)}/${name}`, { spec }));
    },
    async unshare(kind: ShareKind, name: string) {
      if (truth.shares.delete(shareId(kind, name))) await must("DELETE", `${sharePath(kind)}/${name}`);
    },
    async write(kind: ShareKind, reference: Reference, version: string) {
      const id = sourceId(kind, reference);
      const isNew = !truth.sources.has(id);
      truth.sources.set(id, version);
      note(truth.versions, id, version);
      const files = filesOf(version);
      const data = kind === "SharedSecret" ? encoded(files) : files;
      const object = { apiVersion: "v1", kind: sourceKinds[kind], metadata: { name: reference.name }, data };
      const path = sourcePath(kind, reference);
      await (isNew ? must("POST", path, object) : must("PUT", `${path}/${reference.name}`, object));
    },
    async removeSource(kind: ShareKind, reference: Reference) {
      if (truth.sources.delete(sourceId(kind, reference)))
        await must("DELETE", `${sourcePath(kind, reference)}/${reference.name}`);
    },
  };
}
