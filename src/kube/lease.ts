/**
 * Leader election by a Lease, compatible with client-go's.
 *
 *  candidate ──── lease free, released or run out ────▶ leader ──── work done or stopped ────▶ released
 *                                                          └── renew deadline passed, or another holds it ──▶ lost
 *
 * A released lease goes to the youngest candidate (see yieldMsAt); a lease that has run out goes to the first that notices.
 *
 * Why there are never two leaders: a leader counts its renew deadline from *before* it sent the last renewal that succeeded;
 * a candidate counts the (longer) lease duration from *after* it first read that renewal. Both use their own monotonic
 * clock. Losing is final: a renewal that succeeds too late changes nothing.
 */
import type { EventText } from "../api/plan.ts";
import type { Lease } from "../api/types.ts";
import type { Millis } from "../base/brand.ts";
import { Fault, isFault, loggable } from "../base/fault.ts";
import { limits } from "../base/limits.ts";
import type { Log } from "../base/log.ts";
import { controllerUnder, type World, withDeadline } from "../base/world.ts";
import type { KubeApi } from "./api.ts";
import type { LeaseStep, LeaseTerm, Observation } from "./lease-record.ts";
import {
  claimedLease,
  createdLease,
  decideLease,
  observeLease,
  releasedLease,
  termOf,
  yieldMsAt,
} from "./lease-record.ts";

export interface ElectionOptions {
  readonly api: KubeApi;
  readonly world: World;
  readonly log: Log;
  readonly namespace: string;
  readonly name: string;
  /** Two processes with one identity are two leaders: make it unique per process. */
  readonly identity: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly leaseDurationMs: Millis;
  readonly renewDeadlineMs: Millis;
  readonly retryPeriodMs: Millis;
  /** Aborts to stop: the work is stopped, then the lease is released. */
  readonly signal: AbortSignal;
  /** Called whenever the lease, or its absence, was read. From the first time on, this candidate would notice a release. */
  onRead?(): void;
  /** Called when a renewal takes two requests, because the lease had to be read first. */
  onSlowRenewal?(): void;
  /** Events about the lease, with reason and words of client-go. Must return at once. */
  record?(lease: Lease, event: EventText): void;
}

export interface Leadership {
  /** Aborts when leadership is lost, and when the process is stopped. */
  readonly signal: AbortSignal;
  /**
   * To be asked, synchronously, before every write: a process that was stopped and continued has not yet had a chance to
   * run the timer that aborts the signal.
   */
  stillLeading(): boolean;
  /** As the lease was last seen. */
  term(): LeaseTerm | undefined;
}

/** finished: the work ended by itself. stopped: the signal aborted. lost: another replica leads, or might. */
export type ElectionEnd = "finished" | "stopped" | "lost";

/** Waits until we lead, then works as long as we do. Rejects with what the work rejects with. */
export async function lead(
  options: ElectionOptions,
  work: (leadership: Leadership) => Promise<void>,
): Promise<ElectionEnd> {
  checkTimes(options);
  const lock = createLock(options);
  const wonAt = await campaign(options, lock);
  if (wonAt === undefined) return "stopped";
  report(options, lock, "became leader");
  try {
    return await reign(options, lock, wonAt, work);
  } finally {
    report(options, lock, "stopped leading");
  }
}

function report({ record, identity }: ElectionOptions, lock: Lock, what: string): void {
  const lease = lock.lease();
  if (lease !== undefined)
    record?.(lease, { type: "Normal", reason: "LeaderElection", message: `${identity} ${what}` });
}

/** client-go refuses the same settings. */
function checkTimes({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }: ElectionOptions): void {
  const wrong =
    leaseDurationMs <= renewDeadlineMs
      ? `the lease duration (${leaseDurationMs} ms) must exceed the renew deadline (${renewDeadlineMs} ms)`
      : renewDeadlineMs <= retryPeriodMs * 1.2
        ? `the renew deadline (${renewDeadlineMs} ms) must exceed 1.2 times the retry period (${retryPeriodMs} ms)`
        : retryPeriodMs <= 0
          ? `the retry period (${retryPeriodMs} ms) must be positive`
          : undefined;
  if (wrong !== undefined) throw new Fault("InvalidArgument", `leader election: ${wrong}`);
}

/** A lease that is renewed too late is lost. */
const isUrgent = true;

type Lock = ReturnType<typeof createLock>;

