/** The group side from the sidecar's parts: it runs while the group kinds are served, and asks what the driver can do. */
import { backoffMs } from "../../../base/backoff.ts";
import { limits } from "../../../base/limits.ts";
import type { Driver } from "../../../csi/driver.ts";
import type { ComponentContext } from "../../../runtime/component.ts";
import { createServedPart } from "../../../runtime/served-part.ts";
import { createGroupSide, type GroupSideDeps } from "./index.ts";

interface GroupSideOptions extends Omit<GroupSideDeps, "facts" | "csi"> {
  readonly api: ComponentContext["api"];
  readonly driver: Driver;
}

export function startGroupSide({ driver, ...deps }: GroupSideOptions) {
  const { api, world, log } = deps;
  let canGroup: boolean | undefined;
  const parts = new Set<{ factsChanged(): void }>();
  const kinds = ["VolumeGroupSnapshotContent", "VolumeGroupSnapshotClass"] as const;
  const served = createServedPart({ api, world, log, name: "group snapshots", kinds });
  let reads = 0;

  /** A driver that cannot be asked is asked again; a newer reading overtakes this one. */
  const readCapabilities = async (signal: AbortSignal): Promise<void> => {
    reads += 1;
    const own = reads;
    for (let tries = 0; own === reads && !signal.aborted; tries++) {
      const found = await driver.csi.capabilities(signal).catch(() => undefined);
      if (found !== undefined && own === reads) {
        canGroup = found.group.has("CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT");
        for (const part of parts) part.factsChanged();
        return;
      }
      const pauses = { startMs: limits.csiProbeEveryMs, maxMs: limits.csiReadAgainMsMax };
      await world.sleep(backoffMs(pauses, tries, world.random()), signal).catch(() => undefined);
    }
  };

  return {
    run: async (signal: AbortSignal): Promise<void> => {
      await served.run(signal, async (stop) => {
        const part = createGroupSide({
          ...deps,
          csi: driver.csi,
          facts: () => ({ driver: driver.name, canGroup: driver.capabilities() === undefined ? undefined : canGroup }),
        });
        parts.add(part);
        driver.onRead(() => void readCapabilities(stop));
        await Promise.all([readCapabilities(stop), part.run(stop)]);
        parts.delete(part);
      });
    },
  };
}
