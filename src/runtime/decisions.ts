/**
 * What a controller has decided for its keys: one line of log when a decision differs from the last one of the same key, and a count of
 * the objects that wait, by reason.
 *
 * Remembered: the reason of each key that waits (never more than there are objects), and at verbosity 4 the last decision of so many
 * keys. Lost with the process: a line is written once more after a restart, and the counts are complete again after the first look.
 */
import { isWaiting, type Reason, type ReasonCode } from "../api/reasons.ts";
import type { Key } from "../base/brand.ts";
import { limits } from "../base/limits.ts";
import { debugVerbosity, type Log } from "../base/log.ts";

export interface Decision {
  /** Where the object is in its life; absent: the controller has no phases. */
  readonly phase?: string | undefined;
  /** Kinds of the actions, in their order. */
  readonly actions: readonly string[];
  readonly reason: Reason;
}

export interface Decisions {
  note(key: Key, decision: Decision): void;
  /** The object is gone. */
  forget(key: Key): void;
  /** How many objects wait, by reason. */
  waiting(): ReadonlyMap<ReasonCode, number>;
}

export function createDecisions(log: Log): Decisions {
  const reasons = new Map<Key, ReasonCode>();
  const counts = new Map<ReasonCode, number>();
  const said = new Map<Key, string>();
  const count = (code: ReasonCode | undefined, change: 1 | -1): void => {
    if (code !== undefined) counts.set(code, (counts.get(code) ?? 0) + change);
  };
  const keep = (key: Key, code: ReasonCode | undefined): void => {
    const before = reasons.get(key);
    if (before === code) return;
    count(before, -1);
    count(code, 1);
    if (code === undefined) reasons.delete(key);
    else reasons.set(key, code);
  };
  const say = (key: Key, { phase, actions, reason }: Decision): void => {
    const { code, says } = reason;
    const line = [phase, code, says, ...actions].join("\n");
    if (said.get(key) === line) return;
    said.delete(key);
    said.set(key, line);
    const [oldest] = said.size > limits.decisionsRememberedMax ? said.keys() : [];
    if (oldest !== undefined) said.delete(oldest);
    log.debug("decided", { key, phase, reason: code, says, actions: actions.join(",") || "none" });
  };
  return {
    note(key, decision) {
      keep(key, isWaiting(decision.reason) ? decision.reason.code : undefined);
      if (log.verbosity >= debugVerbosity) say(key, decision);
    },
    forget(key) {
      keep(key, undefined);
      said.delete(key);
    },
    waiting: () => counts,
  };
}
