import assert from "node:assert/strict";
import { test } from "node:test";
import { aVolume } from "../../../../test/builders.ts";
import { aPendingClaim } from "../../../../test/volume-plans.ts";
import type { PersistentVolumeClaim } from "../../../api/types.ts";
import { createStore } from "../../../kube/store.ts";
import { createUnconfirmedClaims } from "./unconfirmed-claims.ts";

const claim = (uid: string, resourceVersion: string): PersistentVolumeClaim =>
  aPendingClaim({ metadata: { name: uid, uid, resourceVersion } });

function setUp() {
  const claims = createStore("PersistentVolumeClaim");
  const volumes = createStore("PersistentVolume");
  const claimOf = (name: string) => [...claims.all()].find(({ metadata }) => `pvc-${metadata.uid}` === name);
  const unconfirmed = createUnconfirmedClaims(claims, volumes, claimOf);
  return { claims, volumes, unconfirmed };
}

test("a claim that came with the first list is to be confirmed, one that came later is not", () => {
  const { claims, unconfirmed } = setUp();
  claims.take({ kind: "all", objects: [claim("old", "5")], resourceVersion: "9" });
  claims.take({ kind: "put", object: claim("new", "10") });
  assert.deepEqual([unconfirmed.has("old"), unconfirmed.has("new")], [true, false]);
  unconfirmed.confirmed("old");
  assert.equal(unconfirmed.has("old"), false);
});

test("a claim that a list from the past has brought back is to be confirmed", () => {
  const { claims, unconfirmed } = setUp();
  claims.take({ kind: "all", objects: [], resourceVersion: "9" });
  claims.take({ kind: "put", object: claim("a", "10") });
  claims.take({ kind: "put", object: claim("b", "12") });
  claims.take({ kind: "gone", object: claim("a", "13") });
  claims.take({ kind: "all", objects: [claim("a", "10")], resourceVersion: "11", rewound: true });
  assert.deepEqual([unconfirmed.has("a"), unconfirmed.has("b")], [true, false]);
});

test("a claim whose PersistentVolume has gone is to be confirmed, as long as the cache has it", () => {
  const { claims, volumes, unconfirmed } = setUp();
  claims.take({ kind: "all", objects: [], resourceVersion: "1" });
  claims.take({ kind: "put", object: claim("a", "2") });
  const volume = aVolume({ metadata: { name: "pvc-a", resourceVersion: "3" } });
  volumes.take({ kind: "put", object: volume });
  assert.equal(unconfirmed.has("a"), false);
  volumes.take({ kind: "gone", object: { ...volume, metadata: { ...volume.metadata, resourceVersion: "4" } } });
  assert.equal(unconfirmed.has("a"), true);
  claims.take({ kind: "gone", object: claim("a", "5") });
  assert.equal(unconfirmed.has("a"), false);
});
