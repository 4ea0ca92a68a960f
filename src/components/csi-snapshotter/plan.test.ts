import assert from "node:assert/strict";
import { test } from "node:test";
import { aClass, aContent, driver } from "../../../test/builders.ts";
import { aContentView } from "../../../test/views.ts";
import { annotations, finalizers } from "../../api/names.ts";
import { type Next, settled } from "../../api/plan.ts";
import { Fault, type FaultCode } from "../../base/fault.ts";
import { print } from "../../base/json.ts";
import type { ContentView, Taken } from "./observe.ts";
import { phaseOf } from "./phase.ts";
import { planContent, type SidecarAction } from "./plan.ts";

const deletionTimestamp = "2026-01-01T01:00:00Z";
const marked = { annotations: { [annotations.beingCreated]: "yes" } };
const going = { deletionTimestamp, annotations: { [annotations.beingDeleted]: "yes" } };
const options = {
  snapshotNamePrefix: "snapshot",
  snapshotNameUuidLength: -1,
  extraCreateMetadata: false,
};
const cut: Taken = { handle: "s-1", ready: true, creationTimeNs: 1_767_225_601_123_456_789n, sizeBytes: 5n };
const ready = { snapshotHandle: "s-1", readyToUse: true, creationTime: cut.creationTimeNs, restoreSize: 5n };
const failure = (code: FaultCode): ContentView["reply"] => ({
  kind: "failed",
  fault: new Fault(code, `rpc error: code = ${code}`),
});

const aView = (change: Partial<ContentView> = {}): ContentView =>
  aContentView({ nowMs: Date.parse("2026-01-01T00:00:05Z"), ...change });

const brief = (action: SidecarAction): string => {
  switch (action.kind) {
    case "csi":
      return [...action.intent.map((write) => (write.kind === "patch" ? "mark" : write.kind)), action.call.method].join(
        ", ",
      );
    case "event":
      return `event ${action.event.reason}`;
    case "patch":
      return `patch${action.subresource === undefined ? "" : "/status"} ${print(action.patch.body).includes(annotations.beingCreated) ? "mark" : "rest"}`;
    default:
      return action.kind;
  }
};

const takenHere: ContentView["reply"] = { kind: "taken", snapshot: cut };
const unmarkings: readonly [given: string, change: Partial<ContentView>, expect: Next | "off"][] = [
  ["the driver has just answered", { lullMs: 0 }, { kind: "after", ms: 3_000 }],
  ["the driver answered others two seconds ago", { sinceReplyMs: 9_000, lullMs: 2_000 }, { kind: "after", ms: 1_000 }],
  ["the driver has been quiet", { sinceReplyMs: 9_000, lullMs: 3_000 }, "off"],
  ["the driver is never quiet, nearly a minute after", { sinceReplyMs: 59_500, lullMs: 0 }, { kind: "after", ms: 500 }],
  ["the driver is never quiet, a minute after", { sinceReplyMs: 60_000, lullMs: 0 }, "off"],
];
for (const [given, change, expect] of unmarkings)
  test(`the mark of a ready content gives way to others: ${given}`, () => {
    const content = aContent({ metadata: marked, status: ready });
    const { actions, next } = planContent(aView({ content, reply: takenHere, ...change }));
    assert.deepEqual(actions.map(brief), expect === "off" ? ["patch mark"] : []);
    assert.deepEqual(next, expect === "off" ? settled : expect);
  });

test("a ready content without a mark is not looked at again", () => {
  const { actions, next } = planContent(aView({ content: aContent({ status: ready }), reply: takenHere }));
  assert.deepEqual({ actions, next }, { actions: [], next: settled });
});

