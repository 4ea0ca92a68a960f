/** Claims: what is valid, what may change, and the table of data sources. */
import type { JsonObject } from "../../../../src/base/json.ts";
import { create, get, inPhase, patch, remove, replace, type Script, script } from "../script.ts";

const claims = "/api/v1/namespaces/$NS/persistentvolumeclaims";
const aClaim = (spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "c", ...metadata },
  spec: {
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: "1Gi" } },
    storageClassName: "no-such-class",
    ...spec,
  },
});
const snapshot = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "s" };
const claim = { kind: "PersistentVolumeClaim", name: "other" };
const generic = { apiGroup: "example.com", kind: "Tarball", name: "t" };
const config = { kind: "ConfigMap", name: "m" };
const elsewhere = (source: JsonObject, namespace = "far"): JsonObject => ({ ...source, namespace });

const creations: Readonly<Record<string, JsonObject>> = {
  "nothing special": {},
  "no access mode": { accessModes: [] },
  "an unknown access mode": { accessModes: ["Sometimes"] },
  "two unknown access modes": { accessModes: ["Sometimes", "Never"] },
  "ReadWriteOncePod among others": { accessModes: ["ReadWriteOncePod", "ReadWriteMany"] },
  "no size": { resources: {} },
  "a limit only": { resources: { limits: { storage: "1Gi" } } },
  "a size of zero": { resources: { requests: { storage: "0" } } },
  "a negative size": { resources: { requests: { storage: "-1Gi" } } },
  "a size in another spelling": { resources: { requests: { storage: "1024Mi" } } },
  "a size as a number": { resources: { requests: { storage: 1073741824 } } },
  "a fraction of a byte": { resources: { requests: { storage: "1500m" } } },
  "a size that is none": { resources: { requests: { storage: "big" } } },
  "an unknown volume mode": { volumeMode: "Tape" },
  "a block device": { volumeMode: "Block" },
  "an impossible class": { storageClassName: "No Such" },
  "no class on purpose": { storageClassName: "" },
  "a bad selector": { selector: { matchExpressions: [{ key: "a b", operator: "In", values: ["x y"] }] } },
  "a selector without values": { selector: { matchExpressions: [{ key: "a", operator: "NotIn" }] } },
  "a selector with too many values": {
    selector: { matchExpressions: [{ key: "a", operator: "Exists", values: ["b"] }] },
  },
  "an unknown selector operator": { selector: { matchExpressions: [{ key: "a", operator: "Like" }] } },
  "modes of the wrong type": { accessModes: "ReadWriteOnce" },
  "a volume name": { volumeName: "no-such-volume" },
};

const sources: Readonly<Record<string, JsonObject>> = {
  "a snapshot": { dataSource: snapshot },
  "a claim": { dataSource: claim },
  "a generic source in the older field": { dataSource: generic },
  "a core source in the older field": { dataSource: config },
  "an empty source": { dataSource: {} },
  "a snapshot without its group": { dataSource: { kind: "VolumeSnapshot", name: "s" } },
  "a snapshot without a name": { dataSource: { ...snapshot, name: "" } },
  "a snapshot in the newer field": { dataSourceRef: snapshot },
  "a generic source in the newer field": { dataSourceRef: generic },
  "a group with a version": { dataSourceRef: { ...generic, apiGroup: "example.com/v1" } },
  "a core source in the newer field": { dataSourceRef: config },
  "an empty reference": { dataSourceRef: {} },
  "the same source twice": { dataSource: generic, dataSourceRef: generic },
  "the same core source twice": { dataSource: config, dataSourceRef: config },
  "two different sources": { dataSource: snapshot, dataSourceRef: { ...snapshot, name: "x" } },
  "an absent and an empty group": { dataSource: claim, dataSourceRef: { ...claim, apiGroup: "" } },
  "a snapshot elsewhere": { dataSourceRef: elsewhere(snapshot) },
  "a generic source elsewhere": { dataSourceRef: elsewhere(generic) },
  "a core source elsewhere": { dataSourceRef: elsewhere(config) },
  "a snapshot in an impossible namespace": { dataSourceRef: elsewhere(snapshot, "No_Where") },
  "a snapshot here and one elsewhere": { dataSource: snapshot, dataSourceRef: elsewhere({ ...snapshot, name: "x" }) },
  "a generic source here and one elsewhere": { dataSource: generic, dataSourceRef: elsewhere(generic) },
  "a core source here and one elsewhere": { dataSource: config, dataSourceRef: elsewhere(config) },
  "an empty namespace": { dataSourceRef: elsewhere(snapshot, "") },
  "its own namespace": { dataSourceRef: elsewhere(snapshot, "$NS") },
};

