/**
 * What must not be read by anybody is found by its mark in the protocol file (`csi_secret`), so a field added there is
 * covered without a change here. Two ways out are closed: messages printed to a log, and error texts in which the other
 * side echoes what we sent it.
 */
import { type DescField, type DescMessage, getOption, type Message } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { parse } from "../base/json.ts";
import { csi_secret } from "./gen/csi_pb.js";

export const redacted = "[redacted]";

/** Map keys that carry secrets in fields which are not marked: the kubelet puts tokens into a volume's context. */
const secretKeys: ReadonlySet<string> = new Set(["csi.storage.k8s.io/serviceAccount.tokens"]);

const isSecret = (field: DescField): boolean => field.proto.options !== undefined && getOption(field, csi_secret);

/** The message as a plain object for a log line: only fields that are set, secrets replaced, BigInt as text. */
export function redact(schema: DescMessage, message: Message): Record<string, unknown> {
  return plainOf(reflect(schema, message, false));
}

function plainOf(message: ReflectMessage): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const field of message.fields) {
    if (!message.isSet(field)) continue;
    plain[field.localName] = isSecret(field) ? redacted : plainField(message, field);
  }
  return plain;
}

function plainField(message: ReflectMessage, field: DescField): unknown {
  switch (field.fieldKind) {
    case "list":
      return [...message.get(field)].map((item) => plainItem(field, item));
    case "map":
      return Object.fromEntries(
        [...message.get(field)].map(([key, item]) => [
          String(key),
          secretKeys.has(String(key)) ? redacted : plainItem(field, item),
        ]),
      );
    default:
      return plainItem(field, message.get(field));
  }
}

function plainItem(field: DescField, value: unknown): unknown {
  if (field.enum !== undefined) return field.enum.value[value as number]?.name ?? value;
  if (field.message !== undefined) return plainOf(value as ReflectMessage);
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  return typeof value === "bigint" ? String(value) : value;
}

/** Every secret text that the message carries. */
export function secretsOf(schema: DescMessage, message: Message): ReadonlySet<string> {
  const found = new Set<string>();
  collect(reflect(schema, message, false), found);
  return found;
}

function collect(message: ReflectMessage, found: Set<string>): void {
  for (const field of message.fields) {
    if (!message.isSet(field)) continue;
    for (const [key, item] of itemsOf(message, field)) {
      if (isSecret(field) || secretKeys.has(key)) addSpellings(String(item), found);
      else if (field.message !== undefined) collect(item as ReflectMessage, found);
    }
  }
}

function itemsOf(message: ReflectMessage, field: DescField): readonly (readonly [string, unknown])[] {
  switch (field.fieldKind) {
    case "list":
      return [...message.get(field)].map((item) => ["", item]);
    case "map":
      return [...message.get(field)].map(([key, item]) => [String(key), item]);
    default:
      return [["", message.get(field)]];
  }
}

/** Shorter parts of a secret are ordinary words; a secret as a whole is hidden at any length. */
const partCharsMin = 8;

/** A secret comes back as it went, trimmed, line by line, escaped, or as the leaves of the JSON it holds. */
function addSpellings(secret: string, found: Set<string>): void {
  const parts = [...secret.split(/\r?\n/), ...leavesOf(secret)].map((part) => part.trim());
  const wholes = [secret, secret.trim(), ...parts.filter((part) => part.length >= partCharsMin)];
  for (const text of wholes) {
    if (text === "") continue;
    const bytes = Buffer.from(text);
    const spellings = [text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text.toWellFormed())];
    if (text.length >= 3) spellings.push(unpadded(bytes.toString("base64")), bytes.toString("base64url"));
    for (const spelling of spellings) found.add(spelling);
  }
}

const unpadded = (base64: string): string => base64.replace(/=+$/, "");

function leavesOf(text: string): readonly string[] {
  if (!/^\s*[[{]/.test(text)) return [];
  try {
    return stringsIn(parse(text));
  } catch {
    return []; // Not JSON: the text itself and its lines are hidden all the same.
  }
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

/** Below this a secret may be part of any word, and is hidden only where it stands alone. */
const anywhereCharsMin = 4;

export function scrub(text: string, secrets: ReadonlySet<string>): string {
  const longestFirst = [...secrets].sort((a, b) => b.length - a.length);
  return longestFirst.reduce(
    (cleaned, secret) =>
      secret.length >= anywhereCharsMin
        ? cleaned.replaceAll(secret, redacted)
        : cleaned.replace(alone(secret), redacted),
    text,
  );
}

const alone = (secret: string): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(secret)}(?![\\p{L}\\p{N}])`, "gu");
