import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualWorld } from "../../../test/virtual-world.ts";
import type { CsiClient } from "../../csi/client.ts";
import { createSend } from "./act.ts";

/** A driver that notes its requests. */
function setUp() {
  const requests: object[] = [];
  const snapshot = {
    snapshotId: "s",
    sizeBytes: 1n,
    readyToUse: true,
    creationTime: { seconds: 1_700_000_000n, nanos: 0 },
  };
  const answering =
    <T>(reply: T) =>
    async (request: object): Promise<T> => {
      requests.push(request);
      return reply;
    };
  const csi = {
    controller: {
      createSnapshot: answering({ snapshot }),
      deleteSnapshot: answering({}),
      listSnapshots: answering({ nextToken: "", entries: [{ snapshot }] }),
    },
  } as unknown as CsiClient;
  const send = createSend(csi, createVirtualWorld());
  const { signal } = new AbortController();
  return { requests, send: (call: Parameters<typeof send>[0]) => send(call, { token: "päss" }, signal) };
}

const secret = { namespace: "vault", name: "key" };
const secrets = { token: "päss" };
const info = {
  handle: "s",
  ready: true,
  creationTimeNs: 1_700_000_000_000_000_000n,
  sizeBytes: 1n,
  oddities: [],
};

test("CreateSnapshot has name, volume, parameters and secret, and its reply is a snapshot that was taken", async () => {
  const { send, requests } = setUp();
  const parameters = { tier: "gold" };
  assert.deepEqual(await send({ method: "create", name: "snapshot-u", volumeHandle: "v", parameters, secret }), {
    kind: "taken",
    snapshot: info,
  });
  assert.deepEqual(requests, [{ name: "snapshot-u", sourceVolumeId: "v", parameters, secrets }]);
});

test("DeleteSnapshot has the handle and the secret", async () => {
  const { send, requests } = setUp();
  assert.deepEqual(await send({ method: "delete", handle: "s", secret }), { kind: "deleted" });
  assert.deepEqual(requests, [{ snapshotId: "s", secrets }]);
});

test("ListSnapshots has the handle and the secret, and its reply is a snapshot that was taken", async () => {
  const { send, requests } = setUp();
  assert.deepEqual(await send({ method: "list", handle: "s", secret }), { kind: "taken", snapshot: info });
  assert.deepEqual(requests, [{ snapshotId: "s", startingToken: "", secrets }]);
});
