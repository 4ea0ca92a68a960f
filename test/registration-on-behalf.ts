/** Registers a driver that cannot do it itself with the kubelet, as node-driver-registrar does. */
import { socketPathOf } from "../src/csi/address.ts";
import { createCsiClient } from "../src/csi/client.ts";
import { createRegistration, type DriverRegistration, type RegistrationSurroundings } from "../src/csi/registration.ts";

interface RegistrationOnBehalfOptions extends RegistrationSurroundings {
  /** The other driver's socket as this process sees it (`--csi-address`). */
  readonly address: string;
  /** The same socket as the kubelet sees it; the same path when not given. */
  readonly endpoint?: string | undefined;
}

/** Registers another driver as soon as it is up: its name is what its own socket answers. */
export async function registerOnBehalf(options: RegistrationOnBehalfOptions): Promise<DriverRegistration> {
  const client = createCsiClient(options);
  try {
    await client.probeUntilReady(options.signal);
    const driver = await client.pluginName(options.signal);
    return await createRegistration({
      ...options,
      driver,
      endpoint: options.endpoint ?? socketPathOf(options.address),
    });
  } finally {
    client.close();
  }
}