const preProvisioned = { source: { snapshotHandle: "s-9" } };
const cases: readonly { given: string; view: ContentView; phase: string; expect: readonly string[] }[] = [
  { given: "a new content", view: aView(), phase: "uncut", expect: ["mark, create"] },
  {
    given: "a content marked by a predecessor",
    view: aView({ content: aContent({ metadata: marked }), wasAskedHere: false }),
    phase: "uncut",
    expect: ["mark, create"],
  },
  {
    given: "a content marked by this process",
    view: aView({ content: aContent({ metadata: marked }) }),
    phase: "uncut",
    expect: ["confirm, create"],
  },
  {
    given: "a cut that succeeded",
    view: aView({ content: aContent({ metadata: marked }), reply: { kind: "taken", snapshot: cut } }),
    phase: "uncut",
    expect: ["patch/status rest"],
  },
  {
    given: "a ready content with the mark of a predecessor",
    view: aView({ content: aContent({ metadata: marked, status: ready }) }),
    phase: "ready",
    expect: ["patch mark"],
  },
  { given: "a ready content", view: aView({ content: aContent({ status: ready }) }), phase: "ready", expect: [] },
  {
    given: "a cut that is not ready yet",
    view: aView({
      content: aContent({ status: { ...ready, readyToUse: false } }),
      reply: { kind: "taken", snapshot: { ...cut, ready: false } },
    }),
    phase: "pending",
    expect: [],
  },
  {
    given: "a cut whose time to be asked about has come",
    view: aView({ content: aContent({ status: { ...ready, readyToUse: false } }) }),
    phase: "pending",
    expect: ["confirm, create"],
  },
  {
    given: "a final refusal",
    view: aView({ content: aContent({ metadata: marked }), reply: failure("InvalidArgument") }),
    phase: "uncut",
    expect: ["patch/status rest", "event SnapshotCreationFailed"],
  },
  {
    given: "a final refusal that was told already",
    view: aView({
      content: aContent({
        metadata: marked,
        status: {
          readyToUse: false,
          error: {
            message:
              'Failed to create snapshot: failed to take snapshot of the volume vol-1: "rpc error: code = InvalidArgument"',
          },
        },
      }),
      reply: failure("InvalidArgument"),
    }),
    phase: "uncut",
    expect: ["patch mark"],
  },
  {
    given: "no answer in time",
    view: aView({ content: aContent({ metadata: marked }), reply: failure("DeadlineExceeded") }),
    phase: "uncut",
    expect: ["event SnapshotCreationFailed"],
  },
  {
    given: "a call that was given up",
    view: aView({ content: aContent({ metadata: marked }), reply: failure("Cancelled") }),
    phase: "uncut",
    expect: ["event SnapshotCreationFailed"],
  },
  {
    given: "an answer that was lost",
    view: aView({ content: aContent({ metadata: marked }), reply: failure("Lost") }),
    phase: "uncut",
    expect: ["event SnapshotCreationFailed"],
  },
  {
    given: "a driver out of reach",
    view: aView({ content: aContent({ metadata: marked }), reply: failure("Unavailable") }),
    phase: "uncut",
    expect: ["patch/status rest", "event SnapshotCreationFailed"],
  },
  {
    given: "another driver's content",
    view: aView({ content: aContent({ spec: { driver: "tape" } }) }),
    phase: "foreign",
    expect: [],
  },
  {
    given: "a content whose class is another driver's",
    view: aView({ snapshotClass: aClass({ driver: "tape" }) }),
    phase: "foreign",
    expect: [],
  },
  {
    given: "a group's member without a handle",
    view: aView({ content: aContent({ metadata: { annotations: { [annotations.groupSnapshotHandle]: "g" } } }) }),
    phase: "foreign",
    expect: [],
  },
  {
    given: "a pre-provisioned content",
    view: aView({ content: aContent({ spec: preProvisioned }) }),
    phase: "unverified",
    expect: ["list"],
  },
  {
    given: "a pre-provisioned content of a driver that cannot list",
    view: aView({ content: aContent({ spec: preProvisioned }), facts: { driver, canListSnapshots: false } }),
    phase: "unverified",
    expect: ["patch/status rest"],
  },
  {
    given: "a pre-provisioned handle that the driver does not know",
    view: aView({ content: aContent({ spec: preProvisioned }), reply: failure("NotFound") }),
    phase: "unverified",
    expect: ["patch/status rest", "event SnapshotContentCheckandUpdateFailed"],
  },
  {
    given: "a deletion the controller has confirmed",
    view: aView({ content: aContent({ metadata: going, status: ready }) }),
    phase: "removable",
    expect: ["confirm, delete"],
  },
  {
    given: "a deletion the driver has carried out",
    view: aView({ content: aContent({ metadata: going, status: ready }), reply: { kind: "deleted" } }),
    phase: "removable",
    expect: ["patch rest"],
  },
  {
    given: "a deletion the driver refuses",
    view: aView({ content: aContent({ metadata: going, status: ready }), reply: failure("FailedPrecondition") }),
    phase: "removable",
    expect: ["patch/status rest", "event SnapshotDeleteError"],
  },
  {
    given: "a deletion whose secret cannot be read",
    view: aView({
      content: aContent({ metadata: going, status: ready }),
      reply: { kind: "unsent", fault: new Fault("NotFound", 'secrets "s" not found') },
    }),
    phase: "removable",
    expect: ["patch/status rest", "event SnapshotDeleteError"],
  },
  {
    given: "a deletion with Retain",
    view: aView({ content: aContent({ metadata: going, status: ready, spec: { deletionPolicy: "Retain" } }) }),
    phase: "removable",
    expect: ["patch rest"],
  },
  {
    given: "a deletion before anything was cut",
    view: aView({ content: aContent({ metadata: going }) }),
    phase: "removable",
    expect: ["patch rest"],
  },
  {
    given: "a deletion of a group's member",
    view: aView({ content: aContent({ metadata: going, status: { ...ready, volumeGroupSnapshotHandle: "g" } }) }),
    phase: "removable",
    expect: ["patch rest"],
  },
  {
    given: "a content deleted while its snapshot lives",
    view: aView({ content: aContent({ metadata: { deletionTimestamp }, status: ready }) }),
    phase: "ready",
    expect: [],
  },
  {
    given: "a deletion while a cut may be under way",
    view: aView({
      content: aContent({
        metadata: { deletionTimestamp, annotations: { ...going.annotations, ...marked.annotations } },
      }),
    }),
    phase: "uncut",
    expect: ["confirm, create"],
  },
  {
    given: "a deletion while a cut may be under way, and the class is gone",
    view: aView({
      content: aContent({ metadata: { ...going, annotations: { ...going.annotations, ...marked.annotations } } }),
      snapshotClass: undefined,
    }),
    phase: "uncut",
    expect: ["confirm, create"],
  },
  {
    given: "a content to be retained whose snapshot went while a cut may be under way, and the class is gone",
    view: aView({
      content: aContent({
        metadata: { annotations: { ...going.annotations, ...marked.annotations } },
        spec: { deletionPolicy: "Retain" },
      }),
      snapshotClass: undefined,
    }),
    phase: "uncut",
    expect: ["confirm, create"],
  },
  {
    given: "a cut whose class went before the answer came",
    view: aView({
      content: aContent({ metadata: marked }),
      snapshotClass: undefined,
      reply: { kind: "taken", snapshot: cut },
    }),
    phase: "uncut",
    expect: ["patch/status rest"],
  },
  {
    given: "a refusal whose class went before it came",
    view: aView({
      content: aContent({ metadata: marked }),
      snapshotClass: undefined,
      reply: failure("InvalidArgument"),
    }),
    phase: "uncut",
    expect: ["patch/status rest", "event SnapshotCreationFailed"],
  },
  {
    given: "a cut that is not ready, and whose class is gone",
    view: aView({
      content: aContent({ status: { ...ready, readyToUse: false } }),
      snapshotClass: undefined,
    }),
    phase: "pending",
    expect: ["confirm, create"],
  },
  {
    given: "a cut that may be under way, and whose class is gone while its snapshot waits for it",
    view: aView({ content: aContent({ metadata: marked }), snapshotClass: undefined }),
    phase: "uncut",
    expect: ["patch/status rest", "event SnapshotCreationFailed"],
  },
  {
    given: "a deletion of a pre-provisioned content that never had a snapshot",
    view: aView({
      content: aContent({
        metadata: { deletionTimestamp },
        spec: { ...preProvisioned, volumeSnapshotRef: { name: "monday", namespace: "team" } },
      }),
    }),
    phase: "removable",
    expect: ["confirm, delete"],
  },
];
for (const { given, view, phase, expect } of cases)
  test(`given ${given}, it is ${phase} and the plan is: ${expect.join(", ") || "nothing"}`, () => {
    assert.equal(phaseOf(view), phase);
    assert.deepEqual(planContent(view).actions.map(brief), expect);
  });

