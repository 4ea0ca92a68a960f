/**
 * The real csi-driver-host-path as a process that a test can kill and start again over the same data. Two defects of this
 * version to know: it remembers one snapshot per source volume (a second one replaces the first), and it rewrites its
 * state file in place, so that a kill while it writes may leave it unable to start.
 */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Daemon, Instance } from "./instance.ts";
import { tool } from "./tools.ts";
import { until } from "./until.ts";

/** At import, so that a build counts against no test's time. */
const program = await tool("hostpathplugin");

export interface HostpathOptions {
  readonly driver?: string;
  readonly nodeId?: string;
  readonly flags?: readonly string[];
}

export interface Hostpath {
  readonly driver: string;
  /** The path of its socket. */
  readonly socket: string;
  daemon(): Daemon;
  kill(): Promise<void>;
  /** Brings it back with the volumes and snapshots it had. */
  start(): Promise<void>;
}

export async function startHostpath(instance: Instance, options: HostpathOptions = {}): Promise<Hostpath> {
  const { driver = "hostpath.csi.k8s.io", nodeId = "localhost", flags = [] } = options;
  const folder = join(instance.folder, driver);
  const [socket, data] = [join(folder, "csi.sock"), join(folder, "data")];
  mkdirSync(data, { recursive: true });
  const run = async (): Promise<Daemon> => {
    rmSync(socket, { force: true }); // Left by a killed one; the driver would replace it, but only after we looked.
    const daemon = instance.start(driver, program, [
      `--drivername=${driver}`,
      `--nodeid=${nodeId}`,
      `--endpoint=unix://${socket}`,
      `--statedir=${data}`,
      "--enable-topology=false",
      "--v=5",
      ...flags,
    ]);
    await until({ what: `${driver} has made its socket` }, () => {
      if (!daemon.running()) throw new Error(`hostpathplugin ended while starting:\n${daemon.lastWords()}`);
      return existsSync(socket) ? true : undefined;
    });
    return daemon;
  };
  let daemon = await run();
  return {
    driver,
    socket,
    daemon: () => daemon,
    kill: () => daemon.stop("SIGKILL"),
    start: async () => {
      daemon = await run();
    },
  };
}
