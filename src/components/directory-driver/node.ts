/** The CSI node service: a directory is bound into the pod, an image becomes a block device. Needs root, unlike the rest. */
import { mkdir, rm, stat, statfs, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { Fault } from "../../base/fault.ts";
import { parseQuantity, wholeUnits } from "../../base/quantity.ts";
import {
  NodeServiceCapability_RPC_Type as Capability,
  Node,
  type NodePublishVolumeRequest,
  VolumeUsage_Unit as Unit,
  type VolumeCapability,
} from "../../csi/gen/csi_pb.js";
import { serve } from "../../csi/serve.ts";
import { known } from "./controller.ts";
import { required } from "./ids.ts";
import { modeOf } from "./requests.ts";
import type { Storage, Volume } from "./storage.ts";
import { attachLoop, bindMount, detachLoop, isBound, isMounted, loopsOf, refreshLoop, unmount } from "./system.ts";

const capabilities = [Capability.GET_VOLUME_STATS, Capability.EXPAND_VOLUME, Capability.SINGLE_NODE_MULTI_WRITER];

export interface NodeOptions {
  readonly storage: Storage;
  readonly nodeId: string;
}

export function nodeService({ storage, nodeId }: NodeOptions) {
  return serve(Node, {
    nodeGetCapabilities: () => ({
      capabilities: capabilities.map((type) => ({ type: { case: "rpc" as const, value: { type } } })),
    }),
    nodeGetInfo: () => ({ nodeId }),
    async nodePublishVolume(request, signal) {
      const target = required(request.targetPath, "target_path");
      const capability = request.volumeCapability;
      if (capability === undefined) throw new Fault("InvalidArgument", "volume_capability is required");
      const volume = await volumeFor(storage, request, signal);
      const mode = modeOf([capability]);
      if (mode !== volume.mode)
        throw new Fault("InvalidArgument", `volume ${volume.id} is a ${volume.mode} volume, the pod asks for ${mode}`);
      if (!(await isMounted(target)))
        await publish(storage.dataOf(volume), target, volume.mode, isReadOnly(request, capability));
      return {};
    },
    async nodeUnpublishVolume({ volumeId, targetPath }) {
      const id = required(volumeId, "volume_id");
      const target = required(targetPath, "target_path");
      while (await isMounted(target)) await unmount(target);
      await rm(target, { recursive: false, force: true }).catch(() => rm(target, { recursive: true, force: true }));
      const volume = storage.volumes.get(id);
      if (volume?.mode === "block") await letGo(storage.dataOf(volume));
      if (volume?.ephemeral === true) await storage.deleteVolume(id);
      return {};
    },
    async nodeGetVolumeStats({ volumeId, volumePath }) {
      const path = required(volumePath, "volume_path");
      const volume = known(storage, required(volumeId, "volume_id"));
      const found = await stat(path).catch(() => undefined);
      if (found === undefined) throw new Fault("NotFound", `volume_path ${path} does not exist`);
      return {
        usage: volume.mode === "block" ? [{ unit: Unit.BYTES, total: BigInt(volume.bytes) }] : await usageOf(path),
      };
    },
    async nodeExpandVolume({ volumeId, volumePath }) {
      const id = required(volumeId, "volume_id");
      required(volumePath, "volume_path");
      const volume = known(storage, id);
      if (volume.mode === "block")
        for (const device of await loopsOf(storage.dataOf(volume))) await refreshLoop(device);
      return { capacityBytes: BigInt(volume.bytes) };
    },
  });
}

const isReadOnly = ({ readonly: readOnly }: NodePublishVolumeRequest, { accessType }: VolumeCapability): boolean =>
  readOnly || (accessType.case === "mount" && accessType.value.mountFlags.includes("ro"));

/** An inline volume of a pod is made on the spot and named after the pod's use of it. */
function volumeFor(
  storage: Storage,
  { volumeId, volumeContext }: NodePublishVolumeRequest,
  signal: AbortSignal,
): Promise<Volume> | Volume {
  const id = required(volumeId, "volume_id");
  if (volumeContext["csi.storage.k8s.io/ephemeral"] !== "true") return known(storage, id);
  const bytesMin = volumeContext.size === undefined ? 0 : Number(wholeUnits(parseQuantity(volumeContext.size)));
  return storage.createVolume(
    { name: id, mode: "mount", origin: { kind: "empty" }, bytesMin, bytesMax: 0, ephemeral: true },
    signal,
  );
}

async function publish(data: string, target: string, mode: Volume["mode"], readOnly: boolean): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: 0o750 });
  if (mode === "mount") {
    await mkdir(target, { recursive: true, mode: 0o750 });
    return bindMount(data, target, readOnly);
  }
  await writeFile(target, "", { flag: "a" });
  const device = (await loopsOf(data))[0] ?? (await attachLoop(data, readOnly));
  await bindMount(device, target, false);
}

/** The loop device of an image goes with its last use; one that is still bound elsewhere refuses, and stays. */
async function letGo(image: string): Promise<void> {
  for (const device of await loopsOf(image)) if (!(await isBound(device))) await detachLoop(device);
}

async function usageOf(path: string) {
  const { bavail, bfree, blocks, bsize, ffree, files } = await statfs(path, { bigint: true });
  return [
    { unit: Unit.BYTES, available: bavail * bsize, total: blocks * bsize, used: (blocks - bfree) * bsize },
    { unit: Unit.INODES, available: ffree, total: files, used: files - ffree },
  ];
}