test("the mark and a missing finalizer are one patch, written before the call", () => {
  const [action] = planContent(aView({ content: aContent({ metadata: { finalizers: [] } }) })).actions;
  assert.ok(action?.kind === "csi");
  assert.deepEqual(
    action.intent.map((write) => (write.kind === "patch" ? write.patch.body : write)),
    [
      {
        metadata: {
          resourceVersion: "1",
          finalizers: [finalizers.contentBound],
          annotations: { [annotations.beingCreated]: "yes" },
        },
      },
    ],
  );
});

test("the mark on a content that is on its way out brings no finalizer, which the server would refuse", () => {
  const content = aContent({ metadata: { deletionTimestamp, finalizers: ["x/theirs"] } });
  const [action] = planContent(aView({ content })).actions;
  const [write] = action?.kind === "csi" ? action.intent : [];
  assert.deepEqual(write?.kind === "patch" && write.patch.body, {
    metadata: { resourceVersion: "1", annotations: { [annotations.beingCreated]: "yes" } },
  });
});

const statusOf = (view: Partial<ContentView>): unknown => {
  const [write] = planContent(aView(view)).actions;
  return write?.kind === "patch" ? (write.patch.body as { status?: unknown }).status : write;
};

test("a success takes the error of an earlier attempt away", () => {
  const failedBefore = { readyToUse: false, error: { message: "no space" } };
  const content = aContent({ metadata: marked, status: failedBefore });
  const { error, readyToUse } = statusOf({ content, reply: takenHere }) as { error: unknown; readyToUse: unknown };
  assert.deepEqual({ error, readyToUse }, { error: null, readyToUse: true });
});

