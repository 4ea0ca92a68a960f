import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim, aClass, aContent, aSnapshot, aVolume } from "../../../test/builders.ts";
import { annotations, finalizers } from "../../api/names.ts";
import { keyOf } from "../../api/types.ts";
import { type Key, keyIn } from "../../base/brand.ts";
import { createStores } from "../../kube/stores.ts";
import { anywhere, type VolumePlace } from "../../rules/node-affinity.ts";
import { createMemory, noMemory } from "./memory.ts";
import {
  observeClaim,
  observeContent,
  observeSnapshot,
  type SnapshotCaches,
  type SnapshotContext,
  type SnapshotOptions,
} from "./observe.ts";
import { contentTriggers, storeTable } from "./triggers.ts";

const options = { preventVolumeModeConversion: true, placeOf: () => anywhere };

const contextOf = (ofObserving: SnapshotOptions): SnapshotContext => ({
  options: ofObserving,
  memory: noMemory,
  nowMs: 0,
});
const factsOf = (stores: SnapshotCaches, ofObserving: SnapshotOptions, key: Key) =>
  observeSnapshot(stores, contextOf(ofObserving), key)?.facts;

const forMemory = {
  options: {},
  world: { elapsed: () => 0 },
  wereClaimsReadFor: () => false,
  onProtected: () => undefined,
  isNeeded: () => false,
  onCreationEnd: () => undefined,
};

test("a claim checks only its unready snapshots, and stops at the first one", () => {
  const stores = createStores(storeTable);
  const claim = aClaim();
  stores.PersistentVolumeClaim.applyReply(claim);
  const named = (name: string, readyToUse: boolean) =>
    aSnapshot({ metadata: { name, uid: `uid-${name}` }, status: { readyToUse } });
  for (const name of ["a", "b"]) stores.VolumeSnapshot.applyReply(named(name, true));
  for (const name of ["c", "d"]) stores.VolumeSnapshot.applyReply(named(name, false));
  let looks = 0;
  const counting = {
    ...stores,
    VolumeSnapshot: {
      ...stores.VolumeSnapshot,
      get: (key: Parameters<typeof stores.VolumeSnapshot.get>[0]) => {
        looks += 1;
        return stores.VolumeSnapshot.get(key);
      },
    },
  };
  const view = observeClaim(counting, contextOf(options), keyOf(claim));
  const [first] = view?.facts.snapshots ?? [];
  assert.equal(first?.snapshot.metadata.name, "c");
  assert.equal(looks, 1);
});

