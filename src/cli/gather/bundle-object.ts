/** An object as it goes into a bundle: of its fields those that the table names, of the others that they are there. Pure. */
import { isObject, type JsonObject, type JsonValue, parse, print } from "../../base/json.ts";
import { isSecretName } from "../../base/redact.ts";
import { callFields, fieldsOf, fieldsOfUnknownKind } from "./fields.ts";
import type { KeptFields } from "./fields-common.ts";
import { openFlags, openVariables, openWords } from "./open-words.ts";
import { isSecretWord, redactValue } from "./redact-text.ts";

/** The entries of a list do not say their kind themselves. */
export function bundleObject(object: JsonValue, kind: string): JsonValue {
  if (!isObject(object)) return masked(object);
  const fields = fieldsOf[kind] ?? fieldsOfUnknownKind;
  if (!Array.isArray(object.items)) return bundled(fields, withoutNoise(object));
  const items = object.items.map((item) => bundled(fields, isObject(item) ? withoutNoise(item) : item));
  const { resourceVersion } = isObject(object.metadata) ? object.metadata : {};
  return {
    apiVersion: object.apiVersion ?? "",
    kind: object.kind ?? `${kind}List`,
    ...(resourceVersion === undefined ? {} : { metadata: { resourceVersion } }),
    items,
  };
}

/** It fills pages, and repeats the names of the fields. */
function withoutNoise({ metadata, ...object }: JsonObject): JsonObject {
  if (!isObject(metadata)) return object;
  const { managedFields: _, ...kept } = metadata;
  return { ...object, metadata: kept };
}

function bundled(fields: KeptFields, value: JsonValue): JsonValue {
  if (value === null || typeof value === "boolean") return value;
  if (fields === "mask") return masked(value);
  if (fields === "all") return everything(value);
  if (fields === "words") return Array.isArray(value) ? words(value) : masked(value);
  if (Array.isArray(value)) return value.map((item) => bundled(fields, item));
  if (fields === "variable") return isObject(value) ? variable(value) : masked(value);
  if (typeof fields === "string") return isObject(value) ? masked(value) : leaf(fields, value);
  if (!isObject(value)) return masked(value);
  return mapMembers(value, (name, member) => bundled(fieldsFor(fields, name), member));
}

const mapMembers = (object: JsonObject, change: (name: string, member: JsonValue) => JsonValue): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([name, member]) => [name, change(name, member ?? null)]));

/** Its own row; that of its prefix, "csi.storage.k8s.io/*"; or, unless its name is that of a secret, that of all others. */
function fieldsFor(fields: { readonly [name: string]: KeptFields }, name: string): KeptFields {
  if (Object.hasOwn(fields, name)) return fields[name] ?? "mask";
  const slash = name.indexOf("/");
  const prefix = slash === -1 ? undefined : `${name.slice(0, slash)}/*`;
  if (prefix !== undefined && Object.hasOwn(fields, prefix)) return fields[prefix] ?? "mask";
  return isSecretName(name) || isSecretWord(name) ? "mask" : (fields["*"] ?? "mask");
}

type Kept = "keep" | "text" | "pem" | "origin" | "calls";

function leaf(kept: Kept, value: Exclude<JsonValue, JsonObject | JsonValue[] | null | boolean>): JsonValue {
  if (typeof value !== "string") return kept === "keep" || kept === "text" ? value : masked(value);
  switch (kept) {
    case "pem":
      return isPublic(value) ? value : masked(value);
    case "origin":
      return origin(value);
    case "calls":
      return calls(value);
    default:
      return redactValue(value);
  }
}

/** Names and references. Whatever is in them, a credential is none of it. */
function everything(value: JsonValue): JsonValue {
  if (typeof value === "string") return redactValue(value);
  if (Array.isArray(value)) return value.map(everything);
  return isObject(value) ? mapMembers(value, (_name, member) => everything(member)) : value;
}

/** "<redacted, 12 characters>": that there is a value, and an empty one is empty. */
export function masked(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(masked);
  if (isObject(value)) return mapMembers(value, (_name, member) => masked(member));
  if (value === null || typeof value === "boolean" || value === "") return value;
  const { length } = String(value);
  return `<redacted, ${length} ${length === 1 ? "character" : "characters"}>`;
}

function variable(variable: JsonObject): JsonObject {
  const { name, value, valueFrom } = variable;
  return {
    ...(masked(variable) as JsonObject),
    ...(name === undefined ? {} : { name }),
    ...(typeof value === "string" && openVariables.has(String(name)) ? { value: redactValue(value) } : {}),
    ...(valueFrom === undefined ? {} : { valueFrom: everything(valueFrom) }),
  };
}

/** Flags keep their names, and those of the table their values, whether these stand behind "=" or in the next word. */
function words(list: readonly JsonValue[]): JsonValue[] {
  let isValue = false;
  return list.map((word, index) => {
    if (typeof word !== "string") return masked(word);
    const [, dashes = "", name = "", assigned] = /^(--?)([A-Za-z][\w.-]{0,80})(?:(=)[\s\S]*)?$/.exec(word) ?? [];
    const isOpen = openFlags.has(name.replaceAll("_", "-"));
    const wasValue = isValue;
    isValue = dashes !== "" && assigned === undefined && isOpen;
    if (dashes !== "" && assigned === undefined) return word;
    if (dashes !== "") {
      const value = word.slice(dashes.length + name.length + 1);
      return `${dashes}${name}=${isOpen ? redactValue(value) : String(masked(value))}`;
    }
    const isProgram = index === 0 && /^[\w./-]{1,200}$/.test(word);
    return wasValue || isProgram || openWords.test(word) ? redactValue(word) : masked(word);
  });
}

/** Base64 of certificates and public keys, and nothing else. */
function isPublic(bundle: string): boolean {
  const text = Buffer.from(bundle, "base64").toString("latin1");
  return /^(?:\s*-----BEGIN (CERTIFICATE|PUBLIC KEY)-----[\sA-Za-z0-9+/=]*-----END \1-----\s*)+$/.test(text);
}

function origin(url: string): JsonValue {
  const [, host = "", rest = ""] = /^(https?:\/\/[\w.:[\]-]+)([\s\S]*)$/.exec(url) ?? [];
  return host === "" ? masked(url) : `${host}${rest === "" ? "" : String(masked(rest))}`;
}

/** What cannot be read is not looked through. */
function calls(text: string): JsonValue {
  try {
    return print(bundled(callFields, parse(text)));
  } catch {
    return masked(text);
  }
}

/** A Secret shows only that it is there, and since when. */
export function secretSummary(secret: JsonValue): JsonObject {
  const { metadata } = isObject(secret) ? secret : {};
  const { name, namespace, creationTimestamp } = isObject(metadata) ? metadata : {};
  return { name: name ?? "", namespace: namespace ?? "", creationTimestamp: creationTimestamp ?? "" };
}
