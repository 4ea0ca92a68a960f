import assert from "node:assert/strict";
import { test } from "node:test";
import { aContent } from "../../../test/builders.ts";
import { createVirtualWorld } from "../../../test/virtual-world.ts";
import type { ClusterAction } from "../../api/plan.ts";
import { Fault } from "../../base/fault.ts";
import { silent } from "../../base/log.ts";
import type { CsiClient } from "../../csi/client.ts";
import type { KubeApi } from "../../kube/api.ts";
import type { ActionHandlers } from "../../runtime/action-handlers.ts";
import { createSemaphore } from "../../runtime/semaphore.ts";
import { createCsiHandler, createReplyCache } from "./act.ts";
import type { Reply } from "./observe.ts";
import type { CsiCall } from "./plan-calls.ts";

const backoff = { startMs: 1_000, maxMs: 300_000 };
const poll = { startMs: 1_000, maxMs: 30_000 };
const failed: Reply = { kind: "failed", fault: new Fault("Unavailable", "away") };
const taken = (ready: boolean): Reply => ({
  kind: "taken",
  snapshot: { handle: "s", ready, creationTimeNs: 1n, sizeBytes: 1n, oddities: [] },
});

const content = aContent();

/** How long the last of several replies of one kind holds. */
function heldMs(reply: Reply, times: number): number {
  const world = createVirtualWorld();
  const slots = createReplyCache(world, { backoff, poll });
  for (let count = 0; count < times; count++) slots.put(content, reply);
  return (slots.get(content.metadata.uid)?.expiresAtMs ?? 0) - world.elapsed();
}
const isAbout = (ms: number, longest: number): boolean => ms >= longest / 2 && ms <= longest;

test("readiness is polled on its own timer, at most half a minute apart", () => {
  assert.ok(isAbout(heldMs(taken(false), 1), poll.startMs));
  assert.ok(isAbout(heldMs(taken(false), 50), poll.maxMs));
});

test("failures back off to minutes, and the first reply resets the poll interval", () => {
  assert.ok(isAbout(heldMs(failed, 1), backoff.startMs));
  assert.ok(isAbout(heldMs(failed, 50), backoff.maxMs));
  const world = createVirtualWorld();
  const slots = createReplyCache(world, { backoff, poll });
  for (let count = 0; count < 50; count++) slots.put(content, failed);
  slots.put(content, taken(false));
  assert.ok(isAbout(slots.get(content.metadata.uid)?.expiresAtMs ?? 0, poll.startMs));
});

test("a secret that could not be read because the API server was unavailable is read again within seconds", () => {
  const unsent = (code: "Unavailable" | "NotFound"): Reply => ({ kind: "unsent", fault: new Fault(code, "no") });
  assert.ok(heldMs(unsent("Unavailable"), 50) <= 10_000);
  assert.ok(heldMs(unsent("NotFound"), 50) > 10_000);
});

test("errors of CreateSnapshot do not increase the backoff of DeleteSnapshot", () => {
  const world = createVirtualWorld();
  const slots = createReplyCache(world, { backoff, poll });
  for (let count = 0; count < 50; count++) slots.put(content, failed);
  slots.put(aContent({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }), failed);
  assert.ok(isAbout(slots.get(content.metadata.uid)?.expiresAtMs ?? 0, backoff.startMs));
});

test("malformed replies are counted until another reply or operation; a missing reply does not reset the count", () => {
  const slots = createReplyCache(createVirtualWorld(), { backoff, poll });
  const malformed: Reply = { kind: "failed", fault: new Fault("MalformedReply", "???") };
  const leaving = aContent({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } });
  const counted = (
    [
      [content, malformed],
      [content, malformed],
      [content, failed],
      [content, { kind: "unsent", fault: new Fault("NotFound", "no secret") }],
      [content, malformed],
      [content, { kind: "failed", fault: new Fault("FailedPrecondition", "no") }],
      [content, malformed],
      [leaving, malformed],
      [leaving, malformed],
      [leaving, taken(false)],
    ] as const
  ).map(([about, reply]) => {
    slots.put(about, reply);
    return slots.get(content.metadata.uid)?.malformedReplies;
  });
  assert.deepEqual(counted, [1, 2, 2, 2, 3, 0, 1, 1, 2, 0]);
});

test("a reply with another handle is retried with the backoff of failures", () => {
  const world = createVirtualWorld();
  const slots = createReplyCache(world, { backoff, poll });
  slots.put(aContent({ status: { snapshotHandle: "s-before", readyToUse: false } }), taken(true));
  assert.ok(isAbout(slots.get(content.metadata.uid)?.expiresAtMs ?? 0, backoff.startMs));
});

test("ready and deleted are final states", () => {
  assert.equal(heldMs(taken(true), 1), Number.POSITIVE_INFINITY);
  assert.equal(heldMs({ kind: "deleted" }, 1), Number.POSITIVE_INFINITY);
});

const secret = { namespace: "vault", name: "key" };
const create: CsiCall = { method: "create", name: "snapshot-u", volumeHandle: "v", parameters: {}, secret };
const mark = { kind: "patch" } as ClusterAction;

