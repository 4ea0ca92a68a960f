/** Access in words: what is wide open stands out by its own word. */
import { printableLine } from "../../base/printable.ts";
import type { NamespaceAccess, Reachable, SnapshotAccess, UselessGrant } from "../../rules/access.ts";
import type { PermittedSubject } from "../../rules/rbac.ts";

const through = ({ way, grant, wildcard }: Pick<NamespaceAccess, "way" | "grant" | "wildcard">): string =>
  grant === undefined
    ? "its own namespace"
    : `ReferenceGrant ${grant}, by a ${way === "claim" ? "PersistentVolumeClaim" : "VolumeSnapshotLink"}${wildcard ? ", WILDCARD: every snapshot of the namespace" : ""}`;

const people = (permitted: readonly PermittedSubject[]): string[] =>
  permitted.map(({ subject, binding }) => `    ${subject} (${binding})`);

const section = (title: string, lines: readonly string[]): readonly string[] => [
  title,
  ...(lines.length === 0 ? ["  none"] : lines),
];

const useless = (grants: readonly UselessGrant[]): readonly string[] =>
  grants.map(({ grant, reason }) => `  ReferenceGrant ${grant}: ${reason}`);

const printed = (...sections: readonly (readonly string[])[]): string => sections.flat().map(printableLine).join("");

export const snapshotText = (access: SnapshotAccess, grants: readonly UselessGrant[]): string =>
  printed(
    section(
      `VolumeSnapshot ${access.snapshot} may be restored in`,
      access.namespaces.flatMap((row) => [
        `  namespace ${row.namespace}: ${through(row)}; claims are created there by`,
        ...people(row.creators),
      ]),
    ),
    section("Past all grants, with a VolumeSnapshotContent of any handle, by", people(access.bypass)),
    section(
      "Past all grants already, because their VolumeSnapshotContent has the same handle",
      access.copies.map(({ content, snapshot }) => `  VolumeSnapshot ${snapshot}: VolumeSnapshotContent ${content}`),
    ),
    section(
      "Claims that name it",
      access.restored.map(
        ({ claim, allowed, volume }) =>
          `  ${claim}: ${volume === undefined ? "no volume yet" : `volume ${volume}`}${allowed ? "" : ", not allowed any more"}`,
      ),
    ),
    section(
      "Claims that name it, with a volume of an earlier snapshot of this name",
      access.restoredFromEarlier.map(({ claim, volume }) => `  ${claim}: volume ${volume}`),
    ),
    section("Grants for restores that match nothing", useless(grants)),
  );

export const namespaceText = (
  namespace: string,
  reachable: readonly Reachable[],
  grants: readonly UselessGrant[],
): string =>
  printed(
    section(
      `Namespace ${namespace} may restore`,
      reachable.map((row) => `  VolumeSnapshot ${row.snapshot}: ${through(row)}`),
    ),
    section("Grants for restores that match nothing", useless(grants)),
  );
