/** One call's right to run: it ends with the caller's signal or when its time is up, whichever comes first. */
import type { Millis } from "../base/brand.ts";
import { Fault } from "../base/fault.ts";
import type { World } from "../base/world.ts";

export interface Guard {
  /** Aborts, with a Fault as reason, when the call must stop. */
  readonly signal: AbortSignal;
  /** The work's outcome, or a Fault: at once when the call must stop, also when the work does not listen. One at a time. */
  race<T>(work: Promise<T>): Promise<T>;
  /** Another time limit from now on, instead of the one before. */
  restart(bound: Bound): void;
  /** No time limit any more; the caller's signal still counts. */
  lift(): void;
  /** Forgets timer and caller; what is done stays done. */
  close(): void;
  /** Ends the call with this fault. */
  stop(fault: Fault): void;
}

/** How long something may take, and what it means when that is over. */
export interface Bound {
  readonly msMax: Millis;
  late(): Fault;
}

const ignore = (): void => undefined;

export function createGuard(world: Pick<World, "after">, caller: AbortSignal | undefined, bound: Bound): Guard {
  const call = new AbortController();
  // A field instead of Promise.race: racing a long-lived promise once per chunk would pile up its reactions.
  let refuse: (fault: Fault) => void = ignore;

  let isOpen = true;
  let lift = ignore;
  const restart = ({ msMax, late }: Bound): void => {
    if (!isOpen) return;
    lift();
    lift = world.after(msMax, () => stop(late()));
  };
  const close = (): void => {
    isOpen = false;
    lift();
    caller?.removeEventListener("abort", leave);
  };
  const stop = (fault: Fault): void => {
    close();
    call.abort(fault);
    refuse(fault);
  };
  const leave = (): void => stop(cancelledBy(caller?.reason));

  if (caller?.aborted) leave();
  else {
    caller?.addEventListener("abort", leave, { once: true });
    restart(bound);
  }

  return {
    signal: call.signal,
    race: (work) =>
      new Promise((resolve, reject) => {
        if (call.signal.aborted) {
          work.catch(ignore);
          return reject(call.signal.reason);
        }
        refuse = reject;
        work.then(resolve, (reason: unknown) => reject(Fault.from(reason)));
      }),
    restart,
    lift: () => lift(),
    close,
    stop,
  };
}

/** Whoever aborts with a Fault has said what happened; anything else means that we stopped waiting. */
export const cancelledBy = (reason: unknown): Fault =>
  reason instanceof Fault ? reason : new Fault("Cancelled", "the caller stopped waiting", { cause: reason });