const source = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "monday" };
const readers: readonly { given: string; claim: Parameters<typeof aClaim>[0]; holds: boolean }[] = [
  { given: "names it in dataSource", claim: { spec: { dataSource: source } }, holds: true },
  { given: "names it in dataSourceRef", claim: { spec: { dataSourceRef: source } }, holds: true },
  { given: "names it in dataSourceRef2", claim: { spec: { dataSourceRef2: source } as never }, holds: true },
  {
    given: "names it in dataSourceRef2, with the namespace",
    claim: { spec: { dataSourceRef2: { ...source, namespace: "team" } } as never },
    holds: true,
  },
  {
    given: "names a snapshot of the same name in its own namespace",
    claim: { metadata: { namespace: "other" }, spec: { dataSourceRef: source } },
    holds: false,
  },
  { given: "names another kind", claim: { spec: { dataSource: { ...source, kind: "Other" } } }, holds: false },
  { given: "names another group", claim: { spec: { dataSource: { ...source, apiGroup: "x" } } }, holds: false },
  { given: "is bound already", claim: { spec: { dataSource: source }, status: { phase: "Bound" } }, holds: false },
  {
    given: "is terminating",
    claim: { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" }, spec: { dataSource: source } },
    holds: false,
  },
  {
    given: "was created in the second of the deletion",
    claim: { metadata: { creationTimestamp: "2026-01-01T01:00:00Z" }, spec: { dataSource: source } },
    holds: true,
  },
  {
    given: "was created after the deletion",
    claim: { metadata: { creationTimestamp: "2026-01-01T01:00:01Z" }, spec: { dataSource: source } },
    holds: false,
  },
];
for (const { given, claim, holds } of readers)
  test(`a pending claim that ${given} ${holds ? "blocks" : "does not block"} the deletion of a snapshot`, () => {
    const stores = createStores(storeTable);
    const snapshot = aSnapshot({ metadata: { deletionTimestamp: "2026-01-01T01:00:00Z" } });
    stores.VolumeSnapshot.applyReply(snapshot);
    stores.PersistentVolumeClaim.applyReply(aClaim({ status: { phase: "Pending" }, ...claim }));
    const view = factsOf(stores, options, keyOf(snapshot));
    assert.equal(view?.restoring.length, holds ? 1 : 0);
  });

const elsewhere = { namespace: "abroad" };
const byRef = { dataSourceRef: { ...source, namespace: aSnapshot().metadata.namespace } } as never;
const linking = (name: string) => ({
  dataSourceRef: { apiGroup: source.apiGroup, kind: "VolumeSnapshotLink", name },
});
const byLink = linking("bridge");
const byUnknownLink = linking("unknown");

const read = { metadata: { finalizers: [finalizers.snapshotRestoring] } };
const lend: SnapshotOptions["grantFor"] = (namespace, { metadata }) =>
  namespace === "abroad" && metadata.name === "monday" ? "lend" : undefined;
const foreign: readonly {
  given: string;
  grantFor: SnapshotOptions["grantFor"];
  snapshot?: Parameters<typeof aSnapshot>[0];
  holds: boolean;
}[] = [
  { given: "where grants are not served or read", grantFor: undefined, holds: false },
  { given: "without a grant", grantFor: () => undefined, holds: false },
  { given: "with a grant", grantFor: lend, holds: true },
  // Too small, of no class, waiting for a pod: it may wait for ever.
  { given: "with a grant, and without a stored call", grantFor: lend, snapshot: {}, holds: false },
];
for (const { given, grantFor, snapshot: parts = read, holds } of foreign)
  test(`a claim of another namespace ${given} ${holds ? "blocks" : "does not block"} the deletion, in the cache or missing from it`, () => {
    const stores = createStores(storeTable);
    const snapshot = aSnapshot(parts);
    const spec = { dataSourceRef: { ...source, namespace: snapshot.metadata.namespace } };
    stores.VolumeSnapshot.applyReply(snapshot);
    stores.PersistentVolumeClaim.applyReply(
      aClaim({ metadata: { namespace: "abroad" }, spec: spec as never, status: { phase: "Pending" } }),
    );
    const granting = { ...options, grantFor };
    const memory = createMemory({ ...forMemory, stores, options: granting });
    const facts = factsOf(stores, granting, keyOf(snapshot));
    assert.ok(facts);
    assert.deepEqual(
      facts.restoring.map(({ grant }) => grant),
      holds ? ["lend"] : [],
    );
    for (const namespace of ["abroad", "team"]) {
      const gone = aClaim({ metadata: { namespace, name: "gone" }, spec: spec as never, status: { phase: "Pending" } });
      stores.PersistentVolumeClaim.applyReply(gone);
      stores.PersistentVolumeClaim.applyDeletion(keyOf(gone), gone.metadata.uid);
    }
    assert.deepEqual(
      memory.ofSnapshot(facts).missingClaims.map(({ namespace }) => namespace),
      holds ? ["abroad", "team"] : ["team"],
    );
  });

const undecided: readonly [
  given: string,
  what: "grants" | "links",
  claim: Parameters<typeof aClaim>[0],
  is: boolean,
][] = [
  ["grants, and a claim of another namespace names the snapshot", "grants", { metadata: elsewhere, spec: byRef }, true],
  [
    "grants, and a claim of another namespace names it by a link",
    "grants",
    { metadata: elsewhere, spec: byLink },
    true,
  ],
  ["links, and a claim names some link", "links", { metadata: elsewhere, spec: byUnknownLink }, true],
  ["grants, and a claim names some link that points elsewhere", "grants", { spec: byUnknownLink }, false],
  ["links, and a claim of another namespace names the snapshot", "links", { metadata: elsewhere, spec: byRef }, false],
  ["grants, and a claim that names it has its volume", "grants", { spec: byRef, status: { phase: "Bound" } }, false],
  [
    "grants, and a claim that names it came later",
    "grants",
    { metadata: { creationTimestamp: "2026-01-01T00:00:02Z" }, spec: byRef },
    false,
  ],
];
for (const [given, what, claim, is] of undecided)
  test(`the API server has not said which ${given}: it ${is ? "may be" : "is not"} restoring from a snapshot being deleted`, () => {
    const stores = createStores(storeTable);
    const deletionTimestamp = "2026-01-01T00:00:01Z";
    const snapshot = aSnapshot({ metadata: { ...read.metadata, deletionTimestamp } });
    const asking: SnapshotOptions = {
      ...options,
      isUndecided: { grants: () => what === "grants", links: () => what === "links" },
      links: { pointingAt: () => [keyIn("abroad", "bridge")], targetOf: () => undefined },
    };
    stores.PersistentVolumeClaim.applyReply(aClaim({ status: { phase: "Pending" }, ...claim }));
    for (const [is_, item] of [
      [is, snapshot],
      [false, aSnapshot({ metadata: { name: "kept" } })],
    ] as const) {
      stores.VolumeSnapshot.applyReply(item);
      assert.equal(factsOf(stores, asking, keyOf(item))?.isRestoringUndecided, is_);
    }
    assert.equal(factsOf(stores, options, keyOf(snapshot))?.isRestoringUndecided, false);
    // Without a stored call only claims of its own namespace count, and they need no grant.
    stores.VolumeSnapshot.applyReply(aSnapshot({ metadata: { deletionTimestamp, resourceVersion: "9" } }));
    const isOfOwn = aClaim(claim).metadata.namespace === snapshot.metadata.namespace;
    assert.equal(factsOf(stores, asking, keyOf(snapshot))?.isRestoringUndecided, is && isOfOwn);
  });

for (const [given, namespace, granted, holds] of [
  ["in the snapshot's namespace", "team", undefined, true],
  ["of another namespace with a grant from links", "abroad", "VolumeSnapshotLink", true],
  ["of another namespace with a grant from claims only", "abroad", "claims", false],
] as const)
  test(`a claim ${given} that names the snapshot by a link ${holds ? "blocks" : "does not block"} the deletion, in the cache or missing from it`, () => {
    const stores = createStores(storeTable);
    const snapshot = aSnapshot(read);
    const link = keyIn(namespace, "abroad-link");
    const linking: SnapshotOptions = {
      ...options,
      grantFor: (_namespace, _snapshot, referrer) =>
        granted !== undefined && (referrer ?? "claims") === granted ? "lend" : undefined,
      links: {
        pointingAt: (key) => (key === keyOf(snapshot) ? [link] : []),
        targetOf: (key) => (key === link ? keyOf(snapshot) : undefined),
      },
    };
    const spec = { dataSourceRef: { apiGroup: source.apiGroup, kind: "VolumeSnapshotLink", name: "abroad-link" } };
    const memory = createMemory({ ...forMemory, stores, options: linking });
    stores.VolumeSnapshot.applyReply(snapshot);
    const reader = aClaim({ metadata: { namespace, name: "copy" }, spec, status: { phase: "Pending" } });
    stores.PersistentVolumeClaim.applyReply(reader);
    const facts = factsOf(stores, linking, keyOf(snapshot));
    assert.ok(facts);
    assert.deepEqual(facts.restoring.length, holds ? 1 : 0);
    stores.PersistentVolumeClaim.applyDeletion(keyOf(reader), reader.metadata.uid);
    const missing = memory.ofSnapshot(facts).missingClaims.length;
    // Which way it named the snapshot is not known of a claim that is gone: either grant counts.
    assert.equal(missing, 1);
    assert.equal(factsOf(stores, { ...linking, links: undefined }, keyOf(snapshot))?.restoring.length, 0);
  });

const creating = { annotations: { [annotations.beingCreated]: "yes" } };
const creations: readonly { given: string; content: Parameters<typeof aContent>[0]; expect: boolean }[] = [
  { given: "has the being-created annotation", content: { metadata: creating }, expect: true },
  { given: "does not have the being-created annotation", content: {}, expect: false },
  {
    given: "is ready, with a leftover being-created annotation",
    content: { metadata: creating, status: { readyToUse: true } },
    expect: false,
  },
];
for (const { given, content: parts, expect } of creations)
  test(`a content that ${given} ${expect ? "needs" : "does not need"} its class, and ${expect ? "is" : "is not"} triggered when the class is deleted`, () => {
    const stores = createStores(storeTable);
    const content = aContent(parts);
    const snapshotClass = aClass();
    stores.VolumeSnapshotContent.applyReply(content);
    const lacksClass = () =>
      observeContent(stores, contextOf(options), keyOf(content))?.facts.isBeingCreatedWithoutClass;
    assert.equal(lacksClass(), expect);
    assert.deepEqual(contentTriggers.VolumeSnapshotClass?.(snapshotClass, stores), expect ? [keyOf(content)] : []);
    stores.VolumeSnapshotClass.applyReply(snapshotClass);
    assert.equal(lacksClass(), false);
  });

const annotated = (value: string) => ({ [annotations.defaultClass]: value });
const candidates: readonly { given: string; change: Parameters<typeof aClass>[0]; counts: boolean }[] = [
  { given: "annotated as the default, of the volume's driver", change: {}, counts: true },
  { given: "of another driver", change: { driver: "tape" }, counts: false },
  {
    given: "annotated with another value than true",
    change: { metadata: { annotations: annotated("True") } },
    counts: false,
  },
  { given: "not annotated", change: { metadata: {} }, counts: false },
];
for (const { given, change, counts } of candidates)
  test(`a class ${given} ${counts ? "counts" : "does not count"} as a default`, () => {
    const stores = createStores(storeTable);
    stores.VolumeSnapshotClass.applyReply(aClass({ metadata: { annotations: annotated("true") }, ...change }));
    stores.PersistentVolumeClaim.applyReply(aClaim());
    stores.PersistentVolume.applyReply(aVolume());
    const snapshot = aSnapshot({ spec: { source: { persistentVolumeClaimName: "data" } } });
    stores.VolumeSnapshot.applyReply(snapshot);
    const view = factsOf(stores, options, keyOf(snapshot));
    assert.equal(view?.defaultClasses.length, counts ? 1 : 0);
  });

const sidecars: readonly [given: string, place: VolumePlace, expect: string][] = [
  ["its driver", anywhere, "term of disk.example.com"],
  ["its driver on its node", { kind: "node", name: "node-1" }, "term of disk.example.com on node-1"],
];
for (const [given, place, expect] of sidecars)
  test(`a snapshot looks for the sidecar of ${given}`, () => {
    const stores = createStores(storeTable);
    stores.PersistentVolumeClaim.applyReply(aClaim());
    stores.PersistentVolume.applyReply(aVolume());
    const snapshot = aSnapshot();
    stores.VolumeSnapshot.applyReply(snapshot);
    const of = (name: string, node?: string) => `term of ${name}${node === undefined ? "" : ` on ${node}`}`;
    const facts = factsOf(stores, { ...options, placeOf: () => place }, keyOf(snapshot));
    assert.ok(facts);
    const memory = createMemory({ ...forMemory, stores, activeSidecars: { see: () => undefined, of } });
    assert.equal(memory.ofSnapshot(facts).activeSidecar, expect);
  });

test("each view has the facts of the caches, what the process remembers of the object, and the time", () => {
  const stores = createStores(storeTable);
  for (const [store, object] of [
    [stores.PersistentVolumeClaim, aClaim()],
    [stores.VolumeSnapshot, aSnapshot()],
    [stores.VolumeSnapshotContent, aContent()],
  ] as const)
    store.applyReply(object as never);
  const memory = {
    ofSnapshot: () => ({ ...noMemory.ofSnapshot({} as never), activeSidecar: "third" }),
    ofClaim: () => ({ ...noMemory.ofClaim({} as never), idleMs: 7 }),
    ofContent: () => ({ wasSnapshotDeletedUnready: true }),
  };
  const context: SnapshotContext = { options, memory, nowMs: 5 };
  const snapshot = observeSnapshot(stores, context, keyOf(aSnapshot()));
  const claim = observeClaim(stores, context, keyOf(aClaim()));
  const content = observeContent(stores, context, keyOf(aContent()));
  assert.deepEqual(
    [snapshot?.facts.claim?.metadata.name, snapshot?.memory.activeSidecar, snapshot?.nowMs],
    ["data", "third", 5],
  );
  assert.deepEqual([claim?.facts.claim.metadata.name, claim?.memory.idleMs, claim?.nowMs], ["data", 7, 5]);
  assert.deepEqual(
    [content?.facts.snapshot?.metadata.name, content?.memory.wasSnapshotDeletedUnready, content?.nowMs],
    ["monday", true, 5],
  );
});

test("an object that is gone has no view", () => {
  const stores = createStores(storeTable);
  for (const observe of [observeSnapshot, observeClaim, observeContent])
    assert.equal(observe(stores, contextOf(options), keyIn("team", "gone")), undefined);
});
