/** One bad history per monitor that only this monitor notices: switched off, its test fails. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { annotations, finalizers, labels, oldInvalidLabels } from "../../../src/api/names.ts";
import type { KubeObject } from "../../../src/api/types.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import type { StoredSnapshot } from "../backend.ts";
import { type Bench, bench, driver, going, idsFoundIn, object, type Parts } from "./bench.ts";
import { createJudge, monitors } from "./index.ts";
import { volumeHistories } from "./volume-histories.ts";

const uid = "11111111-1111-4111-8111-111111111111";
const name = `snapshot-${uid}`;
const handle = `handle-${name}-0`;
const own = [finalizers.snapshotAsSource, finalizers.snapshotBound];
const annotated = { annotations: { [annotations.beingCreated]: "yes" } };

const aSnapshot = (parts: Parts = {}): KubeObject =>
  object(
    "VolumeSnapshot",
    { namespace: "default", name: "monday", uid, finalizers: own },
    {
      ...parts,
      spec: { source: { persistentVolumeClaimName: "data" }, volumeSnapshotClassName: "delete", ...parts.spec },
    },
  );
const aContent = (parts: Parts = {}): KubeObject =>
  object(
    "VolumeSnapshotContent",
    { name: "c", uid: "content", finalizers: [finalizers.contentBound] },
    {
      ...parts,
      spec: {
        driver,
        deletionPolicy: "Delete",
        source: { volumeHandle: "vol" },
        volumeSnapshotRef: { namespace: "default", name: "monday", uid },
        ...parts.spec,
      },
    },
  );
const aClaim = (parts: Parts = {}): KubeObject =>
  object(
    "PersistentVolumeClaim",
    { namespace: "default", name: "data", uid: "claim" },
    {
      ...parts,
      spec: { volumeName: "pv", ...parts.spec },
      status: { phase: "Bound", ...parts.status },
    },
  );
const aVolume = (): KubeObject =>
  object("PersistentVolume", { name: "pv", uid: "volume" }, { spec: { csi: { driver, volumeHandle: "vol" } } });
const aReader = aClaim({
  metadata: { name: "restored", uid: "reader" },
  spec: { dataSource: { kind: "VolumeSnapshot", name: "monday" } },
  status: { phase: "Pending" },
});

const stored = (id: string, called = name): [string, StoredSnapshot] => [
  id,
  { id, name: called, volumeId: "vol", takenAtMs: 0, readyAtMs: 0 },
];
const ready = { snapshotHandle: handle, readyToUse: true };

const badHistories: Readonly<Record<string, (bench: Bench) => void>> = {
  ...volumeHistories,
  "I-1": ({ call }) => call("CreateSnapshot", "snapshot-of-nobody"),
  "I-2": ({ write, call }) => {
    write("snapshot-controller", undefined, aContent());
    call("CreateSnapshot", name);
  },
  "I-3": ({ write, call, end }) => {
    write("csi-snapshotter", undefined, aContent({ metadata: annotated }));
    call("CreateSnapshot", name);
    end("DeadlineExceeded", false);
    write("csi-snapshotter", aContent({ metadata: annotated }), aContent());
  },
  "I-4": ({ write, call, storage }) => {
    storage.set(...stored(handle));
    write("csi-snapshotter", undefined, aContent({ status: ready }));
    call("DeleteSnapshot", handle);
  },
  "I-5": ({ write, call }) => {
    const retained = aContent({ metadata: going, status: ready, spec: { deletionPolicy: "Retain" } });
    write("csi-snapshotter", undefined, retained);
    call("DeleteSnapshot", handle);
    write("csi-snapshotter", retained, undefined);
  },
  "I-6": ({ storage }) => void storage.set(...stored(handle)),
  lost: ({ write }) => write("csi-snapshotter", undefined, aContent({ status: ready })),
  "I-7": ({ write, storage }) => {
    storage.set(...stored("other", "by-hand"));
    write("csi-snapshotter", aContent({ status: ready }), aContent({ status: { ...ready, snapshotHandle: "other" } }));
  },
  "I-8": ({ write }) =>
    write(
      "snapshot-controller",
      aSnapshot({ status: { readyToUse: true } }),
      aSnapshot({ status: { readyToUse: false } }),
    ),
  "I-9": ({ write }) => write("snapshot-controller", aSnapshot(), aSnapshot({ status: { readyToUse: true } })),
  "I-10": ({ write }) => {
    write("user", undefined, aContent({ spec: { volumeSnapshotRef: { namespace: "default", name: "tuesday", uid } } }));
    write("snapshot-controller", aSnapshot(), aSnapshot({ status: { boundVolumeSnapshotContentName: "c" } }));
  },
  "I-11": ({ write }) => {
    write(
      "user",
      undefined,
      aContent({ spec: { volumeSnapshotRef: { namespace: "default", name: "monday", uid: "older" } } }),
    );
    write("snapshot-controller", aSnapshot(), aSnapshot({ status: { boundVolumeSnapshotContentName: "c" } }));
  },
  "I-12": ({ write }) => write("snapshot-controller", aContent(), aContent({ spec: { deletionPolicy: "Retain" } })),
  "I-13": ({ write }) =>
    write("snapshot-controller", withoutClass(aSnapshot()), aSnapshot({ spec: { volumeSnapshotClassName: "tape" } })),
  "I-14": ({ write }) => write("csi-snapshotter", undefined, aContent({ spec: { driver: "tape.example.com" } })),
  "I-15": ({ write }) => write("user", undefined, aSnapshot({ metadata: going })),
  "I-16": ({ write }) =>
    write(
      "snapshot-controller",
      aClaim({ metadata: { finalizers: ["x/y"] } }),
      aClaim({ metadata: { finalizers: [] } }),
    ),
  "I-17": ({ write }) => write("user", undefined, aClaim({ metadata: { finalizers: [finalizers.claimAsSource] } })),
  "I-18": ({ write, show }) => {
    write("user", undefined, aReader);
    show("snapshot-controller");
    write("snapshot-controller", aSnapshot({ status: { readyToUse: true } }), undefined);
  },
  "I-19": ({ write }) => {
    write("user", undefined, aReader);
    write("user", undefined, aSnapshot({ metadata: going }));
    write("user", undefined, aContent({ metadata: going }));
  },
  "I-25": ({ recorder }) =>
    recorder.take({
      ...{ type: "admission", atMs: 1, kind: "VolumeSnapshot", key: "default/monday", refused: "no" },
      ...{ before: aSnapshot({ spec: { source: {} } }), after: aSnapshot({ spec: { source: {} }, metadata: going }) },
    }),
  "I-26": ({ write }) => write("user", undefined, aContent({ metadata: going, spec: { driver: "" } })),
  "I-28": ({ write }) => write("user", undefined, aSnapshot({ spec: { source: {} } })),
  "I-35": ({ note }) => note("said", "login with hunter2 failed"),
  "I-36": ({ note }) => note("ended", "TypeError"),
  "I-37": ({ write }) => write("snapshot-controller", aSnapshot(), aSnapshot(), false),
  "I-38": ({ write }) =>
    write(
      "csi-snapshotter",
      aContent({ metadata: { annotations: { note: "mine" } } }),
      aContent({ metadata: { annotations: {} } }),
    ),
  "I-39": ({ note }) => note("call", "GET /api/v1/namespaces/default/secrets/key"),
};

function withoutClass(snapshot: KubeObject): KubeObject {
  const { volumeSnapshotClassName: _, ...spec } = (snapshot as unknown as { spec: JsonObject }).spec;
  return { ...snapshot, spec } as unknown as KubeObject;
}

for (const { id, promise } of monitors.filter((monitor) => monitor.id !== "I-20"))
  test(`only ${id} reports a violation of: ${promise}`, () => {
    const history = badHistories[id];
    assert.ok(history !== undefined, `no bad history for ${id}`);
    assert.deepEqual(idsFoundIn(history), [id]);
    assert.deepEqual(idsFoundIn(history, id), []);
  });

test("only I-20 reports a run that does not come to rest", () => {
  const { recorder } = bench();
  const judge = createJudge(recorder);
  judge.restless();
  assert.deepEqual(
    judge.violations().map(({ id }) => id),
    ["I-20"],
  );
});

const both = { source: { persistentVolumeClaimName: "data", volumeSnapshotContentName: "c" } };
const labelled = { labels: { [labels.invalidSnapshot]: "" } };
const labelHistories: readonly [string, readonly string[], (bench: Bench) => void][] = [
  [
    "a valid snapshot has no label",
    ["I-28"],
    ({ write }) => write("user", undefined, aSnapshot({ metadata: labelled })),
  ],
  [
    "an invalid snapshot has the label",
    [],
    ({ write }) => write("user", undefined, aSnapshot({ spec: both, metadata: labelled })),
  ],
  [
    "no label of the old prefix is left",
    ["I-28"],
    ({ write }) => write("user", undefined, aSnapshot({ metadata: { labels: { [oldInvalidLabels[0] ?? ""]: "" } } })),
  ],
  [
    "the label is written alone",
    ["I-28"],
    ({ write }) =>
      write(
        "snapshot-controller",
        aSnapshot({ spec: both }),
        aSnapshot({ spec: both, metadata: { ...labelled, finalizers: [] } }),
      ),
  ],
];
for (const [given, expect, history] of labelHistories)
  test(`of labels: ${given}`, () => assert.deepEqual(idsFoundIn(history), expect));

const other = { source: { persistentVolumeClaimName: "other" } };
const answers: readonly [string, readonly string[], KubeObject | undefined, KubeObject, string | undefined][] = [
  ["an invalid creation is let in", ["I-25"], undefined, aSnapshot({ spec: both }), undefined],
  ["a valid creation is refused", ["I-25"], undefined, aSnapshot(), "no"],
  ["a valid object is spoiled", ["I-25"], aSnapshot(), aSnapshot({ spec: both }), undefined],
  ["a valid object gets another source", ["I-25"], aSnapshot(), aSnapshot({ spec: other }), undefined],
  ["an invalid object stays as it is", [], aSnapshot({ spec: both }), aSnapshot({ spec: both }), undefined],
  ["an invalid object is mended", [], aSnapshot({ spec: both }), aSnapshot(), undefined],
  ["an invalid creation is refused", [], undefined, aSnapshot({ spec: both }), "no"],
];
for (const [given, expect, before, after, refused] of answers)
  test(`of the webhook: ${given}`, () =>
    assert.deepEqual(
      idsFoundIn(({ recorder }) =>
        recorder.take({
          type: "admission",
          atMs: 1,
          kind: "VolumeSnapshot",
          key: "default/monday",
          before,
          after,
          refused,
        }),
      ),
      expect,
    ));

const guardedClaim = aClaim({ metadata: { finalizers: [finalizers.claimAsSource] } });
const releases: readonly [string, readonly string[], (bench: Bench) => void][] = [
  [
    "a content for a claim that is not protected is noticed when it is created, whatever follows",
    ["I-17"],
    ({ write, storage }) => {
      storage.set(...stored(handle));
      write("user", undefined, aClaim());
      write("user", undefined, aSnapshot());
      write("snapshot-controller", undefined, aContent());
      write("snapshot-controller", aClaim(), guardedClaim);
      write("user", aContent(), aContent({ status: ready }));
      write("user", guardedClaim, aClaim());
    },
  ],
  [
    "a release under a content that is being taken is noticed, though the claim is protected again at once",
    ["I-17"],
    ({ write, show, storage }) => {
      storage.set(...stored(handle));
      write("user", undefined, guardedClaim);
      write("user", undefined, aSnapshot());
      show("snapshot-controller");
      write("snapshot-controller", undefined, aContent());
      write("snapshot-controller", guardedClaim, aClaim());
      write("snapshot-controller", aClaim(), guardedClaim);
      write("user", guardedClaim, aClaim());
      write("user", aContent(), aContent({ status: ready }));
    },
  ],
  [
    "a release after the driver has refused is none",
    [],
    ({ write, show }) => {
      write("user", undefined, guardedClaim);
      write("user", undefined, aSnapshot());
      show("snapshot-controller");
      write("snapshot-controller", undefined, aContent());
      write("csi-snapshotter", aContent(), aContent({ status: { readyToUse: false, error: { message: "no" } } }));
      write("snapshot-controller", guardedClaim, aClaim());
    },
  ],
];
for (const [given, expect, history] of releases)
  test(`of claims: ${given}`, () => assert.deepEqual(idsFoundIn(history), expect));

const retained = aContent({ status: ready, metadata: going, spec: { deletionPolicy: "Retain" } });
const doomed = aContent({ status: ready, metadata: going });
const changesOfMind: readonly [string, readonly string[], (bench: Bench) => void][] = [
  [
    "a policy that its reader was shown counts",
    ["I-5"],
    ({ write, call, show }) => {
      write("user", undefined, doomed);
      write("user", doomed, retained);
      show("csi-snapshotter");
      call("DeleteSnapshot", handle);
      write("csi-snapshotter", retained, undefined);
    },
  ],
  [
    "a policy that its reader was not shown yet does not count",
    [],
    ({ write, call, show }) => {
      write("user", undefined, doomed);
      show("csi-snapshotter");
      write("user", doomed, retained);
      call("DeleteSnapshot", handle);
      write("csi-snapshotter", retained, undefined);
    },
  ],
  [
    "what is ready, and was shown to be, is not asked for again",
    ["I-1"],
    ({ write, call, show, storage }) => {
      storage.set(...stored(handle));
      write("csi-snapshotter", undefined, aContent({ metadata: annotated }));
      write("csi-snapshotter", aContent({ metadata: annotated }), aContent({ metadata: annotated, status: ready }));
      show("csi-snapshotter");
      call("CreateSnapshot", name);
    },
  ],
  [
    "two snapshots of one uid are two creations, whatever they are called",
    ["I-1"],
    ({ write, call, end, storage }) => {
      write("csi-snapshotter", undefined, aContent({ metadata: annotated }));
      call("CreateSnapshot", name);
      storage.set(...stored(handle));
      storage.set(...stored("other", `again-${uid}`));
      end("ok", true);
      storage.delete("other");
    },
  ],
];
const twoIncarnations =
  (decidedMs: number | undefined) =>
  ({ recorder, write, storage }: Bench): void => {
    storage.set(...stored(handle));
    storage.set(...stored("other"));
    write("user", undefined, aContent({ status: ready, spec: { deletionPolicy: "Retain" } }));
    write("user", aContent({ status: ready, spec: { deletionPolicy: "Retain" } }), undefined);
    const atMs = (recorder.entries.at(-1)?.atMs ?? 0) + 1;
    const after = aContent({ metadata: { uid: "again" }, status: { ...ready, snapshotHandle: "other" } });
    recorder.take({
      ...{ type: "write", actor: "user", process: "user", verb: "POST", kind: "VolumeSnapshotContent", key: "c" },
      ...{ guarded: () => true, atMs, decidedMs: decidedMs ?? atMs, version: 99, before: undefined, after },
    });
  };
test("a content that a late request created again may be taken twice by a driver that forgets names", () =>
  assert.deepEqual(idsFoundIn(twoIncarnations(1)), []));
test("a content that was created again by a request after the deletion must not be taken twice", () =>
  assert.deepEqual(idsFoundIn(twoIncarnations(undefined)), ["I-1"]));

/** Undecodable replies, this many times; then the content is released. */
const deletedAnnotated = aContent({ metadata: { ...going, ...annotated } });
const unreadable =
  (method: "CreateSnapshot" | "DeleteSnapshot", times: number) =>
  ({ call, end }: Bench): void => {
    for (let time = 0; time < times; time++) {
      call(method, method === "CreateSnapshot" ? name : handle);
      end("MalformedReply", false);
    }
  };
