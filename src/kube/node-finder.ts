/** Finds the node that reaches a volume, for components that run on every node and share the work by node. */
import type { PersistentVolume } from "../api/types.ts";
import { equal } from "../base/json.ts";
import { anywhere, type NodeSelector, nodeMatches, type VolumePlace } from "../rules/node-affinity.ts";
import type { KubeApi } from "./api.ts";
import { allSynced, createStores, type StoreTable, unsyncedIn, watchStores } from "./stores.ts";
import type { WatchOptions } from "./watch.ts";

const table = { Node: {} } as const satisfies StoreTable;

export interface NodeFinder {
  watch(signal: AbortSignal): Promise<void>;
  /** Resolves when all nodes are known; rejects when the signal aborts first. */
  synced(signal: AbortSignal): Promise<void>;
  /** What is missing until then. */
  unsynced(): string | undefined;
  /** The first node, by name, that the volume's affinity allows; anywhere for a volume that every node reaches. */
  placeOf(volume: PersistentVolume): VolumePlace;
  /** Tells whenever a node comes, goes or gets other labels; what else happens to nodes, and often, moves no volume. */
  onChange(listener: () => void): void;
}

export function createNodeFinder(api: KubeApi, options: Omit<WatchOptions, "scope" | "signal">): NodeFinder {
  const stores = createStores(table, options.log);
  const onChange = (listener: () => void): void =>
    void stores.Node.onChange((before, after) => {
      const isSame =
        before !== undefined && after !== undefined && equal(before.metadata.labels, after.metadata.labels);
      if (!isSame) listener();
    });
  /** Each look at a snapshot asks for its place, and each scrape looks at all of them: by thousands of nodes that took seconds. */
  let known = new WeakMap<object, VolumePlace>();
  onChange(() => {
    known = new WeakMap();
  });
  const find = (required: NodeSelector): VolumePlace => {
    const names = [...stores.Node.all()]
      .filter((node) => nodeMatches(node, required))
      .map(({ metadata }) => metadata.name);
    const [name] = names.sort();
    return name === undefined ? { kind: "nowhere" } : { kind: "node", name };
  };
  return {
    synced: (signal) => allSynced(stores, signal),
    unsynced: () => unsyncedIn(stores),
    watch: (signal) => watchStores(api, table, stores, { ...options, signal }),
    placeOf({ spec }) {
      const required = spec?.nodeAffinity?.required;
      if (required === undefined) return anywhere;
      const place = known.get(required) ?? find(required);
      known.set(required, place);
      return place;
    },
    onChange,
  };
}
