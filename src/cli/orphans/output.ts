/** Orphans as a table for a person and as data for a program. */
import { printableLine } from "../../base/printable.ts";
import { binaryQuantity, printQuantity } from "../../base/quantity.ts";
import { rfc3339 } from "../../base/time.ts";
import { ageText } from "../explain/age.ts";
import { count } from "../findings/count.ts";
import { tableLines } from "../table.ts";
import type { Orphan, OrphanKind, OrphansFound } from "./find.ts";

const says: Readonly<Record<OrphanKind, string>> = {
  snapshot: "the driver has it, and no VolumeSnapshotContent does",
  content: "the driver does not have its snapshot",
  retained: "kept by Retain, its VolumeSnapshot is gone",
  volume: "the driver has it, and no PersistentVolume does",
};

const sizeText = (bytes: bigint | undefined): string =>
  bytes === undefined ? "-" : printQuantity(binaryQuantity(bytes));

export function orphansText({ orphans, unknown }: OrphansFound, driver: string, nowMs: number): string {
  const rows = orphans.map((each) => [
    each.kind,
    each.handle,
    each.object ?? "-",
    sizeText(each.bytes),
    each.createdMs === undefined ? "-" : ageText(each.createdMs, nowMs),
    each.sourceVolume ?? "-",
    says[each.kind],
  ]);
  const head = ["KIND", "HANDLE", "CONTENT", "SIZE", "AGE", "OF VOLUME", "WHY"];
  return [
    ...(rows.length === 0 ? [] : tableLines([head, ...rows])),
    `${count(orphans.length, "orphan")} of driver ${driver}`,
    ...unknown.map((each) => `not known: ${each}`),
  ]
    .map(printableLine)
    .join("");
}

/** The names and meanings of these members stay; others may be added. */
export const orphansJson = ({ orphans, unknown }: OrphansFound, driver: string) => ({
  apiVersion: "snapkeep.dev/v1",
  kind: "Orphans",
  driver,
  items: orphans.map(({ kind, handle, object, bytes, createdMs, sourceVolume }: Orphan) => ({
    kind,
    handle,
    ...(object === undefined ? {} : { content: object }),
    ...(bytes === undefined ? {} : { bytes: Number(bytes) }),
    ...(createdMs === undefined ? {} : { created: rfc3339(createdMs) }),
    ...(sourceVolume === undefined ? {} : { sourceVolume }),
  })),
  unknown,
});
