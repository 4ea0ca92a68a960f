import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ago,
  bound,
  type ClusterObject,
  claim,
  clusterWith,
  content,
  contentName,
  event,
  now,
  ofClaim,
  pending,
  protectedBy,
  provisionedBy,
  ready,
  restoring,
  snapshot,
} from "../../../test/explain/cluster.ts";
import type { Ref } from "../../api/plan.ts";
import type { KubeObject } from "../../api/types.ts";
import type { JsonObject } from "../../base/json.ts";
import { decideBy, readerOf } from "../explain/cluster-copy.ts";
import { timelineJson, timelineText } from "./output.ts";
import { timelineSvg } from "./svg.ts";
import { timelineOf } from "./timeline.ts";
import type { Timeline } from "./view.ts";

const nowMs = Date.parse(now);
const monday: Ref = { kind: "VolumeSnapshot", namespace: "team", name: "monday" };
const ns = (secondsAgo: number): bigint => BigInt(nowMs - secondsAgo * 1_000) * 1_000_000n;

/** As the API server notes who has written a field of the status. */
const writtenBy = (manager: string, secondsAgo: number, field: string): JsonObject => ({
  managedFields: [
    {
      manager,
      operation: "Update",
      time: ago(secondsAgo),
      fieldsType: "FieldsV1",
      fieldsV1: { "f:status": { [`f:${field}`]: {} } },
    },
  ],
});

async function timeline(ref: Ref, ...objects: readonly ClusterObject[]): Promise<Timeline> {
  const reader = readerOf(clusterWith(objects) as unknown as readonly KubeObject[]);
  const found = await decideBy(reader, (copy) => timelineOf(copy, ref, nowMs), new AbortController().signal);
  assert.ok(found !== undefined);
  return found;
}
const steps = ({ moments }: Timeline): readonly string[] =>
  moments.map(({ code, atMs }) => `${code} ${Math.round((nowMs - atMs) / 1_000)}`);
const times = ({ totals }: Timeline): Readonly<Record<string, number>> =>
  Object.fromEntries(totals.map(({ side, ms }) => [side, ms / 1_000]));

const readySnapshot = snapshot(
  ofClaim,
  { status: ready },
  { ...protectedBy, creationTimestamp: ago(100), ...writtenBy("snapshot-controller", 40, "readyToUse") },
);
const readyContent = content(
  { snapshotHandle: "snap-1", creationTime: ns(70), readyToUse: true },
  { creationTimestamp: ago(90), ...writtenBy("csi-snapshotter", 60, "readyToUse") },
);

test("each step of a ready snapshot has its date, and each second its side", async () => {
  const found = await timeline(monday, readySnapshot, readyContent);
  assert.deepEqual(steps(found), ["requested 100", "contentCreated 90", "taken 70", "reported 60", "ready 40"]);
  assert.deepEqual(times(found), { controller: 30, sidecar: 10, driver: 20 });
  assert.equal(found.blocked, undefined);
});

test("the event tells when a snapshot was ready, where the field has been written again since", async () => {
  const found = await timeline(
    monday,
    readySnapshot,
    readyContent,
    event(readySnapshot, "Normal", "SnapshotReady", "Snapshot is ready", 5),
  );
  // Events of this table were seen first ten minutes ago.
  assert.ok(steps(found).includes("ready 600"), steps(found).join());
});

test("a content has the timeline of its snapshot", async () => {
  const of = async (ref: Ref) => steps(await timeline(ref, readySnapshot, readyContent));
  assert.deepEqual(await of({ kind: "VolumeSnapshotContent", name: contentName }), await of(monday));
});

test("a snapshot of the same name that came after is not of the content", async () => {
  const later = { ...readySnapshot, metadata: { ...readySnapshot.metadata, uid: "another" } };
  const found = await timeline({ kind: "VolumeSnapshotContent", name: contentName }, later, readyContent);
  assert.deepEqual(steps(found), ["contentCreated 90", "taken 70", "reported 60"]);
});

