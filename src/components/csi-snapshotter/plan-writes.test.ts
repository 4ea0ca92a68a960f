/** The exact writes to a content, and the exact parameters of calls. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aClass, aContent } from "../../../test/builders.ts";
import {
  aYoungView as aView,
  beingCreated,
  brief,
  failure,
  info,
  ready,
  taken,
  terminating,
} from "../../../test/content-plans.ts";
import type { ContentSituation } from "../../../test/views.ts";
import { annotations } from "../../api/names.ts";
import { Fault } from "../../base/fault.ts";
import { print } from "../../base/json.ts";
import { planContent } from "./plan.ts";

const options = {
  snapshotNamePrefix: "snapshot",
  snapshotNameUuidLength: -1,
  extraCreateMetadata: false,
};

const statusOf = (view: Partial<ContentSituation>): unknown => {
  const [write] = planContent(aView(view)).actions;
  return write?.kind === "patch" ? (write.patch.body as { status?: unknown }).status : write;
};

test("a success removes the error of an earlier attempt", () => {
  const failedBefore = { readyToUse: false, error: { message: "no space" } };
  const content = aContent({ metadata: beingCreated, status: failedBefore });
  const { error, readyToUse } = statusOf({ content, reply: taken }) as { error: unknown; readyToUse: unknown };
  assert.deepEqual({ error, readyToUse }, { error: null, readyToUse: true });
});

test("a deletion error leaves a ready snapshot ready", () => {
  const content = aContent({ metadata: terminating, status: ready });
  const status = statusOf({ content, reply: failure("FailedPrecondition") }) as object;
  assert.deepEqual(Object.keys(status), ["error"]);
});

test("handle and creation time are written once, digit for digit", () => {
  const [write] = planContent(
    aView({ content: aContent({ metadata: beingCreated }), reply: { kind: "taken", snapshot: info } }),
  ).actions;
  assert.ok(write?.kind === "patch");
  assert.deepEqual((write.patch.body as unknown as { status: unknown }).status, {
    snapshotHandle: "s-1",
    creationTime: 1_767_225_601_123_456_789n,
    readyToUse: true,
    restoreSize: 5n,
  });
});

test("a reply with another handle for the same name is reported, and the first handle stays", () => {
  const content = aContent({ status: { ...ready, readyToUse: false } });
  const [write, event] = planContent(
    aView({ content, reply: { kind: "taken", snapshot: { ...info, handle: "s-2" } } }),
  ).actions;
  assert.ok(write?.kind === "patch" && event?.kind === "event");
  assert.match(event.event.message, /answered handle "s-2" for a snapshot it called "s-1"/);
  assert.ok(!print(write.patch.body).includes("snapshotHandle"));
});

test("errors that differ only in request ids are reported once", () => {
  const reported = {
    readyToUse: false,
    error: {
      message:
        'Failed to create snapshot: failed to take snapshot of the volume vol-1: "busy, request 7f3a-11" [SNAP-501]',
    },
  };
  const reply = { kind: "failed", fault: new Fault("ResourceExhausted", "busy, request 9c01-42") } as const;
  assert.deepEqual(
    planContent(aView({ content: aContent({ metadata: beingCreated, status: reported }), reply })).actions,
    [],
  );
});

test("parameters reach the driver without reserved keys, and with object names if enabled", () => {
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

const wrongs: readonly { given: string; view: Partial<ContentSituation>; says: RegExp }[] = [
  { given: "a class that is gone", view: { snapshotClass: undefined }, says: /volumesnapshotclass "fast" not found/ },
  {
    given: "a content that names no class",
    view: { content: aContent({ spec: { volumeSnapshotClassName: "" } }), snapshotClass: undefined },
    says: /spec\.volumeSnapshotClassName is not set: .*; name one in content snapcontent-uid-snap/,
  },
  {
    given: "one of the two deletion-secret annotations, the name",
    view: { content: aContent({ metadata: { annotations: { [annotations.deletionSecretName]: "key" } } }) },
    says: /deletion-secret-namespace of content snapcontent-uid-snap is missing or empty, .*or remove .*deletion-secret-name/,
  },
  {
    given: "one of the two deletion-secret annotations, with an empty name",
    view: {
      content: aContent({
        metadata: {
          annotations: { [annotations.deletionSecretName]: "", [annotations.deletionSecretNamespace]: "vault" },
        },
      }),
    },
    says: /deletion-secret-name of content snapcontent-uid-snap is missing or empty/,
  },
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
  test(`given ${given}, the driver is not called and the user gets an error`, () => {
    const { actions } = planContent(aView(view));
    assert.deepEqual(actions.map(brief), ["patch/status rest", "event SnapshotCreationFailed"]);
    assert.match(actions[1]?.kind === "event" ? actions[1].event.message : "", says);
  });
