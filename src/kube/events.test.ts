import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hook } from "../../test/fake-kube.ts";
import { createFakeKube } from "../../test/fake-kube.ts";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import type { EventText } from "../api/plan.ts";
import type { KubeObject } from "../api/types.ts";
import { Fault } from "../base/fault.ts";
import { limits } from "../base/limits.ts";
import { silent } from "../base/log.ts";
import { withCode } from "../errors/codes.ts";
import { createEventRecorder } from "./events.ts";

const anObject = (name = "db", metadata: Partial<KubeObject["metadata"]> = { namespace: "apps" }): KubeObject => ({
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshot",
  metadata: { name, uid: `uid-${name}`, resourceVersion: "7", ...metadata },
});
const anEvent = (message = "Waiting.", reason = "CreatingSnapshot"): EventText => ({ type: "Normal", reason, message });

const setUp = (hook?: Hook, seed = 1, isBusy?: () => boolean) => {
  const world = createVirtualWorld(seed);
  const kube = createFakeKube(hook);
  const source = { component: "snapshot-controller", host: "n1" };
  const recorder = createEventRecorder({ api: kube, world, log: silent, ...source, isBusy });
  const counts = (): readonly string[] => kube.stored("Event").map(({ count, message }) => `${count} × ${message}`);
  const settle = (): Promise<void> => world.advance(limits.eventLingerMs);
  return { world, kube, counts, settle, ...recorder, recorder };
};

test("an event has the object, reason, message, time and reporting component", async () => {
  const { kube, record, settle } = setUp();
  record(anObject(), anEvent());
  await settle();
  const [event] = kube.stored("Event");
  const { name = "", namespace } = event?.metadata ?? {};
  assert.equal(namespace, "apps");
  assert.match(name, /^db\.[0-9a-f]{16}$/);
  const { metadata: _, ...rest } = event ?? {};
  assert.deepEqual(rest, {
    apiVersion: "v1",
    kind: "Event",
    involvedObject: {
      apiVersion: "snapshot.storage.k8s.io/v1",
      kind: "VolumeSnapshot",
      namespace: "apps",
      name: "db",
      uid: "uid-db",
      resourceVersion: "7",
    },
    type: "Normal",
    reason: "CreatingSnapshot",
    message: "Waiting.",
    firstTimestamp: "2025-06-15T15:06:40Z",
    lastTimestamp: "2025-06-15T15:06:40Z",
    count: 1,
    source: { component: "snapshot-controller", host: "n1" },
    reportingComponent: "snapshot-controller",
    reportingInstance: "n1",
  });
});

test("events of objects without a namespace are kept in default", async () => {
  const { kube, record, settle } = setUp();
  record(anObject("content", {}), anEvent());
  await settle();
  assert.equal(kube.stored("Event")[0]?.metadata.namespace, "default");
  assert.equal("namespace" in (kube.stored("Event")[0]?.involvedObject ?? {}), false);
});

test("event names stay valid for objects with names of maximum length", async () => {
  const { kube, record, settle } = setUp();
  record(anObject(`${"a".repeat(235)}-${"b".repeat(17)}`), anEvent());
  await settle();
  const name = kube.stored("Event")[0]?.metadata.name ?? "";
  assert.ok(name.length <= 253);
  assert.match(name, /^a+\.[0-9a-f]{16}$/);
});

test("an immediate repetition sends no request, and a later repetition increments the count", async () => {
  const { world, kube, record, settle, counts } = setUp();
  for (let repeat = 0; repeat < 5; repeat++) record(anObject(), anEvent());
  await settle();
  assert.deepEqual(counts(), ["5 × Waiting."]);
  assert.equal(kube.calls.length, 1);
  await world.advance(60_000);
  record(anObject(), anEvent());
  await settle();
  assert.deepEqual(counts(), ["6 × Waiting."]);
  assert.deepEqual(
    kube.calls.map(({ verb }) => verb),
    ["create", "patch"],
  );
  const [event] = kube.stored("Event");
  assert.deepEqual([event?.firstTimestamp, event?.lastTimestamp], ["2025-06-15T15:06:40Z", "2025-06-15T15:07:40Z"]);
});

