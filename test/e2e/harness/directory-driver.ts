/** `snapkeep directory-driver` as a process that a test can kill and start again over the same data. */
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { CsiClient } from "../../../src/csi/client.ts";
import { VolumeCapability_AccessMode_Mode as AccessMode } from "../../../src/csi/gen/csi_pb.js";
import type { Daemon, Instance } from "./instance.ts";
import { until } from "./until.ts";

const main = resolve(import.meta.dirname, "../../../src/main.ts");

export interface DirectoryDriverOptions {
  readonly driver?: string;
  /** Where it keeps its volumes; a folder of the instance unless said otherwise. */
  readonly root?: string;
  readonly flags?: readonly string[];
}

export interface DirectoryDriverProcess {
  readonly driver: string;
  readonly socket: string;
  readonly root: string;
  daemon(): Daemon;
  kill(): Promise<void>;
  /** Brings it back with the volumes and snapshots it had. */
  start(): Promise<void>;
}

export async function startDirectoryDriver(
  instance: Instance,
  options: DirectoryDriverOptions = {},
): Promise<DirectoryDriverProcess> {
  const { driver = "directory.snapkeep.dev", flags = [] } = options;
  const folder = join(instance.folder, driver);
  mkdirSync(folder, { recursive: true });
  const { root = join(folder, "root") } = options;
  const socket = join(folder, "csi.sock");
  const run = async (): Promise<Daemon> => {
    const daemon = instance.start(driver, process.execPath, [
      main,
      "directory-driver",
      `--driver-name=${driver}`,
      `--endpoint=unix://${socket}`,
      `--root=${root}`,
      "-v=5",
      ...flags,
    ]);
    await until({ what: `${driver} serves`, everyMs: 10 }, () => {
      if (!daemon.running()) throw new Error(`directory-driver ended while starting:\n${daemon.lastWords()}`);
      return daemon.lastWords().includes("for laptops and tests") ? true : undefined;
    });
    return daemon;
  };
  let daemon = await run();
  return {
    driver,
    socket,
    root,
    daemon: () => daemon,
    kill: () => daemon.stop("SIGKILL"),
    start: async () => {
      daemon = await run();
    },
  };
}

export type VolumeMode = "mount" | "block";

export const capabilityOf = (mode: VolumeMode, accessMode = AccessMode.SINGLE_NODE_WRITER) => ({
  accessType: { case: mode, value: {} } as const,
  accessMode: { mode: accessMode },
});

export const fromSnapshot = (snapshotId: string) => ({
  volumeContentSource: { type: { case: "snapshot" as const, value: { snapshotId } } },
});

/** Makes a volume; what else the request says may be added. Returns its id. */
export async function newVolume(
  { controller }: Pick<CsiClient, "controller">,
  name: string,
  mode: VolumeMode = "mount",
  more: Parameters<CsiClient["controller"]["createVolume"]>[0] = {},
): Promise<string> {
  const { volume } = await controller.createVolume({ name, volumeCapabilities: [capabilityOf(mode)], ...more });
  return volume?.volumeId ?? "";
}