const updates: readonly (readonly [name: string, from: JsonObject, to: JsonObject])[] = [
  ["adds a generic source", {}, { dataSource: generic }],
  ["adds a snapshot", {}, { dataSource: snapshot }],
  ["adds a snapshot elsewhere", {}, { dataSourceRef: elsewhere(snapshot) }],
  ["keeps only the older field", { dataSource: snapshot }, { dataSource: snapshot }],
  ["keeps only the newer field", { dataSource: snapshot }, { dataSourceRef: snapshot }],
  ["drops both fields", { dataSource: snapshot }, {}],
  ["changes one field", { dataSource: snapshot }, { dataSource: claim, dataSourceRef: snapshot }],
  ["keeps a source elsewhere", { dataSourceRef: elsewhere(snapshot) }, { dataSourceRef: elsewhere(snapshot) }],
  ["changes the class", {}, { storageClassName: "other" }],
  ["changes the size", {}, { resources: { requests: { storage: "2Gi" } } }],
  ["shrinks", {}, { resources: { requests: { storage: "1Mi" } } }],
  ["changes the mode", {}, { volumeMode: "Block" }],
  ["changes the access modes", {}, { accessModes: ["ReadWriteMany"] }],
  ["names a volume", {}, { volumeName: "v" }],
  ["names another volume", { volumeName: "v" }, { volumeName: "w" }],
  ["says the size in another spelling", {}, { resources: { requests: { storage: "1048576Ki" } } }],
];

/** A finalizer that an update left out is put back in the background. */
const isProtected = ({ metadata }: JsonObject): boolean => (metadata as JsonObject).finalizers !== undefined;

/** Run with both settings of the gate for sources in other namespaces. */
export const sourceScripts: readonly Script[] = [
  ...Object.entries(sources).map(([name, spec]) =>
    script(`a claim is created with ${name}`, create(claims, aClaim(spec)), get(`${claims}/c`)),
  ),
  ...updates.map(([name, from, to]) =>
    script(
      `an update of a claim ${name}`,
      create(claims, aClaim(from)),
      replace(`${claims}/c`, aClaim({ volumeMode: "Filesystem", ...to })),
      get(`${claims}/c`, { until: isProtected }),
    ),
  ),
];

export const claimScripts: readonly Script[] = [
  ...Object.entries(creations).map(([name, spec]) =>
    script(`a claim is created with ${name}, for real`, create(claims, aClaim(spec))),
  ),
  script(
    "a claim with a made-up status and the old class annotation",
    create(claims, {
      ...aClaim({}, { annotations: { "volume.beta.kubernetes.io/storage-class": "x" } }),
      status: { phase: "Bound", capacity: { storage: "5Gi" } },
    }),
  ),
  script(
    "a claim's status is written apart from its spec",
    create(claims, aClaim()),
    patch("merge", `${claims}/c/status`, {
      spec: { volumeName: "x" },
      status: { phase: "Bound", capacity: { storage: "1024Mi" } },
    }),
    patch("merge", `${claims}/c/status`, { status: { capacity: { storage: "-1" } } }),
    patch("merge", `${claims}/c`, { status: { phase: "Lost" } }),
  ),
  script(
    "a claim without class and volume is pending, whatever its status was made to say",
    create(claims, aClaim({ storageClassName: "" })),
    patch("merge", `${claims}/c/status`, { status: { phase: "Bound" } }),
    inPhase(`${claims}/c`, "Pending"),
  ),
  script(
    "a bound claim grows only with its class's consent",
    create("/apis/storage.k8s.io/v1/storageclasses", {
      metadata: { name: "$ID" },
      provisioner: "x.y",
      allowVolumeExpansion: true,
    }),
    create(claims, aClaim({ storageClassName: "$ID" })),
    get(`${claims}/c`, { until: ({ metadata }) => (metadata as JsonObject).annotations !== undefined }),
    patch("merge", `${claims}/c/status`, { status: { phase: "Bound", capacity: { storage: "1Gi" } } }),
    patch("merge", `${claims}/c`, { spec: { resources: { requests: { storage: "2Gi" } } } }),
  ),
  script(
    "a pending claim does not grow",
    create(claims, aClaim()),
    patch("merge", `${claims}/c`, { spec: { resources: { requests: { storage: "2Gi" } } } }),
  ),
  script(
    "a claim is deleted, with and without finalizers of its own",
    create(claims, aClaim({}, { finalizers: ["example.com/hold"] })),
    remove(`${claims}/c`),
    patch("json", `${claims}/c`, [{ op: "remove", path: "/metadata/finalizers" }]),
    get(`${claims}/c`, { until: (_, status) => status === 404 }),
  ),
  script("an unknown field is named", create(`${claims}?fieldValidation=Strict`, aClaim({ dataSourceRef2: {} }))),
  script("an unknown field is warned of", create(`${claims}?fieldValidation=Warn`, aClaim({ dataSourceRef2: {} }))),
  script("an unknown field is ignored", create(`${claims}?fieldValidation=Ignore`, aClaim({ dataSourceRef2: {} }))),
];
