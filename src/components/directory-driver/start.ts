/** The directory-driver from its context and options: its storage, its socket, and its registration with the kubelet. */
import { whenAborted } from "../../base/world.ts";
import { createLocks, layered, locked } from "../../csi/layers.ts";
import { createRegistration } from "../../csi/registration.ts";
import { unaryOf } from "../../csi/serve.ts";
import type { Unary } from "../../csi/wire.ts";
import type { Component, ProcessContext } from "../../runtime/frame.ts";
import { faultInjectionLayer, type InjectedFault } from "./fault-injection.ts";
import {
  createDirectoryDriver,
  type DirectoryDriver,
  type DirectoryDriverOptions,
  serveDirectoryDriver,
} from "./index.ts";

export interface StartOptions extends Omit<DirectoryDriverOptions, "world" | "log"> {
  readonly faults: readonly InjectedFault[];
  /** The socket to listen on; absent: only callers in this process reach the driver. */
  readonly address?: string | undefined;
  /** The kubelet's registration folder, and the socket path on the host; absent: no registration. */
  readonly registration?: { readonly endpoint: string; readonly registryFolder: string } | undefined;
}

export interface DirectoryDriverComponent extends Component {
  readonly driver: DirectoryDriver;
  /** For callers in this process. */
  readonly calls: Unary;
}

/** The sockets close when the context's signal aborts. Calls under way may still end; `run` waits for them. */
export async function start(context: ProcessContext, options: StartOptions): Promise<DirectoryDriverComponent> {
  const { world, log } = context;
  const { name, version, root, faults, address, registration } = options;
  const driver = await createDirectoryDriver({ ...options, world, log });
  const failing = new AbortController();
  const serving = { world, log, signal: AbortSignal.any([context.signal, failing.signal]) };
  const closed: Promise<void>[] = [];
  try {
    if (address !== undefined) {
      closed.push((await serveDirectoryDriver(driver, { ...serving, address, faults })).closed);
      log.info("serving volumes from plain directories, for laptops and tests", { driver: name, version, root });
    }
    if (registration !== undefined)
      closed.push((await createRegistration({ ...serving, ...registration, driver: name })).closed);
  } catch (reason) {
    failing.abort();
    await Promise.all(closed);
    await driver.close();
    await driver.discard();
    throw reason;
  }
  return {
    driver,
    calls: layered(unaryOf(driver.services), locked(createLocks()), faultInjectionLayer(faults)),
    run: async (signal) => {
      try {
        await Promise.all([...closed, whenAborted(signal)]);
      } finally {
        failing.abort();
        await Promise.all(closed);
        await driver.close();
      }
    },
  };
}
