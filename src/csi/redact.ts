/**
 * Finds what must not be read by anybody by its option in the protocol file (`csi_secret`), so a field added there is
 * covered without a change here. Messages are printed without it; scrub.ts removes it from texts of the other side.
 */
import { type DescField, type DescMessage, getOption, isMessage, type Message } from "@bufbuild/protobuf";
import { parse } from "../base/json.ts";
import { csi_secret } from "./gen/csi_pb.js";
import { type Scrub, scrubMark } from "./scrub.ts";

/** Map keys that carry secrets in fields which are not marked: the kubelet puts tokens into a volume's context. */
const secretKeys: ReadonlySet<string> = new Set(["csi.storage.k8s.io/serviceAccount.tokens"]);

/** Looking an option up means decoding it; the answer never changes. */
const secretFields = new WeakMap<DescMessage, ReadonlySet<DescField>>();

function secretFieldsOf(schema: DescMessage): ReadonlySet<DescField> {
  const known = secretFields.get(schema);
  if (known !== undefined) return known;
  const annotated = schema.fields.filter((field) => field.proto.options !== undefined && getOption(field, csi_secret));
  const found = new Set(annotated);
  secretFields.set(schema, found);
  return found;
}

/** What a message holds under a field, and undefined for what is not set. Generated messages are plain objects. */
function valueIn(message: Message, field: DescField): unknown {
  const own = message as unknown as Readonly<Record<string, unknown>>;
  if (field.oneof === undefined) return isEmpty(own[field.localName]) ? undefined : own[field.localName];
  const chosen = own[field.oneof.localName] as { readonly case?: string; readonly value?: unknown };
  return chosen.case === field.localName ? chosen.value : undefined;
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return !value;
  return (Array.isArray(value) || !("$typeName" in value)) && Object.keys(value).length === 0;
}

/** The message as a plain object for a log line: only fields that are set, secrets replaced, other texts scrubbed, BigInt as text. */
export function redactMessage(schema: DescMessage, message: Message, scrub: Scrub): Record<string, unknown> {
  const secret = secretFieldsOf(schema);
  const plain: Record<string, unknown> = {};
  for (const field of schema.fields) {
    const value = valueIn(message, field);
    if (value !== undefined) plain[field.localName] = secret.has(field) ? scrubMark : plainField(field, value, scrub);
  }
  return plain;
}

function plainField(field: DescField, value: unknown, scrub: Scrub): unknown {
  if (field.fieldKind === "list") return (value as readonly unknown[]).map((item) => plainItem(field, item, scrub));
  if (field.fieldKind !== "map") return plainItem(field, value, scrub);
  const entries = Object.entries(value as Record<string, unknown>);
  return Object.fromEntries(
    entries.map(([key, item]) => [scrub(key), secretKeys.has(key) ? scrubMark : plainItem(field, item, scrub)]),
  );
}

function plainItem(field: DescField, value: unknown, scrub: Scrub): unknown {
  if (typeof value === "string") return scrub(value);
  if (field.enum !== undefined) return field.enum.value[value as number]?.name ?? value;
  if (isMessage(value) && field.message !== undefined) return redactMessage(field.message, value, scrub);
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  return typeof value === "bigint" ? String(value) : value;
}

/** Every secret text that the message carries. */
export function secretTextsOf(schema: DescMessage, message: Message): ReadonlySet<string> {
  const found = new Set<string>();
  collect(schema, message, found);
  return found;
}

function collect(schema: DescMessage, message: Message, found: Set<string>): void {
  const secret = secretFieldsOf(schema);
  for (const field of schema.fields) {
    const value = valueIn(message, field);
    if (value === undefined) continue;
    for (const [key, item] of itemsOf(field, value)) {
      if (secret.has(field) || secretKeys.has(key)) addParts(String(item), found);
      else if (isMessage(item) && field.message !== undefined) collect(field.message, item, found);
    }
  }
}

/** Maps and lists alike as keys and items; a single value is an item without a key. */
const itemsOf = (field: DescField, value: unknown): readonly (readonly [string, unknown])[] =>
  field.fieldKind === "map" || field.fieldKind === "list" ? Object.entries(value as object) : [["", value]];

/** Shorter parts of a secret are ordinary words; a secret as a whole is hidden at any length. */
const partCharsMin = 8;

/** A secret comes back as it went, trimmed, line by line, or as the leaves of the JSON it holds. */
function addParts(secret: string, found: Set<string>): void {
  const parts = [...secret.split(/\r?\n/), ...leavesOf(secret)].map((part) => part.trim());
  const wholes = [secret, secret.trim(), ...parts.filter((part) => part.length >= partCharsMin)];
  for (const text of wholes) if (text !== "") found.add(text);
}

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
