/**
 * Which events are one and the same happening again, which are too many alike, and which are too many altogether. Memory
 * of a bounded number of objects; no I/O.
 *
 * - The same words about the same object: one event, counted.
 * - More than ten different messages for one reason within ten minutes: from then on one combined event, counted.
 * - An object that causes event after event: 25 at once, then one in five minutes; the rest is dropped.
 */
import type { EventText } from "../api/plan.ts";
import type { KubeObject } from "../api/types.ts";
import type { Millis } from "../base/brand.ts";
import { limits } from "../base/limits.ts";
import { createLru } from "../base/lru.ts";

export interface Series {
  /** Equal for what is to be counted as one event. */
  readonly key: string;
  readonly message: string;
}

interface Alike {
  since: Millis;
  readonly messages: Set<string>;
}

interface Allowance {
  tokens: number;
  at: Millis;
}

export function createEventSeries() {
  const alikes = createLru<Alike>(limits.eventSeriesMax);
  const allowances = createLru<Allowance>(limits.eventSeriesMax);
  return {
    seriesOf(about: KubeObject, { type, reason, message }: EventText, now: Millis): Series {
      const group = `${subjectOf(about)} ${type} ${reason}`;
      const alike = alikes.use(group, () => ({ since: now, messages: new Set() }));
      if (now - alike.since > limits.eventAlikeMs) {
        alike.since = now;
        alike.messages.clear();
      }
      if (alike.messages.has(message)) return { key: `${group} ${message}`, message };
      if (alike.messages.size >= limits.eventAlikeMax) return { key: group, message: combined(message) };
      alike.messages.add(message);
      return { key: `${group} ${message}`, message };
    },
    /** Takes one from the object's allowance; false when it is used up. */
    allows(about: KubeObject, now: Millis): boolean {
      const allowance = allowances.use(subjectOf(about), () => ({ tokens: limits.eventBurstMax, at: now }));
      const refill = (now - allowance.at) / limits.eventRefillMs;
      allowance.tokens = Math.min(limits.eventBurstMax, allowance.tokens + refill);
      allowance.at = now;
      if (allowance.tokens < 1) return false;
      allowance.tokens -= 1;
      return true;
    },
  };
}

const combined = (message: string): string => `(combined from similar events): ${message}`;
const subjectOf = ({ kind, metadata }: KubeObject): string =>
  `${kind} ${metadata.namespace ?? ""}/${metadata.name} ${metadata.uid}`;
