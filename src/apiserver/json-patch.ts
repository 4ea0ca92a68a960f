/**
 * RFC 6902 as kube-apiserver's library reads it. Two liberties clients rely on: "replace" of a member that does not
 * exist adds it, and "add" with a null value stores a null. Objects are copied on the way down, never changed.
 */
import { clone, define, equal, isObject, type JsonObject, type JsonValue, print } from "../base/json.ts";
import { limits } from "../base/limits.ts";
import { jsonWord } from "../schema/go-text.ts";
import { refuseDeepValue } from "./nesting.ts";
import { badRequest, Refusal, tooLarge } from "./status.ts";

const operationsMax = 10_000;

/** The real server keeps the reason to itself, and so do we: clients compare the whole answer. */
const unprocessable = (): Refusal =>
  new Refusal(422, "Invalid", "the server rejected our request due to an error in our request", {});

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly from: string;
  readonly value: JsonValue | undefined;
}

export function applyJsonPatch(document: JsonValue, patch: JsonValue): JsonValue {
  const operations = operationsOf(patch);
  // One copy, then changes in place: ten thousand operations must not copy ten thousand times.
  let copied = 0;
  const copy = (value: JsonValue): JsonValue => {
    copied += print(value).length;
    // Copying a document into itself doubles it each time.
    if (copied > limits.requestBytesMax) throw unprocessable();
    return clone(value);
  };
  const result = operations.reduce((current, operation) => applied(current, operation, copy), clone(document));
  // Parts of the document may have been put below others.
  refuseDeepValue(result);
  return result;
}

function operationsOf(patch: JsonValue): readonly Operation[] {
  if (!Array.isArray(patch))
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${jsonWord(patch)} into Go value of type []handlers.jsonPatchOp`,
    );
  if (patch.length > operationsMax)
    throw tooLarge(`The allowed maximum operations in a JSON patch is ${operationsMax}, got ${patch.length}`);
  return patch.map((entry) => {
    if (!isObject(entry)) throw badRequest("json: cannot unmarshal value into Go value of type jsonpatch.Operation");
    const { op, path, from, value } = entry;
    return {
      op: typeof op === "string" ? op : "unknown",
      path: typeof path === "string" ? path : "",
      from: typeof from === "string" ? from : "",
      value,
    };
  });
}

function applied(document: JsonValue, operation: Operation, copy: (value: JsonValue) => JsonValue): JsonValue {
  const { op, path, from } = operation;
  switch (op) {
    case "add":
      return added(document, path, ownValue(operation));
    case "remove":
      return removed(document, path);
    case "replace":
      return replaced(document, path, ownValue(operation));
    case "move": {
      const moved = valueAt(document, from);
      return added(removed(document, from), path, moved);
    }
    case "copy":
      return added(document, path, copy(valueAt(document, from)));
    case "test":
      return tested(document, path, operation.value);
    default:
      throw unprocessable();
  }
}

/** Later operations change it in place, and the patch may have to be made again. */
const ownValue = ({ value = null }: Operation): JsonValue => clone(value);

const partsOf = (path: string): readonly string[] =>
  path
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));

type Container = JsonObject | JsonValue[];
const isContainer = (value: unknown): value is Container => isObject(value) || Array.isArray(value);

/** The object or list the last part of a path lies in, and that part. */
function holderOf(document: JsonValue, path: string): { holder: Container; key: string } | undefined {
  const parts = partsOf(path);
  let holder: JsonValue | undefined = document;
  for (const part of parts.slice(0, -1)) {
    holder = isContainer(holder) ? memberOf(holder, part) : undefined;
    if (!isContainer(holder)) return undefined;
  }
  const key = parts.at(-1);
  return isContainer(holder) && key !== undefined ? { holder, key } : undefined;
}

function memberOf(holder: Container, key: string): JsonValue | undefined {
  if (!Array.isArray(holder)) return Object.hasOwn(holder, key) ? holder[key] : undefined;
  return /^-?\d+$/.test(key) ? holder.at(Number(key)) : undefined;
}

function added(document: JsonValue, path: string, value: JsonValue): JsonValue {
  const found = holderOf(document, path);
  if (found === undefined) throw unprocessable();
  const { holder, key } = found;
  if (Array.isArray(holder)) holder.splice(insertionIndex(holder, key), 0, value);
  else define(holder, key, value);
  return document;
}

function insertionIndex(list: readonly JsonValue[], key: string): number {
  if (key === "-") return list.length;
  const index = /^-?\d+$/.test(key) ? Number(key) : Number.NaN;
  if (Number.isNaN(index)) throw unprocessable();
  const from = index < 0 ? list.length + 1 + index : index;
  if (from < 0 || from > list.length) throw unprocessable();
  return from;
}

function removed(document: JsonValue, path: string): JsonValue {
  const found = holderOf(document, path);
  if (found === undefined) throw unprocessable();
  const { holder, key } = found;
  if (Array.isArray(holder)) {
    if (memberOf(holder, key) === undefined) throw unprocessable();
    holder.splice(Number(key), 1);
  } else {
    if (!Object.hasOwn(holder, key)) throw unprocessable();
    delete holder[key];
  }
  return document;
}

function replaced(document: JsonValue, path: string, value: JsonValue): JsonValue {
  if (path === "") return value;
  const found = holderOf(document, path);
  if (found === undefined) throw unprocessable();
  const { holder, key } = found;
  if (!Array.isArray(holder)) define(holder, key, value);
  else if (memberOf(holder, key) === undefined) throw unprocessable();
  else holder[Number(key) < 0 ? holder.length + Number(key) : Number(key)] = value;
  return document;
}

function valueAt(document: JsonValue, from: string): JsonValue {
  const found = holderOf(document, from);
  const value = found === undefined ? undefined : memberOf(found.holder, found.key);
  if (value === undefined) throw unprocessable();
  return value;
}

function tested(document: JsonValue, path: string, expected: JsonValue | undefined): JsonValue {
  const found = path === "" ? undefined : holderOf(document, path);
  const actual = path === "" ? document : found === undefined ? undefined : memberOf(found.holder, found.key);
  if (path !== "" && found === undefined) throw unprocessable();
  if (!equal(actual ?? null, expected ?? null)) throw unprocessable();
  return document;
}
