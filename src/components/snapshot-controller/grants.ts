/** Which claims of other namespaces a snapshot may be restored to: those that a ReferenceGrant in its namespace allows. */
import { kindRows } from "../../api/kinds.ts";
import type { ReferenceGrant, VolumeSnapshot } from "../../api/types.ts";
import { createOptionalStore, type OptionalStore, type OptionalStoreOptions } from "../../kube/optional-store.ts";
import { grantAllows } from "../../rules/reference-grant.ts";

export interface Grants extends Pick<OptionalStore<"ReferenceGrant">, "watch" | "known"> {
  /** False if grants are not served or may not be read. */
  allows(claimNamespace: string, snapshot: VolumeSnapshot): boolean;
  /** Called with the namespace whose grants have changed. */
  onChange(listener: (namespace: string) => void): void;
}

const indexes = { namespace: ({ metadata }: ReferenceGrant) => metadata.namespace };
const to = { group: kindRows.VolumeSnapshot.group, kind: "VolumeSnapshot" };
const from = { group: kindRows.PersistentVolumeClaim.group, kind: "PersistentVolumeClaim" };

export function createGrants(options: Omit<OptionalStoreOptions<"ReferenceGrant", never>, "indexes">): Grants {
  const optional = createOptionalStore<"ReferenceGrant", "namespace">("ReferenceGrant", { ...options, indexes });
  return {
    watch: optional.watch,
    known: optional.known,
    allows: (claimNamespace, { metadata: { namespace = "", name } }) =>
      (optional.current()?.by("namespace", namespace) ?? []).some((grant) =>
        grantAllows(grant, { ...from, namespace: claimNamespace }, { ...to, namespace, name }),
      ),
    onChange: (listener) => optional.onChange((before, after) => listener((after ?? before)?.metadata.namespace ?? "")),
  };
}
