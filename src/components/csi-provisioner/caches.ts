/** The caches of the provisioner. Nodes and attachments are watched only where the driver's capabilities need them. */
import type { PersistentVolume, PersistentVolumeClaim, VolumeAttachment } from "../../api/types.ts";
import { keyIn } from "../../base/brand.ts";
import type { Log } from "../../base/log.ts";
import type { KubeApi } from "../../kube/api.ts";
import type { SharedStores } from "../../kube/shared-stores.ts";
import { createStores, type StoresOf, type StoreTable, watchStores } from "../../kube/stores.ts";
import { sourceOf } from "../../rules/data-source.ts";
import type { GrantFrom } from "../../rules/reference-grant.ts";
import { classNameOf, volumeNameFor } from "./claims/claim.ts";
import type { DriverFacts, ProvisionerOptions } from "./options.ts";
import { sourceId } from "./sources/source.ts";

const basicTable = (options: ProvisionerOptions) =>
  ({
    PersistentVolumeClaim: {
      indexes: {
        volume: ({ metadata }: PersistentVolumeClaim) => volumeNameFor(options, metadata.uid),
        class: (claim: PersistentVolumeClaim) => (claim.spec?.volumeName ? undefined : classNameOf(claim)),
        attributes: ({ spec }: PersistentVolumeClaim) =>
          spec?.volumeName ? undefined : spec?.volumeAttributesClassName || undefined,
        source: (claim: PersistentVolumeClaim) => sourceOfPending(claim),
        consent: (claim: PersistentVolumeClaim) => consentOfPending(claim),
        link: (claim: PersistentVolumeClaim) => linkOfPending(claim),
      },
    },
    PersistentVolume: { indexes: { handle: ({ spec }: PersistentVolume) => spec?.csi?.volumeHandle } },
    StorageClass: {},
  }) as const satisfies StoreTable;
const topologyTable = { Node: {}, CSINode: {} } as const satisfies StoreTable;
const attachmentTable = {
  VolumeAttachment: {
    indexes: { volume: ({ spec }: VolumeAttachment) => spec?.source?.persistentVolumeName },
  },
} as const satisfies StoreTable;

type BasicStores = StoresOf<ReturnType<typeof basicTable>>;
type OptionalStores = StoresOf<typeof topologyTable> & StoresOf<typeof attachmentTable>;
export type ProvisionerStores = BasicStores & Partial<OptionalStores>;

/** The source of a claim that has no volume yet. */
function sourceOfPending(claim: PersistentVolumeClaim): string | undefined {
  const source = sourceOf(claim);
  return claim.spec?.volumeName || (source.kind !== "snapshot" && source.kind !== "claim")
    ? undefined
    : sourceId({ kind: source.kind, key: keyIn(source.namespace, source.name) });
}

/** From where to where a grant is needed, for a claim that has no volume yet. */
function consentOfPending(claim: PersistentVolumeClaim): string | undefined {
  const source = sourceOf(claim);
  return claim.spec?.volumeName || !("referrer" in source) || source.referrer === undefined
    ? undefined
    : consentId(source.namespace, source.referrer);
}
function linkOfPending(claim: PersistentVolumeClaim): string | undefined {
  const source = sourceOf(claim);
  return claim.spec?.volumeName || source.kind !== "link" ? undefined : keyIn(source.namespace, source.name);
}
export const consentId = (namespace: string, from: Partial<GrantFrom>): string => `${namespace} ${from.namespace}`;

export function createCaches(
  options: ProvisionerOptions,
  { plugin, controller }: DriverFacts,
  log: Log,
  shared: SharedStores | undefined,
) {
  const readsNodes = plugin.has("VOLUME_ACCESSIBILITY_CONSTRAINTS") || options.publishesCapacity === true;
  const table: StoreTable = {
    ...basicTable(options),
    ...(readsNodes && options.ownNode === undefined ? topologyTable : {}),
    ...(controller.has("PUBLISH_UNPUBLISH_VOLUME") ? attachmentTable : {}),
  };
  const stores = createStores(table, log, shared);
  return {
    stores: stores as unknown as ProvisionerStores,
    watch: (api: KubeApi, watching: Parameters<typeof watchStores>[3]) => watchStores(api, table, stores, watching),
  };
}
