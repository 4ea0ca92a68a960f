/** The CSI node service: a directory is bound into the pod, an image becomes a block device. Needs root, unlike the rest. */
import { lstat, realpath, rmdir, stat, statfs, unlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { Fault } from "../../base/fault.ts";
import { parseQuantity, wholeUnits } from "../../base/quantity.ts";
import {
  VolumeCapability_AccessMode_Mode as AccessMode,
  NodeServiceCapability_RPC_Type as Capability,
  Node,
  type NodePublishVolumeRequest,
  VolumeUsage_Unit as Unit,
  type VolumeCapability,
} from "../../csi/gen/csi_pb.js";
import { serve } from "../../csi/serve.ts";
import { makeFolders } from "../../node/folders.ts";
import { asksReadOnly, flagsOf } from "../../node/mount-flags.ts";
import type { Mounting } from "../../node/mounting.ts";
import { unlessMissing } from "../../node/mounts.ts";
import { planPublish } from "../../node/plan-publish.ts";
import { idFor, required } from "./ids.ts";
import { bytesOf, modeOf } from "./requests.ts";
import type { Storage } from "./storage.ts";
import { known, type Volume } from "./types.ts";

const capabilities = [Capability.GET_VOLUME_STATS, Capability.EXPAND_VOLUME, Capability.SINGLE_NODE_MULTI_WRITER];

export interface NodeOptions {
  readonly storage: Storage;
  readonly mounting: Mounting;
  readonly nodeId: string;
}

export function nodeService({ storage, mounting, nodeId }: NodeOptions) {
  return serve(Node, {
    nodeGetCapabilities: () => ({
      capabilities: capabilities.map((type) => ({ type: { case: "rpc" as const, value: { type } } })),
    }),
    nodeGetInfo: () => ({ nodeId }),
    async nodePublishVolume(request) {
      const path = required(request.targetPath, "target_path");
      const capability = request.volumeCapability;
      if (capability === undefined) throw new Fault("InvalidArgument", "volume_capability is required");
      const mode = modeOf([capability]);
      const flags = flagsOf(capability);
      const volume = await volumeFor(storage, request);
      if (mode !== volume.mode)
        throw new Fault("InvalidArgument", `volume ${volume.id} is a ${volume.mode} volume, the pod asks for ${mode}`);
      await publish({ storage, mounting }, volume, await makeTarget(path, mode), {
        readOnly: isReadOnly(request, capability),
        flags,
        alone: capability.accessMode?.mode === AccessMode.SINGLE_NODE_SINGLE_WRITER,
      });
      return {};
    },
    async nodeUnpublishVolume({ volumeId, targetPath }) {
      const id = required(volumeId, "volume_id");
      await removeTarget(required(targetPath, "target_path"), mounting);
      const volume = publishedAs(storage, id);
      if (volume?.mode === "block") await mounting.releaseLoops(storage.dataOf(volume));
      if (volume?.ephemeral === true) await storage.deleteVolume(volume.id);
      return {};
    },
    async nodeGetVolumeStats({ volumeId, volumePath }) {
      const path = required(volumePath, "volume_path");
      const volume = publishedAs(storage, required(volumeId, "volume_id")) ?? known(storage.volumes, volumeId);
      const found = await stat(path).catch(() => undefined);
      if (found === undefined) throw new Fault("NotFound", `volume_path ${path} does not exist`);
      return {
        usage: volume.mode === "block" ? [{ unit: Unit.BYTES, total: BigInt(volume.bytes) }] : await usageOf(path),
      };
    },
    async nodeExpandVolume({ volumeId, volumePath }) {
      const id = required(volumeId, "volume_id");
      required(volumePath, "volume_path");
      const volume = known(storage.volumes, id);
      if (volume.mode === "block") await mounting.growLoops(storage.dataOf(volume));
      return { capacityBytes: BigInt(volume.bytes) };
    },
  });
}

const isReadOnly = ({ readonly: readOnly }: NodePublishVolumeRequest, capability: VolumeCapability): boolean =>
  readOnly || capability.accessMode?.mode === AccessMode.SINGLE_NODE_READER_ONLY || asksReadOnly(capability);

/** An inline volume of a pod is made on the spot and named after the pod's use of it. */
function volumeFor(storage: Storage, { volumeId, volumeContext }: NodePublishVolumeRequest): Promise<Volume> | Volume {
  const id = required(volumeId, "volume_id");
  if (volumeContext["csi.storage.k8s.io/ephemeral"] !== "true") return known(storage.volumes, id);
  const bytesMin = bytesOf(wholeUnits(parseQuantity(volumeContext.size ?? "0")), "volume attribute size");
  return storage.createVolume({
    name: id,
    mode: "mount",
    origin: { kind: "empty" },
    bytesMin,
    bytesMax: 0,
    ephemeral: true,
  });
}

/** Inline volumes are known to the caller by the name they were made with, which need not be our id. */
function publishedAs({ volumes }: Storage, id: string): Volume | undefined {
  const inline = volumes.get(idFor(id));
  return inline?.ephemeral === true && inline.name === id ? inline : volumes.get(id);
}

/** Returns the real path: the mount table knows no symbolic links. */
async function makeTarget(path: string, mode: Volume["mode"]): Promise<string> {
  await makeFolders(mode === "mount" ? path : dirname(path), 0o750);
  if (mode === "block") await writeFile(path, "", { flag: "a" });
  return realpath(path);
}

interface Manner {
  readonly readOnly: boolean;
  readonly flags: readonly string[];
  /** Nobody else may have it at the same time. */
  readonly alone: boolean;
}

async function publish(
  { storage, mounting }: Pick<NodeOptions, "storage" | "mounting">,
  { id: volumeId, mode, ...volume }: Volume,
  target: string,
  { readOnly, flags, alone }: Manner,
): Promise<void> {
  const data = storage.dataOf({ id: volumeId, mode, ...volume });
  const [otherUse] = alone ? await mounting.usesOf(data, mode) : [];
  const source = await realpath(mode === "mount" ? data : await mounting.loopFor(data, readOnly));
  const found = await mounting.standing(target, source);
  // A device is read-only by itself.
  const options = mode === "mount" ? [...(readOnly ? ["ro"] : []), ...flags] : [];
  const { bind, remount } = planPublish({ volumeId, target, found, readOnly, options, otherUse });
  if (bind) await mounting.bind(source, target);
  if (remount.length > 0) await setOptions(mounting, target, source, remount);
}

/** A pod must not run with fewer restrictions than were asked for: an older mount(8) ignores what it does not know. */
async function setOptions(
  mounting: Mounting,
  target: string,
  source: string,
  options: readonly string[],
): Promise<void> {
  try {
    await mounting.remount(target, options);
    const now = await mounting.standing(target, source);
    const missing = options.filter((option) => typeof now === "string" || !now.options.includes(option));
    if (missing.length > 0)
      throw new Fault(
        "FailedPrecondition",
        `this system does not apply the mount options ${missing.join(", ")}: leave them out of mountOptions`,
      );
  } catch (reason) {
    await mounting.unmount(target);
    throw reason;
  }
}

/** Never with what is in it: should a mount have been missed, that would be the volume. */
async function removeTarget(path: string, { unmount }: Pick<Mounting, "unmount">): Promise<void> {
  const target = await realpath(path).catch(unlessMissing(undefined));
  if (target === undefined) return;
  await unmount(target);
  if (!(await lstat(target)).isDirectory()) return unlink(target);
  await rmdir(target).catch((reason: NodeJS.ErrnoException) => {
    if (reason.code !== "ENOTEMPTY") throw reason;
    throw new Fault("FailedPrecondition", `${target} holds files, and nothing is mounted there: move them away`);
  });
}

async function usageOf(path: string) {
  const { bavail, bfree, blocks, bsize, ffree, files } = await statfs(path, { bigint: true });
  return [
    { unit: Unit.BYTES, available: bavail * bsize, total: blocks * bsize, used: (blocks - bfree) * bsize },
    { unit: Unit.INODES, available: ffree, total: files, used: files - ffree },
  ];
}
