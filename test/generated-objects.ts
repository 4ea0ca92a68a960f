/** Objects of the snapshot kinds, right but for one or two fields, for whoever judges them. */
import type { SnapshotKind } from "../src/api/crds/index.ts";
import { isObject, type JsonObject, type JsonValue } from "../src/base/json.ts";

export interface GeneratedObject {
  readonly kind: SnapshotKind;
  readonly object: JsonObject;
  /** "spec.source = null, metadata.name absent" */
  readonly what: string;
}

const head = (kind: SnapshotKind) => ({
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind,
  metadata: { name: "generated" },
});
const bases: Readonly<Record<SnapshotKind, JsonObject>> = {
  VolumeSnapshot: { ...head("VolumeSnapshot"), spec: { source: { persistentVolumeClaimName: "data" } } },
  VolumeSnapshotContent: {
    ...head("VolumeSnapshotContent"),
    spec: {
      driver: "driver.example",
      deletionPolicy: "Delete",
      source: { volumeHandle: "volume" },
      volumeSnapshotRef: { name: "monday", namespace: "team" },
    },
  },
  VolumeSnapshotClass: { ...head("VolumeSnapshotClass"), driver: "driver.example", deletionPolicy: "Retain" },
};

const values: readonly (JsonValue | undefined)[] = [
  undefined,
  null,
  "",
  "a",
  "A_b",
  "a".repeat(254),
  5,
  1.5,
  true,
  [],
  {},
  ["a"],
  { a: "b" },
];

const ofMetadata = [
  "name",
  "generateName",
  "labels",
  "labels.x",
  "annotations.x",
  "finalizers",
  "lables",
  "creationTimestamp",
].map((name) => `metadata.${name}`);
const fields: Readonly<Record<SnapshotKind, readonly string[]>> = {
  VolumeSnapshot: [
    ...["spec", "spec.source", "spec.source.persistentVolumeClaimName", "spec.source.volumeSnapshotContentName"],
    ...["spec.source.volumeHandle", "spec.volumeSnapshotClassName", "spec.volumeSnapshotClasName", "specs"],
    ...["status", "status.readyToUse", "status.restoreSize", "status.readytouse"],
  ],
  VolumeSnapshotContent: [
    ...["spec", "spec.source", "spec.source.volumeHandle", "spec.source.snapshotHandle", "spec.source.handle"],
    ...["spec.volumeSnapshotRef", "spec.volumeSnapshotRef.name", "spec.volumeSnapshotRef.namespace"],
    ...["spec.volumeSnapshotRef.uid", "spec.driver", "spec.deletionPolicy", "spec.sourceVolumeMode", "spec.class"],
    ...["status.readyToUse", "status.creationTime"],
  ],
  VolumeSnapshotClass: ["driver", "deletionPolicy", "parameters", "parameters.x", "spec", "status", "provisioner"],
};

interface Change {
  readonly path: string;
  readonly value: JsonValue | undefined;
}

function changed(
  value: JsonValue | undefined,
  [name, ...rest]: readonly string[],
  to: JsonValue | undefined,
): JsonValue | undefined {
  if (name === undefined) return to;
  const object = isObject(value) ? value : {};
  const member = changed(object[name], rest, to);
  const others = Object.fromEntries(Object.entries(object).filter(([key]) => key !== name)) as JsonObject;
  return member === undefined ? others : { ...others, [name]: member };
}

const shown = ({ path, value }: Change): string =>
  `${path} ${value === undefined ? "absent" : `= ${JSON.stringify(value).slice(0, 20)}`}`;

/** Every single change of a kind, and every seventh pair. */
const pairStep = 7;

export function* generatedObjects(): Generator<GeneratedObject> {
  for (const kind of Object.keys(bases) as SnapshotKind[]) {
    const changes = [...ofMetadata, ...fields[kind]].flatMap((path) =>
      values.map((value): Change => ({ path, value })),
    );
    const made = (all: readonly Change[]): GeneratedObject => ({
      kind,
      object: all.reduce(
        (object, { path, value }) => changed(object, path.split("."), value) as JsonObject,
        bases[kind],
      ),
      what: `${kind} with ${all.map(shown).join(", ")}`,
    });
    for (const change of changes) yield made([change]);
    // A prime step meets every pair of fields with changing values.
    for (let index = 0; index < changes.length; index += pairStep)
      for (let other = index + 1; other < changes.length; other += 2 * pairStep - 1) {
        const pair = [changes[index], changes[other]].filter((change) => change !== undefined);
        yield made(pair);
      }
  }
}
