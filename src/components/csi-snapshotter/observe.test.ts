import assert from "node:assert/strict";
import { test } from "node:test";
import { aClass, aContent, driver } from "../../../test/builders.ts";
import { aContentView } from "../../../test/views.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import { keyIn } from "../../base/brand.ts";
import { observe, type Sources } from "./observe.ts";

const { facts, memory } = aContentView();
const sources = (content: VolumeSnapshotContent | undefined): Sources => ({
  stores: {
    VolumeSnapshotContent: { get: () => content },
    VolumeSnapshotClass: { get: (key) => (key === keyIn(undefined, "fast") ? aClass() : undefined) },
  },
  memory: { about: () => memory },
  driver: { driver, canListSnapshots: true },
  options: facts.options,
  nowMs: 5,
});
const key = keyIn(undefined, "content");

test("a view has the facts of the caches, the driver and the options, and what the process remembers", () => {
  const content = aContent({ spec: { volumeSnapshotClassName: "fast" } });
  assert.deepEqual(observe(sources(content), key), { facts: { ...facts, content, nowMs: 5 }, memory });
});

test("a content whose class is missing or not named has no class", () => {
  const classOf = (volumeSnapshotClassName: string) =>
    observe(sources(aContent({ spec: { volumeSnapshotClassName } })), key)?.facts.snapshotClass;
  assert.deepEqual([classOf("slow"), classOf("")], [undefined, undefined]);
});

test("a content that is gone has no view", () => assert.equal(observe(sources(undefined), key), undefined));
