import assert from "node:assert/strict";
import { test } from "node:test";
import type { VolumeSnapshot } from "../api/types.ts";
import { keyOf } from "../api/types.ts";
import type { Key } from "../base/brand.ts";
import { keyIn } from "../base/brand.ts";
import type { Log } from "../base/log.ts";
import { silent } from "../base/log.ts";
import { redact } from "../base/redact.ts";
import type { Seen, Store } from "./store.ts";
import { createStore } from "./store.ts";
import { createStores } from "./stores.ts";

const key = keyIn("apps", "db");

const aSnapshot = (version: number | string, { name = "db", uid = "uid-1", claim = "data" } = {}): VolumeSnapshot => ({
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshot",
  metadata: { namespace: "apps", name, uid, resourceVersion: String(version) },
  spec: { source: { persistentVolumeClaimName: claim } },
});

type Message =
  | { readonly kind: "reply"; readonly object: VolumeSnapshot }
  | { readonly kind: "deleted"; readonly uid: string }
  | Seen<"VolumeSnapshot">;

const put = (version: number, more = {}): Message => ({ kind: "put", object: aSnapshot(version, more) });
const gone = (version: number, more = {}): Message => ({ kind: "gone", object: aSnapshot(version, more) });
const reply = (version: number, more = {}): Message => ({ kind: "reply", object: aSnapshot(version, more) });
const deleted = (uid: string): Message => ({ kind: "deleted", uid });
const list = (version: number, ...objects: readonly VolumeSnapshot[]): Message => ({
  kind: "all",
  objects,
  resourceVersion: String(version),
});

function report(store: Store<"VolumeSnapshot">, messages: readonly Message[]): void {
  for (const message of messages) {
    if (message.kind === "reply") store.applyReply(message.object);
    else if (message.kind === "deleted") store.applyDeletion(key, message.uid);
    else store.take(message);
  }
}

const histories: readonly { given: string; messages: readonly Message[]; holds: string | undefined }[] = [
  { given: "a list", messages: [list(9, aSnapshot(5))], holds: "5" },
  { given: "a newer version by the watch", messages: [list(9, aSnapshot(5)), put(10)], holds: "10" },
  { given: "a reply before the watch brings it", messages: [list(9, aSnapshot(5)), reply(12), put(12)], holds: "12" },
  { given: "an old watch event after our reply", messages: [list(9, aSnapshot(5)), reply(12), put(11)], holds: "12" },
  { given: "versions of more digits", messages: [list(9, aSnapshot(9)), put(10)], holds: "10" },
  { given: "a deletion", messages: [list(9, aSnapshot(5)), gone(10)], holds: undefined },
  {
    given: "a reply that the deletion overtook",
    messages: [list(9, aSnapshot(5)), gone(11), reply(10)],
    holds: undefined,
  },
  {
    given: "a create reply that creation and deletion overtook",
    messages: [list(9), put(10), gone(11), reply(10)],
    holds: undefined,
  },
  {
    given: "a reply older than a list that lacks the object",
    messages: [list(9, aSnapshot(5)), list(20), reply(10)],
    holds: undefined,
  },
  { given: "an object created after the list was taken", messages: [reply(12), list(9)], holds: "12" },
  {
    given: "an object that vanished while nobody watched",
    messages: [list(9, aSnapshot(5)), list(20)],
    holds: undefined,
  },
  {
    given: "a list older than our reply",
    messages: [list(9, aSnapshot(5)), reply(12), list(11, aSnapshot(5))],
    holds: "12",
  },
  {
    given: "a stale list after the deletion was seen",
    messages: [list(9, aSnapshot(5)), gone(15), list(10, aSnapshot(5))],
    holds: undefined,
  },
  {
    given: "a new incarnation before the old one's end",
    messages: [list(9, aSnapshot(5)), reply(12, { uid: "uid-2" }), gone(11)],
    holds: "12",
  },
  {
    given: "an object that leaves the selection by our own write",
    messages: [list(9, aSnapshot(5)), reply(12), gone(12)],
    holds: undefined,
  },
  {
    given: "an object that left the selection and came back",
    messages: [list(9, aSnapshot(5)), gone(12), put(13)],
    holds: "13",
  },
  { given: "our own deletion", messages: [list(9, aSnapshot(5)), deleted("uid-1")], holds: undefined },
  {
    given: "watch events from before our own deletion",
    messages: [list(9, aSnapshot(5)), deleted("uid-1"), put(10)],
    holds: undefined,
  },
  {
    given: "a list from before our own deletion",
    messages: [list(9, aSnapshot(5)), deleted("uid-1"), list(10, aSnapshot(10))],
    holds: undefined,
  },
  {
    given: "a new incarnation after our own deletion",
    messages: [list(9, aSnapshot(5)), deleted("uid-1"), put(12, { uid: "uid-2" })],
    holds: "12",
  },
  {
    given: "our own deletion of an incarnation that is no longer the one we know",
    messages: [list(9, aSnapshot(5, { uid: "uid-2" })), deleted("uid-1")],
    holds: "5",
  },
  {
    given: "a server restored from a backup",
    messages: [
      list(90, aSnapshot(50)),
      { kind: "all", objects: [aSnapshot(5)], resourceVersion: "9", rewound: true },
      put(10),
    ],
    holds: "10",
  },
];

