import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Fault } from "../../base/fault.ts";
import {
  VolumeCapability_AccessMode_Mode as AccessMode,
  CreateVolumeRequestSchema,
  type VolumeCapability,
  VolumeCapabilitySchema,
} from "../../csi/gen/csi_pb.js";
import { modeOf, pageOf, unservable, volumeRequestOf } from "./requests.ts";

const capability = (kind: "mount" | "block", mode = AccessMode.SINGLE_NODE_WRITER): VolumeCapability =>
  create(VolumeCapabilitySchema, { accessType: { case: kind, value: {} }, accessMode: { mode } });

const request = (change: MessageInitShape<typeof CreateVolumeRequestSchema>) =>
  volumeRequestOf(
    create(CreateVolumeRequestSchema, { name: "v", volumeCapabilities: [capability("mount")], ...change }),
  );

test("a CSI request becomes a storage request", () => {
  const volumeContentSource = { type: { case: "snapshot" as const, value: { snapshotId: "s" } } };
  assert.deepEqual(request({ capacityRange: { requiredBytes: 5n, limitBytes: 9n }, volumeContentSource }), {
    name: "v",
    mode: "mount",
    bytesMin: 5,
    bytesMax: 9,
    origin: { kind: "snapshot", id: "s" },
  });
});

test("missing fields mean no size and no limit", () =>
  assert.deepEqual(request({}), { name: "v", mode: "mount", bytesMin: 0, bytesMax: 0, origin: { kind: "empty" } }));

const refusals: readonly { given: string; code: string; field: RegExp; ask(): unknown }[] = [
  { given: "no name", code: "InvalidArgument", field: /^name /, ask: () => request({ name: "" }) },
  {
    given: "no capability",
    code: "InvalidArgument",
    field: /volume_capabilities/,
    ask: () => request({ volumeCapabilities: [] }),
  },
  {
    given: "mount and block at once",
    code: "InvalidArgument",
    field: /mount and block/,
    ask: () => request({ volumeCapabilities: [capability("mount"), capability("block")] }),
  },
  {
    given: "no access type",
    code: "InvalidArgument",
    field: /access_type/,
    ask: () => request({ volumeCapabilities: [{ accessMode: { mode: AccessMode.SINGLE_NODE_WRITER } }] }),
  },
  {
    given: "no access mode",
    code: "InvalidArgument",
    field: /access_mode/,
    ask: () => request({ volumeCapabilities: [{ accessType: { case: "mount", value: {} } }] }),
  },
  {
    given: "a negative size",
    code: "OutOfRange",
    field: /required_bytes/,
    ask: () => request({ capacityRange: { requiredBytes: -1n } }),
  },
  {
    given: "a size beyond all disks",
    code: "OutOfRange",
    field: /limit_bytes/,
    ask: () => request({ capacityRange: { limitBytes: 2n ** 62n } }),
  },
  {
    given: "a source that is nothing",
    code: "InvalidArgument",
    field: /volume_content_source/,
    ask: () => request({ volumeContentSource: {} }),
  },
  {
    given: "a source snapshot without an id",
    code: "InvalidArgument",
    field: /snapshot_id/,
    ask: () => request({ volumeContentSource: { type: { case: "snapshot", value: {} } } }),
  },
  {
    given: "a source volume without an id",
    code: "InvalidArgument",
    field: /volume_id/,
    ask: () => request({ volumeContentSource: { type: { case: "volume", value: {} } } }),
  },
];
for (const { given, code, field, ask } of refusals)
  test(`given ${given}, the answer is ${code}`, () =>
    assert.throws(ask, (reason) => reason instanceof Fault && reason.code === code && field.test(reason.message)));

const modes: readonly { mode: AccessMode; served: boolean }[] = [
  { mode: AccessMode.SINGLE_NODE_WRITER, served: true },
  { mode: AccessMode.SINGLE_NODE_READER_ONLY, served: true },
  { mode: AccessMode.SINGLE_NODE_SINGLE_WRITER, served: true },
  { mode: AccessMode.SINGLE_NODE_MULTI_WRITER, served: true },
  { mode: AccessMode.MULTI_NODE_READER_ONLY, served: false },
  { mode: AccessMode.MULTI_NODE_SINGLE_WRITER, served: false },
  { mode: AccessMode.MULTI_NODE_MULTI_WRITER, served: false },
];
for (const { mode, served } of modes)
  test(`${AccessMode[mode]} is ${served ? "supported" : "rejected: a directory is on one node"}`, () =>
    assert.equal(unservable([capability("mount", mode)]) === undefined, served));

test("several capabilities of one access type are one mode", () =>
  assert.equal(modeOf([capability("block"), capability("block", AccessMode.SINGLE_NODE_READER_ONLY)]), "block"));

const items = ["a", "b", "c", "d", "e"].map((id) => ({ id }));
const ids = (page: { readonly items: readonly { readonly id: string }[] }): string =>
  page.items.map(({ id }) => id).join("");

test("pages follow each other to the end", () => {
  const seen: string[] = [];
  let token = "";
  do {
    const page = pageOf(items, 2, token);
    seen.push(ids(page));
    token = page.nextToken;
  } while (token !== "");
  assert.deepEqual(seen, ["ab", "cd", "e"]);
});

test("a full last page has no next token", () => assert.equal(pageOf(items, 5, "").nextToken, ""));
test("without a limit all entries are returned", () => assert.equal(ids(pageOf(items, 0, "")), "abcde"));

test("changes between two pages neither repeat nor hide other entries", () => {
  const { nextToken } = pageOf(items, 2, "");
  const changed = [{ id: "a" }, { id: "aa" }, { id: "bb" }, { id: "c" }, { id: "e" }]; // b and d went.
  assert.equal(ids(pageOf(changed, 0, nextToken)), "bbce");
});

const badPages = [
  { given: "a negative number of entries", code: "InvalidArgument", ask: () => pageOf(items, -1, "") },
  { given: "a token of another caller", code: "Aborted", ask: () => pageOf(items, 1, "7") },
];
for (const { given, code, ask } of badPages)
  test(`given ${given}, the answer is ${code}`, () =>
    assert.throws(ask, (reason) => reason instanceof Fault && reason.code === code));
