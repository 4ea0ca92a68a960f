import assert from "node:assert/strict";
import { test } from "node:test";
import { aClass, aContent } from "../../../test/builders.ts";
import { aContentView, type ContentSituation } from "../../../test/views.ts";
import { annotations } from "../../api/names.ts";
import { Fault } from "../../base/fault.ts";
import type { ContentView } from "./observe.ts";
import { planContent } from "./plan.ts";
import { type SnapshotCall, snapshotName } from "./plan-calls.ts";

const uid = "1234abcd-5678-4abc-9def-0123456789ab";
const names: readonly { prefix: string; length: number; expect: string }[] = [
  { prefix: "snapshot", length: -1, expect: `snapshot-${uid}` },
  { prefix: "s", length: 6, expect: "s-1234ab" },
  { prefix: "s", length: 12, expect: "s-1234abcd5678" },
  { prefix: "s", length: 32, expect: "s-1234abcd56784abc9def0123456789ab" },
  { prefix: "s", length: 0, expect: "s-" },
];
for (const { prefix, length, expect } of names)
  test(`with prefix ${prefix} and uid length ${length} the snapshot name is ${expect}`, () =>
    assert.equal(
      snapshotName({ snapshotNamePrefix: prefix, snapshotNameUuidLength: length, extraCreateMetadata: false }, uid),
      expect,
    ));

const group = { volumeGroupSnapshotHandle: "g-1" };
const aView = (reply: ContentSituation["reply"], status: object = { readyToUse: false, ...group }): ContentView =>
  aContentView({ content: aContent({ status }), reply });
const replies: readonly { what: string; reply: ContentSituation["reply"] }[] = [
  {
    what: "a taken snapshot",
    reply: { kind: "taken", snapshot: { handle: "s-1", ready: true, creationTimeNs: 1n, sizeBytes: 5n, oddities: [] } },
  },
  { what: "a failure", reply: { kind: "failed", fault: new Fault("InvalidArgument", "no") } },
];
for (const { what, reply } of replies)
  test(`the status of ${what} does not change the group handle`, () => {
    const [write] = planContent(aView(reply)).actions;
    assert.ok(write?.kind === "patch" && write.subresource === "status" && write.patch.type === "merge");
    assert.ok(!Object.hasOwn(write.patch.body.status as object, "volumeGroupSnapshotHandle"));
  });

const facts: readonly { what: string; before: object; sizeBytes: bigint; after: object }[] = [
  { what: "an unknown size is not written", before: {}, sizeBytes: 0n, after: {} },
  { what: "a size is written unchanged", before: {}, sizeBytes: 5n, after: { restoreSize: 5n } },
  {
    what: "a known size stays when the driver no longer reports it",
    before: { restoreSize: 5n },
    sizeBytes: 0n,
    after: {},
  },
];
for (const { what, before, sizeBytes, after } of facts)
  test(`${what}, and the creation time is the first reported one`, () => {
    const status = { snapshotHandle: "s-1", readyToUse: false, creationTime: 1_767_225_601_000_000_001n, ...before };
    const snapshot = {
      handle: "s-1",
      ready: true,
      creationTimeNs: 1_767_225_999_000_000_000n,
      sizeBytes,
      oddities: [],
    };
    const [write] = planContent(aView({ kind: "taken", snapshot }, status)).actions;
    assert.ok(write?.kind === "patch" && write.patch.type === "merge");
    assert.deepEqual(write.patch.body.status, { readyToUse: true, ...after });
  });

const key = (name: string): string => `csi.storage.k8s.io/${name}`;
const listing = {
  [key("snapshotter-list-secret-name")]: "of-${volumesnapshotcontent.name}",
  [key("snapshotter-list-secret-namespace")]: "vault",
};
const annotated = { [annotations.deletionSecretName]: "annotated", [annotations.deletionSecretNamespace]: "vault" };

/** The one call that is planned. */
function callOf(situation: Partial<ContentSituation>): SnapshotCall | undefined {
  const [action] = planContent(aContentView(situation)).actions;
  return action?.kind === "csi" ? action.call : undefined;
}

test("ListSnapshots uses the list secret of the class, with templates filled from the content", () => {
  const content = aContent({ metadata: { name: "by-hand" }, spec: { source: { snapshotHandle: "s-9" } } });
  const secret = { namespace: "vault", name: "of-by-hand" };
  assert.deepEqual(callOf({ content, snapshotClass: aClass({ parameters: listing }) }), {
    method: "list",
    handle: "s-9",
    secret,
  });
});

test("CreateSnapshot and DeleteSnapshot use the annotated secret, even if the class has changed", () => {
  const secret = { namespace: "vault", name: "annotated" };
  assert.deepEqual(callOf({ content: aContent({ metadata: { annotations: annotated } }) })?.secret, secret);
  const terminating = {
    deletionTimestamp: "2026-01-01T01:00:00Z",
    annotations: { ...annotated, [annotations.beingDeleted]: "yes" },
  };
  const content = aContent({ metadata: terminating, status: { readyToUse: true, snapshotHandle: "s-1" } });
  assert.deepEqual(callOf({ content, snapshotClass: undefined }), { method: "delete", handle: "s-1", secret });
});

test("snapshot and content names are passed to the driver only with --extra-create-metadata", () => {
  const parametersOf = (extraCreateMetadata: boolean): unknown => {
    const call = callOf({
      snapshotClass: aClass({ parameters: { colour: "blue" } }),
      options: { snapshotNamePrefix: "s", snapshotNameUuidLength: -1, extraCreateMetadata },
    });
    return call?.method === "create" ? call.parameters : undefined;
  };
  assert.deepEqual(parametersOf(false), { colour: "blue" });
  assert.deepEqual(parametersOf(true), {
    colour: "blue",
    [key("volumesnapshot/name")]: "monday",
    [key("volumesnapshot/namespace")]: "team",
    [key("volumesnapshotcontent/name")]: "snapcontent-uid-snap",
  });
});
