/** Snapshots live while driver and cluster are read; orphans are planted among them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeSnapshot,
  VolumeSnapshotContent,
} from "../../api/types.ts";
import type { DriverLists } from "./driver-lists.ts";
import { type ClusterLists, filtered, findOrphans, type OrphansRead } from "./find.ts";

const driver = "disk.example.com";

/** A life in steps, as the controllers walk it: the content first, then the snapshot, then the handle; and the same back. */
const lifeSteps = ["nothing", "content", "taken", "handle stored", "released", "gone"] as const;
type Step = (typeof lifeSteps)[number];
const hasContent = (step: Step): boolean => step !== "nothing" && step !== "gone";
const isAtDriver = (step: Step): boolean => step === "taken" || step === "handle stored";
const hasHandle = (step: Step): boolean => step === "handle stored" || step === "released";

interface Life {
  readonly name: string;
  readonly volume: string;
  /** The step in each of the four readings: driver, cluster, driver, cluster. Never backwards. */
  readonly steps: readonly [Step, Step, Step, Step];
}

const lives = fc
  .array(
    fc.tuple(fc.integer({ min: 0, max: 3 }), fc.array(fc.nat(lifeSteps.length - 1), { minLength: 4, maxLength: 4 })),
    {
      maxLength: 30,
    },
  )
  .map((drawn): readonly Life[] =>
    drawn.map(([volume, at], index) => ({
      name: `live-${index}`,
      volume: `volume-${volume}`,
      steps: at.toSorted((a, b) => a - b).map((step) => lifeSteps[step] ?? "gone") as unknown as Life["steps"],
    })),
  );

const contentOf = ({ name, volume }: Pick<Life, "name" | "volume">, step: Step): VolumeSnapshotContent => ({
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshotContent",
  metadata: {
    name: `content-${name}`,
    uid: `uid-${name}`,
    resourceVersion: "1",
    ...(step === "released" ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}),
  },
  spec: {
    driver,
    deletionPolicy: "Delete",
    volumeSnapshotRef: { namespace: "team", name, uid: `uid-of-${name}` },
    source: { volumeHandle: volume },
  },
  ...(hasHandle(step) ? { status: { snapshotHandle: name, readyToUse: true } } : {}),
});

const listedAs = (handle: string, sourceVolume: string) => ({ handle, sourceVolume, bytes: 0n, createdMs: undefined });

function readOf(all: readonly Life[], planted: readonly string[] = [], lost: readonly string[] = []): OrphansRead {
  const atDriver = (reading: 0 | 2): DriverLists => ({
    snapshots: [
      ...all.filter(({ steps }) => isAtDriver(steps[reading])).map(({ name, volume }) => listedAs(name, volume)),
      ...planted.map((handle) => listedAs(handle, "volume-of-nobody")),
    ],
    volumes: [],
  });
  const inCluster = (reading: 1 | 3): ClusterLists => ({
    contents: [
      ...all.flatMap((life) => (hasContent(life.steps[reading]) ? [contentOf(life, life.steps[reading])] : [])),
      ...lost.map((name) => contentOf({ name, volume: "volume-9" }, "handle stored")),
    ],
    snapshots: [],
    volumes: [],
    claims: [],
  });
  return { driver, atDriver: [atDriver(0), atDriver(2)], inCluster: [inCluster(1), inCluster(3)], spelled: new Map() };
}

const handlesOf = (read: OrphansRead, kind: string): readonly string[] =>
  findOrphans(read)
    .orphans.filter((orphan) => orphan.kind === kind)
    .map(({ handle }) => handle)
    .toSorted();

test("whatever is taken and deleted meanwhile, all that was planted is found and nothing else", () => {
  fc.assert(
    fc.property(lives, (all) => {
      assert.deepEqual(handlesOf(readOf(all, ["lost-1", "lost-2"]), "snapshot"), ["lost-1", "lost-2"]);
      assert.deepEqual(handlesOf(readOf(all, [], ["no-1"]), "content"), ["no-1"]);
    }),
    { numRuns: 2_000 },
  );
});

