/**
 * A CSI driver over plain directories, for laptops and tests. A snapshot is a copy: it shares blocks where the file system
 * can, and is the picture of one moment only when nothing writes meanwhile. It keeps no quotas, and serves one node.
 */
import type { Log } from "../../base/log.ts";
import type { World } from "../../base/world.ts";
import {
  PluginCapability_VolumeExpansion_Type as Expansion,
  Identity,
  PluginCapability_Service_Type as Service,
} from "../../csi/gen/csi_pb.js";
import { type Served, serve } from "../../csi/serve.ts";
import { type CsiServer, createCsiServer } from "../../csi/server.ts";
import { createMounting, type Mounting } from "../../node/mounting.ts";
import { controllerService } from "./controller.ts";
import { faultInjectionLayer, type InjectedFault } from "./fault-injection.ts";
import { groupControllerService } from "./group-controller.ts";
import { nodeService } from "./node.ts";
import { openStorage, type Storage } from "./storage.ts";

export interface DirectoryDriverOptions {
  /** Where volumes and snapshots lie. */
  readonly root: string;
  readonly name: string;
  readonly nodeId: string;
  readonly version: string;
  readonly snapshotDelayMs: number;
  readonly snapshotSecret: string;
  readonly world: World;
  readonly log: Log;
  /** The system's own unless given. */
  readonly mounting?: Mounting;
}

export interface DirectoryDriver {
  readonly storage: Storage;
  readonly services: readonly Served[];
  /** Ends what is still being copied. To be called when no more calls come in. */
  close(): Promise<void>;
  /** After a start that failed: removes a root that was new. To be called after `close`. */
  discard(): Promise<void>;
}

export async function createDirectoryDriver(options: DirectoryDriverOptions): Promise<DirectoryDriver> {
  const { root, world, log, mounting = createMounting() } = options;
  const storage = await openStorage(root, world, log, mounting);
  const services = [
    identityService(options),
    controllerService({ ...options, storage, mounting }),
    groupControllerService({ ...options, storage }),
    nodeService({ ...options, storage, mounting }),
  ];
  return { storage, services, close: storage.close, discard: storage.discard };
}

const identityService = ({ name, version }: DirectoryDriverOptions): Served =>
  serve(Identity, {
    getPluginInfo: () => ({ name, vendorVersion: version }),
    getPluginCapabilities: () => ({
      capabilities: [
        { type: { case: "service", value: { type: Service.CONTROLLER_SERVICE } } },
        { type: { case: "service", value: { type: Service.GROUP_CONTROLLER_SERVICE } } },
        { type: { case: "volumeExpansion", value: { type: Expansion.ONLINE } } },
      ],
    }),
    probe: () => ({ ready: true }),
  });

export interface ServingOptions {
  readonly address: string;
  readonly faults?: readonly InjectedFault[];
  readonly world: World;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export const serveDirectoryDriver = (
  { services }: DirectoryDriver,
  { faults = [], ...options }: ServingOptions,
): Promise<CsiServer> => createCsiServer({ ...options, services, innermost: faultInjectionLayer(faults) });
