import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { SnapshotSchema } from "../../csi/gen/csi_pb.js";
import { snapshotInfoAs, snapshotInfoFrom } from "./reply.ts";

const nowNs = 1_767_225_605_000_000_000n;
const good = {
  snapshotId: "s-1",
  sizeBytes: 5n,
  readyToUse: true,
  creationTime: { seconds: 1_767_225_601n, nanos: 123_456_789 },
};
const taken = {
  handle: "s-1",
  ready: true,
  creationTimeNs: 1_767_225_601_123_456_789n,
  sizeBytes: 5n,
  oddities: [],
};
const reply = (change: Partial<typeof good> = {}) => create(SnapshotSchema, { ...good, ...change });

test("times and sizes of a driver are kept digit for digit", () =>
  assert.deepEqual(snapshotInfoFrom(reply(), nowNs), taken));

test("a reply without a creation time uses the current time, not 1970", () =>
  assert.deepEqual(snapshotInfoFrom(create(SnapshotSchema, { ...good, creationTime: undefined }), nowNs), {
    ...taken,
    creationTimeNs: nowNs,
  }));

const times: readonly [given: string, seconds: bigint, nanos: number][] = [
  ["the beginning of time", 0n, 0],
  ["a time before it", -9n, 0],
  ["a time in milliseconds", 1_767_225_601_123n, 0],
  ["the last second that int64 seconds can name", 2n ** 63n - 1n, 0],
  ["more nanoseconds than a second has", 1_767_225_601n, 1_000_000_000],
  ["negative nanoseconds", 1_767_225_601n, -1],
];
for (const [given, seconds, nanos] of times)
  test(`given ${given}, the handle is kept, the current time is used, and one oddity is reported`, () => {
    const { oddities, ...rest } = snapshotInfoFrom(reply({ creationTime: { seconds, nanos } }), nowNs);
    assert.deepEqual({ ...rest, oddities: [] }, { ...taken, creationTimeNs: nowNs });
    assert.equal(oddities.length, 1);
    assert.match(oddities[0] ?? "", new RegExp(`^creation_time is ${seconds} s and ${nanos} ns .*the reply is kept`));
  });

test("a negative size counts as unknown, the handle is kept, and one oddity is reported", () => {
  const { oddities, ...rest } = snapshotInfoFrom(reply({ sizeBytes: -1n }), nowNs);
  assert.deepEqual({ ...rest, oddities: [] }, { ...taken, sizeBytes: 0n });
  assert.deepEqual(oddities, ["size_bytes is -1: the size is not known, and status.restoreSize is left out"]);
});

test("an impossible time and an impossible size are two oddities", () =>
  assert.equal(
    snapshotInfoFrom(reply({ sizeBytes: -1n, creationTime: { seconds: 0n, nanos: 0 } }), nowNs).oddities.length,
    2,
  ));

test("a reply without snapshot_id is malformed, and its outcome is unknown", () => {
  assert.throws(() => snapshotInfoFrom(reply({ snapshotId: "" }), nowNs), {
    code: "MalformedReply",
    message: /snapshot_id is empty/,
  });
  assert.throws(() => snapshotInfoFrom(undefined, nowNs), { code: "MalformedReply", message: /holds no snapshot/ });
});

test("a snapshot that was requested by handle keeps that handle", () =>
  assert.deepEqual(snapshotInfoAs("S-1", reply({ snapshotId: "" }), nowNs), { ...taken, handle: "S-1" }));