const comesToStorage = ({ storage }: Bench): void => void storage.set(...stored(handle));
const eventNames =
  (what: string) =>
  ({ note }: Bench): void =>
    note("said", `event SnapshotLeftAtDriver: so snapshot "${what}" may be left there`);
const comesAnnotated = ({ write }: Bench): void => write("csi-snapshotter", undefined, deletedAnnotated);
const annotatedGoes = ({ write }: Bench): void => write("csi-snapshotter", deletedAnnotated, undefined);
const comesDoomed = ({ write }: Bench): void => write("csi-snapshotter", undefined, doomed);
const doomedGoes = ({ write }: Bench): void => write("csi-snapshotter", doomed, undefined);
const unconfirmed = aContent({ metadata: going, spec: { source: { snapshotHandle: "by-hand" } } });
const storesByHand = ({ storage }: Bench): void => void storage.set(...stored("by-hand", "by-hand"));
const comesUnconfirmed = ({ write }: Bench): void => write("user", undefined, unconfirmed);
const unconfirmedGoes = ({ write }: Bench): void => write("csi-snapshotter", unconfirmed, undefined);
const abandonments: typeof lettingsGo = [
  [
    "a content on its way out may be let go after five replies that cannot be read, when its snapshot was named",
    [],
    [comesAnnotated, unreadable("CreateSnapshot", 5), comesToStorage, eventNames(name), annotatedGoes],
  ],
  [
    "four replies that cannot be read are no excuse for letting go of what may have been taken",
    ["I-3"],
    [comesAnnotated, unreadable("CreateSnapshot", 4), eventNames(name), annotatedGoes],
  ],
  [
    "what may have been taken is not let go unnamed",
    ["I-3", "I-6"],
    [comesAnnotated, unreadable("CreateSnapshot", 5), comesToStorage, annotatedGoes],
  ],
  [
    "a snapshot whose deletion met five replies that cannot be read may be left, when it was named",
    [],
    [comesToStorage, comesDoomed, unreadable("DeleteSnapshot", 5), eventNames(handle), doomedGoes],
  ],
  [
    "a snapshot whose deletion met four replies that cannot be read may not be left",
    ["I-16"],
    [comesToStorage, comesDoomed, unreadable("DeleteSnapshot", 4), eventNames(handle), doomedGoes],
  ],
  [
    "what the driver never confirmed is left, and named",
    [],
    [storesByHand, comesUnconfirmed, eventNames("by-hand"), unconfirmedGoes],
  ],
  ["what the driver never confirmed is not left unnamed", ["I-16"], [storesByHand, comesUnconfirmed, unconfirmedGoes]],
  [
    "what the driver never confirmed is not deleted there",
    ["I-4"],
    [comesUnconfirmed, ({ call }) => call("DeleteSnapshot", "by-hand"), unconfirmedGoes],
  ],
];