test("a different object, reason, message or uid is a different event", async () => {
  const { kube, record, settle } = setUp();
  record(anObject(), anEvent());
  record(anObject("web"), anEvent());
  record(anObject("db", { namespace: "apps", uid: "uid-2" }), anEvent());
  record(anObject(), anEvent("Done."));
  record(anObject(), anEvent("Waiting.", "SnapshotReady"));
  await settle();
  assert.equal(kube.stored("Event").length, 5);
});

test("an event that the server has deleted is created again", async () => {
  const { kube, record, settle, counts } = setUp();
  record(anObject(), anEvent());
  await settle();
  const { namespace, name = "" } = kube.stored("Event")[0]?.metadata ?? {};
  await kube.delete({ kind: "Event", namespace, name });
  record(anObject(), anEvent());
  await settle();
  assert.deepEqual(counts(), ["1 × Waiting."]);
});

test("more than ten different messages for one reason are combined, until ten minutes have passed", async () => {
  const { world, record, settle, counts } = setUp();
  for (let attempt = 1; attempt <= 14; attempt++) {
    record(anObject(), anEvent(`request ${attempt} failed`));
    await settle();
  }
  assert.equal(counts().length, 11);
  assert.equal(counts().at(-1), "4 × (combined from similar events): request 14 failed");
  await world.advance(limits.eventAlikeMs);
  record(anObject(), anEvent("request 15 failed"));
  await settle();
  assert.equal(counts().at(-1), "1 × request 15 failed");
});

test("an object may cause 25 requests, then one in five minutes; others are not affected", async () => {
  const { world, kube, record, settle } = setUp();
  const spam = async (): Promise<void> => {
    for (let attempt = 0; attempt < 40; attempt++) {
      record(anObject("noisy"), anEvent("again", `Reason${attempt}`));
      await settle();
    }
  };
  await spam();
  assert.equal(kube.calls.length, 25);
  record(anObject("quiet"), anEvent());
  await settle();
  assert.equal(kube.calls.length, 26);
  await world.advance(limits.eventRefillMs);
  await spam();
  assert.equal(kube.calls.length, 27);
});

test("an unreachable API server does not block the recorder, and events are sent later", async () => {
  let away = true;
  const { world, record, counts } = setUp(() => {
    if (away) throw new Fault("Unavailable", "connection refused");
  });
  for (let index = 0; index < 5; index++) record(anObject(`o${index}`), anEvent());
  await world.advance(20_000);
  away = false;
  await world.advance(20_000);
  assert.equal(counts().length, 5);
  assert.equal(world.sleepers(), 0, "nothing runs when nothing waits");
});

test("an event is tried again after half a minute, though the server asked for an hour", async () => {
  let away = true;
  const { world, counts, record, settle } = setUp(() => {
    if (away) throw new Fault("Unavailable", "maintenance", { retryAfterMs: 3_600_000 });
  });
  record(anObject(), anEvent());
  await settle();
  away = false;
  await world.advance(limits.retryAfterMsMax);
  assert.deepEqual(counts(), ["1 × Waiting."]);
});

test("the event queue is bounded and drops the oldest events", async () => {
  let away = true;
  const { world, kube, record, recorder } = setUp(() => {
    if (away) throw new Fault("Unavailable", "connection refused");
  });
  const count = limits.eventsWaitingMax + 100;
  for (let index = 0; index < count; index++) record(anObject(`o${index}`), anEvent());
  assert.equal(recorder.waiting(), limits.eventsWaitingMax);
  away = false;
  await world.advance(60_000);
  const names = kube.stored("Event").map(({ involvedObject }) => involvedObject.name);
  assert.equal(names.length, limits.eventsWaitingMax);
  assert.equal(names.at(-1), `o${count - 1}`);
});

test("a rejected event is dropped, and the next one is sent", async () => {
  const { kube, record, settle, counts } = setUp(({ body }) => {
    if ((body as { reason?: string }).reason === "Bad") throw new Fault("PermissionDenied", "namespace is terminating");
  });
  record(anObject(), anEvent("refused", "Bad"));
  record(anObject(), anEvent("accepted"));
  await settle();
  assert.deepEqual(counts(), ["1 × accepted"]);
  assert.equal(kube.calls.length, 2);
});

test("an event is dropped after several failures", async () => {
  const { world, kube, record } = setUp(() => {
    throw new Fault("UnknownOutcome", "connection reset");
  });
  record(anObject(), anEvent());
  await world.advance(3_600_000);
  assert.equal(kube.calls.length, limits.eventTriesMax);
});

