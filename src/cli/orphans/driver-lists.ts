/** What a driver has, page by page. Drivers page oddly: a token comes again, an entry is doubled or has no id. */
import { Fault } from "../../base/fault.ts";
import type { CsiClient } from "../../csi/client.ts";

export interface ListedSnapshot {
  readonly handle: string;
  readonly sourceVolume: string;
  /** 0: not known. */
  readonly bytes: bigint;
  readonly createdMs: number | undefined;
}

export interface ListedVolume {
  readonly handle: string;
  readonly bytes: bigint;
}

export interface DriverLists {
  /** Undefined: the driver cannot list them. */
  readonly snapshots: readonly ListedSnapshot[] | undefined;
  readonly volumes: readonly ListedVolume[] | undefined;
}

/** No driver needs more: 100 entries a page are ten million. */
const pagesMax = 100_000;

type Page<T> = { readonly entries: readonly T[]; readonly nextToken: string };

async function allPages<T>(call: string, read: (startingToken: string) => Promise<Page<T>>): Promise<readonly T[]> {
  const seen = new Set<string>();
  const all: T[] = [];
  for (let token = ""; seen.size < pagesMax; ) {
    const { entries, nextToken } = await read(token);
    for (const entry of entries) all.push(entry);
    if (nextToken === "") return all;
    // What was listed before it is no whole list, and what is missing in it would be called lost.
    if (seen.has(nextToken))
      throw new Fault(
        "DataLoss",
        `${call} returned the page token ${JSON.stringify(nextToken)} twice: its list has no end`,
      );
    seen.add(nextToken);
    token = nextToken;
  }
  throw new Fault("DataLoss", `${call} returned more than ${pagesMax} pages`);
}

const unique = <T extends { readonly handle: string }>(listed: readonly T[]): readonly T[] => [
  ...new Map(listed.filter(({ handle }) => handle !== "").map((each) => [each.handle, each])).values(),
];

/** `progress` is told how many there are so far. */
export async function readDriverLists(
  { controller, controllerCapabilities }: Pick<CsiClient, "controller" | "controllerCapabilities">,
  signal: AbortSignal,
  progress: (count: number) => void,
): Promise<DriverLists> {
  const can = await controllerCapabilities(signal);
  let count = 0;
  const counted = <T>(page: Page<T>): Page<T> => {
    count += page.entries.length;
    progress(count);
    return page;
  };
  const snapshots = !can.has("LIST_SNAPSHOTS")
    ? undefined
    : await allPages("ListSnapshots", async (startingToken) =>
        counted(await controller.listSnapshots({ startingToken }, { signal })),
      );
  const volumes = !can.has("LIST_VOLUMES")
    ? undefined
    : await allPages("ListVolumes", async (startingToken) =>
        counted(await controller.listVolumes({ startingToken }, { signal })),
      );
  return {
    snapshots:
      snapshots &&
      unique(
        snapshots.map(({ snapshot }) => ({
          handle: snapshot?.snapshotId ?? "",
          sourceVolume: snapshot?.sourceVolumeId ?? "",
          bytes: snapshot?.sizeBytes ?? 0n,
          createdMs: snapshot?.creationTime === undefined ? undefined : Number(snapshot.creationTime.seconds) * 1_000,
        })),
      ),
    volumes:
      volumes &&
      unique(volumes.map(({ volume }) => ({ handle: volume?.volumeId ?? "", bytes: volume?.capacityBytes ?? 0n }))),
  };
}
