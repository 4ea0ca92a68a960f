/** What only loose CRDs let users do, and a webhook that comes and goes. */
import { labels, oldInvalidLabels } from "../../../src/api/names.ts";
import type { KubeObject } from "../../../src/api/types.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { kindRules } from "../../../src/rules/kind-rules.ts";
import { boundaryKinds, pass } from "../verdict.ts";
import { type FaultRow, oneOf, type Strike } from "./fault.ts";

type Kind = "VolumeSnapshot" | "VolumeSnapshotContent";

const edits = (name: string, kind: Kind, body: (strike: Strike, object: KubeObject) => JsonObject): FaultRow => ({
  name,
  family: "user",
  needs: "loose",
  on: boundaryKinds,
  strike: (strike) => {
    const [first, ...others] = strike.recorder.objects(kind);
    if (first === undefined) return pass;
    const [key, object] = oneOf(strike.draw, [first, ...others]);
    void strike.user.patch(kind, key, body(strike, object));
    return pass;
  },
});

const invalidLabels = [labels.invalidSnapshot, labels.invalidContent, ...oldInvalidLabels] as const;

/** Both kinds' labels and both prefixes, on whatever is there. */
const labelsEdited = ({ draw }: Strike): JsonObject => {
  const value = oneOf(draw, [null, "", "x"]);
  const names = oneOf(draw, [invalidLabels, [labels.invalidSnapshot, labels.invalidContent], oldInvalidLabels]);
  return { metadata: { labels: Object.fromEntries(names.map((name) => [name, value])) } };
};

const snapshotSpoiled = ({ draw }: Strike): JsonObject => ({
  spec: oneOf<JsonObject>(draw, [
    { source: { persistentVolumeClaimName: "data", volumeSnapshotContentName: "elsewhere" } },
    { source: { persistentVolumeClaimName: null, volumeSnapshotContentName: null } },
    { source: { persistentVolumeClaimName: "", volumeSnapshotContentName: null } },
    { volumeSnapshotClassName: "" },
  ]),
});

const contentSpoiled = ({ draw }: Strike): JsonObject => ({
  spec: oneOf<JsonObject>(draw, [
    { source: { volumeHandle: "vol-x", snapshotHandle: "handle-x" } },
    { source: { volumeHandle: null, snapshotHandle: null } },
    { volumeSnapshotRef: { namespace: null } },
    { volumeSnapshotRef: { name: "" } },
  ]),
});

/** As it was first stored, if that was valid. */
function firstSpec({ recorder }: Strike, kind: Kind, { metadata }: KubeObject): JsonObject {
  const first = recorder.pastOf(metadata.uid)[0]?.object as unknown as JsonObject | undefined;
  return first !== undefined && kindRules[kind].strict(first).length === 0 ? (first.spec as JsonObject) : {};
}

const snapshotMended = (strike: Strike, object: KubeObject): JsonObject => {
  const { source = { persistentVolumeClaimName: "data" }, volumeSnapshotClassName = "delete" } = firstSpec(
    strike,
    "VolumeSnapshot",
    object,
  );
  const none = { persistentVolumeClaimName: null, volumeSnapshotContentName: null };
  return { spec: { source: { ...none, ...(source as JsonObject) }, volumeSnapshotClassName } };
};

const contentMended = (strike: Strike, object: KubeObject): JsonObject => {
  const { source = { snapshotHandle: "handle-x" }, volumeSnapshotRef = {} } = firstSpec(
    strike,
    "VolumeSnapshotContent",
    object,
  );
  const { namespace = "default", name = "nobody" } = volumeSnapshotRef as JsonObject;
  return {
    spec: {
      source: { volumeHandle: null, snapshotHandle: null, ...(source as JsonObject) },
      volumeSnapshotRef: { namespace, name },
    },
  };
};

/** Longer than a reader needs to notice, shorter than anybody waits. */
const downsMs = [500, 5_000, 25_000] as const;

export const invalidFaults: readonly FaultRow[] = [
  edits("user-edits-labels-of-snapshot", "VolumeSnapshot", labelsEdited),
  edits("user-edits-labels-of-content", "VolumeSnapshotContent", labelsEdited),
  edits("user-spoils-snapshot", "VolumeSnapshot", snapshotSpoiled),
  edits("user-spoils-content", "VolumeSnapshotContent", contentSpoiled),
  edits("user-mends-snapshot", "VolumeSnapshot", snapshotMended),
  edits("user-mends-content", "VolumeSnapshotContent", contentMended),
  {
    name: "webhook-down",
    family: "webhook",
    needs: "webhook",
    on: boundaryKinds,
    strike: ({ webhook, world, draw, slow }) => {
      const ms = oneOf(draw, [...downsMs]);
      slow(ms);
      webhook.isUp = false;
      void world.sleep(ms).then(() => {
        webhook.isUp = true;
      });
      // What comes in meanwhile is stored, or tried again.
      return { ...pass, endsOtherwise: true };
    },
  },
];