test("among 10,000 handles the planted ones of each kind are found", () => {
  const steady = (index: number): Life => ({
    name: `s-${index}`,
    volume: `volume-${index}`,
    steps: ["handle stored", "handle stored", "handle stored", "handle stored"],
  });
  const all = Array.from({ length: 10_000 }, (_, index) => steady(index));
  const read = readOf(all, ["orphan"], ["lost"]);
  assert.deepEqual(handlesOf(read, "snapshot"), ["orphan"]);
  assert.deepEqual(handlesOf(read, "content"), ["lost"]);
});

test("a snapshot of a volume of which one is being taken may be that one, and is not called an orphan", () => {
  const taking: Life = { name: "now", volume: "volume-1", steps: ["taken", "taken", "taken", "taken"] };
  const { orphans, unknown } = findOrphans(readOf([taking]));
  assert.deepEqual(orphans, []);
  assert.match(unknown.join("\n"), /^1 listed snapshot may be of a CreateSnapshot call under way/);
});

test("a handle that the driver spells otherwise is neither lost nor an orphan", () => {
  const read = readOf([], ["/full/ID-1"], ["id-1"]);
  const spelled = new Map([["id-1", "/full/ID-1"]]);
  assert.deepEqual(findOrphans({ ...read, spelled }).orphans, []);
});

test("a content with Retain is reported when the snapshot of its uid is gone, and not while it is there", () => {
  const life: Life = {
    name: "kept",
    volume: "volume-1",
    steps: ["handle stored", "handle stored", "handle stored", "handle stored"],
  };
  const base = readOf([life]);
  const retained = (cluster: ClusterLists, snapshots: readonly VolumeSnapshot[]): ClusterLists => ({
    ...cluster,
    contents: cluster.contents.map((content) => ({ ...content, spec: { ...content.spec, deletionPolicy: "Retain" } })),
    snapshots,
  });
  const withSnapshots = (snapshots: readonly VolumeSnapshot[]): OrphansRead => ({
    ...base,
    inCluster: [retained(base.inCluster[0], snapshots), retained(base.inCluster[1], snapshots)],
  });
  assert.deepEqual(handlesOf(withSnapshots([]), "retained"), ["kept"]);
  const there = { metadata: { name: "kept", namespace: "team", uid: "uid-of-kept", resourceVersion: "1" } };
  assert.deepEqual(handlesOf(withSnapshots([there as VolumeSnapshot]), "retained"), []);
});

test("volumes without PersistentVolume are reported, unless a claim waits for one of this driver", () => {
  const volumes = ["v-1", "v-2"].map((handle) => ({ handle, bytes: 1n }));
  const stored = { spec: { csi: { driver, volumeHandle: "v-1" } } } as PersistentVolume;
  const claim = {
    metadata: { name: "c", annotations: { "volume.kubernetes.io/storage-provisioner": driver } },
    spec: {},
    status: { phase: "Pending" },
  } as unknown as PersistentVolumeClaim;
  const read = (claims: readonly PersistentVolumeClaim[]): OrphansRead => {
    const cluster = { contents: [], snapshots: [], volumes: [stored], claims };
    const lists = { snapshots: [], volumes };
    return { driver, atDriver: [lists, lists], inCluster: [cluster, cluster], spelled: new Map() };
  };
  assert.deepEqual(handlesOf(read([]), "volume"), ["v-2"]);
  const unclear = findOrphans(read([claim]));
  assert.deepEqual(unclear.orphans, []);
  assert.match(
    unclear.unknown.join("\n"),
    /^1 volume without PersistentVolume may be made for one of 1 claim that wait/,
  );
});

test("what the driver cannot list is not known", () => {
  const read = readOf([], [], ["ready"]);
  const nothing = { snapshots: undefined, volumes: undefined };
  const { orphans, unknown } = findOrphans({ ...read, atDriver: [nothing, nothing] });
  assert.deepEqual(orphans, []);
  assert.equal(unknown.length, 2);
});

test("a filter by age leaves out what has no known age", () => {
  const orphan = { kind: "volume", handle: "v", object: undefined, bytes: undefined, sourceVolume: undefined } as const;
  const found = {
    orphans: [
      { ...orphan, createdMs: undefined },
      { ...orphan, createdMs: 1_000 },
    ],
    unknown: [],
  };
  const kept = (olderThanMs: number, kinds: readonly string[] = []) =>
    filtered(found, { kinds, olderThanMs }, 5_000).orphans.length;
  assert.deepEqual([kept(0), kept(4_000), kept(4_001), kept(0, ["snapshot"])], [2, 1, 0, 0]);
});
