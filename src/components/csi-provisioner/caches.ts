/** The caches of the provisioner. Nodes and attachments are watched only where the driver's capabilities need them. */
import type { PersistentVolume, PersistentVolumeClaim, VolumeAttachment } from "../../api/types.ts";
import { keyIn } from "../../base/brand.ts";
import type { Log } from "../../base/log.ts";
import type { KubeApi } from "../../kube/api.ts";
import { createStores, type StoresOf, type StoreTable, watchStores } from "../../kube/stores.ts";
import { classNameOf, sourceOf, volumeNameFor } from "./claim.ts";
import type { DriverFacts, ProvisionerOptions } from "./prepare.ts";
import { sourceId } from "./source.ts";

const basicTable = (options: ProvisionerOptions) =>
  ({
    PersistentVolumeClaim: {
      indexes: {
        volume: ({ metadata }: PersistentVolumeClaim) => volumeNameFor(options, metadata.uid),
        class: (claim: PersistentVolumeClaim) => (claim.spec?.volumeName ? undefined : classNameOf(claim)),
        attributes: ({ spec }: PersistentVolumeClaim) =>
          spec?.volumeName ? undefined : spec?.volumeAttributesClassName || undefined,
        source: (claim: PersistentVolumeClaim) => sourceOfPending(claim),
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

/** Of a claim that has no volume yet. */
function sourceOfPending(claim: PersistentVolumeClaim): string | undefined {
  const source = sourceOf(claim);
  return claim.spec?.volumeName || (source.kind !== "snapshot" && source.kind !== "claim")
    ? undefined
    : sourceId({ kind: source.kind, key: keyIn(source.namespace, source.name) });
}

export function createCaches(options: ProvisionerOptions, { plugin, controller }: DriverFacts, log: Log) {
  const table: StoreTable = {
    ...basicTable(options),
    ...(plugin.has("VOLUME_ACCESSIBILITY_CONSTRAINTS") ? topologyTable : {}),
    ...(controller.has("PUBLISH_UNPUBLISH_VOLUME") ? attachmentTable : {}),
  };
  const stores = createStores(table, log);
  return {
    stores: stores as unknown as ProvisionerStores,
    watch: (api: KubeApi, watching: Parameters<typeof watchStores>[3]) => watchStores(api, table, stores, watching),
  };
}
