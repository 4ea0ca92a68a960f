/** Where the snapshot suites are played: an API server, a driver, our controller and sidecar, and a provisioner. */
import { join } from "node:path";
import type { ClientOptions } from "../../../src/kube/client.ts";
import { aStorageClass } from "./claims.ts";
import { type Client, type Connection, connect } from "./client.ts";
import type { Place, UserOptions } from "./component-users.ts";
import { aClassFor, csiClientTo, type Fixtures, installSnapshotCrds, startComponent } from "./components.ts";
import { startControlPlane } from "./control-plane.ts";
import { type DirectoryDriverOptions, startDirectoryDriver } from "./directory-driver.ts";
import { startEmbeddedServer } from "./embedded.ts";
import { type HostpathOptions, startHostpath } from "./hostpath.ts";
import type { Daemon, Instance } from "./instance.ts";
import { snapshotsOf } from "./snapshots.ts";
import { startUpstream, unthrottled } from "./upstream.ts";

export interface Driver {
  readonly driver: string;
  readonly socket: string;
  /** The folder that holds a volume's files. */
  dataOf(volumeHandle: string): string;
}

export const drivers = {
  hostpath: async (instance: Instance, options: HostpathOptions = {}): Promise<Driver> => {
    const { driver, socket } = await startHostpath(instance, options);
    return { driver, socket, dataOf: (handle) => join(instance.folder, driver, "data", handle) };
  },
  "directory-driver": async (instance: Instance, options: DirectoryDriverOptions = {}): Promise<Driver> => {
    const { driver, socket, root } = await startDirectoryDriver(instance, options);
    return { driver, socket, dataOf: (handle) => join(root, "volumes", handle, "data") };
  },
} as const;

/** A plain name of a driver, for objects that belong to it. */
export const shortName = ({ driver }: Driver): string => driver.replace(/\..*/, "");

export interface TestServer extends Place {
  readonly connection: Connection;
  stop(): void;
}

type Gates = Readonly<Record<string, boolean>>;

const bareGrounds = {
  "real control plane": async (featureGates: Gates) => {
    const plane = await startControlPlane({ featureGates });
    return { ...plane, plane };
  },
  "embedded server": async (_featureGates: Gates) => ({ ...(await startEmbeddedServer()), plane: undefined }),
  /** With the fields and the refusals of the requirement documents. */
  "embedded server of the documents": async (_featureGates: Gates) => ({
    ...(await startEmbeddedServer(["--claim-rules=documents"])),
    plane: undefined,
  }),
} as const;

export const testServers = {
  "real control plane": () => testServerWith("real control plane", {}, installSnapshotCrds),
  "embedded server": () => testServerWith("embedded server", {}, installSnapshotCrds),
  "embedded server of the documents": () => testServerWith("embedded server of the documents", {}, installSnapshotCrds),
} as const;

/** A ground whose snapshot CRDs are others, seen by a client of other options. */
export async function testServerWith(
  ground: keyof typeof bareGrounds,
  options: Partial<ClientOptions>,
  installCrds: (client: Client) => Promise<void>,
  featureGates: Gates = {},
): Promise<TestServer> {
  const server = await bareGrounds[ground](featureGates);
  const connection = await connect(server.kubeconfig, options);
  await installCrds(connection.client);
  return { ...server, connection, stop: () => end(connection, server) };
}

/** Which driver on which ground: what a user sees must be the same on all of them. */
export const combinations = [
  ["hostpath", "real control plane"],
  ["directory-driver", "real control plane"],
  ["directory-driver", "embedded server"],
] as const satisfies readonly Combination[];
export type Combination = readonly [keyof typeof drivers, keyof typeof testServers];

function end(connection: Connection, server: { stop(): void }): void {
  connection.close();
  server.stop();
}

export type SnapshotSuite = ReturnType<typeof snapshotsOf> & {
  readonly fixtures: Fixtures;
  readonly driver: Driver;
  readonly sidecar: Daemon;
  /** Another one of the same flags. */
  startSidecar(): Promise<Daemon>;
  /** Names of the two classes. */
  readonly classes: { readonly delete: string; readonly retain: string };
};

/** Two classes for the driver, our sidecar beside it. The controller is shared by all drivers of a place. */
export async function snapshotSuiteFor(
  place: Place,
  { client }: Connection,
  driver: Driver,
  sidecarFlags: readonly string[] = [],
  user: UserOptions = {},
): Promise<SnapshotSuite> {
  const fixtures: Fixtures = {
    client,
    csi: csiClientTo(driver.socket),
    driver: driver.driver,
    namespace: "default",
  };
  const startSidecar = () =>
    startComponent(place, "csi-snapshotter", [`--csi-address=${driver.socket}`, ...sidecarFlags], user);
  const sidecar = await startSidecar();
  const name = shortName(driver);
  const classes = { delete: `delete-${name}`, retain: `retain-${name}` };
  await aClassFor(fixtures, classes.delete, "Delete");
  await aClassFor(fixtures, classes.retain, "Retain");
  return { ...snapshotsOf(fixtures), fixtures: fixtures, driver, sidecar, startSidecar, classes };
}

/** A storage class of the driver's name, and upstream's csi-provisioner to serve it. */
export async function provisionBy(place: Place, { client }: Connection, driver: Driver): Promise<string> {
  const name = shortName(driver);
  await aStorageClass(client, name, driver.driver);
  startUpstream(place, "csi-provisioner", [`--csi-address=${driver.socket}`, ...unthrottled]);
  return name;
}
