/** What components asked of the API server, from the server's own record. */
import { setTimeout as sleep } from "node:timers/promises";
import type { AuditEntry } from "../../test/e2e/harness/audit.ts";
import type { ControlPlane } from "../../test/e2e/harness/control-plane.ts";

const isComponent = ({ userAgent = "" }: AuditEntry): boolean =>
  /^(snapshot-controller|csi-snapshotter|csi-provisioner)\//.test(userAgent);
/** The election, questions about rights, and the lists and watches that fill a cache, are paid once and not per object. */
const isUpkeep = ({ verb, objectRef }: AuditEntry): boolean =>
  objectRef?.resource === undefined ||
  objectRef.resource === "selfsubjectaccessreviews" ||
  (objectRef.resource === "leases" && !objectRef.name?.endsWith("-create-volume-calls")) ||
  verb === "watch" ||
  verb === "list";

const componentRequests = (plane: ControlPlane, from: number): readonly AuditEntry[] =>
  plane.auditLog(from).filter((entry) => isComponent(entry) && !isUpkeep(entry));

/** Longer than any write is put off for the sake of others: a claim keeps its finalizer for three seconds. */
const settledMs = 5_000;

/** Waits until the components have asked nothing more for a while, so that what trails behind is counted too. */
export async function settledRequests(plane: ControlPlane, from: number): Promise<readonly AuditEntry[]> {
  for (let before = -1; ; ) {
    const found = componentRequests(plane, from);
    if (found.length === before) return found;
    before = found.length;
    await sleep(settledMs);
  }
}

const rowOf = ({ verb, objectRef }: AuditEntry): string =>
  `${verb} ${objectRef?.resource}${objectRef?.subresource === undefined ? "" : `/${objectRef.subresource}`}`;

export type Counts = ReadonlyMap<string, number>;

export function countsOf(entries: readonly AuditEntry[]): Counts {
  const counts = new Map<string, number>();
  for (const entry of entries) counts.set(rowOf(entry), (counts.get(rowOf(entry)) ?? 0) + 1);
  return counts;
}

export interface Sums {
  readonly writes: number;
  readonly reads: number;
  readonly events: number;
  readonly refused: number;
}

export function sumsOf(entries: readonly AuditEntry[]): Sums {
  const isEvent = ({ objectRef }: AuditEntry) => objectRef?.resource === "events";
  const reads = entries.filter(({ verb }) => verb === "get").length;
  const events = entries.filter(isEvent).length;
  const refused = entries.filter(({ responseStatus }) => (responseStatus?.code ?? 0) >= 400).length;
  return { writes: entries.length - reads - events, reads, events, refused };
}

/** One line per verb and resource: how many per object each side needed. */
export function countTable(sides: Readonly<Record<string, Counts>>, objects: number): readonly string[] {
  const rows = [...new Set(Object.values(sides).flatMap((counts) => [...counts.keys()]))].sort();
  const figure = (counts: Counts, row: string): string => ((counts.get(row) ?? 0) / objects).toFixed(2).padStart(8);
  const width = Math.max(...rows.map((row) => row.length), 0);
  const head = `  ${"".padEnd(width)}${Object.keys(sides)
    .map((name) => name.padStart(10))
    .join("")}`;
  return [
    head,
    ...rows.map(
      (row) =>
        `  ${row.padEnd(width)}${Object.values(sides)
          .map((counts) => `  ${figure(counts, row)}`)
          .join("")}`,
    ),
  ];
}
