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
import type { Key } from "../base/brand.ts";
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
  /** How many objects wait, by reason. */
  waiting(): ReadonlyMap<ReasonCode, number>;
}

export function createDecisions(log: Log, world: Pick<World, "elapsed">): Decisions {
  const counted = createCounts();
  const lines = createDecisionLog(log, world);
  const isLogged = log.verbosity >= debugVerbosity;
  /** Of the keys whose last reconcile failed: what was decided since, which counts when it has succeeded. */
  const failing = new Map<Key, ReasonCode | undefined>();
  const codeOf = (reason: Reason): ReasonCode | undefined => (isWaiting(reason) ? reason.code : undefined);
  return {
    note(key, { reason, actions, phase }) {
      const code = codeOf(reason);
      // A scrape in the middle of a retry must not find the object gone from the counts.
      if (failing.has(key) && actions.length > 0) failing.set(key, code);
      else {
        failing.delete(key);
        counted.set(key, code);
      }
      if (isLogged) lines.say(key, "decided", reason, { phase: phase?.(), actions: kindsOf(actions) });
    },
    failed(key, reason, action) {
      failing.set(key, undefined);
      counted.set(key, codeOf(reason));
      if (isLogged) lines.say(key, "failed", reason, { failed: action?.kind ?? "decision" });
    },
    succeeded(key) {
      if (failing.has(key)) counted.set(key, failing.get(key));
      failing.delete(key);
      lines.failureIsOver(key);
    },
    forget(key) {
      failing.delete(key);
      counted.set(key, undefined);
      lines.forget(key);
    },
    waiting: counted.all,
  };
}

function createCounts() {
  const reasons = new Map<Key, ReasonCode>();
  const counts = new Map<ReasonCode, number>();
  const count = (code: ReasonCode | undefined, change: 1 | -1): void => {
    if (code !== undefined) counts.set(code, (counts.get(code) ?? 0) + change);
  };
  return {
    set(key: Key, code: ReasonCode | undefined): void {
      const before = reasons.get(key);
      if (before === code) return;
      count(before, -1);
      count(code, 1);
      if (code === undefined) reasons.delete(key);
      else reasons.set(key, code);
    },
    all: (): ReadonlyMap<ReasonCode, number> => counts,
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