/** A deleted snapshot is released while its content exists. */
const letGo = ({ write }: Bench): void => write("snapshot-controller", aSnapshot({ metadata: going }), undefined);
const asks = ({ note }: Bench): void => note("call", "GET /apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents/c");
const comes = ({ write }: Bench): void => write("user", undefined, aContent());
const heard = ({ show }: Bench): void => show("snapshot-controller");
const later = ({ note }: Bench): void => note("call", "GET /api/v1/persistentvolumes");
/** One that a user has made for the snapshot of this name, whichever that will be. */
const unbound = aContent({ spec: { volumeSnapshotRef: { namespace: "default", name: "monday" } } });
const comesUnbound = ({ write }: Bench): void => write("user", undefined, unbound);
const binds = ({ write }: Bench): void => write("user", unbound, aContent());
const lettingsGo: readonly [string, readonly string[], readonly ((bench: Bench) => void)[]][] = [
  ["a content that comes when the server has been asked for it cannot be known", [], [asks, comes, letGo]],
  ["a content that nobody has asked for is no excuse", ["I-16"], [comes, letGo]],
  ["a content that was there when the server was asked is no excuse", ["I-16"], [comes, asks, letGo]],
  ["a content that its controller has heard of is no excuse", ["I-16"], [asks, comes, heard, later, letGo]],
  [
    "that a known content is bound when the server has been asked for it cannot be known",
    [],
    [comesUnbound, heard, later, asks, binds, letGo],
  ],
  [
    "a content that was bound when the server was asked is no excuse",
    ["I-16"],
    [comesUnbound, heard, later, binds, asks, letGo],
  ],
  [
    "a content whose binding its controller has heard of is no excuse",
    ["I-16"],
    [comesUnbound, heard, later, asks, binds, heard, later, letGo],
  ],
];
/** A ready snapshot with a restoring claim is released after its content was released. */
const readerComes = ({ write }: Bench): void => write("user", undefined, aReader);
const givenUp = ({ write }: Bench): void => {
  const doomed = aContent({
    status: ready,
    metadata: { ...going, annotations: { [annotations.beingDeleted]: "yes" } },
  });
  write("snapshot-controller", aContent({ status: ready, metadata: going }), doomed);
  write("csi-snapshotter", doomed, undefined);
};
const deletionStarts = ({ write }: Bench): void =>
  write(
    "user",
    aSnapshot({ status: { readyToUse: true } }),
    aSnapshot({ metadata: going, status: { readyToUse: true } }),
  );
