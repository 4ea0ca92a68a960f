import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReferenceGrant } from "../api/types.ts";
import { grantAllows } from "./reference-grant.ts";

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
