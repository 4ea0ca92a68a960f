/**
 * Registers VolumeSnapshotLink as a data source, so that volume-data-source-validator does not warn of claims that name one. All drivers
 * of a cluster share one VolumePopulator: it is created if there is none for the kind, whatever its name, and never deleted.
 */
import { draftOf } from "../../api/builders.ts";
import { kindRows } from "../../api/kinds.ts";
import type { KubeObject } from "../../api/types.ts";
import { Fault, isFault } from "../../base/fault.ts";
import { limits } from "../../base/limits.ts";
import type { Log } from "../../base/log.ts";
import type { World } from "../../base/world.ts";
import { mayDo } from "../../kube/access.ts";
import type { KubeApi, PathAsker, VersionFinder } from "../../kube/api.ts";

export interface PopulatorOptions {
  readonly api: KubeApi & PathAsker & VersionFinder;
  readonly world: Pick<World, "sleep">;
  readonly log: Log;
  leading(): boolean;
}

const sourceKind = { group: kindRows.VolumeSnapshotLink.group, kind: "VolumeSnapshotLink" } as const;
const isOurs = (object: KubeObject): boolean => {
  const { group, kind } =
    (object as { readonly sourceKind?: { readonly group?: string; readonly kind?: string } }).sourceKind ?? {};
  return group === sourceKind.group && kind === sourceKind.kind;
};

/** Tries until the kind is registered, or the signal aborts. A cluster without VolumePopulators needs no registration. */
export async function registerLinks(
  { api, world, log, leading }: PopulatorOptions,
  signal: AbortSignal,
): Promise<void> {
  const attempt = async (): Promise<boolean> => {
    if ((await api.findVersion("VolumePopulator", { signal })) === undefined) return false;
    for (const verb of ["list", "create"]) if (!(await mayDo(api, "VolumePopulator", verb, { signal }))) return false;
    const { objects } = await api.list("VolumePopulator", { signal });
    if (objects.some(isOurs)) return true;
    if (!leading()) return false;
    const draft = draftOf("VolumePopulator", { name: "volumesnapshotlink" }, { sourceKind });
    await api.create("VolumePopulator", draft, { signal }).catch((reason: unknown) => {
      if (!isFault(reason, "AlreadyExists")) throw reason;
    });
    return true;
  };
  while (!signal.aborted) {
    const isDone = await attempt().catch((reason: unknown) => {
      log.debug("cannot register VolumeSnapshotLinks as a data source", { reason: Fault.from(reason).message });
      return false;
    });
    if (isDone) return;
    await world.sleep(limits.optionalKindRecheckMs, signal).catch(() => undefined);
  }
}
