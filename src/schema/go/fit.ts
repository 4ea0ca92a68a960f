/**
 * What becomes of an object on its way through the Go type of its kind: unknown fields are gone, empty ones are left out or
 * written out as the type says, quantities and times are in their canonical form; a value of the wrong type is refused in the
 * words of Go's JSON decoder.
 */
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { define, isObject } from "../../base/json.ts";
import { fitOpaque, GoValueError } from "./opaque.ts";
import type { GoField, GoScalar, GoStruct, GoType } from "./types.ts";

interface Trail {
  readonly struct: GoStruct | undefined;
  /** "spec.selector.matchExpressions": names only, as errors say it. */
  readonly fields: string;
  /** "spec.selector.matchExpressions[0]": with positions, as unknown fields are named. */
  readonly path: string;
  readonly unknown: string[];
  readonly depth: number;
}

export interface Fitted {
  readonly object: JsonObject;
  /** Paths of the fields the type does not have. */
  readonly unknown: readonly string[];
}

/** No Go type nests this deep (JSON schemas, which could, are not among them). */
const depthMax = 60;

/** Throws a `GoValueError`. apiVersion and kind are kept as they are. */
export function fitToGo(struct: GoStruct, object: JsonObject): Fitted {
  const unknown: string[] = [];
  const { apiVersion, kind } = object;
  const fitted = fitStruct(struct, object, { struct: undefined, fields: "", path: "", unknown, depth: 0 });
  const head: JsonObject = {};
  if (kind !== undefined) head.kind = kind;
  if (apiVersion !== undefined) head.apiVersion = apiVersion;
  return { object: Object.assign(head, fitted), unknown };
}

function fitStruct(struct: GoStruct, object: JsonObject, trail: Trail): JsonObject {
  if (trail.depth > depthMax) throw new GoValueError("exceeded max depth");
  for (const key of Object.keys(object))
    if (!struct.byName.has(key) && !(trail.depth === 0 && isTypeMeta(key)))
      trail.unknown.push(trail.path === "" ? key : `${trail.path}.${key}`);
  const result: JsonObject = {};
  for (const field of struct.fields) {
    // No field has the name of something that every object inherits.
    const given = object[field.name] ?? null;
    if (given === null && field.isOptional) continue;
    const value = given === null ? zeroOf(field.type) : fitField(struct, field, given, trail);
    if (!isLeftOut(field, value)) result[field.name] = value;
  }
  return result;
}

const isTypeMeta = (key: string): boolean => key === "apiVersion" || key === "kind";

/** Texts and truth values are taken as they are: most of what there is to fit. */
function isPlain(type: GoType, value: JsonValue): boolean {
  if (type.kind === "pointer") return isPlain(type.of, value);
  if (type.kind !== "scalar") return false;
  return type.of === "string" ? typeof value === "string" : type.of === "bool" && typeof value === "boolean";
}

function fitField(struct: GoStruct, field: GoField, value: JsonValue, trail: Trail): JsonValue {
  if (isPlain(field.type, value)) return value;
  const dot = trail.fields === "" ? "" : ".";
  return fitValue(field.type, value, {
    struct,
    fields: `${trail.fields}${dot}${field.name}`,
    path: `${trail.path}${dot}${field.name}`,
    unknown: trail.unknown,
    depth: trail.depth + 1,
  });
}

function isLeftOut(field: GoField, value: JsonValue): boolean {
  const { type } = field;
  if (type.kind === "struct") return field.omitZero && Object.keys(value as JsonObject).length === 0;
  if (type.kind === "opaque") return (field.omitZero || isNilable(type.of)) && value === null;
  if (!field.omitEmpty) return false;
  if (type.kind === "pointer") return value === null;
  return value === null || value === "" || value === 0 || value === false || isEmptyCollection(value);
}

const isNilable = (of: string): boolean => of === "runtime.RawExtension";
const isEmptyCollection = (value: JsonValue): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;

function zeroOf(type: GoType): JsonValue {
  if (type.kind === "scalar") return type.of === "string" ? "" : type.of === "bool" ? false : 0;
  if (type.kind === "struct") return zeroStruct(type.fields());
  if (type.kind === "opaque") return opaqueZero[type.of] ?? null;
  return null;
}

