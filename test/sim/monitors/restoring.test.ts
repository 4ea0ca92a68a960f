/** A claim of another namespace counts only while it is let: by its grant, and by its link if it names one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { annotations, finalizers, provisioning } from "../../../src/api/names.ts";
import type { KubeObject } from "../../../src/api/types.ts";
import { type Bench, driver, going, idsFoundIn, object } from "./bench.ts";
import { handle, name, stores, uid } from "./volume-histories.ts";

const aSnapshot = (metadata = {}): KubeObject =>
  object(
    "VolumeSnapshot",
    { namespace: "default", name: "monday", uid: "snapshot", ...metadata },
    {
      spec: { source: { volumeSnapshotContentName: "c" } },
      status: { boundVolumeSnapshotContentName: "c", readyToUse: true },
    },
  );
const aContent = object(
  "VolumeSnapshotContent",
  { name: "c", uid: "content" },
  {
    spec: {
      driver,
      deletionPolicy: "Retain",
      source: { snapshotHandle: handle },
      volumeSnapshotRef: { namespace: "default", name: "monday", uid: "snapshot" },
    },
    status: { snapshotHandle: handle, readyToUse: true },
  },
);
const aClaim = (metadata = {}): KubeObject =>
  object(
    "PersistentVolumeClaim",
    { namespace: "abroad", name: "restored", uid, ...metadata },
    {
      spec: { storageClassName: "disk", dataSourceRef: { kind: "VolumeSnapshotLink", name: "bridge" } },
      status: { phase: "Pending" },
    },
  );
const aLink = object(
  "VolumeSnapshotLink",
  { namespace: "abroad", name: "bridge", uid: "link" },
  { spec: { source: { namespace: "default", name: "monday" } } },
);
const aGrant = (kind: string): KubeObject =>
  object(
    "ReferenceGrant",
    { namespace: "default", name: "lend", uid: "grant" },
    { spec: { from: [{ kind, namespace: "abroad" }], to: [{ kind: "VolumeSnapshot" }] } },
  );
const ofLinks = aGrant("VolumeSnapshotLink");

type Step = (bench: Bench) => void;
const comes =
  (item: KubeObject): Step =>
  ({ write }) =>
    write("user", undefined, item);
const goes =
  (item: KubeObject): Step =>
  ({ write }) =>
    write("user", item, undefined);
/** It comes, and the controller is told of it. */
const isHeardOf =
  (item: KubeObject): Step =>
  ({ write, show }) => {
    write("user", undefined, item);
    show("snapshot-controller");
  };
/** A list without anything in it. */
const isListed =
  (kind: string): Step =>
  ({ recorder }) =>
    recorder.knowledge.reported("snapshot-controller.1", 0, `{"kind":"${kind}List","items":[]}`);
const later: Step = ({ note }) => note("call", "GET /api/v1/persistentvolumes");

/** A claim of the snapshot's own namespace. */
const aNeighbour = comes(
  object(
    "PersistentVolumeClaim",
    { namespace: "default", name: "beside", uid },
    { spec: { dataSource: { kind: "VolumeSnapshot", name: "monday" } }, status: { phase: "Pending" } },
  ),
);
const held = { ...going, finalizers: [finalizers.snapshotBound] };
const isHeld = comes(aSnapshot(held));
/** A call that reads from it is stored. */
const read = { finalizers: [finalizers.snapshotBound, finalizers.snapshotRestoring] };
const isHeldAndRead = comes(aSnapshot({ ...going, ...read }));
const isHeardOfAsRead = isHeardOf(aSnapshot({ ...going, ...read }));
const released: Step = ({ write }) => write("snapshot-controller", aSnapshot(held), undefined);
const ours = aClaim({ annotations: { [provisioning.storageProvisioner]: driver } });
const isOffered: readonly Step[] = [
  comes(object("StorageClass", { name: "disk", uid: "class" }, {})),
  comes(aContent),
  ({ storage }) =>
    void storage.set(handle, { id: handle, name: "by-hand", volumeId: "vol", takenAtMs: 0, readyAtMs: 0 }),
  comes(aSnapshot()),
];
const isAsked: Step = (bench) =>
  stores(bench, {
    [name]: {
      claim: { uid },
      call: { name, source: { kind: "snapshot", handle } },
      snapshotKey: "default/monday",
    },
  });