/** The lease on the server, seen and written by us. Remembers what it read, so that a renewal is one request. */
function createLock(options: ElectionOptions) {
  const { api, world, namespace, name, identity, labels = {}, leaseDurationMs } = options;
  /** A candidate that has not read the lease yet is as young as can be: what its first read finds released, it takes at once. */
  let firstReadAt: Millis | undefined;
  let observation: Observation | undefined;
  let isFresh = false;
  let isCandidate = true;

  const read = async (signal: AbortSignal): Promise<void> => {
    const lease = await api.get({ kind: "Lease", namespace, name }, { signal, isUrgent }).catch((reason: unknown) => {
      if (isFault(reason, "NotFound")) return undefined;
      throw reason;
    });
    const now = world.elapsed();
    firstReadAt ??= now;
    observation = observeLease(observation, lease, now);
    isFresh = true;
    options.onRead?.();
  };

  /** Any write that fails may still have had its effect: before the next one, look. */
  const write = async (writing: () => Promise<Lease>): Promise<void> => {
    isFresh = false;
    observation = observeLease(observation, await writing(), world.elapsed());
    isFresh = true;
  };

  const step = (): LeaseStep => {
    const now = world.elapsed();
    const observed = observation ?? observeLease(undefined, undefined, now);
    // A leader whose lease somebody has cleared takes it again at once: while it works, no other replica may start.
    const yieldMs = isCandidate ? yieldMsAt(observed.since - (firstReadAt ?? observed.since)) : 0;
    return decideLease(observed, identity, now, { durationMs: leaseDurationMs, yieldMs });
  };
  const claim = async (writing: () => Promise<Lease>): Promise<void> => {
    await write(writing);
    isCandidate = false;
  };

  return {
    /** As last seen. */
    lease: (): Lease | undefined => observation?.lease,
    ageMs: (): Millis => (firstReadAt === undefined ? 0 : world.elapsed() - firstReadAt),
    /** Does the next step, which is reported; "wait" means that another replica leads, or may take the lease first. */
    attempt: async (signal: AbortSignal): Promise<LeaseStep> => {
      const mustLook = !isFresh || step().kind === "wait";
      if (mustLook) await read(signal);
      const next = step();
      if (mustLook && next.kind === "renew") options.onSlowRenewal?.();
      const ours = { identity, labels, durationMs: leaseDurationMs, now: world.now() };
      if (next.kind === "create")
        await claim(() => api.create("Lease", createdLease(namespace, name, ours), { signal, isUrgent }));
      else if (next.kind !== "wait")
        await claim(() => api.replace("Lease", claimedLease(next.lease, ours), { signal, isUrgent }));
      return next;
    },
    release: async (signal: AbortSignal): Promise<void> => {
      if (!isFresh) await read(signal);
      const next = step();
      if (next.kind === "renew")
        await write(() => api.replace("Lease", releasedLease(next.lease, world.now()), { signal, isUrgent }));
    },
  };
}

/** Returns when, by our clock, we began to lead; undefined when stopped before. */
async function campaign(options: ElectionOptions, lock: Lock): Promise<Millis | undefined> {
  const { world, signal, renewDeadlineMs } = options;
  const log = options.log.with({ lease: `${options.namespace}/${options.name}`, identity: options.identity });
  let holder: string | undefined;
  while (!signal.aborted) {
    const askedAt = world.elapsed();
    let sleepMs = options.retryPeriodMs * (1 + 1.2 * world.random());
    try {
      const step = await withDeadline(world, signal, renewDeadlineMs, lock.attempt);
      if (step.kind !== "wait") {
        log.info("became leader", { how: step.kind });
        return askedAt;
      }
      const leftMs = Math.max(0, step.until - world.elapsed());
      if (holder !== step.holder) {
        if (step.holder === "")
          log.info("the lease is released, and is left to younger replicas", { forMs: Math.ceil(leftMs) });
        else log.info("another replica leads", { holder: step.holder });
      }
      holder = step.holder;
      sleepMs = Math.min(lookAgainMs(options, lock), leftMs);
    } catch (reason) {
      // Losing the race for a free lease is not an error: read the winner at once.
      const isRace = isFault(reason, "Conflict", "AlreadyExists");
      if (isRace) sleepMs = lookAgainMs(options, lock) / 10;
      else if (!signal.aborted) log.warn("lease cannot be read or written", { reason: loggable(reason) });
    }
    await world.sleep(sleepMs, signal).catch(() => undefined);
  }
  return undefined;
}

