/**
 * What a driver can do now. It may restart as another version at any time, so its capabilities are read again whenever its
 * connection was lost: until the driver has answered, they are unknown.
 */
import { backoffMs } from "../base/backoff.ts";
import { limits } from "../base/limits.ts";
import type { Log } from "../base/log.ts";
import type { World } from "../base/world.ts";
import type { Capabilities } from "./capabilities.ts";
import type { CsiClient } from "./client.ts";

type ControllerCapabilities = Capabilities["controller"];

export interface CurrentCapabilities {
  /** Undefined from the loss of the connection until the driver has answered again. */
  current(): ControllerCapabilities | undefined;
  /** To be called when the connection is lost. */
  connectionLost(): void;
}

export interface CurrentCapabilitiesOptions {
  readonly csi: Pick<CsiClient, "controllerCapabilities">;
  /** As read at the start. */
  readonly first: ControllerCapabilities;
  readonly world: World;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Called after they were read again, changed or not. */
  onRead(): void;
}

export function createCurrentCapabilities(options: CurrentCapabilitiesOptions): CurrentCapabilities {
  const { csi, first, world, log, signal, onRead } = options;
  let known: ControllerCapabilities | undefined = first;
  let before = first;
  /** Counts losses: an answer from before the last one says nothing about who answers next. */
  let losses = 0;

  const readAgain = async (loss: number): Promise<void> => {
    for (let tries = 0; loss === losses && !signal.aborted; tries++) {
      try {
        const read = await csi.controllerCapabilities(signal); // Waits for the connection, and says so when it fails.
        if (loss === losses) accept(read);
        return;
      } catch {
        const ms = backoffMs(
          { startMs: limits.csiProbeEveryMs, maxMs: limits.csiReadAgainMsMax },
          tries,
          world.random(),
        );
        await world.sleep(ms, signal).catch(() => undefined);
      }
    }
  };

  const accept = (read: ControllerCapabilities): void => {
    known = read;
    const [lost, gained] = [before.difference(read), read.difference(before)];
    if (lost.size + gained.size > 0)
      log.info("driver reconnected with other capabilities", { gained: [...gained], lost: [...lost] });
    before = read;
    onRead();
  };

  return {
    current: () => known,
    connectionLost: () => {
      log.info("connection to the driver lost, its capabilities are read again when it is back");
      known = undefined;
      losses += 1;
      void readAgain(losses);
    },
  };
}