for (const { given, messages, holds } of histories)
  test(`given ${given}, then the store holds ${holds === undefined ? "nothing" : `version ${holds}`}`, () => {
    const store = createStore("VolumeSnapshot");
    report(store, messages);
    assert.equal(store.get(key)?.metadata.resourceVersion, holds);
    assert.equal(store.size(), holds === undefined ? 0 : 1);
  });

test("the store keeps the last state for any order of replies, deletions and watch events", () => {
  const watched: readonly Message[] = [
    put(10),
    put(11),
    put(12),
    gone(13),
    put(14, { uid: "uid-2" }),
    put(15, { uid: "uid-2" }),
  ];
  const replies: readonly Message[] = [reply(11), reply(12), reply(14, { uid: "uid-2" }), deleted("uid-1")];
  for (const [index, early] of replies.entries())
    for (let place = 0; place <= watched.length; place++)
      for (let other = place; other <= watched.length; other++) {
        const late = replies[(index + 1) % replies.length] ?? early;
        const messages = [
          list(9, aSnapshot(5)),
          ...watched.slice(0, place),
          early,
          ...watched.slice(place, other),
          late,
          ...watched.slice(other),
        ];
        const store = createStore("VolumeSnapshot");
        report(store, messages);
        assert.equal(store.get(key)?.metadata.resourceVersion, "15", JSON.stringify(messages));
      }
});

test("versions that are not numbers are ordered by arrival", () => {
  const store = createStore("VolumeSnapshot");
  store.take({ kind: "all", objects: [aSnapshot("beta")], resourceVersion: "r1" });
  assert.equal(store.applyReply(aSnapshot("alpha")), true);
  assert.equal(store.applyReply(aSnapshot("alpha")), false);
  store.take({ kind: "gone", object: aSnapshot("gamma") });
  assert.equal(store.size(), 0);
});

const changesOf = (store: Store<"VolumeSnapshot">): string[] => {
  const changes: string[] = [];
  const name = (object: VolumeSnapshot | undefined): string =>
    object === undefined ? "-" : `${object.metadata.uid}@${object.metadata.resourceVersion}`;
  store.onChange((before, after) => changes.push(`${name(before)} → ${name(after)}`));
  return changes;
};

test("listeners get each change once with the old and new object, and objects missing in a list as deleted", () => {
  const store = createStore("VolumeSnapshot");
  const changes = changesOf(store);
  report(store, [list(9, aSnapshot(5)), reply(10), put(10), list(20)]);
  assert.deepEqual(changes, ["- → uid-1@5", "uid-1@5 → uid-1@10", "uid-1@10 → -"]);
});