/**
 * A candidate learns of a renewal when it looks, and counts from then. So its looking adds to the time until it takes over
 * from a dead leader: it looks often enough to keep that near one second, whatever the retry period. A young candidate looks more
 * often: it has to notice a release before the older ones take the lease.
 */
function lookAgainMs({ world, retryPeriodMs }: ElectionOptions, lock: Lock): Millis {
  const lookMs = Math.min(Math.max(yieldMsAt(lock.ageMs()), limits.leaseLookMsMin), limits.leaseLookMsMax);
  return Math.min(retryPeriodMs, lookMs) * (1 + 0.2 * world.random());
}

async function reign(
  options: ElectionOptions,
  lock: Lock,
  wonAt: Millis,
  work: (leadership: Leadership) => Promise<void>,
): Promise<ElectionEnd> {
  const { world, log, signal } = options;
  const { own: working, release } = controllerUnder(signal);
  const done = new AbortController();
  let isLost = false;
  const tenure = createTenure(options, wonAt, (fault) => {
    log.error("lost leadership", { identity: options.identity, reason: fault.message });
    isLost = true;
    working.abort(fault);
  });
  const upkeep = Promise.all([tenure.guard(done.signal), tenure.renewals(lock, done.signal)]);
  try {
    const term = (): LeaseTerm | undefined => {
      const lease = lock.lease();
      return lease && termOf(lease);
    };
    await work({ signal: working.signal, stillLeading: tenure.holds, term });
  } catch (reason) {
    if (!working.signal.aborted) throw reason;
  } finally {
    release();
    done.abort();
    await upkeep;
    // Only now: while the work runs, no other replica may start. On any error the lease expires by itself.
    if (tenure.resign())
      await withDeadline(world, undefined, limits.leaseReleaseMsMax, lock.release).catch(() => undefined);
  }
  return isLost ? "lost" : signal.aborted ? "stopped" : "finished";
}

/** One stretch of leading: until when it is certain, and what keeps it so. */
function createTenure(options: ElectionOptions, wonAt: Millis, onLost: (fault: Fault) => void) {
  const { world, log, identity, renewDeadlineMs, retryPeriodMs } = options;
  let renewedAt = wonAt;
  let over = false;

  const lose = (message: string): void => {
    if (over) return;
    over = true;
    onLost(new Fault("Aborted", message));
  };
  const remainingMs = (): Millis => renewedAt + renewDeadlineMs - world.elapsed();
  const holds = (): boolean => !over && remainingMs() > 0;
  /** A slow reply has used up a part of the deadline: what is left must hold another attempt. */
  const attemptMsMin = Math.min(limits.leaseAttemptMsMin, renewDeadlineMs / 3);
  const untilRenewalMs = (): Millis => Math.max(0, Math.min(retryPeriodMs, remainingMs() - attemptMsMin));

  const renewOnce = async (lock: Lock, signal: AbortSignal): Promise<Millis> => {
    const askedAt = world.elapsed();
    // Half of what is left, so that one stalled connection does not use up the whole deadline.
    const attemptMs = Math.min(remainingMs(), Math.max(limits.leaseAttemptMsMin, remainingMs() / 2));
    try {
      const step = await withDeadline(world, signal, attemptMs, lock.attempt);
      if (step.kind === "wait") lose(`the lease is held by ${step.holder}`);
      else if (holds()) renewedAt = askedAt;
      return untilRenewalMs();
    } catch (reason) {
      if (!signal.aborted) log.warn("lease not renewed", { identity, reason: loggable(reason) });
      return (retryPeriodMs / 5) * (0.5 + world.random());
    }
  };

  return {
    holds,
    /** From now on nothing may be written; true when it was still certain that we lead. */
    resign: (): boolean => {
      const held = holds();
      over = true;
      return held;
    },
    /** Ends the tenure the moment that the deadline passes. */
    guard: async (signal: AbortSignal): Promise<void> => {
      while (!over && !signal.aborted) {
        if (!holds()) lose(`the lease was not renewed within ${renewDeadlineMs} ms`);
        else await world.sleep(remainingMs(), signal).catch(() => undefined);
      }
    },
    renewals: async (lock: Lock, signal: AbortSignal): Promise<void> => {
      let sleepMs = untilRenewalMs();
      while (!signal.aborted) {
        await world.sleep(sleepMs, signal).catch(() => undefined);
        if (signal.aborted || !holds()) return;
        sleepMs = await renewOnce(lock, signal);
      }
    },
  };
}
