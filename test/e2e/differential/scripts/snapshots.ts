/** The snapshot kinds, by the definitions of external-snapshotter's client module. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import type { JsonObject } from "../../../../src/base/json.ts";
import { create, get, patch, type Script, script } from "../script.ts";
import { definitions, install } from "./custom.ts";

const group = "snapshot.storage.k8s.io";

/** The module whose version the tools pin; it is in Go's cache once they are built. */
function definition(plural: string): JsonObject {
  const tools = resolve(import.meta.dirname, "../../tools/snapshotter");
  const module = "github.com/kubernetes-csi/external-snapshotter/client/v8";
  const folder = execFileSync("go", ["list", "-m", "-f", "{{.Dir}}", module], { cwd: tools, encoding: "utf8" }).trim();
  return parse(readFileSync(join(folder, "config/crd", `${group}_${plural}.yaml`), "utf8")) as JsonObject;
}

export const snapshots = `/apis/${group}/v1/namespaces/$NS/volumesnapshots`;
export const contents = `/apis/${group}/v1/volumesnapshotcontents`;
export const classes = `/apis/${group}/v1/volumesnapshotclasses`;

export const aSnapshot = (spec: JsonObject, more: JsonObject = {}): JsonObject => ({
  apiVersion: `${group}/v1`,
  kind: "VolumeSnapshot",
  metadata: { name: "s" },
  spec,
  ...more,
});
export const aContent = (spec: JsonObject, more: JsonObject = {}): JsonObject => ({
  apiVersion: `${group}/v1`,
  kind: "VolumeSnapshotContent",
  metadata: { name: "$ID" },
  spec: {
    deletionPolicy: "Delete",
    driver: "d.example.com",
    source: { volumeHandle: "v" },
    volumeSnapshotRef: { name: "s", namespace: "n" },
    ...spec,
  },
  ...more,
});
export const aClass = (fields: JsonObject): JsonObject => ({
  apiVersion: `${group}/v1`,
  kind: "VolumeSnapshotClass",
  metadata: { name: "$ID" },
  driver: "d.example.com",
  deletionPolicy: "Delete",
  ...fields,
});

const claim = { source: { persistentVolumeClaimName: "c" } };
const newSnapshots: Readonly<Record<string, JsonObject>> = {
  "a claim": claim,
  "a content": { source: { volumeSnapshotContentName: "c" } },
  "both sources": { source: { persistentVolumeClaimName: "c", volumeSnapshotContentName: "d" } },
  "no source": { source: {} },
  nothing: {},
  "an empty claim name": { source: { persistentVolumeClaimName: "" } },
  "an empty class": { ...claim, volumeSnapshotClassName: "" },
  "a class": { ...claim, volumeSnapshotClassName: "x" },
  "a source of the wrong type": { source: "c" },
  "an unknown field": { ...claim, foo: 1 },
};

const snapshotChanges: readonly (readonly [name: string, from: JsonObject, to: JsonObject])[] = [
  ["changes the claim", claim, { source: { persistentVolumeClaimName: "d" } }],
  ["removes the source", claim, { source: null }],
  [
    "changes the kind of source",
    claim,
    { source: { persistentVolumeClaimName: null, volumeSnapshotContentName: "d" } },
  ],
  ["adds a class", claim, { volumeSnapshotClassName: "x" }],
  ["empties the class", { ...claim, volumeSnapshotClassName: "x" }, { volumeSnapshotClassName: "" }],
];

const newContents: Readonly<Record<string, JsonObject>> = {
  "a volume": {},
  "a snapshot": { source: { snapshotHandle: "h" } },
  both: { source: { snapshotHandle: "h", volumeHandle: "v" } },
  neither: { source: {} },
  "another policy": { deletionPolicy: "Keep" },
  "no driver": { driver: null as unknown as string },
  "a reference without a namespace": { volumeSnapshotRef: { name: "s" } },
  "a reference without a name": { volumeSnapshotRef: { namespace: "n" } },
  "a volume mode": { sourceVolumeMode: "Block" },
};

const contentChanges: readonly (readonly [name: string, from: JsonObject, to: JsonObject])[] = [
  ["changes the handle", {}, { source: { volumeHandle: "w" } }],
  ["changes the policy", {}, { deletionPolicy: "Retain" }],
  ["changes the reference", {}, { volumeSnapshotRef: { name: "t" } }],
  ["adds a uid to the reference", {}, { volumeSnapshotRef: { uid: "u" } }],
  ["changes the volume mode", { sourceVolumeMode: "Block" }, { sourceVolumeMode: "Filesystem" }],
  ["adds the volume mode", {}, { sourceVolumeMode: "Filesystem" }],
  ["removes the volume mode", { sourceVolumeMode: "Block" }, { sourceVolumeMode: null }],
];

const time = 1_763_200_000_123_456_789n;
const contentStatus = `{"status":{"creationTime":${time},"readyToUse":true,"restoreSize":1073741824,"snapshotHandle":"h"}}`;

export const snapshotScripts = (): readonly Script[] => [
  script(
    "the snapshot kinds are established",
    ...install(definition("volumesnapshots"), `/apis/${group}/v1/volumesnapshots`),
    ...install(definition("volumesnapshotcontents"), contents),
    ...install(definition("volumesnapshotclasses"), classes),
    get(`${definitions}?limit=1`),
  ),
  ...Object.entries(newSnapshots).map(([name, spec]) =>
    script(`a snapshot of ${name}`, create(snapshots, aSnapshot(spec))),
  ),
  ...snapshotChanges.map(([name, from, to]) =>
    script(
      `an update of a snapshot ${name}`,
      create(snapshots, aSnapshot(from)),
      patch("merge", `${snapshots}/s`, { spec: to }),
    ),
  ),
  ...Object.entries(newContents).map(([name, spec]) =>
    script(`a content of ${name}`, create(contents, aContent(spec))),
  ),
  ...contentChanges.map(([name, from, to]) =>
    script(
      `an update of a content ${name}`,
      create(contents, aContent(from)),
      patch("merge", `${contents}/$ID`, { spec: to }),
    ),
  ),
  script("a class", create(classes, aClass({ parameters: { a: "b" } }))),
  script("a class with another policy", create(classes, aClass({ deletionPolicy: "Keep" }))),
  script("a class with a parameter that is a number", create(classes, aClass({ parameters: { a: 1 } }))),
  script(
    "a snapshot's status",
    create(snapshots, aSnapshot(claim)),
    patch("merge", `${snapshots}/s/status`, {
      status: {
        readyToUse: true,
        restoreSize: "1Gi",
        creationTime: "2024-01-01T00:00:00Z",
        boundVolumeSnapshotContentName: "x",
      },
    }),
    patch("merge", `${snapshots}/s/status`, { status: { restoreSize: "big" } }),
    patch("merge", `${snapshots}/s/status`, { status: { creationTime: "today" } }),
    patch("merge", `${snapshots}/s/status`, { status: { error: { message: 5 } } }),
    get(`${snapshots}/s`),
  ),
  script(
    "a content's status counts nanoseconds",
    create(contents, aContent({})),
    patch("merge", `${contents}/$ID/status`, contentStatus),
    patch("merge", `${contents}/$ID/status`, { status: { restoreSize: -1 } }),
    patch("merge", `${contents}/$ID/status`, { status: { snapshotHandle: "other" } }),
    get(`${contents}/$ID`),
  ),
];