test("what the driver still works on is the driver's time, until now", async () => {
  const found = await timeline(
    monday,
    snapshot(ofClaim, { status: bound }, { ...protectedBy, creationTimestamp: ago(30) }),
    content(undefined, {
      creationTimestamp: ago(20),
      annotations: { "snapshot.storage.kubernetes.io/volumesnapshot-being-created": "yes" },
    }),
  );
  assert.deepEqual(times(found), { controller: 10, driver: 20 });
  assert.deepEqual([found.blocked?.code, found.blocked?.isStuck], ["WaitsForDriver", false]);
  assert.equal(found.spans.at(-1)?.toMs, undefined);
});

test("a deletion that a restoring claim blocks names the claim, and is the time of the driver that restores", async () => {
  const found = await timeline(
    monday,
    snapshot(
      ofClaim,
      { status: ready },
      {
        ...protectedBy,
        creationTimestamp: ago(100),
        deletionTimestamp: ago(15),
        ...writtenBy("snapshot-controller", 40, "readyToUse"),
      },
    ),
    readyContent,
    claim("team/copy", { ...restoring }, pending, { ...provisionedBy, creationTimestamp: ago(25) }),
  );
  assert.deepEqual(steps(found).slice(-3), ["ready 40", "restored 25", "deletionAsked 15"]);
  assert.deepEqual(found.blocked?.by, [{ kind: "PersistentVolumeClaim", namespace: "team", name: "copy" }]);
  assert.equal(found.blocked?.code, "WaitsForDriver");
  assert.equal(times(found).driver, 35);
});

test("failures are in the line, with how often", async () => {
  const failing = snapshot(ofClaim, { status: bound }, { ...protectedBy, creationTimestamp: ago(700) });
  const found = await timeline(
    monday,
    failing,
    event(failing, "Warning", "SnapshotContentCreationFailed", "pool is full"),
  );
  assert.deepEqual(
    found.moments.filter(({ code }) => code === "failed").map(({ says }) => says),
    ["SnapshotContentCreationFailed (3 times): pool is full"],
  );
});

test("the text has each step, its side, and whose time it was", async () => {
  const text = timelineText(await timeline(monday, readySnapshot, readyContent), 80);
  assert.match(text, /^VolumeSnapshot team\/monday, from 2026-03-01T11:58:20Z\n/);
  assert.match(text, /^ {2}\+30s {6}driver 20s +taken, by the clock of the driver$/m);
  assert.match(text, /^Whose time: controller 30s, sidecar 10s, driver 20s$/m);
});

test("JSON has dates and seconds", async () => {
  const json = timelineJson(await timeline(monday, readySnapshot, readyContent));
  assert.deepEqual(json.totals, [
    { side: "controller", seconds: 30 },
    { side: "sidecar", seconds: 10 },
    { side: "driver", seconds: 20 },
  ]);
  assert.equal(json.moments[0]?.at, "2026-03-01T11:58:20.000Z");
});

test("the picture is well-formed, escapes what others have written, and refers to nothing outside of it", async () => {
  const failing = snapshot(ofClaim, { status: bound }, { ...protectedBy, creationTimestamp: ago(700) });
  const hostile = event(failing, "Warning", "Failed", '</text><script>alert("x")</script>&');
  const svg = timelineSvg(await timeline(monday, failing, hostile, readyContent));
  assert.ok(!/<script|href|url\(|<style|javascript/.test(svg), svg);
  assert.match(svg, /&lt;script&gt;alert\(&quot;x&quot;\)/);
  const open: string[] = [];
  for (const [, close, name = "", alone] of svg.matchAll(/<(\/?)([a-z]+)[^<>]*?(\/?)>/g))
    if (close !== "") assert.equal(open.pop(), name);
    else if (alone === "") open.push(name);
  assert.deepEqual(open, []);
  assert.equal(svg.match(/<svg /g)?.length, 1);
});
