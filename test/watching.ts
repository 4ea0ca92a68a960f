/** A store of ConfigMaps that is kept current from an API server in memory, by a virtual clock. */
import assert from "node:assert/strict";
import type { Draft } from "../src/api/types.ts";
import { type Log, silent } from "../src/base/log.ts";
import type { KubeApi, WatchQuery } from "../src/kube/api.ts";
import { createStore, type Store } from "../src/kube/store.ts";
import { watchInto } from "../src/kube/stores.ts";
import type { FakeKube } from "./fake-kube.ts";
import { createVirtualWorld } from "./virtual-world.ts";

export const aMap = (name: string, value = "", namespace = "apps"): Draft =>
  ({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name }, data: { value } }) as Draft;

export const setValue = (kube: KubeApi, name: string, value: string) =>
  kube.patch({ kind: "ConfigMap", namespace: "apps", name }, { type: "merge", body: { data: { value } } });

export const watching = (kube: FakeKube, seed = 1, log: Log = silent) => {
  const world = createVirtualWorld(seed);
  const store = createStore("ConfigMap");
  const stop = new AbortController();
  const done = watchInto(kube, store, { world, log, signal: stop.signal });
  return { world, store, stop, done };
};

const contentsOf = (objects: Iterable<{ metadata: { name: string; resourceVersion: string }; data?: unknown }>) =>
  [...objects]
    .map(({ metadata, data }) => `${metadata.name} ${metadata.resourceVersion} ${JSON.stringify(data)}`)
    .sort();

export const assertSame = (store: Store<"ConfigMap">, kube: FakeKube): void =>
  assert.deepEqual(contentsOf(store.all()), contentsOf(kube.stored("ConfigMap")));

export const watchesOf = (kube: FakeKube): readonly WatchQuery[] =>
  kube.calls.filter(({ verb }) => verb === "watch").map(({ body }) => body as WatchQuery);
export const countOf = (kube: FakeKube, verb: string): number => kube.calls.filter((call) => call.verb === verb).length;
