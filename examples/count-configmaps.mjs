// @ts-check
/** A cache that a list and a watch keep current, and a write that nobody else's write can undo. `node examples/count-configmaps.mjs` */
import assert from "node:assert/strict";
import { createApiServer } from "snapkeep/apiserver";
import { allSynced, createClient, createStores, draftOf, isFault, realWorld, silent, watchStores } from "snapkeep/kube";

// On a cluster: const { api } = await connectToCluster({ environment: process.env });
const server = createApiServer();
const api = createClient({ handler: server.handler, world: realWorld });

const table = /** @type {const} */ ({ ConfigMap: { namespace: "default" } });
const stores = createStores(table);
const stop = new AbortController();
const watching = watchStores(api, table, stores, { world: realWorld, log: silent, signal: stop.signal });
await allSynced(stores, stop.signal);

/** @type {PromiseWithResolvers<void>} */
const seen = Promise.withResolvers();
stores.ConfigMap.onChange((_before, after) => {
  if (after?.metadata.name === "a") seen.resolve();
});
const created = await api.create(
  "ConfigMap",
  draftOf("ConfigMap", { name: "a", namespace: "default" }, { data: { count: "1" } }),
);
await seen.promise;
console.log(`${stores.ConfigMap.size()} ConfigMap in the cache`);

await api.replace("ConfigMap", { ...created, data: { count: "2" } });
// `created` is old now: the server refuses it, and the cache has the newer one, or will have it in a moment.
await assert.rejects(api.replace("ConfigMap", { ...created, data: { count: "3" } }), (reason) =>
  isFault(reason, "Conflict"),
);
const { data } = await api.get({ kind: "ConfigMap", namespace: "default", name: "a" });
console.log(`count is ${data?.count}, and the write of an old version was refused`);
stop.abort();
await watching;
