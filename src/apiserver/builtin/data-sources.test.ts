import assert from "node:assert/strict";
import { test } from "node:test";
import { aContext, created, updated } from "../../../test/strategy.ts";
import type { JsonObject } from "../../base/json.ts";
import type { ApiObject, Context } from "../contracts.ts";
import { part } from "./check.ts";
import { createClaimStrategy } from "./claims.ts";

const strategy = createClaimStrategy();
const off = aContext();
const on = aContext({ on: ["CrossNamespaceVolumeDataSource"] });

const snapshot = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "s" };
const claim = { apiGroup: null, kind: "PersistentVolumeClaim", name: "c" };
const generic = { apiGroup: "example.com", kind: "Tarball", name: "t" };
const config = { kind: "ConfigMap", name: "m" };
const elsewhere = (source: object, namespace = "other") => ({ ...source, namespace });

const aClaim = (sources: object): JsonObject => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "new", namespace: "team" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...sources },
});
const sourcesOf = (object: ApiObject) => {
  const { dataSource, dataSourceRef } = part(object, "spec");
  return {
    ...(dataSource === undefined ? {} : { dataSource }),
    ...(dataSourceRef === undefined ? {} : { dataSourceRef }),
  };
};

const coreKind = `Invalid value: "ConfigMap": must be 'PersistentVolumeClaim' when referencing the default apiGroup`;
const badGroup = (field: string) =>
  `spec.${field}.apiGroup: Invalid value: "example.com/v1": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`;

interface Row {
  readonly given: string;
  readonly sources: object;
  readonly gate?: "on" | "off";
  /** What is stored, or why nothing is. */
  readonly stores?: object;
  readonly refuses?: readonly string[];
}

const creations: readonly Row[] = [
  { given: "no source", sources: {}, stores: {} },
  { given: "a snapshot", sources: { dataSource: snapshot }, stores: { dataSource: snapshot, dataSourceRef: snapshot } },
  { given: "a claim", sources: { dataSource: claim }, stores: { dataSource: claim, dataSourceRef: claim } },
  { given: "a generic source in the older field", sources: { dataSource: generic }, stores: {} },
  { given: "a core source in the older field", sources: { dataSource: config }, stores: {} },
  { given: "an empty source in the older field", sources: { dataSource: { kind: "", name: "" } }, stores: {} },
  { given: "a kind in the wrong case", sources: { dataSource: { ...snapshot, kind: "volumesnapshot" } }, stores: {} },
  {
    given: "a snapshot without a name",
    sources: { dataSource: { ...snapshot, name: "" } },
    refuses: ["spec.dataSource.name: Required value", "spec.dataSourceRef.name: Required value"],
  },
  {
    given: "a snapshot in the newer field",
    sources: { dataSourceRef: snapshot },
    stores: { dataSource: snapshot, dataSourceRef: snapshot },
  },
  {
    given: "a generic source in the newer field",
    sources: { dataSourceRef: generic },
    stores: { dataSource: generic, dataSourceRef: generic },
  },
  {
    given: "a group with a version in the newer field",
    sources: { dataSourceRef: { ...generic, apiGroup: "example.com/v1" } },
    refuses: [badGroup("dataSource"), badGroup("dataSourceRef")],
  },
  {
    given: "a core source in the newer field",
    sources: { dataSourceRef: config },
    refuses: [`spec.dataSource: ${coreKind}`, `spec.dataSourceRef: ${coreKind}`],
  },
  {
    given: "the same generic source in both fields",
    sources: { dataSource: generic, dataSourceRef: generic },
    stores: { dataSource: generic, dataSourceRef: generic },
  },
  {
    given: "the same core source in both fields",
    sources: { dataSource: config, dataSourceRef: config },
    refuses: [`spec.dataSource: ${coreKind}`, `spec.dataSourceRef: ${coreKind}`],
  },
  {
    given: "two different sources",
    sources: { dataSource: snapshot, dataSourceRef: { ...snapshot, name: "other" } },
    refuses: ["spec: Invalid value: {}: must match dataSourceRef"],
  },
  {
    given: "an absent group here and an empty one there",
    sources: { dataSource: claim, dataSourceRef: { ...claim, apiGroup: "" } },
    refuses: ["spec: Invalid value: {}: must match dataSourceRef"],
  },
  {
    given: "a snapshot elsewhere, gate on",
    gate: "on",
    sources: { dataSourceRef: elsewhere(snapshot) },
    stores: { dataSourceRef: elsewhere(snapshot) },
  },
  {
    given: "a snapshot in a namespace of an impossible name, gate on",
    gate: "on",
    sources: { dataSourceRef: elsewhere(snapshot, "no_such") },
    refuses: [
      `spec.dataSourceRef.namespace: Invalid value: "no_such": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`,
    ],
  },
  {
    given: "a core source elsewhere, gate on",
    gate: "on",
    sources: { dataSourceRef: elsewhere(config) },
    refuses: [`spec.dataSourceRef: ${coreKind}`],
  },
  { given: "a snapshot elsewhere, gate off", sources: { dataSourceRef: elsewhere(snapshot) }, stores: {} },
  {
    given: "both fields, one of them elsewhere, gate on",
    gate: "on",
    sources: { dataSource: snapshot, dataSourceRef: elsewhere(snapshot) },
    refuses: ["spec: Invalid value: {}: may not be specified when dataSourceRef.namespace is specified"],
  },
  {
    given: "a snapshot here and one elsewhere, gate off",
    sources: { dataSource: snapshot, dataSourceRef: elsewhere({ ...snapshot, name: "far" }) },
    stores: { dataSource: snapshot, dataSourceRef: snapshot },
  },
  {
    given: "a generic source here and one elsewhere, gate off",
    sources: { dataSource: generic, dataSourceRef: elsewhere(generic) },
    stores: {},
  },
  {
    given: "an empty namespace",
    sources: { dataSourceRef: elsewhere(snapshot, "") },
    stores: { dataSource: snapshot, dataSourceRef: elsewhere(snapshot, "") },
  },
  {
    given: "its own namespace, gate on",
    gate: "on",
    sources: { dataSourceRef: elsewhere(snapshot, "team") },
    stores: { dataSourceRef: elsewhere(snapshot, "team") },
  },
  { given: "its own namespace, gate off", sources: { dataSourceRef: elsewhere(snapshot, "team") }, stores: {} },
];

