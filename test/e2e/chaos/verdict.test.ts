/** Who judges the judge: for each promise there is an end that only breaks this one, and is noticed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { annotations, finalizers } from "../../../src/api/names.ts";
import type { AuditEntry } from "../harness/audit.ts";
import { overlapsIn } from "./evidence.ts";
import type { Intention } from "./intentions.ts";
import { checks, judge, type State } from "./verdict.ts";

const uid = "11111111-2222-4333-8444-555555555555";
const request: Intention = { name: "wanted", uid, policy: "Delete", looksFirst: false };
const snapshot = {
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshot",
  metadata: { name: "wanted", uid },
  spec: { source: { persistentVolumeClaimName: "data" } },
  status: { boundVolumeSnapshotContentName: "content", readyToUse: true },
};
const content = {
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshotContent",
  metadata: { name: "content", uid: "content-uid" },
  spec: {
    driver: "driver",
    deletionPolicy: "Delete",
    source: { volumeHandle: "volume" },
    volumeSnapshotRef: { namespace: "default", name: "wanted", uid },
  },
  status: { readyToUse: true, snapshotHandle: "handle" },
};
const retained = {
  ...content,
  metadata: { name: "retained", uid: "retained-uid" },
  spec: { ...content.spec, source: { snapshotHandle: "kept" }, volumeSnapshotRef: { name: "earlier", uid: "earlier" } },
  status: { readyToUse: true, snapshotHandle: "kept" },
};
const claim = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "data", uid: "claim-uid" },
  status: { phase: "Bound" },
};
const volume = {
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: "pv", uid: "volume-uid" },
  spec: { csi: { driver: "driver", volumeHandle: "vol" } },
};

const good = {
  wanted: [request],
  retained: new Map([["retained", "kept"]]),
  letGo: new Set(["free"]),
  wantedClaims: new Set(["data"]),
  provisioned: new Set(["data"]),
  complaints: [],
  snapshots: [snapshot],
  contents: [content, retained],
  claims: [claim],
  volumes: [volume],
  calls: [],
  ledger: new Map([["vol", "pvc-data"]]),
  stored: new Map([
    ["handle", `snapshot-${uid}`],
    ["kept", "by-hand"],
    ["free", "by-hand-too"],
  ]),
  ends: [
    { user: "csi-snapshotter-1", end: { how: "killed" } },
    { user: "csi-snapshotter-2", end: { how: "lost the lease" } },
  ],
  secretsSeen: [],
  overlaps: [],
  restless: [],
};

const withMeta = <T extends { metadata: object }>(object: T, more: object): T => ({
  ...object,
  metadata: { ...object.metadata, ...more },
});
const leaving = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["held"] };

const bad: Readonly<Record<string, object>> = {
  "snapshot lost": { snapshots: [], contents: [content, retained] },
  "snapshot not ready": { snapshots: [{ ...snapshot, status: { ...snapshot.status, readyToUse: false } }] },
  "not bound one to one": {
    snapshots: [{ ...snapshot, status: { ...snapshot.status, boundVolumeSnapshotContentName: "x" } }],
  },
  "snapshot nobody wants": { snapshots: [snapshot, withMeta(snapshot, { name: "hasty", uid: "other" })] },
  "content leaked": { retained: new Map() },
  "content lost": { contents: [content], letGo: new Set(["free", "kept"]) },
  "leaked in the storage": { letGo: new Set() },
  "lost in the storage": { letGo: new Set(["free", "gone"]) },
  "shared in the storage": { letGo: new Set(["free", "kept"]) },
  "mixed up in the storage": { stored: new Map([...good.stored, ["handle", "snapshot-of-another"]]) },
  "stuck in deletion": { snapshots: [withMeta(snapshot, leaving)] },
  "mark left behind": {
    contents: [withMeta(content, { annotations: { [annotations.beingCreated]: "yes" } }), retained],
  },
  "claim not let go": { claims: [withMeta(claim, { finalizers: [finalizers.claimAsSource] })] },
  "claim not gone, or lost": { wantedClaims: new Set() },
  "claim without a volume": { claims: [{ ...claim, status: { phase: "Pending" } }] },
  "volume leaked": { volumes: [] },
  "volume lost": { ledger: new Map() },
  "call left behind": { calls: ["pvc-data"] },
  "source not let go": {
    snapshots: [withMeta(snapshot, { finalizers: [finalizers.snapshotRestoring] })],
  },
  "user in vain": { complaints: ["gave up"] },
  "ended by itself": { ends: [{ user: "snapshot-controller-1", end: { how: "by itself", lastOutput: "a mistake" } }] },
  "secret seen": { secretsSeen: ["csi-snapshotter-1.log"] },
  "two leaders": { overlaps: ["both wrote"] },
  "not at rest": { restless: ["patch"] },
};

const judged = (change: object): readonly string[] =>
  judge({ ...good, ...change } as unknown as State).map(({ kind }) => kind);

test("a correct end state has no violation", () => {
  assert.deepEqual(judged({}), []);
});

test("every check of the verdict reports an end state that violates only this check", () => {
  assert.deepEqual(
    checks.map(({ kind }) => kind),
    Object.keys(bad),
  );
  for (const [kind, change] of Object.entries(bad)) assert.deepEqual(judged(change), [kind]);
});

test("two contents of one snapshot are not one to one", () => {
  const second = withMeta({ ...content, status: { readyToUse: true, snapshotHandle: "free" } }, { name: "second" });
  assert.ok(judged({ contents: [content, second, retained] }).includes("not bound one to one"));
});

const leases = {
  "snapshot-controller": "controllers",
  "csi-snapshotter": "sidecars",
  "csi-provisioner": "provisioner-lease",
};
/** A line of the audit log: received and answered at these seconds. */
const entry = (user: string, resource: string, received: number, answered: number, code = 200): AuditEntry => ({
  verb: "update",
  requestURI: `/${resource}`,
  user: { username: user },
  objectRef: { resource, name: resource === "leases" ? "controllers" : "object" },
  responseStatus: { code },
  requestReceivedTimestamp: `2026-01-01T00:00:0${received}.000000Z`,
  stageTimestamp: `2026-01-01T00:00:0${answered}.500000Z`,
});
const [first, second] = ["snapshot-controller-1", "snapshot-controller-2"];

