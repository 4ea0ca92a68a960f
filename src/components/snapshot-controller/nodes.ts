/** Which node takes the snapshot of a volume, where every node has a sidecar of its own. */
import type { PersistentVolume } from "../../api/types.ts";
import type { KubeApi } from "../../kube/api.ts";
import { createStores, type StoreTable, watchStores } from "../../kube/stores.ts";
import type { WatchOptions } from "../../kube/watch.ts";
import { nodeMatches } from "../../rules/node-affinity.ts";

const table = { Node: {} } as const satisfies StoreTable;

export interface NodeFinder {
  watch(signal: AbortSignal): Promise<void>;
  readonly synced: Promise<void>;
  /** The first node, by name, that the volume's affinity allows; none for a volume that every node reaches. */
  nodeOf(volume: PersistentVolume): string | undefined;
}

export function createNodeFinder(api: KubeApi, options: Omit<WatchOptions, "scope" | "signal">): NodeFinder {
  const stores = createStores(table, options.log);
  return {
    synced: stores.Node.whenSynced,
    watch: (signal) => watchStores(api, table, stores, { ...options, signal }),
    nodeOf({ spec }) {
      const required = spec?.nodeAffinity?.required;
      if (required === undefined) return undefined;
      const names = [...stores.Node.all()]
        .filter((node) => nodeMatches(node, required))
        .map(({ metadata }) => metadata.name);
      return names.sort()[0];
    },
  };
}
