import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ReferenceGrant } from "../api/types.ts";
import { type GrantFrom, type GrantTo, grantAllows, keysOfGrant, keysOfReference } from "./reference-grant.ts";

const claim = { group: "", kind: "PersistentVolumeClaim", namespace: "abroad" };
const snapshot = { group: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", namespace: "team", name: "monday" };
const toAny = { group: snapshot.group, kind: snapshot.kind };

const aGrant = (spec: unknown, namespace = "team"): ReferenceGrant =>
  ({
    apiVersion: "gateway.networking.k8s.io/v1beta1",
    kind: "ReferenceGrant",
    metadata: { name: "lend", namespace, uid: "u", resourceVersion: "1" },
    spec,
  }) as unknown as ReferenceGrant;

const cases: readonly { given: string; grant: ReferenceGrant; allows: boolean }[] = [
  { given: "both sides named", grant: aGrant({ from: [claim], to: [toAny] }), allows: true },
  {
    given: "the snapshot by its name",
    grant: aGrant({ from: [claim], to: [{ ...toAny, name: "monday" }] }),
    allows: true,
  },
  { given: "another snapshot", grant: aGrant({ from: [claim], to: [{ ...toAny, name: "tuesday" }] }), allows: false },
  { given: "a grant of another namespace", grant: aGrant({ from: [claim], to: [toAny] }, "abroad"), allows: false },
  {
    given: "claims of another namespace",
    grant: aGrant({ from: [{ ...claim, namespace: "far" }], to: [toAny] }),
    allows: false,
  },
  {
    given: "a star for the namespace",
    grant: aGrant({ from: [{ ...claim, namespace: "*" }], to: [toAny] }),
    allows: false,
  },
  {
    given: "another kind that refers",
    grant: aGrant({ from: [{ ...claim, kind: "Pod" }], to: [toAny] }),
    allows: false,
  },
  {
    given: "the kind in lower case",
    grant: aGrant({ from: [claim], to: [{ ...toAny, kind: "volumesnapshot" }] }),
    allows: false,
  },
  { given: "no group of the snapshot", grant: aGrant({ from: [claim], to: [{ ...toAny, group: "" }] }), allows: false },
  {
    given: "the group with its version",
    grant: aGrant({ from: [claim], to: [{ ...toAny, group: `${snapshot.group}/v1` }] }),
    allows: false,
  },
  {
    given: "contents only",
    grant: aGrant({ from: [claim], to: [{ ...toAny, kind: "VolumeSnapshotContent" }] }),
    allows: false,
  },
  { given: "nobody", grant: aGrant({ from: [], to: [toAny] }), allows: false },
  { given: "nothing", grant: aGrant({ from: [claim] }), allows: false },
  { given: "no spec", grant: aGrant(undefined), allows: false },
  { given: "a text where lists belong", grant: aGrant({ from: "all", to: "all" }), allows: false },
  { given: "null in a list", grant: aGrant({ from: [null], to: [null] }), allows: false },
];
for (const { given, grant, allows } of cases)
  test(`a grant that names ${given} ${allows ? "allows" : "does not allow"} a claim abroad to refer to the snapshot`, () =>
    assert.equal(grantAllows(grant, claim, snapshot), allows));

/** Few words, so that two of them are often the same; and what only a loose CRD lets pass. */
const word = fc.constantFrom("a", "b", "", "*", undefined, null, '","');
const side = fc.record({ group: word, kind: word, namespace: word, name: word }, { requiredKeys: [] });
const sides = fc.oneof(fc.array(side, { maxLength: 3 }), fc.constantFrom(undefined, null, "all", [null]));

test("the keys of a grant and of a reference meet exactly where the grant allows the reference", () => {
  const plain = fc.constantFrom("a", "b", "*", '","');
  const reference = fc.record({ group: plain, kind: plain, namespace: plain, name: plain });
  fc.assert(
    fc.property(sides, sides, plain, reference, reference, (from, to, namespace, referrer, source) => {
      const grant = aGrant({ from, to }, namespace);
      const found = keysOfGrant(grant);
      assert.equal(
        keysOfReference(referrer as GrantFrom, source as GrantTo).some((key) => found.includes(key)),
        grantAllows(grant, referrer, source),
      );
    }),
    { numRuns: 2_000 },
  );
});
