/** Volumes of the share driver, asked for as a kubelet asks, and what is left of them. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { connectTo } from "../../csi-sockets.ts";
import type { Instance } from "./instance.ts";
import { mountsUnder } from "./mounts.ts";
import { publishRequest, type ShareDriver, type VolumeRequest } from "./share-driver.ts";
import { until } from "./until.ts";

export interface TestVolume extends VolumeRequest {
  /** The value of the key "token". */
  readonly token: string;
}

/** In the folder where the harness's driver expects the kubelet's pods. */
export function volumeIn(instance: Pick<Instance, "folder">, request: Omit<VolumeRequest, "target">): TestVolume {
  const target = join(instance.folder, "pods", request.id, "mount");
  mkdirSync(join(target, ".."), { recursive: true });
  return { ...request, target, token: join(target, "token") };
}

export function kubeletOf(t: TestContext, driver: Pick<ShareDriver, "socket">) {
  const { node } = connectTo(t, driver.socket);
  const publish = (volume: VolumeRequest) => node.nodePublishVolume(publishRequest(volume));
  return {
    publish,
    /** The caches are filled a moment after the socket is there. */
    published: (volume: VolumeRequest) =>
      until({ what: `${volume.id} is published` }, () =>
        publish(volume).then(
          () => true as const,
          (reason: { code?: string }) => {
            if (reason.code !== "Unavailable") throw reason;
            return undefined;
          },
        ),
      ),
    unpublish: ({ id, target }: Pick<VolumeRequest, "id" | "target">) =>
      node.nodeUnpublishVolume({ volumeId: id, targetPath: target }),
  };
}

export function nothingLeft(instance: Pick<Instance, "folder">, driver: Pick<ShareDriver, "records">): void {
  const pods = join(instance.folder, "pods");
  assert.deepEqual(mountsUnder(pods), []);
  assert.deepEqual(readdirSync(driver.records), []);
  const left = readdirSync(pods, { recursive: true }).filter((name) => String(name).endsWith("/mount"));
  assert.deepEqual(left, []);
}

export const reads = (path: string, text: string): Promise<true> =>
  until({ what: `${path} reads ${text}`, everyMs: 20 }, () =>
    existsSync(path) && readFileSync(path, "utf8") === text ? true : undefined,
  );
