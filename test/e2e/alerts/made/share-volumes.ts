/** The node driver of shares with two volumes, of which one cannot be emptied and one cannot be written. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { silent } from "../../../../src/base/log.ts";
import { realWorld } from "../../../../src/base/world.ts";
import { createCsiClient } from "../../../../src/csi/client.ts";
import type { ControlPlane } from "../../harness/control-plane.ts";
import { run } from "../../harness/run.ts";
import {
  createShare,
  driverKubeconfig,
  letUse,
  publishRequest,
  revokeUse,
  type ShareRequest,
  startShareDriver,
  updateSource,
} from "../../harness/share-driver.ts";
import { until } from "../../harness/until.ts";

export interface ShareVolumes {
  /** Where its metrics are scraped. */
  readonly target: string;
  /** The permission is taken away, and the file system of the volume does not let its files go. */
  keepFiles(): Promise<void>;
  /** The Secret grows beyond what a volume may take. */
  grow(): Promise<void>;
}

export async function startShareVolumes(plane: ControlPlane, namespace: string): Promise<ShareVolumes> {
  const [stuck, growing] = ["stuck", "growing"].map(
    (name): ShareRequest => ({ name, namespace, data: { token: "v1" } }),
  ) as [ShareRequest, ShareRequest];
  for (const share of [stuck, growing]) {
    await createShare(plane, share);
    await letUse(plane, { share: share.name, namespace });
  }
  const driver = await startShareDriver(plane.instance, {
    kubeconfig: await driverKubeconfig(plane),
    flags: ["--volume-memory=256Ki"],
  });
  const { node } = createCsiClient({ address: driver.socket, log: silent, world: realWorld });
  const targetOf = (name: string): string => join(plane.instance.folder, "pods", name, "mount");
  for (const { name } of [stuck, growing]) {
    mkdirSync(join(targetOf(name), ".."), { recursive: true });
    const request = publishRequest({ id: name, target: targetOf(name), namespace, share: name });
    await until({ what: `${name} is published` }, () =>
      node.nodePublishVolume(request).then(
        () => true as const,
        () => undefined,
      ),
    );
  }
  return {
    target: new URL(driver.statusUrl).host,
    keepFiles: async () => {
      await run("mount", ["-o", "remount,ro", targetOf(stuck.name)]);
      await revokeUse(plane, { share: stuck.name, namespace });
    },
    grow: () =>
      updateSource(plane, {
        ...growing,
        data: Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`key-${at}`, "x"])),
      }),
  };
}