/** A hand over a driver and a cluster that write down what they are asked, in order. */
function setUp({ secretFound = true, leading = true, isAway = false, entries = [{}] as readonly object[] } = {}) {
  const asked: string[] = [];
  const failures: string[] = [];
  const requests: object[] = [];
  const world = createVirtualWorld();
  const replies = createReplyCache(world, { backoff, poll });
  const api = {
    get: async ({ kind, namespace, name }: { kind: string; namespace: string; name: string }) => {
      asked.push(`read ${kind} ${namespace}/${name}`);
      if (!secretFound) throw new Fault("NotFound", "no such secret");
      return { data: { token: Buffer.from("päss").toString("base64") } };
    },
  } as unknown as KubeApi;
  const snapshot = {
    snapshotId: "s",
    sizeBytes: 1n,
    readyToUse: true,
    creationTime: { seconds: 1_700_000_000n, nanos: 0 },
  };
  const csi = {
    controller: {
      createSnapshot: async ({ name, secrets, ...rest }: { name: string; secrets: object }) => {
        asked.push(`create ${name} with ${JSON.stringify(secrets)}`);
        requests.push({ name, secrets, ...rest });
        if (isAway) throw new Fault("Unavailable", "away");
        return { snapshot };
      },
      deleteSnapshot: async (request: object) => {
        requests.push(request);
        throw new Fault("FailedPrecondition", "in use");
      },
      listSnapshots: async ({ snapshotId, ...rest }: { snapshotId: string }) => {
        requests.push({ snapshotId, ...rest });
        asked.push(`list ${snapshotId}`);
        return { nextToken: "", entries: entries.map((change) => ({ snapshot: { ...snapshot, ...change } })) };
      },
    },
  } as unknown as CsiClient;
  const cluster = { patch: async () => void asked.push("mark") } as unknown as ActionHandlers<ClusterAction>;
  const about = aContent();
  const hand = createCsiHandler({
    api,
    csi,
    cluster,
    replies,
    attempts: { willCreate: () => void asked.push("note") },
    semaphore: createSemaphore({ atOnceMax: 1, hangingMax: 0, world }),
    world,
    log: silent,
    leading: () => leading,
    knows: () => true,
    trigger: () => void asked.push("wake"),
    failed: (operation) => void failures.push(operation),
  });
  const act = (call: CsiCall, intent: readonly ClusterAction[] = []) =>
    hand({ kind: "csi", about, call, intent }, new AbortController().signal);
  return { asked, requests, failures, act, reply: () => replies.get(about.metadata.uid)?.reply };
}

test("the sidecar reads the secret, writes the being-created annotation, and then calls the driver", async () => {
  const { asked, act, reply } = setUp();
  await act(create, [mark]);
  assert.deepEqual(asked, ["read Secret vault/key", "note", "mark", 'create snapshot-u with {"token":"päss"}', "wake"]);
  assert.equal(reply()?.kind, "taken");
});

test("CreateSnapshot has volume, name, parameters and secret; DeleteSnapshot and ListSnapshots have handle and secret", async () => {
  const { act, requests } = setUp();
  await act({ ...create, parameters: { tier: "gold" } });
  await act({ method: "delete", handle: "s", secret });
  await act({ method: "list", handle: "s", secret });
  const secrets = { token: "päss" };
  assert.deepEqual(requests, [
    { name: "snapshot-u", sourceVolumeId: "v", parameters: { tier: "gold" }, secrets },
    { snapshotId: "s", secrets },
    { snapshotId: "s", startingToken: "", secrets },
  ]);
});

test("an unreadable secret causes no annotation and no call, and the error names the secret", async () => {
  const { asked, act, reply } = setUp({ secretFound: false });
  await act(create, [mark]);
  assert.deepEqual(asked, ["read Secret vault/key", "wake"]);
  const said = reply();
  assert.match(said?.kind === "unsent" ? said.fault.message : "", /secret vault\/key cannot be read: .*; create it/);
});

test("a replica that lost the lease does not call the driver", async () => {
  const { asked, act } = setUp({ leading: false });
  await assert.rejects(act(create, []));
  assert.deepEqual(asked, ["read Secret vault/key", "note"]);
});

const list: CsiCall = { method: "list", handle: "s-9", secret: undefined };
test("each failed attempt is counted once, a successful one is not", async () => {
  const remove: CsiCall = { method: "delete", handle: "s", secret: undefined };
  const cases: readonly [Parameters<typeof setUp>[0], CsiCall, readonly string[]][] = [
    [{}, create, []],
    [{ isAway: true }, create, ["CreateSnapshot", "CreateSnapshot"]],
    [{ secretFound: false }, create, ["CreateSnapshot", "CreateSnapshot"]],
    [{}, remove, ["DeleteSnapshot", "DeleteSnapshot"]],
    [{ entries: [] }, list, ["ListSnapshots", "ListSnapshots"]],
  ];
  for (const [given, call, told] of cases) {
    const { failures, act } = setUp(given);
    await act(call);
    await act(call);
    assert.deepEqual(failures, told);
  }
});
