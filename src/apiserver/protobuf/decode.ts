/**
 * Request bodies of type application/vnd.kubernetes.protobuf → the same object as JSON would have given.
 * An envelope of four bytes and a message Unknown { typeMeta = 1, raw = 2 } holds one message of messages.ts.
 */
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { parse } from "../../base/json.ts";
import type { DecodeProtobuf } from "../contracts.ts";
import { badRequest, unsupportedMediaType } from "../status.ts";
import { messages } from "./messages.ts";
import { workloadMessages } from "./messages-workloads.ts";
import type { WireField } from "./wire.ts";
import { integerOf, MalformedMessage, textOf, wireFields } from "./wire.ts";

/** "apiVersion/kind" of what the Go components and kubectl send this way; every group has the options of a deletion. */
const readable: Readonly<Record<string, string>> = {
  "v1/PersistentVolumeClaim": "PersistentVolumeClaim",
  "v1/PersistentVolume": "PersistentVolume",
  "v1/Event": "Event",
  "v1/Secret": "Secret",
  "v1/ConfigMap": "ConfigMap",
  "v1/Node": "Node",
  "v1/Namespace": "Namespace",
  "v1/ServiceAccount": "ServiceAccount",
  "v1/Service": "Service",
  "apps/v1/Deployment": "Deployment",
  "authentication.k8s.io/v1/TokenRequest": "TokenRequest",
  "authentication.k8s.io/v1/SelfSubjectReview": "SelfSubjectReview",
  "authorization.k8s.io/v1/SelfSubjectAccessReview": "SelfSubjectAccessReview",
  "authorization.k8s.io/v1/SelfSubjectRulesReview": "SelfSubjectRulesReview",
  "batch/v1/CronJob": "CronJob",
  "batch/v1/Job": "Job",
  "policy/v1/Eviction": "Eviction",
  "rbac.authorization.k8s.io/v1/Role": "Role",
  "rbac.authorization.k8s.io/v1/RoleBinding": "RoleBinding",
  "rbac.authorization.k8s.io/v1/ClusterRole": "ClusterRole",
  "rbac.authorization.k8s.io/v1/ClusterRoleBinding": "ClusterRoleBinding",
  "coordination.k8s.io/v1/Lease": "Lease",
  "storage.k8s.io/v1/CSINode": "CSINode",
  "storage.k8s.io/v1/CSIStorageCapacity": "CSIStorageCapacity",
};

const allMessages: Readonly<Record<string, string>> = { ...messages, ...workloadMessages };

const magic = [0x6b, 0x38, 0x73, 0x00];

export const decodeProtobuf: DecodeProtobuf = (bytes) => {
  if (!magic.every((byte, index) => bytes[index] === byte))
    throw badRequest("the body does not begin with the four bytes of a Kubernetes protobuf message");
  try {
    return decodeEnvelope(bytes.subarray(magic.length));
  } catch (reason) {
    if (reason instanceof MalformedMessage) throw badRequest(`the protobuf body cannot be read: ${reason.message}`);
    throw reason;
  }
};

function decodeEnvelope(bytes: Uint8Array): JsonObject {
  let apiVersion = "";
  let kind = "";
  let raw: Uint8Array = new Uint8Array();
  for (const field of wireFields(bytes)) {
    if (field.number === 1) [apiVersion, kind] = typeOf(bytesOf(field));
    if (field.number === 2) raw = bytesOf(field);
  }
  const message = kind === "DeleteOptions" ? kind : readable[`${apiVersion}/${kind}`];
  if (message === undefined)
    throw unsupportedMediaType(
      `${apiVersion} ${kind} is not read from application/vnd.kubernetes.protobuf: send it as application/json`,
    );
  return { apiVersion, kind, ...decodeMessage(message, raw, 0) };
}

function typeOf(bytes: Uint8Array): [apiVersion: string, kind: string] {
  const texts = ["", ""];
  for (const field of wireFields(bytes)) if (field.number <= 2) texts[field.number - 1] = textOf(bytesOf(field));
  return [texts[0] ?? "", texts[1] ?? ""];
}

interface Field {
  readonly name: string;
  readonly type: string;
  readonly shape: "one" | "list" | "map";
  readonly keepsEmpty: boolean;
}

const tables = new Map<string, ReadonlyMap<number, Field>>();

function tableOf(message: string): ReadonlyMap<number, Field> {
  const known = tables.get(message);
  if (known !== undefined) return known;
  const table = new Map((allMessages[message] ?? "").split(", ").map(fieldOf));
  tables.set(message, table);
  return table;
}