test("trouble with the deletion of a ready snapshot leaves it ready, for it can still be read", () => {
  const content = aContent({ metadata: going, status: ready });
  const status = statusOf({ content, reply: failure("FailedPrecondition") }) as object;
  assert.deepEqual(Object.keys(status), ["error"]);
});

test("handle and creation time are written once, digit for digit", () => {
  const [write] = planContent(
    aView({ content: aContent({ metadata: marked }), reply: { kind: "taken", snapshot: cut } }),
  ).actions;
  assert.ok(write?.kind === "patch");
  assert.deepEqual((write.patch.body as unknown as { status: unknown }).status, {
    snapshotHandle: "s-1",
    creationTime: 1_767_225_601_123_456_789n,
    readyToUse: true,
    restoreSize: 5n,
  });
});

test("a driver that answers another handle for the same name is reported, and the first handle stays", () => {
  const content = aContent({ status: { ...ready, readyToUse: false } });
  const [write, event] = planContent(
    aView({ content, reply: { kind: "taken", snapshot: { ...cut, handle: "s-2" } } }),
  ).actions;
  assert.ok(write?.kind === "patch" && event?.kind === "event");
  assert.match(event.event.message, /answered handle "s-2" for a snapshot it called "s-1"/);
  assert.ok(!print(write.patch.body).includes("snapshotHandle"));
});

