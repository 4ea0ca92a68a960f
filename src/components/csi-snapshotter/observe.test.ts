import assert from "node:assert/strict";
import { test } from "node:test";
import { aClass, aContent, driver } from "../../../test/builders.ts";
import { aContentView } from "../../../test/views.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import { keyIn } from "../../base/brand.ts";
import { observe, type SidecarContext, type SidecarStores } from "./observe.ts";

const { facts, memory } = aContentView();
const storesWith = (content: VolumeSnapshotContent | undefined): SidecarStores => ({
  VolumeSnapshotContent: { get: () => content },
  VolumeSnapshotClass: { get: (name) => (name === keyIn(undefined, "fast") ? aClass() : undefined) },
});
const context: SidecarContext = {
  memory: { about: () => memory },
  driver: { driver, canListSnapshots: true },
  options: facts.options,
  nowMs: 5,
};
const key = keyIn(undefined, "content");

test("a view has the facts of the caches, the driver and the options, what the process remembers, and the time", () => {
  const content = aContent({ spec: { volumeSnapshotClassName: "fast" } });
  assert.deepEqual(observe(storesWith(content), context, key), { facts: { ...facts, content }, memory, nowMs: 5 });
});

test("a content whose class is missing or not named has no class", () => {
  const classOf = (volumeSnapshotClassName: string) =>
    observe(storesWith(aContent({ spec: { volumeSnapshotClassName } })), context, key)?.facts.snapshotClass;
  assert.deepEqual([classOf("slow"), classOf("")], [undefined, undefined]);
});

test("a content that is gone has no view", () => assert.equal(observe(storesWith(undefined), context, key), undefined));
