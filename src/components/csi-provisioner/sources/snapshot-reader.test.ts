import assert from "node:assert/strict";
import { test } from "node:test";
import { createFakeKube, type Hook } from "../../../../test/fake-kube.ts";
import { createVirtualWorld } from "../../../../test/virtual-world.ts";
import { aReadyContent, aReadySnapshot } from "../../../../test/volume-plans.ts";
import type { VolumeSnapshot, VolumeSnapshotContent } from "../../../api/types.ts";
import { keyIn } from "../../../base/brand.ts";
import { Fault } from "../../../base/fault.ts";
import { volumeName } from "../identity.ts";
import { createSnapshotReader } from "./snapshot-reader.ts";

const key = keyIn("team", "monday");
const { signal } = new AbortController();

async function setUp(watched: "watched" | "unwatched" | "both watched", hook?: Hook) {
  let isReady = false;
  const kube = createFakeKube((call, when) => (isReady ? hook?.(call, when) : undefined));
  const world = createVirtualWorld();
  let cached: VolumeSnapshot | undefined = aReadySnapshot();
  let cachedContent: VolumeSnapshotContent | undefined = aReadyContent();
  await kube.create("VolumeSnapshot", aReadySnapshot());
  const { metadata, ...content } = aReadyContent();
  await kube.create("VolumeSnapshotContent", { ...content, metadata: { ...metadata, finalizers: [] } });
  kube.calls.length = 0;
  isReady = true;
  const reader = createSnapshotReader({
    api: kube,
    world,
    cached: () => (watched === "unwatched" ? undefined : { get: () => cached }),
    contents: () => (watched === "both watched" ? { get: () => cachedContent } : undefined),
  });
  const reads = (): readonly string[] => kube.calls.map(({ kind }) => kind);
  const change = (snapshot: VolumeSnapshot | undefined): void => {
    cached = snapshot;
  };
  const changeContent = (content: VolumeSnapshotContent | undefined): void => {
    cachedContent = content;
  };
  return { reader, world, reads, change, changeContent, kube };
}

test("where contents may be watched too, nothing is read, unless the cache lacks the content or its handle", async () => {
  const { reader, reads, changeContent } = await setUp("both watched");
  assert.equal(reader.pair(key)?.content?.status?.snapshotHandle, "s-1");
  assert.equal(reader.pair(key, volumeName("pvc-1")), undefined, "a restore from another namespace reads for itself");
  assert.deepEqual(reads(), []);
  const { status: _status, ...handleless } = aReadyContent();
  for (const late of [undefined, handleless]) {
    changeContent(late);
    assert.equal(reader.pair(key), undefined);
  }
});

test("unwatched, a burst of restores reads snapshot and content once, and again after a moment", async () => {
  const { reader, world, reads } = await setUp("unwatched");
  assert.equal(reader.pair(key), undefined);
  await Promise.all(Array.from({ length: 20 }, () => reader.read(key, signal)));
  assert.deepEqual(reads(), ["VolumeSnapshot", "VolumeSnapshotContent"]);
  assert.equal(reader.pair(key)?.content?.status?.snapshotHandle, "s-1");
  await world.advance(1_000);
  assert.equal(reader.pair(key), undefined);
});

test("watched, only the content is read, and a finalizer that comes or goes does not read it again", async () => {
  const { reader, reads, change } = await setUp("watched");
  await reader.read(key, signal);
  assert.deepEqual(reads(), ["VolumeSnapshotContent"]);
  change(aReadySnapshot({ resourceVersion: "2", finalizers: ["x"] }));
  assert.equal(reader.pair(key)?.snapshot?.metadata.resourceVersion, "2");
  assert.equal(reader.pair(key)?.content?.status?.snapshotHandle, "s-1");
});

for (const [given, changed] of [
  ["of another incarnation", aReadySnapshot({ uid: "another" })],
  ["bound to another content", aReadySnapshot({}, { boundVolumeSnapshotContentName: "another" })],
  ["that became ready", aReadySnapshot({}, { readyToUse: false })],
] as const)
  test(`watched, the content of a snapshot ${given} is read again`, async () => {
    const { reader, change } = await setUp("watched");
    await reader.read(key, signal);
    change(changed);
    assert.equal(reader.pair(key), undefined);
  });

test("watched, a content is read again after a while, because somebody may have annotated it", async () => {
  const { reader, world } = await setUp("watched");
  await reader.read(key, signal);
  await world.advance(9_000);
  assert.notEqual(reader.pair(key), undefined);
  await world.advance(2_000);
  assert.equal(reader.pair(key), undefined);
});

test("watched, a snapshot that is missing or unbound needs no read", async () => {
  const { reader, change, reads } = await setUp("watched");
  change(undefined);
  assert.deepEqual(reader.pair(key), { snapshot: undefined, content: undefined });
  change(aReadySnapshot({}, { boundVolumeSnapshotContentName: undefined }));
  assert.equal(reader.pair(key)?.content, undefined);
  assert.deepEqual(reads(), []);
});

test("what does not exist is read as missing, and a failed read is tried again", async () => {
  let isAway = true;
  const { reader, kube } = await setUp("unwatched", (_call, when) => {
    if (isAway && when === "before") throw new Fault("Unavailable", "no server");
  });
  await assert.rejects(reader.read(key, signal), { code: "Unavailable" });
  isAway = false;
  await kube.delete({ kind: "VolumeSnapshotContent", name: "snapcontent-uid-snap" });
  await reader.read(key, signal);
  assert.deepEqual([reader.pair(key)?.snapshot?.metadata.name, reader.pair(key)?.content], ["monday", undefined]);
});