test("texts that differ only in request ids are told once", () => {
  const told = {
    readyToUse: false,
    error: {
      message: 'Failed to create snapshot: failed to take snapshot of the volume vol-1: "busy, request 7f3a-11"',
    },
  };
  const reply = { kind: "failed", fault: new Fault("ResourceExhausted", "busy, request 9c01-42") } as const;
  assert.deepEqual(planContent(aView({ content: aContent({ metadata: marked, status: told }), reply })).actions, []);
});

test("taking over changes the content's version each time, and nothing of it outlives the mark", () => {
  const annotationsIn = (view: ContentView) => {
    const [action] = planContent(view).actions;
    const write = action?.kind === "csi" ? action.intent[0] : action;
    assert.ok(write?.kind === "patch");
    return (write.patch.body as { metadata: { annotations?: object } }).metadata.annotations;
  };
  const takenBefore = { annotations: { ...marked.annotations, [annotations.takenOver]: "1" } };
  const content = aContent({ metadata: takenBefore });
  assert.deepEqual(annotationsIn(aView({ content, wasAskedHere: false })), { [annotations.takenOver]: "2" });
  const done = aContent({ metadata: takenBefore, status: ready });
  assert.deepEqual(annotationsIn(aView({ content: done })), {
    [annotations.beingCreated]: null,
    [annotations.takenOver]: null,
  });
});

const wrongs: readonly { given: string; view: Partial<ContentView>; says: RegExp }[] = [
  { given: "a class that is gone", view: { snapshotClass: undefined }, says: /volumesnapshotclass "fast" not found/ },
  {
    given: "an unknown reserved parameter",
    view: { snapshotClass: aClass({ parameters: { "csi.storage.k8s.io/odd": "x" } }) },
    says: /unknown parameter key "csi.storage.k8s.io\/odd"/,
  },
  {
    given: "a reference without uid",
    view: { content: aContent({ spec: { volumeSnapshotRef: { namespace: "team", name: "monday" } } }) },
    says: /volumeSnapshotRef.uid is not set/,
  },
  {
    given: "a secret that cannot be read",
    view: { reply: { kind: "unsent", fault: new Fault("NotFound", 'secrets "s" not found') } },
    says: /secrets "s" not found/,
  },
];
for (const { given, view, says } of wrongs)
  test(`given ${given}, nothing is asked of the driver and the user reads why`, () => {
    const { actions } = planContent(aView(view));
    assert.deepEqual(actions.map(brief), ["patch/status rest", "event SnapshotCreationFailed"]);
    assert.match(actions[1]?.kind === "event" ? actions[1].event.message : "", says);
  });

test("parameters reach the driver without reserved keys, and with the object's names where asked for", () => {
  const snapshotClass = aClass({
    parameters: {
      tier: "gold",
      "csi.storage.k8s.io/snapshotter-secret-name": "s",
      "csi.storage.k8s.io/snapshotter-secret-namespace": "n",
    },
  });
  const content = aContent({
    metadata: { annotations: { [annotations.deletionSecretName]: "s", [annotations.deletionSecretNamespace]: "n" } },
  });
  const [action] = planContent(
    aView({ snapshotClass, content, options: { ...options, extraCreateMetadata: true } }),
  ).actions;
  assert.deepEqual(action?.kind === "csi" ? action.call : action, {
    method: "create",
    name: "snapshot-uid-snap",
    volumeHandle: "vol-1",
    parameters: {
      tier: "gold",
      "csi.storage.k8s.io/volumesnapshot/name": "monday",
      "csi.storage.k8s.io/volumesnapshot/namespace": "team",
      "csi.storage.k8s.io/volumesnapshotcontent/name": "snapcontent-uid-snap",
    },
    secret: { name: "s", namespace: "n" },
  });
});
