/** What dashboards and backup tools search for in the status and the events of a snapshot: how upstream's messages begin. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim, aContent, aSnapshot, aVolume } from "../../../test/builders.ts";
import {
  aProtectedView as aView,
  both,
  deletionTimestamp,
  readyContent,
  readyStatus,
} from "../../../test/snapshot-plans.ts";
import type { SnapshotParts } from "../../../test/views.ts";
import { planSnapshot } from "./plan.ts";

const dynamic = (source: object) => aSnapshot({ metadata: { finalizers: both }, spec: { source } });
const classless = { snapshot: dynamic({ persistentVolumeClaimName: "data" }), snapshotClass: undefined };
const noCsi = aVolume({ spec: { claimRef: { namespace: "team", name: "data" } } });
const preProvisioned = aContent({ spec: { source: { snapshotHandle: "s" } } });
const creating = "Failed to create snapshot content with error ";
const defaulting = "Failed to set default snapshot class with error ";

const cases: readonly { view: SnapshotParts; begins: string }[] = [
  {
    view: { source: { kind: "unclear", count: 0 } },
    begins: "Exactly one of PersistentVolumeClaimName and VolumeSnapshotContentName should be specified",
  },
  {
    view: { snapshotClass: undefined },
    begins: 'Failed to get snapshot class with error volumesnapshotclass "fast" not found',
  },
  { view: { claim: undefined }, begins: creating },
  { view: { volume: noCsi }, begins: `${creating}snapshotting non-CSI volumes is not supported` },
  { view: classless, begins: `${defaulting}cannot find default snapshot class` },
  { view: { ...classless, claim: undefined }, begins: defaulting },
  { view: { source: { kind: "content", name: "c" } }, begins: "VolumeSnapshotContent is missing" },
  {
    view: { content: preProvisioned },
    begins:
      "VolumeSnapshotContent snapcontent-uid-snap is pre-provisioned while expecting a dynamically provisioned one",
  },
  {
    view: { content: aContent({ spec: { volumeSnapshotRef: { namespace: "team", name: "other", uid: "u" } } }) },
    begins: "VolumeSnapshotContent [snapcontent-uid-snap] is bound to a different snapshot",
  },
  {
    view: { content: aContent({ spec: { source: { volumeHandle: "" } } }) },
    begins: "Exactly one of VolumeHandle and SnapshotHandle should be specified",
  },
  {
    view: {
      snapshot: aSnapshot({ metadata: { finalizers: both, deletionTimestamp }, status: readyStatus }),
      content: readyContent,
      restoring: [{ claim: aClaim({ metadata: { name: "restored" } }), grant: undefined }],
    },
    begins: "Snapshot is being used to restore a PVC",
  },
];
for (const { view, begins } of cases)
  test(`the message starts with "${begins}…"`, () => {
    const reported = planSnapshot(aView(view)).actions.flatMap((action) =>
      action.kind === "event" ? [action.event] : [],
    );
    assert.equal(reported[0]?.message.slice(0, begins.length), begins);
    assert.equal(reported[0]?.type, "Warning");
  });