const readyGoes = ({ write }: Bench): void =>
  write("snapshot-controller", aSnapshot({ metadata: going, status: { readyToUse: true } }), undefined);
const readyWith = (...names: string[]): KubeObject =>
  aSnapshot({ metadata: { finalizers: names }, status: { readyToUse: true } });
const losesItsFinalizer =
  (actor: Parameters<Bench["write"]>[0]) =>
  ({ write }: Bench): void =>
    write(actor, readyWith(...own), readyWith(finalizers.snapshotAsSource));
const heardByProvisioner = ({ show }: Bench): void => show("csi-provisioner");
const provisionerLetsGo = ({ write }: Bench): void =>
  write("csi-provisioner", readyWith(finalizers.snapshotAsSource), undefined);
const excuses = ({ recorder }: Bench): void => void recorder.excused.add(aContent().metadata.uid);
const contentGoes = ({ write }: Bench): void => write("user", aContent(), undefined);
const readers: typeof lettingsGo = [
  [
    "a claim that was heard of before the content was given up holds",
    ["I-18"],
    [readerComes, heard, later, givenUp, readyGoes],
  ],
  [
    "a claim that was heard of when the content had been given up cannot hold",
    [],
    [deletionStarts, givenUp, readerComes, heard, later, readyGoes],
  ],
  [
    "a claim cannot hold what its user has taken away by force",
    [],
    [comes, readerComes, heard, later, excuses, contentGoes, readyGoes],
  ],
  [
    "a claim cannot hold a snapshot whose finalizers its user has removed",
    [],
    [readerComes, heardByProvisioner, later, losesItsFinalizer("user"), provisionerLetsGo],
  ],
  [
    "a claim holds a snapshot whose finalizer its controller has removed",
    ["I-18"],
    [readerComes, heardByProvisioner, later, losesItsFinalizer("snapshot-controller"), provisionerLetsGo],
  ],
  [
    "a claim holds a snapshot whose finalizers are there again",
    ["I-18"],
    [readerComes, heard, later, losesItsFinalizer("user"), readyGoes],
  ],
  [
    "a claim still holds what was forced and is there",
    ["I-18"],
    [comes, readerComes, heard, later, excuses, readyGoes],
  ],
  [
    "a claim holds a snapshot whose content went as it should",
    ["I-18"],
    [comes, readerComes, heard, later, contentGoes, readyGoes],
  ],
];
for (const [claim, ids, steps] of [...abandonments, ...lettingsGo, ...readers])
  test(claim, () =>
    assert.deepEqual(
      idsFoundIn((bench) => {
        for (const step of steps) step(bench);
      }),
      ids,
    ),
  );

for (const [claim, ids, history] of changesOfMind) test(claim, () => assert.deepEqual(idsFoundIn(history), ids));

test("a correct history has no violation", () => {
  const good = ({ write, call, end, storage }: Bench): void => {
    write("user", undefined, aVolume());
    write("snapshot-controller", undefined, aContent());
    write("csi-snapshotter", aContent(), aContent({ metadata: annotated }));
    call("CreateSnapshot", name);
    end("ok", true);
    storage.set(...stored(handle));
    write("csi-snapshotter", aContent({ metadata: annotated }), aContent({ metadata: annotated, status: ready }));
    write("csi-snapshotter", aContent({ metadata: annotated, status: ready }), aContent({ status: ready }));
    write(
      "snapshot-controller",
      aSnapshot(),
      aSnapshot({ status: { readyToUse: true, boundVolumeSnapshotContentName: "c" } }),
    );
  };
  assert.deepEqual(idsFoundIn(good), []);
});
