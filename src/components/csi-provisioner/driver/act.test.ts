import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { aCreateCall } from "../../../../test/volume-plans.ts";
import type { CsiClient } from "../../../csi/client.ts";
import { CreateVolumeRequestSchema, CreateVolumeResponseSchema } from "../../../csi/gen/csi_pb.js";
import { sendCall } from "./act.ts";
import type { VolumeCall } from "./call.ts";

type Reply = Parameters<typeof create<typeof CreateVolumeResponseSchema>>[1];

/** A driver that notes its requests. */
function setUp(reply: Reply = { volume: { volumeId: "vol-9" } }) {
  const requests: object[] = [];
  const csi = {
    controller: {
      createVolume: async (request: object) => {
        requests.push(create(CreateVolumeRequestSchema, request));
        return create(CreateVolumeResponseSchema, reply);
      },
      deleteVolume: async (request: object) => void requests.push(request),
    },
  } as unknown as CsiClient;
  const { signal } = new AbortController();
  return { requests, send: (call: VolumeCall) => sendCall(csi, call, { token: "päss" }, signal) };
}

test("CreateVolume has name, size, capabilities, parameters, source, topology and secrets", async () => {
  const { requests, send } = setUp();
  await send(
    aCreateCall({
      capabilities: [
        { mode: "SINGLE_NODE_WRITER", mount: { fsType: "xfs", flags: ["noatime"] } },
        { mode: "MULTI_NODE_READER_ONLY" },
      ],
      parameters: { tier: "gold" },
      mutableParameters: { iops: "100" },
      source: { kind: "snapshot", handle: "s-1" },
      topology: { requisite: [{ zone: "a" }, { zone: "b" }], preferred: [{ zone: "b" }] },
    }),
  );
  assert.deepEqual(requests, [
    create(CreateVolumeRequestSchema, {
      name: "pvc-u-new",
      capacityRange: { requiredBytes: 1_048_576n },
      volumeCapabilities: [
        { accessMode: { mode: 1 }, accessType: { case: "mount", value: { fsType: "xfs", mountFlags: ["noatime"] } } },
        { accessMode: { mode: 3 }, accessType: { case: "block", value: {} } },
      ],
      parameters: { tier: "gold" },
      mutableParameters: { iops: "100" },
      secrets: { token: "päss" },
      volumeContentSource: { type: { case: "snapshot", value: { snapshotId: "s-1" } } },
      accessibilityRequirements: {
        requisite: [{ segments: { zone: "a" } }, { segments: { zone: "b" } }],
        preferred: [{ segments: { zone: "b" } }],
      },
    }),
  ]);
});

test("a clone names the volume that it is made from", async () => {
  const { requests, send } = setUp();
  await send(aCreateCall({ source: { kind: "volume", handle: "vol-1" } }));
  const [request] = requests as { volumeContentSource?: { type: { case?: string } } }[];
  assert.equal(request?.volumeContentSource?.type.case, "volume");
});

test("DeleteVolume has the id and the secrets", async () => {
  const { requests, send } = setUp();
  assert.deepEqual(await send({ method: "delete", volumeId: "vol-9" }), { kind: "deleted" });
  assert.deepEqual(requests, [{ volumeId: "vol-9", secrets: { token: "päss" } }]);
});

const plain = { id: "vol-9", bytes: 0n, context: {}, topology: [] };
const readable: readonly (readonly [given: string, reply: Reply, volume: object])[] = [
  ["an id alone", { volume: { volumeId: "vol-9" } }, plain],
  ["a size", { volume: { volumeId: "vol-9", capacityBytes: 5n } }, { ...plain, bytes: 5n }],
  ["a negative size", { volume: { volumeId: "vol-9", capacityBytes: -5n } }, plain],
  [
    "context and topology",
    { volume: { volumeId: "vol-9", volumeContext: { a: "b" }, accessibleTopology: [{ segments: { zone: "a" } }, {}] } },
    { ...plain, context: { a: "b" }, topology: [{ zone: "a" }, {}] },
  ],
  [
    "a snapshot as its source",
    { volume: { volumeId: "vol-9", contentSource: { type: { case: "snapshot", value: { snapshotId: "s-1" } } } } },
    { ...plain, source: { kind: "snapshot", handle: "s-1" } },
  ],
  [
    "a volume as its source",
    { volume: { volumeId: "vol-9", contentSource: { type: { case: "volume", value: { volumeId: "vol-1" } } } } },
    { ...plain, source: { kind: "volume", handle: "vol-1" } },
  ],
  ["a source of no kind", { volume: { volumeId: "vol-9", contentSource: {} } }, plain],
];
for (const [given, reply, volume] of readable)
  test(`a reply with ${given} is read`, async () =>
    assert.deepEqual(await setUp(reply).send(aCreateCall()), { kind: "created", volume }));

for (const [given, reply] of [
  ["no volume", {}],
  ["an empty id", { volume: { volumeId: "" } }],
] as const)
  test(`a reply with ${given} is malformed: whether there is a volume is not known`, () =>
    assert.rejects(setUp(reply).send(aCreateCall()), { code: "MalformedReply" }));
