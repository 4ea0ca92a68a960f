import assert from "node:assert/strict";
import { test } from "node:test";
import { aContent, driver } from "../../../test/builders.ts";
import { annotations } from "../../api/names.ts";
import { type Key, keyIn } from "../../base/brand.ts";
import { Fault } from "../../base/fault.ts";
import { observe, type Reply } from "./observe.ts";

const marked = { annotations: { [annotations.beingCreated]: "yes" } };
const refused: Reply = { kind: "failed", fault: new Fault("FailedPrecondition", "no") };
const unreached: Reply = { kind: "failed", fault: new Fault("Unavailable", "nobody there") };

const cases: readonly { given: string; isMarked: boolean; reply: Reply; ageMs: number; counts: Reply["kind"] }[] = [
  { given: "a fresh refusal", isMarked: true, reply: refused, ageMs: 0, counts: "failed" },
  { given: "an old refusal whose mark is off", isMarked: false, reply: refused, ageMs: 2_000, counts: "none" },
  { given: "an old refusal whose mark is still on", isMarked: true, reply: refused, ageMs: 2_000, counts: "failed" },
  {
    given: "an old fault that says nothing for certain",
    isMarked: true,
    reply: unreached,
    ageMs: 2_000,
    counts: "none",
  },
];
for (const { given, isMarked, reply, ageMs, counts } of cases)
  test(`given ${given}, the reply that counts is: ${counts}`, () => {
    const content = aContent(isMarked ? { metadata: marked } : {});
    const key: Key = keyIn(undefined, content.metadata.name);
    const view = observe(
      {
        stores: { VolumeSnapshotContent: { get: () => content }, VolumeSnapshotClass: { get: () => undefined } },
        slots: new Map([[content.metadata.uid, { reply, expiresAtMs: 1_000 }]]),
        facts: { driver, canListSnapshots: true },
        options: { snapshotNamePrefix: "snapshot", snapshotNameUuidLength: -1, extraCreateMetadata: false },
      },
      key,
      { nowMs: 0, elapsedMs: ageMs },
    );
    assert.equal(view?.reply.kind, counts);
  });

test("a refused deletion of a ready content is tried again, although a mark was left behind", () => {
  const content = aContent({ metadata: marked, status: { readyToUse: true, snapshotHandle: "s-1" } });
  const view = observe(
    {
      stores: { VolumeSnapshotContent: { get: () => content }, VolumeSnapshotClass: { get: () => undefined } },
      slots: new Map([[content.metadata.uid, { reply: refused, expiresAtMs: 1_000 }]]),
      facts: { driver, canListSnapshots: true },
      options: { snapshotNamePrefix: "snapshot", snapshotNameUuidLength: -1, extraCreateMetadata: false },
    },
    keyIn(undefined, content.metadata.name),
    { nowMs: 0, elapsedMs: 2_000 },
  );
  assert.equal(view?.reply.kind, "none");
});

const asked: readonly [given: string, slot: Reply | undefined, was: boolean][] = [
  ["nothing", undefined, false],
  ["a question that could not be sent", { kind: "unsent", fault: new Fault("NotFound", "no secret") }, false],
  ["an answer", unreached, true],
];
for (const [given, reply, was] of asked)
  test(`given ${given}, the driver ${was ? "was" : "was not"} asked by this process`, () => {
    const content = aContent({ metadata: marked });
    const view = observe(
      {
        stores: { VolumeSnapshotContent: { get: () => content }, VolumeSnapshotClass: { get: () => undefined } },
        slots: new Map(reply === undefined ? [] : [[content.metadata.uid, { reply, expiresAtMs: 0 }]]),
        facts: { driver, canListSnapshots: true },
        options: { snapshotNamePrefix: "snapshot", snapshotNameUuidLength: -1, extraCreateMetadata: false },
      },
      keyIn(undefined, content.metadata.name),
      { nowMs: 0, elapsedMs: 1_000 },
    );
    assert.equal(view?.wasAskedHere, was);
  });