function fieldOf(text: string): [number, Field] {
  const [number = "", name = "", type = ""] = text.split(" ");
  const bare = type.replace(/^(\[\]|\{\})/, "").replace(/!$/, "");
  const shape = type.startsWith("[]") ? "list" : type.startsWith("{}") ? "map" : "one";
  return [Number(number), { name, type: bare, shape, keepsEmpty: type.endsWith("!") }];
}

/** No message of the table nests this deep; one that does is an attack. */
const depthMax = 20;

function decodeMessage(message: string, bytes: Uint8Array, depth: number): JsonObject {
  if (depth > depthMax) throw new MalformedMessage("messages are nested too deeply");
  const table = tableOf(message);
  const object: JsonObject = {};
  for (const wire of wireFields(bytes)) {
    const field = table.get(wire.number);
    if (field !== undefined) put(object, field, wire, depth);
  }
  return object;
}

function put(object: JsonObject, field: Field, wire: WireField, depth: number): void {
  if (field.shape === "map") {
    const [key, value] = decodeEntry(field.type, bytesOf(wire), depth);
    object[field.name] ??= {};
    const map = object[field.name] as JsonObject;
    Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
    return;
  }
  const value = decodeValue(field.type, wire, depth);
  if (field.shape === "list") {
    object[field.name] ??= [];
    (object[field.name] as JsonValue[]).push(value ?? null);
  } else if (field.name === "...") Object.assign(object, value);
  else if (value !== undefined && (field.keepsEmpty || !isEmpty(value))) object[field.name] = value;
}

function isEmpty(value: JsonValue): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value === "" || value === 0 || value === false;
}

function decodeEntry(type: string, bytes: Uint8Array, depth: number): [string, JsonValue] {
  let key = "";
  let value: JsonValue | undefined;
  for (const field of wireFields(bytes)) {
    if (field.number === 1) key = textOf(bytesOf(field));
    if (field.number === 2) value = decodeValue(type, field, depth);
  }
  return [key, value ?? (type === "quantity" ? "0" : "")];
}

function decodeValue(type: string, wire: WireField, depth: number): JsonValue | undefined {
  switch (type) {
    case "string":
      return textOf(bytesOf(wire));
    case "bool":
      return integerOf(wire) !== 0;
    case "int":
      return integerOf(wire);
    case "bytes":
      return Buffer.from(bytesOf(wire)).toString("base64");
    case "quantity":
      return innerText(bytesOf(wire)) || "0";
    case "time":
    case "micro":
      return timeOf(bytesOf(wire), type);
    case "intOrString":
      return intOrStringOf(bytesOf(wire));
    case "fields":
      return parsed(innerText(bytesOf(wire)));
    default:
      return decodeMessage(type, bytesOf(wire), depth + 1);
  }
}

function bytesOf(wire: WireField): Uint8Array {
  if (wire.kind !== "bytes") throw new MalformedMessage(`field ${wire.number} has an unexpected wire type`);
  return wire.bytes;
}

/** Quantities and raw JSON are messages with one field. */
function innerText(bytes: Uint8Array): string {
  for (const field of wireFields(bytes)) if (field.number === 1) return textOf(bytesOf(field));
  return "";
}

/** A port or a share: field 1 says whether field 2, a number, or field 3, a text, counts. */
function intOrStringOf(bytes: Uint8Array): JsonValue {
  let isText = false;
  let number: JsonValue = 0;
  let text = "";
  for (const field of wireFields(bytes)) {
    if (field.number === 1) isText = integerOf(field) !== 0;
    if (field.number === 2) number = integerOf(field);
    if (field.number === 3) text = textOf(bytesOf(field));
  }
  return isText ? text : number;
}

function parsed(text: string): JsonValue {
  try {
    return parse(text === "" ? "{}" : text);
  } catch {
    throw new MalformedMessage("a field that holds JSON holds something else");
  }
}

/** An empty message is Go's zero time: no time at all. */
function timeOf(bytes: Uint8Array, precision: "time" | "micro"): string | undefined {
  if (bytes.length === 0) return undefined;
  let seconds = 0;
  let nanos = 0;
  for (const field of wireFields(bytes)) {
    if (field.number === 1) seconds = Number(integerOf(field));
    if (field.number === 2) nanos = Number(integerOf(field));
  }
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) throw new MalformedMessage("a time lies outside of the calendar");
  const text = date.toISOString().slice(0, 19);
  return precision === "time" ? `${text}Z` : `${text}.${String(Math.trunc(nanos / 1000)).padStart(6, "0")}Z`;
}
