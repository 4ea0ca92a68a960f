/**
 * Every shape of a VolumeSnapshotContent that a server may have stored, whatever rules it has now: exported and applied again, written
 * by hand, or spoiled on loose CRDs. All carry our finalizer. For the simulation and for the real server.
 */
import { annotations, finalizers } from "../src/api/names.ts";
import type { JsonObject } from "../src/base/json.ts";

export interface StoredShape {
  readonly name: string;
  readonly metadata: JsonObject;
  readonly spec: JsonObject;
  readonly status: JsonObject | undefined;
}

/** The snapshot with this uid is gone, or was in another cluster. */
const goneUid = "00000000-0000-4000-8000-000000000001";

const sources: Readonly<Record<string, JsonObject>> = {
  volume: { volumeHandle: "volume-of-nobody" },
  snapshot: { snapshotHandle: "snapshot-of-nobody" },
  both: { volumeHandle: "volume-of-nobody", snapshotHandle: "snapshot-of-nobody" },
  neither: {},
  empty: { volumeHandle: "", snapshotHandle: "" },
};
const references: Readonly<Record<string, JsonObject>> = {
  whole: { namespace: "default", name: "gone", uid: goneUid },
  "without-uid": { namespace: "default", name: "gone" },
  "with-empty-uid": { namespace: "default", name: "gone", uid: "" },
  "to-another": { namespace: "default", name: "namesake", uid: goneUid },
  "to-another-without-uid": { namespace: "default", name: "namesake" },
  "without-name": { namespace: "default", uid: goneUid },
  "uid-only": { uid: goneUid },
  nothing: {},
};
const notes: Readonly<Record<string, JsonObject>> = {
  plain: {},
  "being-created": { [annotations.beingCreated]: "yes" },
  "of-a-sidecar": { [annotations.beingCreated]: "yes", [annotations.snapshotterId]: "a sidecar that is gone" },
  "being-deleted": { [annotations.beingDeleted]: "yes" },
};
const statuses: Readonly<Record<string, JsonObject | undefined>> = {
  new: undefined,
  ready: { snapshotHandle: "snapshot-of-nobody", readyToUse: true },
  failed: { readyToUse: false, error: { message: "it failed", time: "2026-01-01T00:00:00Z" } },
};
const policies = ["Delete", "Retain"] as const;

/** All combinations of one of each list. */
const product = <T>(lists: readonly (readonly T[])[]): readonly (readonly T[])[] =>
  lists.reduce<readonly (readonly T[])[]>(
    (found, list) => found.flatMap((items) => list.map((item) => [...items, item])),
    [[]],
  );

/** With the driver's name and without. Policy and class rotate, at other rates than the rest. */
export function storedShapes(driver: string, classes: readonly (string | undefined)[]): readonly StoredShape[] {
  const tables = [sources, references, notes, statuses].map((table) => Object.keys(table));
  const all = product([...tables, ["driver", "no-driver"]]);
  return all.map((shape, index) => {
    const [source = "", reference = "", note = "", state = "", named = ""] = shape;
    const className = classes[Math.floor(index / 6) % classes.length];
    return {
      name: shape.join("."),
      metadata: { finalizers: [finalizers.contentBound], annotations: notes[note] ?? {} },
      spec: {
        driver: named === "driver" ? driver : "",
        deletionPolicy: policies[Math.floor(index / 2) % policies.length] ?? "Delete",
        source: sources[source] ?? {},
        volumeSnapshotRef: references[reference] ?? {},
        ...(className === undefined ? {} : { volumeSnapshotClassName: className }),
      },
      status: statuses[state],
    };
  });
}