test("an object with a new uid is reported as a deletion and a creation", () => {
  const store = createStore("VolumeSnapshot");
  const changes = changesOf(store);
  report(store, [list(9, aSnapshot(5)), list(20, aSnapshot(15, { uid: "uid-2" }))]);
  assert.deepEqual(changes, ["- → uid-1@5", "uid-1@5 → -", "- → uid-2@15"]);
});

test("a removed listener gets no more changes", () => {
  const store = createStore("VolumeSnapshot");
  let heard = 0;
  const end = store.onChange(() => {
    heard += 1;
  });
  report(store, [put(10)]);
  end();
  report(store, [put(11)]);
  assert.equal(heard, 1);
});

test("an exception of a listener or indexer is logged and does not affect others", () => {
  const errors: string[] = [];
  const stacks: string[] = [];
  const log: Log = {
    ...silent,
    error: (message, fields) => {
      errors.push(message);
      stacks.push(JSON.stringify(redact(fields)));
    },
  };
  const poisoned = (object: VolumeSnapshot): string => {
    if (object.metadata.name === "bad") throw new Error("poison");
    return "fine";
  };
  const store = createStore("VolumeSnapshot", { indexes: { poisoned }, log });
  const changes = changesOf(store);
  store.onChange((_before, after) => void poisoned(after ?? aSnapshot(1)));
  report(store, [list(20, aSnapshot(5, { name: "bad" }), aSnapshot(6))]);
  assert.equal(changes.length, 2);
  assert.equal(store.size(), 2);
  assert.deepEqual(store.keysBy("poisoned", "fine"), [key]);
  assert.deepEqual(errors, ["object cannot be indexed", "store listener failed"]);
  for (const stack of stacks) assert.match(stack, /Error: poison\\n\s+at poisoned /);
});

test("a store is synced by the first complete list, even an empty one, and not by a reply", async () => {
  const store = createStore("VolumeSnapshot");
  report(store, [reply(5)]);
  assert.equal(store.isSynced(), false);
  report(store, [list(9)]);
  assert.equal(store.isSynced(), true);
  await store.whenSynced;
});

test("indexes follow every change", () => {
  const claimOf = ({ spec }: VolumeSnapshot): string | undefined => spec.source.persistentVolumeClaimName;
  const letters = ({ spec }: VolumeSnapshot): string[] => [...(spec.source.persistentVolumeClaimName ?? "")];
  const stores = createStores({ VolumeSnapshot: { indexes: { claim: claimOf, letters } }, PersistentVolumeClaim: {} });
  const store = stores.VolumeSnapshot;
  store.take({ kind: "all", objects: [aSnapshot(5), aSnapshot(6, { name: "web" })], resourceVersion: "9" });
  assert.deepEqual(store.keysBy("claim", "data"), ["apps/db", "apps/web"] as Key[]);
  assert.deepEqual(store.by("letters", "t").map(keyOf), ["apps/db", "apps/web"]);
  store.applyReply(aSnapshot(10, { claim: "logs" }));
  store.take({ kind: "gone", object: aSnapshot(11, { name: "web" }) });
  assert.deepEqual(store.keysBy("claim", "data"), []);
  assert.deepEqual(store.keysBy("claim", "logs"), [key]);
  assert.equal(stores.PersistentVolumeClaim.size(), 0);
});

test("the store drops managedFields and does not change the caller's object", () => {
  const store = createStore("VolumeSnapshot");
  const object = aSnapshot(5);
  const managed = { ...object, metadata: { ...object.metadata, managedFields: [{ manager: "kubectl" }] } };
  store.applyReply(managed);
  assert.deepEqual(store.get(key), object);
  assert.ok("managedFields" in managed.metadata);
});
