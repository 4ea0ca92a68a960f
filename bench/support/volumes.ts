/** The PersistentVolumes that provisioners store for claims. */
import type { Client } from "../../test/e2e/harness/client.ts";
import { until } from "../../test/e2e/harness/until.ts";

export const untilVolumesAreGone = (client: Client): Promise<true> =>
  until({ what: "all volumes are gone", msMax: 600_000, everyMs: 100 }, async () =>
    (await client.list("PersistentVolume", {})).objects.every(({ metadata }) => !metadata.name.startsWith("pvc-"))
      ? true
      : undefined,
  );
