/** The snapshot CRDs of another phase on the embedded server, in tests of what is served. */
import type { CrdDraft } from "../src/api/crds/index.ts";
import type { KubeApi } from "../src/kube/api.ts";

/** As if all objects had been rewritten: status.storedVersions has the storage version alone. */
export async function replaceCrds(admin: KubeApi, crds: readonly CrdDraft[]): Promise<void> {
  for (const crd of crds) {
    const { metadata } = await admin.get({ kind: "CustomResourceDefinition", name: crd.metadata.name ?? "" });
    const applied = await admin.replace("CustomResourceDefinition", { ...crd, metadata } as never);
    const storedVersions = crd.spec.versions.filter(({ storage }) => storage).map(({ name }) => name);
    const pruned = { ...applied, status: { ...applied.status, storedVersions } };
    await admin.replace("CustomResourceDefinition", pruned as never, { subresource: "status" });
  }
}
