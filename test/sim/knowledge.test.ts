import assert from "node:assert/strict";
import { test } from "node:test";
import { createKnowledge, type Knowledge } from "./knowledge.ts";

const uid = "content-1";
const process = "csi-snapshotter.1";
const event = (version: number): string =>
  `{"type":"MODIFIED","object":{"metadata":{"resourceVersion":"${version}"}}}\n`;
const answer = (version: number): string => `{"metadata":{"resourceVersion":"${version}"}}\n`;
const list = (...versions: readonly number[]): string =>
  `{"kind":"VolumeSnapshotContentList","metadata":{"resourceVersion":"9"},"items":[${versions.map(answer).join(",")}]}`;

const rows: readonly [string, (knowledge: Knowledge) => void, number | undefined][] = [
  ["who was told nothing knows nothing", () => undefined, undefined],
  ["an event counts when there was time to look at it", (k) => k.reported(process, 100, event(3)), 3],
  ["an event that came just now does not count yet", (k) => k.reported(process, 9_900, event(3)), undefined],
  ["an answer counts at once", (k) => k.reported(process, 9_999, answer(4)), 4],
  [
    "an event that came while a call was under way may not have been looked at",
    (k) => {
      k.reported(process, 100, event(2));
      k.reported(process, 5_000, event(3));
      k.answered(process, 4_000, 9_990);
    },
    2,
  ],
  [
    "an older event leads nobody back",
    (k) => {
      k.reported(process, 100, event(3));
      k.reported(process, 200, event(2));
    },
    3,
  ],
  [
    "a list from the past does lead back",
    (k) => {
      k.reported(process, 100, event(3));
      k.reported(process, 200, list(2));
    },
    2,
  ],
  [
    "a list from the past that came just now may have led back already",
    (k) => {
      k.reported(process, 100, event(3));
      k.reported(process, 9_999, list(2));
    },
    2,
  ],
  [
    "a list of today that came just now need not have been looked at",
    (k) => {
      k.reported(process, 100, event(3));
      k.reported(process, 9_999, list(4));
    },
    3,
  ],
  [
    "what a list leaves out is not known any more",
    (k) => {
      k.reported(process, 100, event(3));
      k.reported(process, 200, list());
    },
    undefined,
  ],
  [
    "what the list of a namespace leaves out may be of another one",
    (k) => {
      k.reported(process, 100, event(3));
      k.reported(process, 200, list(), true);
    },
    3,
  ],
  [
    "a bookmark tells of no object",
    (k) => k.reported(process, 100, event(3).replace("MODIFIED", "BOOKMARK")),
    undefined,
  ],
  ["another process's knowledge is its own", (k) => k.reported("csi-snapshotter.2", 100, event(3)), undefined],
];

for (const [claim, report, floor] of rows)
  test(claim, () => {
    const knowledge = createKnowledge();
    for (const version of [2, 3, 4]) knowledge.exists(version, "VolumeSnapshotContent", uid);
    report(knowledge);
    assert.equal(knowledge.floorOf(process, uid, 10_000), floor);
  });

const omissions: readonly [string, (knowledge: Knowledge) => void, boolean][] = [
  ["without a list nothing is left out", (k) => k.reported(process, 100, event(3)), false],
  ["a list leaves out what existed and is not in it", (k) => k.reported(process, 100, list(), true), true],
  ["a list that has it does not", (k) => k.reported(process, 100, list(3)), false],
  [
    "only the last list before the decision counts",
    (k) => {
      k.reported(process, 100, list());
      k.reported(process, 200, list(3));
      k.reported(process, 10_001, list());
    },
    false,
  ],
];
for (const [claim, report, isOmitted] of omissions)
  test(claim, () => {
    const knowledge = createKnowledge();
    knowledge.exists(3, "VolumeSnapshotContent", uid);
    report(knowledge);
    assert.equal(knowledge.wasOmitted(process, uid, 10_000), isOmitted);
  });

test("a list does not leave out what did not exist yet", () => {
  const knowledge = createKnowledge();
  knowledge.reported(process, 100, list());
  knowledge.exists(3, "VolumeSnapshotContent", uid);
  assert.equal(knowledge.wasOmitted(process, uid, 10_000), false);
});
