import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../test/csi-sockets.ts";
import { draftOf } from "../api/builders.ts";
import { snapshotCrds } from "../api/crds/index.ts";
import { keyOf, type VolumeSnapshotClass } from "../api/types.ts";
import { createApiServer } from "../apiserver/index.ts";
import type { Handler } from "../base/http.ts";
import { silent } from "../base/log.ts";
import { realWorld } from "../base/world.ts";
import { createClient } from "./client.ts";
import { createOptionalStore } from "./optional-store.ts";
import { createSharedStores } from "./shared-stores.ts";
import type { Store } from "./store.ts";
import { createStores, watchInto, watchStores } from "./stores.ts";

const world = realWorld;
const kind = "VolumeSnapshotClass";
const table = {
  VolumeSnapshotClass: { indexes: { driver: ({ driver }: VolumeSnapshotClass) => driver }, labelSelector: undefined },
} as const;

/** Requests for classes: how often all are listed, and how many watches are open. */
function startServer() {
  const server = createApiServer({ world, definitions: snapshotCrds(3) });
  let [lists, watches] = [0, 0];
  const handler: Handler = async (request) => {
    const isWatch = request.path.includes("watch=");
    if (request.path.includes("/volumesnapshotclasses?") && request.method === "GET") {
      if (!isWatch) lists += 1;
      else {
        watches += 1;
        request.signal?.addEventListener("abort", () => {
          watches -= 1;
        });
      }
    }
    return server.handler(request);
  };
  const client = createClient({ handler, world });
  const create = (name: string, driver = "a.example.com") =>
    client.create(kind, draftOf(kind, { name }, { driver, deletionPolicy: "Delete" }));
  return { client, create, counts: () => ({ lists, watches }) };
}

const names = (objects: Iterable<VolumeSnapshotClass>) => [...objects].map(({ metadata }) => metadata.name).toSorted();

function follow(store: Store<typeof kind>): readonly string[] {
  const seen: string[] = [];
  store.onChange((before, after) => void seen.push(`${before?.metadata.name ?? ""}>${after?.metadata.name ?? ""}`));
  return seen;
}

test("two controllers read one list and one watch, and one copy of each object, by indexes of their own", async () => {
  const { client, create, counts } = startServer();
  await create("one");
  const shared = createSharedStores();
  const [first, second] = [createStores(table, silent, shared), createStores({ [kind]: {} } as const, silent, shared)];
  const stop = new AbortController();
  const options = { world, log: silent, signal: stop.signal };
  const ends = [watchStores(client, table, first, options), watchInto(client, second[kind], options)];
  await Promise.all([first[kind].whenSynced, second[kind].whenSynced]);
  await create("two", "b.example.com");
  await eventually("both have it", () => first[kind].size() === 2 && second[kind].size() === 2);
  assert.deepEqual(counts(), { lists: 1, watches: 1 });
  assert.deepEqual(names(first[kind].by("driver", "b.example.com")), ["two"]);
  for (const object of first[kind].all()) assert.equal(second[kind].get(keyOf(object)), object);
  stop.abort();
  await Promise.all(ends);
  assert.equal(counts().watches, 0);
});

test("a controller that comes later is told of what is there, and one that goes leaves the cache to the others", async () => {
  const { client, create, counts } = startServer();
  await create("one");
  const shared = createSharedStores();
  const start = () => {
    const stop = new AbortController();
    const store = createStores(table, silent, shared)[kind];
    const seen = follow(store);
    const ended = watchInto(client, store, { world, log: silent, signal: stop.signal });
    const end = (): Promise<void> => {
      stop.abort();
      return ended;
    };
    return { store, seen, end };
  };
  const first = start();
  await first.store.whenSynced;
  const second = start();
  assert.deepEqual(second.seen, [">one"], "at once");
  await second.store.whenSynced;
  await first.end();
  const { metadata } = await create("two");
  await eventually("the other is told", () => second.seen.includes(">two"));
  assert.equal(first.seen.includes(">two"), false);
  assert.deepEqual(counts(), { lists: 1, watches: 1 });
  // What one controller learns by a reply, all know.
  const third = start();
  await third.store.whenSynced;
  const two = [...third.store.by("driver", "a.example.com")].find((object) => object.metadata.name === "two");
  assert.ok(two !== undefined);
  third.store.applyDeletion(keyOf(two), metadata.uid);
  assert.deepEqual(names(second.store.all()), ["one"]);
  assert.deepEqual(names(second.store.by("driver", "a.example.com")), ["one"]);
  await Promise.all([second.end(), third.end()]);
  assert.equal(counts().watches, 0);
  const last = start();
  await last.store.whenSynced;
  assert.equal(counts().lists, 2, "nobody kept it current meanwhile");
  assert.deepEqual(names(last.store.all()), ["one", "two"]);
  await last.end();
});

test("an optional kind of one controller is the cache of another that needs it", async () => {
  const { client, create, counts } = startServer();
  await create("one");
  const shared = createSharedStores();
  const stop = new AbortController();
  const options = { world, log: silent, signal: stop.signal };
  const needed = createStores(table, silent, shared);
  const optional = createOptionalStore(kind, { api: { ...client, postPath: allowed }, world, log: silent, shared });
  const ends = [watchStores(client, table, needed, options), optional.watch(stop.signal)];
  await eventually("both are there", () => needed[kind].isSynced() && optional.current() !== undefined);
  assert.deepEqual(names(optional.current()?.all() ?? []), ["one"]);
  assert.deepEqual(counts(), { lists: 1, watches: 1 });
  stop.abort();
  await Promise.all(ends);
});

const allowed = async () => ({ status: { allowed: true } });

test("another part of the cluster is another cache", async () => {
  const { client, counts } = startServer();
  const shared = createSharedStores();
  const stop = new AbortController();
  const parts = [{ labelSelector: "a=b" }, { labelSelector: "a=c" }] as const;
  const ends = parts.map((scope) => {
    const own = { [kind]: scope } as const;
    return watchStores(client, own, createStores(own, silent, shared), { world, log: silent, signal: stop.signal });
  });
  await eventually("both are listed", () => counts().lists === 2);
  stop.abort();
  await Promise.all(ends);
});
