/** What manifests open, without the objects of a cluster, and whether one set of manifests opens more than another. */
import {
  type AccessObjects,
  claimCreation,
  contentCreation,
  namespacesIn,
  snapshotIn,
  snapshotRow,
  type Way,
  ways,
} from "./access.ts";
import { subjectCovers, whoCan } from "./rbac.ts";

type Opening =
  /** Without a name: every snapshot of the namespace, also those that are yet to come. */
  | { readonly by: Way; readonly namespace: string; readonly from: string; readonly name: string }
  | { readonly by: "creator"; readonly subject: string; readonly namespace: string }
  | { readonly by: "any handle"; readonly subject: string }
  | {
      readonly by: "one handle";
      readonly content: string;
      readonly driver: string;
      readonly handle: string;
      readonly snapshot: string;
    };

type OpeningObjects = Pick<AccessObjects, "grants" | "contents" | "roles" | "bindings">;

function openingsIn(objects: OpeningObjects): readonly Opening[] {
  const restores = objects.grants.flatMap((grant) =>
    ways.flatMap((by) =>
      namespacesIn(grant, by).flatMap((namespace) =>
        (grant.spec?.to ?? [])
          .filter((item) => item?.group === snapshotRow.group && item.kind === "VolumeSnapshot")
          .map(({ name = "" }) => ({ by, namespace, from: grant.metadata.namespace ?? "", name })),
      ),
    ),
  );
  const anyHandle = whoCan(objects, contentCreation, "").map(({ subject }) => ({ by: "any handle", subject }) as const);
  const oneHandle = objects.contents.flatMap((content) => {
    const { driver, source } = content.spec;
    return source?.snapshotHandle
      ? [
          {
            by: "one handle",
            content: content.metadata.name,
            driver,
            handle: source.snapshotHandle,
            snapshot: snapshotIn(content),
          } as const,
        ]
      : [];
  });
  const creators = [...new Set(restores.map(({ namespace }) => namespace))].flatMap((namespace) =>
    whoCan(objects, claimCreation, namespace).map(({ subject }) => ({ by: "creator", subject, namespace }) as const),
  );
  return [...restores, ...anyHandle, ...oneHandle, ...creators];
}

function textOf(opening: Opening): string {
  switch (opening.by) {
    case "creator":
      return `${opening.subject} may create PersistentVolumeClaims in ${opening.namespace}, which has a grant`;
    case "any handle":
      return `${opening.subject} may create VolumeSnapshotContents with any handle, past all grants`;
    case "one handle":
      return `VolumeSnapshotContent ${opening.content} gives handle ${opening.handle} of driver ${opening.driver} to VolumeSnapshot ${opening.snapshot}, past all grants`;
    default: {
      const { by, namespace, from, name } = opening;
      const what = name === "" ? `every VolumeSnapshot of ${from}` : `VolumeSnapshot ${from}/${name}`;
      return `namespace ${namespace} may restore ${what} by a ${by === "claim" ? "PersistentVolumeClaim" : "VolumeSnapshotLink"}`;
    }
  }
}

/** Whether the one lets through all that the other does. */
function covers(wide: Opening, narrow: Opening): boolean {
  switch (wide.by) {
    case "creator":
      return (
        narrow.by === wide.by && narrow.namespace === wide.namespace && subjectCovers(wide.subject, narrow.subject)
      );
    case "any handle":
      return narrow.by === wide.by && subjectCovers(wide.subject, narrow.subject);
    case "one handle":
      return (
        narrow.by === wide.by &&
        narrow.driver === wide.driver &&
        narrow.handle === wide.handle &&
        narrow.snapshot === wide.snapshot
      );
    default:
      return (
        narrow.by === wide.by &&
        narrow.namespace === wide.namespace &&
        narrow.from === wide.from &&
        (wide.name === "" || narrow.name === wide.name)
      );
  }
}

export interface AccessChange {
  readonly opened: readonly string[];
  readonly closed: readonly string[];
}

/** Compares what is covered: a grant that only names fewer snapshots than before opens nothing. */
export function accessChange(old: OpeningObjects, now: OpeningObjects): AccessChange {
  const [before, after] = [openingsIn(old), openingsIn(now)];
  const beyond = (some: readonly Opening[], others: readonly Opening[]): readonly string[] => [
    ...new Set(some.filter((one) => !others.some((other) => covers(other, one))).map(textOf)),
  ];
  return { opened: [...beyond(after, before)].sort(), closed: [...beyond(before, after)].sort() };
}
