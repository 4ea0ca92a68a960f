/**
 * What must never reach a log, an error or an event: values whose name says that they are secret, and texts that look
 * like a credential whatever they are called. Also bounds depth and length, so that no object can flood a line.
 */
import { unexpectedIn } from "./fault.ts";

const secretName =
  /^(token|.*[-_. ]?tokens?|passw(or)?d|passphrase|secrets?|.*[-_. ]secrets?|authorization|proxy-authorization|cookie|set-cookie|private[-_]?key|client[-_]?key([-_]?data)?|.*-key-data|credentials?|string-?data)$/i;
/** Beginnings by which a name ending in "token" is a number or a page mark, not a credential. */
const harmlessName = /^(continue|starting|next|page)[-_]?token$/i;

const secretText =
  /(Bearer|Basic)\s+[\w.~+/=-]{8,}|\beyJ[\w-]{10,}\.[\w-]{5,}\.[\w-]*|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g;

export const redacted = "***";
const depthMax = 6;
const itemsMax = 50;
const textMax = 4_000;

export const isSecretName = (name: string): boolean => secretName.test(name) && !harmlessName.test(name);

export function redactText(text: string): string {
  const short = text.length > textMax ? `${text.slice(0, textMax)}… (${text.length} characters)` : text;
  return short.replace(secretText, (_, scheme?: string) => (scheme === undefined ? redacted : `${scheme} ${redacted}`));
}

/** A copy that is safe to print: no secrets, no cycles, no depth without end, errors as their messages or stacks. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return redactText(value);
  if (typeof value === "bigint" || typeof value === "symbol" || typeof value === "function") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Error) return redactText(textOf(value));
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "invalid date" : value.toISOString();
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
  if (depth >= depthMax) return "…";
  if (Array.isArray(value) || value instanceof Set) return items([...value], depth);
  const entries: (readonly [string, unknown])[] =
    value instanceof Map ? [...value].map(([key, item]) => [String(key), item]) : Object.entries(value);
  const safe = entries
    .slice(0, itemsMax)
    .map(([name, item]) => [name, isSecretName(name) && !isEmpty(item) ? redacted : redact(item, depth + 1)] as const);
  return Object.fromEntries(entries.length > itemsMax ? [...safe, ["…", `${entries.length - itemsMax} more`]] : safe);
}

/** A fault's message is enough; an unexpected error needs its stack. */
function textOf(error: Error): string {
  const unexpected = unexpectedIn(error);
  return unexpected === undefined ? error.message || error.name : stackOf(unexpected);
}

const causesMax = 3;

/** Not redacted yet. The first line of a stack is the name and the message. */
export function stackOf(error: Error): string {
  const stacks: string[] = [];
  for (let next: unknown = error; next instanceof Error && stacks.length <= causesMax; next = next.cause)
    stacks.push(next.stack ?? `${next.name}: ${next.message}`);
  return stacks.join("\ncaused by ");
}

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === "";

function items(values: readonly unknown[], depth: number): readonly unknown[] {
  const safe = values.slice(0, itemsMax).map((item) => redact(item, depth + 1));
  return values.length > itemsMax ? [...safe, `… ${values.length - itemsMax} more`] : safe;
}
