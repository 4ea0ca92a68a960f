import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { SnapshotSchema } from "../../csi/gen/csi_pb.js";
import { takenFrom } from "./reply.ts";

const nowNs = 1_767_225_605_000_000_000n;
const good = {
  snapshotId: "s-1",
  sizeBytes: 5n,
  readyToUse: true,
  creationTime: { seconds: 1_767_225_601n, nanos: 123_456_789 },
};

test("what a driver says is taken digit for digit", () =>
  assert.deepEqual(takenFrom(create(SnapshotSchema, good), nowNs), {
    handle: "s-1",
    ready: true,
    creationTimeNs: 1_767_225_601_123_456_789n,
    sizeBytes: 5n,
  }));

test("a snapshot without a time was cut now, and not in 1970", () =>
  assert.equal(takenFrom(create(SnapshotSchema, { ...good, creationTime: undefined }), nowNs).creationTimeNs, nowNs));

const nonsense: readonly { given: string; change: Partial<typeof good>; says: RegExp }[] = [
  { given: "an empty handle", change: { snapshotId: "" }, says: /snapshot_id is empty/ },
  { given: "a negative size", change: { sizeBytes: -1n }, says: /size_bytes is -1/ },
  { given: "the beginning of time", change: { creationTime: { seconds: 0n, nanos: 0 } }, says: /1970 or before/ },
  {
    given: "a time in milliseconds",
    change: { creationTime: { seconds: 1_767_225_601_123n, nanos: 0 } },
    says: /behind the year 2262/,
  },
  { given: "a time before it", change: { creationTime: { seconds: -9n, nanos: 0 } }, says: /1970 or before/ },
];
for (const { given, change, says } of nonsense)
  test(`given ${given}, the answer is not believed, and its outcome is unknown`, () =>
    assert.throws(() => takenFrom(create(SnapshotSchema, { ...good, ...change }), nowNs), {
      code: "MalformedReply",
      message: says,
    }));

test("an answer without a snapshot is not believed", () =>
  assert.throws(() => takenFrom(undefined, nowNs), { code: "MalformedReply", message: /holds no snapshot/ }));