const logs: readonly { given: string; log: readonly AuditEntry[]; found: number }[] = [
  {
    given: "one leads after the other",
    log: [
      entry(first, "leases", 1, 1),
      entry(first, "volumesnapshots", 2, 2),
      entry(second, "leases", 3, 3),
      entry(second, "volumesnapshots", 4, 4),
    ],
    found: 0,
  },
  {
    given: "a write of the first arrived before the second led, and was answered after it",
    log: [entry(first, "leases", 1, 1), entry(second, "leases", 3, 3), entry(first, "volumesnapshots", 2, 5)],
    found: 0,
  },
  {
    given: "a write of the first arrives after the second led",
    log: [entry(first, "leases", 1, 1), entry(second, "leases", 3, 3), entry(first, "volumesnapshots", 4, 4)],
    found: 1,
  },
  {
    given: "it arrives late and is refused",
    log: [entry(first, "leases", 1, 1), entry(second, "leases", 3, 3), entry(first, "volumesnapshots", 4, 4, 409)],
    found: 0,
  },
  {
    given: "only an event comes late",
    log: [entry(first, "leases", 1, 1), entry(second, "leases", 3, 3), entry(first, "events", 4, 4)],
    found: 0,
  },
];
for (const { given, log, found } of logs)
  test(`given that ${given}, ${found === 0 ? "no second leader" : "a second leader"} is reported`, () => {
    assert.equal(overlapsIn(log, leases).length, found);
  });