const histories: readonly [string, readonly string[], readonly Step[]][] = [
  // V-9: at rest no source is protected without a stored call.
  ["a claim by a link holds a snapshot", ["V-9"], [comes(ofLinks), comes(aLink), comes(aClaim()), isHeldAndRead]],
  ["without a stored call it holds nothing", ["I-15"], [comes(ofLinks), comes(aLink), comes(aClaim()), isHeld]],
  ["a claim without its grant holds nothing", ["I-15"], [comes(aLink), comes(aClaim()), isHeld]],
  [
    "a claim whose link is gone holds nothing",
    ["I-15"],
    [comes(ofLinks), comes(aLink), comes(aClaim()), goes(aLink), isHeld],
  ],
  [
    "a grant for claims is none for links",
    ["I-15"],
    [comes(aGrant("PersistentVolumeClaim")), comes(aLink), comes(aClaim()), isHeld],
  ],
  [
    "a claim by a link that was heard of is waited for",
    ["I-18"],
    [isHeldAndRead, isHeardOf(ofLinks), isHeardOf(aLink), isHeardOf(aClaim()), isHeardOfAsRead, later, released],
  ],
  [
    "the same, and no call is stored: it is not waited for",
    [],
    [isHeld, isHeardOf(ofLinks), isHeardOf(aLink), isHeardOf(aClaim()), later, released],
  ],
  [
    "a claim whose link was not heard of cannot be waited for",
    [],
    [isListed("VolumeSnapshotLink"), isHeardOf(ofLinks), isHeardOf(aClaim()), later, comes(aLink), released],
  ],
  [
    "a claim whose link was not heard of is waited for by whoever has no list of links",
    ["I-18"],
    [isHeardOf(ofLinks), isHeardOf(aClaim()), later, comes(aLink), released],
  ],
  [
    "a claim whose grant was not heard of cannot be waited for",
    [],
    [isListed("ReferenceGrant"), isHeardOf(aLink), isHeardOf(aClaim()), later, comes(ofLinks), released],
  ],
  [
    "a claim whose grant was not heard of is waited for by whoever has no list of grants",
    ["I-18"],
    [isHeardOf(aLink), isHeardOf(aClaim()), later, comes(ofLinks), released],
  ],
  [
    "a claim by a link that only a grant for claims lets is not waited for",
    [],
    [isHeardOf(aGrant("PersistentVolumeClaim")), isHeardOf(aLink), isHeardOf(aClaim()), later, released],
  ],
  ["an unknown claim of the namespace that is older than the deletion is waited for", ["I-18"], [aNeighbour, released]],
  ["one that is younger than the deletion is not", [], [isHeld, aNeighbour, released]],
  [
    "one that a list from the past has left out is not",
    [],
    [aNeighbour, isListed("PersistentVolumeClaim"), later, released],
  ],
  ["a claim that may be served is served", ["V-10"], [comes(ofLinks), comes(aLink), ...isOffered, comes(ours)]],
  [
    "a claim whose link is gone need not be served",
    [],
    [comes(ofLinks), comes(aLink), ...isOffered, comes(ours), goes(aLink)],
  ],
];
for (const [given, ids, steps] of histories)
  test(given, () =>
    assert.deepEqual(
      idsFoundIn((bench) => {
        for (const step of steps) step(bench);
      }),
      ids,
    ),
  );

const deletesIt: Step = ({ write, call }) => {
  const doomed = {
    ...aContent,
    metadata: { ...aContent.metadata, annotations: { [annotations.beingDeleted]: "yes" } },
  };
  write("snapshot-controller", aContent, doomed as KubeObject);
  call("DeleteSnapshot", handle);
};
const restores = (grant: Step): readonly Step[] => [
  isHeardOf(aLink),
  grant,
  ...isOffered,
  isHeardOf(aClaim()),
  isAsked,
];
const deletions: readonly [string, boolean, readonly Step[]][] = [
  [
    "what a claim by a link is made from stays at the driver",
    true,
    [...restores(isHeardOf(ofLinks)), later, deletesIt],
  ],
  [
    "what was asked for through a link that is gone may go",
    false,
    [...restores(isHeardOf(ofLinks)), later, goes(aLink), ({ call }) => call("DeleteSnapshot", handle)],
  ],
  [
    "what nobody knew to be granted may go",
    false,
    [isListed("ReferenceGrant"), ...restores(comes(ofLinks)), later, deletesIt],
  ],
  ["what nobody could know to be granted or not stays", true, [...restores(comes(ofLinks)), later, deletesIt]],
];
for (const [given, isFound, steps] of deletions)
  test(given, () => {
    const ids = idsFoundIn((bench) => {
      for (const step of steps) step(bench);
    });
    assert.equal(ids.includes("V-8"), isFound);
  });