test("an event whose reply was lost is not written twice", async () => {
  let lost = 0;
  const { world, record, counts } = setUp((_call, when) => {
    if (when === "after" && lost++ === 0) throw new Fault("UnknownOutcome", "connection reset");
  });
  record(anObject(), anEvent());
  await world.advance(60_000);
  assert.deepEqual(counts(), ["1 × Waiting."]);
});

test("close sends the queued events at once and accepts no more", async () => {
  const { world, record, close, counts } = setUp();
  record(anObject(), anEvent("last words"));
  await world.run(close(5_000), 0);
  assert.deepEqual(counts(), ["1 × last words"]);
  record(anObject(), anEvent("too late"));
  await world.advance(60_000);
  assert.equal(counts().length, 1);
  await world.run(close(5_000), 0);
});

test("close has a time limit, even if the server stalls", async () => {
  const { world, kube, record, close } = setUp(
    ({ signal }) => new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
  );
  for (let index = 0; index < 5; index++) record(anObject(`o${index}`), anEvent());
  const startedAt = world.elapsed();
  await world.run(close(5_000));
  assert.equal(world.elapsed() - startedAt, 5_000);
  await world.advance(60_000);
  assert.equal(kube.calls.length, 1);
  assert.equal(world.sleepers(), 0);
});

test("the recorder never throws, whatever its input", () => {
  const { record } = setUp();
  record({} as KubeObject, anEvent());
  record(anObject(), undefined as unknown as EventText);
  record(null as unknown as KubeObject, anEvent());
});

test("a long message is truncated, and keeps its code", async () => {
  const { kube, record, settle } = setUp();
  record(anObject(), anEvent(withCode("m".repeat(5_000), "SNAP-501")));
  await settle();
  assert.equal(kube.stored("Event")[0]?.message?.length, 1_024);
  assert.match(kube.stored("Event")[0]?.message ?? "", /m… \[SNAP-501\]$/);
});

test("a slow server gets events at a lower rate, and all of them in the end", async () => {
  const answerMs = 50;
  const { world, kube, record } = setUp((_call, when) => (when === "before" ? world.sleep(answerMs) : undefined));
  for (const name of ["a", "b", "c"]) record(anObject(name), anEvent());
  await world.advance(limits.eventLingerMs + answerMs);
  assert.equal(kube.calls.length, 1);
  await world.advance(answerMs * limits.eventPausesPerAnswer - 1);
  assert.equal(kube.calls.length, 1);
  await world.advance(1);
  assert.equal(kube.calls.length, 2);
  await world.advance(10 * answerMs);
  assert.equal(kube.stored("Event").length, 3);
});

test("close does not wait between events", async () => {
  const { world, kube, record, recorder } = setUp((_call, when) => (when === "before" ? world.sleep(50) : undefined));
  for (const name of ["a", "b", "c"]) record(anObject(name), anEvent());
  void recorder.close(1_000);
  await world.advance(150);
  assert.equal(kube.stored("Event").length, 3);
});

test("while the component is busy warnings are sent and good news waits, until the component is idle", async () => {
  let isBusy = true;
  const { world, record, settle, counts } = setUp(undefined, 1, () => isBusy);
  record(anObject("one"), anEvent("Ready."));
  record(anObject("two"), { type: "Warning", reason: "Failed", message: "Refused." });
  await settle();
  assert.deepEqual(counts(), ["1 × Refused."]);
  await world.advance(3_000);
  assert.deepEqual(counts(), ["1 × Refused."]);
  isBusy = false;
  await world.advance(limits.eventBusyLookMs);
  assert.deepEqual(counts(), ["1 × Refused.", "1 × Ready."]);
});

test("good news about a component that is always busy is sent late, and at once when the process ends", async () => {
  const { world, record, counts, close } = setUp(undefined, 1, () => true);
  record(anObject("one"), anEvent("Ready."));
  await world.advance(limits.eventBusyMsMax - 1_000);
  assert.deepEqual(counts(), []);
  await world.advance(1_000 + limits.eventBusyLookMs);
  assert.deepEqual(counts(), ["1 × Ready."]);
  record(anObject("two"), anEvent("Ready."));
  await world.run(close(1_000));
  assert.equal(counts().length, 2);
});
