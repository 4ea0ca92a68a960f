/** Reads driver and cluster in turns; see find.ts for why. */
import type { CsiClient } from "../../csi/client.ts";
import type { KubeApi } from "../../kube/api.ts";
import { readDriverLists } from "./driver-lists.ts";
import { type ClusterLists, handleOf, type OrphansRead } from "./find.ts";

export interface ReadContext {
  readonly api: KubeApi;
  readonly csi: Pick<CsiClient, "controller" | "controllerCapabilities">;
  readonly driver: string;
  readonly signal: AbortSignal;
  progress(text: () => string): void;
}

export async function readOrphans(context: ReadContext): Promise<OrphansRead> {
  const { csi, driver, signal, progress } = context;
  const atDriver = () =>
    readDriverLists(csi, signal, (count) => progress(() => `reading from driver ${driver}: ${count} entries`));
  const firstAtDriver = await atDriver();
  const firstInCluster = await clusterLists(context);
  const spelled = await spelledOtherwise(context, firstInCluster, firstAtDriver.snapshots);
  const secondAtDriver = await atDriver();
  return {
    driver,
    atDriver: [firstAtDriver, secondAtDriver],
    inCluster: [firstInCluster, await clusterLists(context)],
    spelled,
  };
}

async function clusterLists({ api, signal, progress }: ReadContext): Promise<ClusterLists> {
  progress(() => "reading VolumeSnapshots, contents, PersistentVolumes and claims");
  return {
    contents: (await api.list("VolumeSnapshotContent", { signal })).objects,
    snapshots: (await api.list("VolumeSnapshot", { signal })).objects,
    volumes: (await api.list("PersistentVolume", { signal })).objects,
    claims: (await api.list("PersistentVolumeClaim", { signal })).objects,
  };
}

/**
 * Drivers canonicalise ids: a pre-provisioned content may have another case, or a bare name for a full resource id. Asked by that handle
 * they answer with one entry: that is its snapshot.
 */
async function spelledOtherwise(
  { csi, driver, signal, progress }: ReadContext,
  { contents }: ClusterLists,
  listed: OrphansRead["atDriver"][0]["snapshots"],
): Promise<ReadonlyMap<string, string>> {
  const spelled = new Map<string, string>();
  if (listed === undefined) return spelled;
  const handles = new Set(listed.map(({ handle }) => handle));
  const unlisted = contents
    .filter(({ spec }) => spec.driver === driver)
    .flatMap((content) => handleOf(content) ?? [])
    .filter((handle) => !handles.has(handle));
  for (const [index, handle] of unlisted.entries()) {
    progress(() => `asking driver ${driver} for the handles of contents: ${index} of ${unlisted.length}`);
    const { entries } = await csi.controller.listSnapshots({ snapshotId: handle }, { signal });
    const [only] = entries;
    const exact = entries.find(({ snapshot }) => snapshot?.snapshotId === handle);
    const found = exact ?? (entries.length === 1 ? only : undefined);
    if (found?.snapshot?.snapshotId) spelled.set(handle, found.snapshot.snapshotId);
  }
  return spelled;
}
