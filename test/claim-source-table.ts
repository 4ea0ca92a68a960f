/** Requirement document 003 as a table: what a claim names as its source, and the rule that refuses it, if any does. */
import type { JsonObject } from "../src/base/json.ts";

/** The server writes the core group as null. */
export const claimSource = { apiGroup: null, kind: "PersistentVolumeClaim", name: "c" };
export const snapshotSource = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "s" };
export const customSource = { apiGroup: "example.com", kind: "Tarball", name: "t" };
export const configMapSource = { apiGroup: null, kind: "ConfigMap", name: "m" };
const wrongCase = { apiGroup: "snapshot.storage.k8s.io", kind: "volumesnapshot", name: "s" };
const versioned = { ...snapshotSource, apiGroup: "snapshot.storage.k8s.io/v1" };

export interface ClaimSourceRow {
  readonly given: string;
  /** The data sources in the claim's spec. */
  readonly sources: JsonObject;
  /** The code of the rule with AnyVolumeDataSource on, and off; undefined where the claim is allowed. */
  readonly on: string | undefined;
  readonly off: string | undefined;
}

const row = (given: string, sources: JsonObject, on?: string, off = on): ClaimSourceRow => ({
  given,
  sources,
  on,
  off,
});

/** On a cluster that drops the namespace of a source. */
export const claimSourceTable: readonly ClaimSourceRow[] = [
  row("no source", {}),
  row("a source that is null", { dataSource: null }),
  row("a claim", { dataSource: claimSource }),
  row("a claim in dataSourceRef", { dataSourceRef: claimSource }),
  row("a snapshot", { dataSource: snapshotSource }),
  row("a snapshot in dataSourceRef", { dataSourceRef: snapshotSource }),
  row("a snapshot in both", { dataSource: snapshotSource, dataSourceRef: snapshotSource }),
  row("a ConfigMap", { dataSource: configMapSource }, "SNAP-131"),
  row("a ConfigMap in dataSourceRef", { dataSourceRef: configMapSource }, "SNAP-131"),
  row("a snapshot without its group", { dataSource: { kind: "VolumeSnapshot", name: "s" } }, "SNAP-131"),
  row("a custom kind", { dataSource: customSource }, undefined, "SNAP-132"),
  row("a custom kind in dataSourceRef", { dataSourceRef: customSource }, undefined, "SNAP-132"),
  row("a kind in the wrong case", { dataSource: wrongCase }, undefined, "SNAP-132"),
  row("no kind", { dataSource: { name: "x" } }, "SNAP-133"),
  row("no name", { dataSource: { kind: "PersistentVolumeClaim" } }, "SNAP-133"),
  row("an empty source", { dataSource: {} }, "SNAP-133"),
  row("a snapshot of another namespace", { dataSourceRef: { ...snapshotSource, namespace: "other" } }, "SNAP-134"),
  row("a group with a version", { dataSource: versioned }, "SNAP-135"),
];

/** What the API server refuses by itself, in its own words, before it asks a validating policy. */
export const refusedByServer: readonly string[] = ["a ConfigMap in dataSourceRef", "no name"];