for (const { given, sources, gate, stores, refuses } of creations)
  test(`a claim created with ${given} ${stores === undefined ? "is rejected" : "is stored as by Kubernetes 1.36"}`, () => {
    const { object, says } = created(strategy, aClaim(sources), gate === "on" ? on : off);
    assert.deepEqual(says, refuses ?? []);
    if (stores !== undefined) assert.deepEqual(sourcesOf(object), stores);
  });

const immutable = (changed: string) =>
  `spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\nchanged: ${changed}`;
const mirrored = { dataSource: snapshot, dataSourceRef: snapshot };
const stored = (sources: object, context: Context = on): ApiObject =>
  created(strategy, aClaim(sources), context).object;

const updates: readonly (Row & { readonly from: object })[] = [
  { from: {}, given: "a generic source added", sources: { dataSource: generic }, stores: {} },
  {
    from: {},
    given: "a snapshot added",
    sources: { dataSource: snapshot },
    refuses: [immutable("dataSource, dataSourceRef")],
  },
  {
    from: {},
    given: "a snapshot elsewhere added, gate off",
    sources: { dataSourceRef: elsewhere(snapshot) },
    stores: {},
  },
  {
    from: {},
    given: "a snapshot elsewhere added, gate on",
    gate: "on",
    sources: { dataSourceRef: elsewhere(snapshot) },
    refuses: [immutable("dataSourceRef")],
  },
  { from: mirrored, given: "only the older field", sources: { dataSource: snapshot }, stores: mirrored },
  { from: mirrored, given: "only the newer field", sources: { dataSourceRef: snapshot }, stores: mirrored },
  { from: mirrored, given: "neither field", sources: {}, refuses: [immutable("dataSource, dataSourceRef")] },
  {
    from: mirrored,
    given: "one field changed",
    sources: { dataSource: claim, dataSourceRef: snapshot },
    refuses: ["spec: Invalid value: {}: must match dataSourceRef", immutable("dataSource")],
  },
  {
    from: { dataSourceRef: elsewhere(snapshot) },
    given: "a source elsewhere unchanged, gate off by now",
    sources: { dataSourceRef: elsewhere(snapshot) },
    stores: { dataSourceRef: elsewhere(snapshot) },
  },
];

for (const { from, given, sources, gate, stores, refuses } of updates)
  test(`a claim with ${JSON.stringify(from)} updated with ${given} ${stores === undefined ? "is rejected" : "is unchanged"}`, () => {
    const { object, says } = updated(
      strategy,
      stored(from),
      (body) => {
        body.spec = aClaim({ volumeMode: "Filesystem", ...sources }).spec;
      },
      gate === "on" ? on : off,
    );
    assert.deepEqual(says, refuses ?? []);
    if (stores !== undefined) assert.deepEqual(sourcesOf(object), stores);
  });

test("another rule table can be used, which rejects instead of dropping", () => {
  const strict = createClaimStrategy({
    prepare: () => undefined,
    errors: ({ dataSource }) =>
      dataSource === undefined
        ? []
        : [{ type: "FieldValueForbidden", field: "spec.dataSource", value: "", detail: "no" }],
  });
  assert.deepEqual(created(strict, aClaim({ dataSource: config })).says, ["spec.dataSource: Forbidden: no"]);
});
