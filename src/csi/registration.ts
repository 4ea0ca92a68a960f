/**
 * How a kubelet learns of a driver: it watches a folder, asks the socket it finds there who it is, and reports back. The
 * driver named need not be in this process.
 */
import { join } from "node:path";
import { limits } from "../base/limits.ts";
import type { Log } from "../base/log.ts";
import type { World } from "../base/world.ts";
import { checkedDriverName } from "./driver-name.ts";
import { Registration } from "./gen/registration_pb.js";
import { serve } from "./serve.ts";
import { createCsiServer } from "./server.ts";

export type RegistrationStatus =
  | { readonly kind: "waiting" }
  | { readonly kind: "registered" }
  | { readonly kind: "refused"; readonly error: string };

export interface RegistrationSurroundings {
  /** The kubelet's plugins_registry folder, as this process sees it. */
  readonly registryFolder: string;
  readonly log: Log;
  readonly world: World;
  /** Aborting withdraws the registration: the socket goes, and the kubelet forgets the driver. */
  readonly signal: AbortSignal;
  /** Told each time the kubelet reports, also after a restart of the kubelet. */
  readonly onStatus?: ((status: RegistrationStatus) => void) | undefined;
}

export interface RegistrationOptions extends RegistrationSurroundings {
  readonly driver: string;
  /** The driver's socket as the kubelet sees it (`--kubelet-registration-path`). */
  readonly endpoint: string;
}

export interface DriverRegistration {
  readonly path: string;
  status(): RegistrationStatus;
  readonly closed: Promise<void>;
}

export async function createRegistration(options: RegistrationOptions): Promise<DriverRegistration> {
  const { registryFolder, endpoint, world, signal } = options;
  const driver = checkedDriverName(options.driver);
  const log = options.log.with({ driver });
  let status: RegistrationStatus = { kind: "waiting" };
  const take = (next: RegistrationStatus): void => {
    status = next;
    if (next.kind === "refused") log.error("kubelet rejected the driver", { error: next.error });
    else log.info("kubelet has registered the driver");
    options.onStatus?.(next);
  };
  const server = await createCsiServer({
    address: join(registryFolder, `${driver}-reg.sock`),
    log,
    world,
    signal,
    drainMs: limits.registrationDrainMs,
    services: [
      serve(Registration, {
        getInfo: () => ({ type: "CSIPlugin", name: driver, endpoint, supportedVersions: ["1.0.0"] }),
        notifyRegistrationStatus: ({ pluginRegistered, error }) => {
          take(pluginRegistered ? { kind: "registered" } : { kind: "refused", error });
          return {};
        },
      }),
    ],
  });
  return { path: server.path, status: () => status, closed: server.closed };
}
