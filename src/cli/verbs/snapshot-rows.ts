/** VolumeSnapshots as `get` shows them: phase, age, size, source, and what blocks them, in explain's words. Pure. */
import type { VolumeSnapshot } from "../../api/types.ts";
import { keyOf } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import { rfc3339 } from "../../base/time.ts";
import { ageText } from "../explain/age.ts";
import type { ClusterCopy } from "../explain/cluster-copy.ts";
import { explain, type Verdict } from "../explain/explain.ts";
import { createdMs, textOf } from "../explain/finding.ts";
import { tableLines } from "../table.ts";

export interface SnapshotRow {
  readonly namespace: string;
  readonly name: string;
  readonly phase: string;
  readonly verdict: Verdict;
  readonly createdMs: Millis;
  readonly size: string;
  /** The claim, or the content of a pre-provisioned snapshot. */
  readonly source: string;
  /** Empty: nothing does. */
  readonly blockedBy: string;
}

export interface RowSelection {
  /** Empty: all. */
  readonly names: readonly string[];
  readonly namespace: string | undefined;
  isSelected(labels: Readonly<Record<string, string>> | undefined): boolean;
}

export function snapshotRows(
  copy: ClusterCopy,
  { names, namespace, isSelected }: RowSelection,
  nowMs: Millis,
): readonly SnapshotRow[] {
  return copy
    .list("VolumeSnapshot", { namespace })
    .filter(({ metadata }) => names.length === 0 || names.includes(metadata.name))
    .filter(({ metadata }) => isSelected(metadata.labels))
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    .map((snapshot) => rowOf(copy, snapshot, nowMs));
}

function rowOf(copy: ClusterCopy, snapshot: VolumeSnapshot, nowMs: Millis): SnapshotRow {
  const { namespace = "", name } = snapshot.metadata;
  const { source } = snapshot.spec;
  const found = explain(copy, { kind: "VolumeSnapshot", namespace, name }, nowMs);
  const verdict = found?.verdict ?? "unknown";
  return {
    namespace,
    name,
    phase: found?.chain[0]?.phase ?? "unknown",
    verdict,
    createdMs: createdMs(snapshot),
    size: String(snapshot.status?.restoreSize ?? ""),
    source: source.persistentVolumeClaimName ?? source.volumeSnapshotContentName ?? "",
    blockedBy: found === undefined || verdict === "good" ? "" : `${found.cause} at ${textOf(found.at)}`,
  };
}

const columns = ["NAMESPACE", "NAME", "PHASE", "AGE", "SIZE", "SOURCE", "BLOCKED BY"] as const;

/** Lines of one width for each column; the first is the head. */
export function tableOf(rows: readonly SnapshotRow[], hasNamespace: boolean, nowMs: Millis): readonly string[] {
  return tableLines([columns, ...rows.map((row) => cellsOf(row, nowMs))].map((row) => row.slice(hasNamespace ? 0 : 1)));
}

const cellsOf = (row: SnapshotRow, nowMs: Millis): readonly string[] => [
  row.namespace,
  row.name,
  row.phase,
  ageText(row.createdMs, nowMs),
  row.size || "-",
  row.source || "-",
  row.blockedBy || "-",
];

/** The names and meanings of these members stay; others may be added. */
export const rowsJson = (rows: readonly SnapshotRow[]) => ({
  apiVersion: "snapkeep.dev/v1",
  kind: "SnapshotList",
  items: rows.map(({ createdMs: created, ...row }) => ({ ...row, created: rfc3339(created) })),
});