const opaqueZero: Readonly<Record<string, JsonValue>> = {
  "resource.Quantity": "0",
  "intstr.IntOrString": 0,
  "v1.Duration": "0s",
};

function zeroStruct(struct: GoStruct): JsonObject {
  const result: JsonObject = {};
  for (const field of struct.fields) {
    const value = zeroOf(field.type);
    if (!isLeftOut(field, value)) result[field.name] = value;
  }
  return result;
}

function fitValue(type: GoType, value: JsonValue, trail: Trail): JsonValue {
  switch (type.kind) {
    case "pointer":
      return fitValue(type.of, value, trail);
    case "scalar":
      return fitScalar(type.goName, type.of, value, trail);
    case "opaque":
      return fitOpaque(type.of, value, (want) => mismatch(value, want, trail));
    case "bytes":
      return fitBytes(value, trail);
    case "list":
      return fitList(type, value, trail);
    case "map":
      return fitMap(type, value, trail);
    case "struct":
      if (!isObject(value)) throw mismatch(value, type.goName, trail);
      return fitStruct(type.fields(), value, trail);
  }
}

function fitList(type: GoType & { kind: "list" | "map" | "pointer" }, value: JsonValue, trail: Trail): JsonValue {
  if (!Array.isArray(value)) throw mismatch(value, type.goName, trail);
  // Stored as protobuf, an empty list is no list.
  if (value.length === 0) return null;
  return value.map((item, index) => fitItem(type.of, item, trail, `[${index}]`));
}

function fitItem(type: GoType, item: JsonValue | undefined, trail: Trail, step: string): JsonValue {
  if (item === null || item === undefined) return zeroOf(type);
  return isPlain(type, item) ? item : fitValue(type, item, { ...trail, path: `${trail.path}${step}` });
}

function fitMap(type: GoType & { kind: "list" | "map" | "pointer" }, value: JsonValue, trail: Trail): JsonValue {
  if (!isObject(value)) throw mismatch(value, type.goName, trail);
  const result: JsonObject = {};
  for (const key of Object.keys(value)) define(result, key, fitItem(type.of, value[key], trail, `.${key}`));
  return result;
}

const integerBits: Readonly<Record<string, number>> = { int32: 31, int64: 63, int: 63, uint8: 8 };

function fitScalar(goName: string, of: GoScalar, value: JsonValue, trail: Trail): JsonValue {
  if (of === "string" || of === "bool") {
    if (typeof value !== (of === "bool" ? "boolean" : "string")) throw mismatch(value, goName, trail);
    return value;
  }
  if (typeof value !== "number" && typeof value !== "bigint") throw mismatch(value, goName, trail);
  if (of === "float64") return value;
  const bound = 2n ** BigInt(integerBits[of] ?? 63);
  const whole = typeof value === "bigint" || Number.isInteger(value) ? BigInt(value) : undefined;
  if (whole === undefined || whole >= bound || whole < -bound) throw mismatch(value, goName, trail, String(value));
  return value;
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function fitBytes(value: JsonValue, trail: Trail): JsonValue {
  if (typeof value !== "string") throw mismatch(value, "[]uint8", trail);
  const text = value.replace(/[\r\n]/g, "");
  if (base64.test(text)) return text;
  throw new GoValueError(`illegal base64 data at input byte ${firstBad(value)}`);
}

function firstBad(text: string): number {
  const bad = text.search(/[^A-Za-z0-9+/\r\n]/);
  return bad === -1 || text[bad] === "=" ? Math.floor(text.length / 4) * 4 : bad;
}

function mismatch(value: JsonValue, goName: string, trail: Trail, number?: string): GoValueError {
  const given = jsonName(value) + (number === undefined ? "" : ` ${number}`);
  const into =
    trail.struct === undefined ? "Go value of type" : `Go struct field ${trail.struct.name}.${trail.fields} of type`;
  return new GoValueError(`json: cannot unmarshal ${given} into ${into} ${goName}`);
}

function jsonName(value: JsonValue): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value === "bigint" ? "number" : typeof value;
}
