/** Odd answers of a driver about a group: nothing that it named is lost, and nothing but the right members makes a group ready. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { isFault } from "../../../base/fault.ts";
import { VolumeGroupSnapshotSchema } from "../../../csi/gen/csi_pb.js";
import { type Expected, groupInfoFrom } from "./reply.ts";

const nowNs = 1_767_225_605_000_000_000n;
const one = (volume: string, id = `s-${volume}`, more: object = {}) => ({
  snapshotId: id,
  sourceVolumeId: volume,
  sizeBytes: 5n,
  readyToUse: true,
  creationTime: { seconds: 1_767_225_601n, nanos: 7 },
  ...more,
});
const group = (snapshots: readonly object[], more: object = {}) =>
  create(VolumeGroupSnapshotSchema, {
    groupSnapshotId: "g",
    snapshots: [...snapshots] as never,
    readyToUse: true,
    creationTime: { seconds: 1_767_225_601n },
    ...more,
  } as never);
const volumes: Expected = { kind: "volumes", handles: ["a", "b"] };
const members: Expected = {
  kind: "members",
  members: ["a", "b"].map((volumeHandle) => ({ volumeHandle, snapshotHandle: `s-${volumeHandle}`, readyToUse: false })),
};

const rows: readonly [what: string, answer: readonly object[], expected: Expected, mismatch: RegExp | undefined][] = [
  ["the right answer", [one("a"), one("b")], volumes, undefined],
  ["the right answer in another order", [one("b"), one("a")], volumes, undefined],
  ["fewer members", [one("a")], volumes, /no snapshot of volume "b"/],
  ["no member", [], volumes, /no snapshot of volume "a"/],
  ["more members", [one("a"), one("b"), one("c")], volumes, /"s-c" is of volume "c", which was not asked for/],
  ["a doubled volume", [one("a"), one("a", "s-x")], volumes, /several snapshots of volume "a"/],
  ["a doubled snapshot", [one("a", "s"), one("b", "s")], volumes, /"s" stands for several volumes/],
  ["a foreign volume", [one("a"), one("z")], volumes, /volume "z", which was not asked for/],
  ["a member without an id", [one("a"), one("b", "")], volumes, /no snapshot_id/],
  ["the known members", [one("a"), one("b")], members, undefined],
  ["no members at a later question", [], members, undefined],
  ["a foreign member later", [one("a"), one("b"), one("b", "s-x")], members, /"s-x" is no member/],
  ["a lost member later", [one("a")], members, /no longer has snapshot "s-b"/],
];
for (const [what, answer, expected, mismatch] of rows)
  test(`given ${what}, the group is ${mismatch === undefined ? "ready" : "never ready"}`, () => {
    const info = groupInfoFrom(group(answer), expected, nowNs);
    assert.equal(info.ready, mismatch === undefined);
    if (mismatch === undefined) assert.equal(info.mismatch, undefined);
    else assert.match(info.mismatch ?? "", mismatch);
    const named = answer.map((snapshot) => (snapshot as { snapshotId: string }).snapshotId).filter((id) => id !== "");
    if (expected.kind === "volumes")
      assert.deepEqual(
        info.members.map(({ snapshotHandle }) => snapshotHandle),
        named,
      );
  });

test("what was stored of an odd answer stays odd, whatever is answered later", () => {
  const half: Expected = {
    ...members,
    members: members.kind === "members" ? members.members.slice(1) : [],
    volumes: ["a", "b"],
  };
  for (const answer of [[one("b")], []])
    assert.match(groupInfoFrom(group(answer), half, nowNs).mismatch ?? "", /no snapshot of volume "a"/);
  assert.equal(
    groupInfoFrom(group([one("a"), one("b")]), { ...members, volumes: ["a", "b"] } as Expected, nowNs).ready,
    true,
  );
});

test("a group is ready only when each member is", () => {
  const half = groupInfoFrom(group([one("a"), one("b", "s-b", { readyToUse: false })]), volumes, nowNs);
  assert.equal(half.ready, false);
  const nextInfo = groupInfoFrom(group([one("a"), one("b")]), members, nowNs);
  assert.deepEqual(
    nextInfo.members.map(({ readyToUse, restoreSize }) => [readyToUse, restoreSize]),
    [
      [true, 5n],
      [true, 5n],
    ],
  );
});

test("a nanosecond is not lost, and an impossible time is replaced", () => {
  const { members: taken } = groupInfoFrom(
    group([one("a"), one("b", "s-b", { creationTime: { seconds: 1n } })]),
    volumes,
    nowNs,
  );
  assert.equal(taken[0]?.creationTime, 1_767_225_601_000_000_007n);
  assert.equal(taken[1]?.creationTime, nowNs);
});

test("an answer without a group or its id is malformed: its outcome is unknown", () => {
  for (const answer of [undefined, group([one("a")], { groupSnapshotId: "" })])
    assert.throws(
      () => groupInfoFrom(answer, volumes, nowNs),
      (reason) => isFault(reason, "MalformedReply"),
    );
});
