/**
 * What a controller has decided for its keys: one line of log when a decision differs from the last one of the same key, and a count of
 * the objects that wait, by reason. A reconcile that failed is a decision too: its reason counts until the actions of a later one succeed.
 *
 * The log is bounded: so many lines per object and per controller in each window. What is left out is counted in the next line, and is
 * written at the next look at the object, unless something else has been decided by then.
 *
 * Remembered: the reason of each key that waits or has failed (never more than there are objects), and at verbosity 4 the last decision
 * of so many keys. Lost with the process: a line is written once more after a restart, and the counts are complete again after the
 * first look.
 */
import { isWaiting, type Reason, type ReasonCode } from "../api/reasons.ts";
import type { Key, Millis } from "../base/brand.ts";
import { limits } from "../base/limits.ts";
import { debugVerbosity, type Fields, type Log } from "../base/log.ts";
import type { World } from "../base/world.ts";
import { createLineBudget, type LineBudget } from "./log-throttle.ts";

export interface Decision {
  readonly reason: Reason;
  readonly actions: readonly Action[];
  /** Where the object is in its life, asked only for a line of log; absent: the controller has no phases. */
  phase?(): string | undefined;
}

type Action = { readonly kind: string };

export interface Decisions {
  /** What was decided, before its actions are performed. */
  note(key: Key, decision: Decision): void;
  /** This action was refused; undefined: there was no decision. */
  failed(key: Key, reason: Reason, action: Action | undefined): void;
  /** All actions that were decided have succeeded. */
  succeeded(key: Key): void;
  /** The object is gone. */
  forget(key: Key): void;
  /** The objects that wait, by reason. */
  waiting(): ReadonlyMap<ReasonCode, Waiting>;
}

export interface Waiting {
  readonly count: number;
  /** Since one of them has been on its way without an end: what it waits for may have changed meanwhile. */
  readonly longestMs: Millis;
}

export function createDecisions(log: Log, world: Pick<World, "elapsed">): Decisions {
  const waits = createWaits(world);
  const lines = createDecisionLog(log, world);
  const isLogged = log.verbosity >= debugVerbosity;
  /** What was decided since for keys whose last reconcile failed: it counts when a reconcile has succeeded. */
  const failing = new Map<Key, Reason | undefined>();
  return {
    note(key, { reason, actions, phase }) {
      // A scrape in the middle of a retry must not find the object gone from the counts.
      if (failing.has(key) && actions.length > 0) failing.set(key, reason);
      else {
        failing.delete(key);
        waits.set(key, reason);
      }
      if (isLogged) lines.say(key, "decided", reason, { phase: phase?.(), actions: kindsOf(actions) });
    },
    failed(key, reason, action) {
      failing.set(key, undefined);
      waits.set(key, reason);
      if (isLogged) lines.say(key, "failed", reason, { failed: action?.kind ?? "decision" });
    },
    succeeded(key) {
      if (failing.has(key)) waits.set(key, failing.get(key));
      failing.delete(key);
      lines.failureIsOver(key);
    },
    forget(key) {
      failing.delete(key);
      waits.set(key, undefined);
      lines.forget(key);
    },
    waiting: waits.byReason,
  };
}

/** What waits keeps its date while a write or a call is sent for it, and while its reason changes: a retry is no new wait. */
function createWaits(world: Pick<World, "elapsed">) {
  const waits = new Map<Key, { readonly code: ReasonCode | undefined; readonly sinceMs: Millis }>();
  return {
    /** Undefined: the object is gone, or nobody knows of a reason. */
    set(key: Key, reason: Reason | undefined): void {
      const before = waits.get(key);
      const code = reason !== undefined && isWaiting(reason) ? reason.code : undefined;
      if (code === undefined && reason?.code !== "Writes") return void waits.delete(key);
      if (before?.code === code) return;
      waits.set(key, { code, sinceMs: before?.sinceMs ?? world.elapsed() });
    },
    byReason(): ReadonlyMap<ReasonCode, Waiting> {
      const found = new Map<ReasonCode, { count: number; longestMs: Millis }>();
      const now = world.elapsed();
      for (const { code, sinceMs } of waits.values()) {
        if (code === undefined) continue;
        const { count, longestMs } = found.get(code) ?? { count: 0, longestMs: 0 };
        found.set(code, { count: count + 1, longestMs: Math.max(longestMs, now - sinceMs) });
      }
      return found;
    },
  };
}

const kindsOf = (actions: readonly Action[]): string => actions.map(({ kind }) => kind).join(",") || "none";

type Sort = "decided" | "failed";
interface Said {
  readonly budget: LineBudget;
  /** The last decision of each sort, and whether it was written. */
  readonly last: { [K in Sort]?: { readonly line: string; readonly isWritten: boolean } };
}

function createDecisionLog(log: Log, world: Pick<World, "elapsed">) {
  const { decisionsRememberedMax, decisionLinesMax, decisionLinesPerKeyMax, decisionLinesMs: everyMs } = limits;
  const said = new Map<Key, Said>();
  const budget = createLineBudget(world, decisionLinesMax, everyMs);
  let leftOut = 0;
  /** Put last: the oldest one is forgotten. */
  const remembered = (key: Key): Said => {
    const known = said.get(key) ?? { budget: createLineBudget(world, decisionLinesPerKeyMax, everyMs), last: {} };
    said.delete(key);
    said.set(key, known);
    const [oldest] = said.size > decisionsRememberedMax ? said.keys() : [];
    if (oldest !== undefined) said.delete(oldest);
    return known;
  };
  return {
    say(key: Key, sort: Sort, { code, says }: Reason, more: Fields): void {
      const line = [code, says, ...Object.values(more)].join("\n");
      const before = said.get(key)?.last[sort];
      if (before?.line === line && before.isWritten) return;
      const known = remembered(key);
      const isWritten = known.budget.spend() && budget.spend();
      known.last[sort] = { line, isWritten };
      if (!isWritten) {
        leftOut += before?.line === line ? 0 : 1;
        return;
      }
      log.debug("decided", { key, reason: code, says, ...more, ...(leftOut === 0 ? {} : { leftOut }) });
      leftOut = 0;
    },
    failureIsOver(key: Key): void {
      const known = said.get(key);
      if (known !== undefined) delete known.last.failed;
    },
    forget: (key: Key): void => void said.delete(key),
  };
}
