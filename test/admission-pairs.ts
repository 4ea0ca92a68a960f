/** Pairs of old and new objects, for everything that judges them: few values of each field, in all kinds of combinations. */
import type { JsonObject } from "../src/base/json.ts";

export interface AdmissionPair {
  readonly kind: "VolumeSnapshot" | "VolumeSnapshotContent";
  /** Absent: a creation. */
  readonly before: JsonObject | undefined;
  readonly after: JsonObject;
}

type Choice = readonly (string | undefined)[];
const snapshotChoices = { claim: [undefined, "", "a", "b"], content: [undefined, "", "a", "b"] } as const;
const classNames: Choice = [undefined, "", "x", "y"];
const handles: Choice = [undefined, "", "a", "b"];

const withValues = (values: Readonly<Record<string, string | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as JsonObject;

export const snapshotSpecs: readonly JsonObject[] = snapshotChoices.claim.flatMap((persistentVolumeClaimName) =>
  snapshotChoices.content.flatMap((volumeSnapshotContentName) =>
    classNames.map((volumeSnapshotClassName) => ({
      source: withValues({ persistentVolumeClaimName, volumeSnapshotContentName }),
      ...withValues({ volumeSnapshotClassName }),
    })),
  ),
);

const references: readonly JsonObject[] = [
  { name: "m", namespace: "default" },
  { name: "n", namespace: "default" },
  { name: "m" },
  { namespace: "default" },
  { name: "m", namespace: "default", uid: "1" },
  { name: "n", namespace: "default", uid: "1" },
  { name: "m", namespace: "default", uid: "2" },
];
export const contentSpecs: readonly JsonObject[] = handles.flatMap((volumeHandle) =>
  handles.flatMap((snapshotHandle) =>
    references.flatMap((volumeSnapshotRef) =>
      [undefined, "Block", "Filesystem"].map((sourceVolumeMode) => ({
        driver: "driver.example",
        deletionPolicy: "Delete",
        source: withValues({ volumeHandle, snapshotHandle }),
        volumeSnapshotRef,
        ...withValues({ sourceVolumeMode }),
      })),
    ),
  ),
);

export const objectOf = (kind: AdmissionPair["kind"], name: string, spec: JsonObject): JsonObject => ({
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind,
  metadata: kind === "VolumeSnapshot" ? { name, namespace: "default" } : { name },
  spec,
});

/** All pairs of snapshots, every creation, and as many pairs of contents, spread evenly over all there are. */
export function* admissionPairs(): Generator<AdmissionPair> {
  for (const [kind, specs, step] of [
    ["VolumeSnapshot", snapshotSpecs, 1],
    ["VolumeSnapshotContent", contentSpecs, 29],
  ] as const) {
    for (const spec of specs) yield { kind, before: undefined, after: objectOf(kind, "object", spec) };
    for (let index = 0; index < specs.length ** 2; index += step) {
      const before = specs[Math.floor(index / specs.length)] ?? {};
      const after = specs[index % specs.length] ?? {};
      yield { kind, before: objectOf(kind, "object", before), after: objectOf(kind, "object", after) };
    }
  }
}
