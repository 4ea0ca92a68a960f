/**
 * Values against schemas, with the errors Kubernetes gives: which ones, in which words, and for anyOf and oneOf only those
 * of the alternative that came nearest. On updates, what was wrong before and has not changed is tolerated (ratcheting).
 */
import { isObject, type JsonObject, type JsonValue } from "../base/json.ts";
import type { Correlation } from "./correlate.ts";
import { type FieldError, wholeObject } from "./field-error.ts";
import { type Finding, merge, newFinding, note, toFieldError } from "./finding.ts";
import { fitsFormat } from "./formats.ts";
import { goQuote } from "./go-text.ts";
import { checkItemCount, checkNumber, checkPropertyCount, checkText, isJsonInteger, isWhole } from "./measure.ts";
import type { SchemaNode } from "./node.ts";

/** `prefix`: the field under which the value stands ("status"); paths inside of messages do not repeat it. */
export function validateValue(
  schema: SchemaNode,
  value: JsonValue,
  old: Correlation | undefined,
  prefix: string = wholeObject,
): readonly FieldError[] {
  const finding = newFinding();
  checkRatcheting(schema, value, { path: "", old, finding, isWeighed: false });
  return finding.problems.map((problem) => toFieldError(problem, prefix));
}

/** Where a value stands, what it was before, and where its problems go. */
interface Place {
  readonly path: string;
  readonly old: Correlation | undefined;
  readonly finding: Finding;
  /** Inside of an alternative, which is weighed against others by how many checks it passed. */
  readonly isWeighed: boolean;
}

function checkRatcheting(schema: SchemaNode, value: JsonValue, place: Place): void {
  const { old, finding } = place;
  if (old === undefined) {
    check(schema, value, place);
    return;
  }
  // Whatever is wrong with the very part that is stored is tolerated, so it need not be looked for.
  if (value === old.old && isContainer(value) && !place.isWeighed) return;
  const own = newFinding();
  check(schema, value, { ...place, finding: own });
  if (own.problems.length > 0 && old.unchanged()) finding.passed += own.passed;
  else merge(finding, own);
}

const isContainer = (value: JsonValue): boolean => typeof value === "object" && value !== null;

function check(schema: SchemaNode, value: JsonValue, place: Place): void {
  const { finding } = place;
  if (value === null) {
    checkNull(schema, place);
    return;
  }
  if (schema.types.length > 0 || schema.format !== "") {
    checkType(schema, value, place);
    finding.passed += 1;
  }
  checkCombinations(schema, value, place);
  finding.passed += 1;
  if (typeof value === "string") checkString(schema, value, place);
  else if (typeof value === "number" || typeof value === "bigint") {
    checkNumber(schema, value, place.path, finding);
    finding.passed += 1;
  } else if (Array.isArray(value)) {
    checkList(schema, value, place);
    finding.passed += 2;
  }
  checkEnumeration(schema, value, place);
  finding.passed += 1;
  if (isObject(value)) {
    checkObject(schema, value, place);
    finding.passed += 1;
  }
  finding.passed += 1;
}

function checkNull(schema: SchemaNode, place: Place): void {
  const isAllowed = schema.types.length === 0 || schema.nullable || schema.types.includes("null");
  if (isAllowed) place.finding.passed += 1;
  else noteType(place, schema.types.join(","), "null");
  checkEnumeration(schema, null, place);
}

function typeOf(value: JsonValue): { type: string; format: string } {
  switch (typeof value) {
    case "boolean":
      return { type: "boolean", format: "" };
    case "string":
      return { type: "string", format: "" };
    case "number":
    case "bigint":
      return isWhole(value) ? { type: "integer", format: "int64" } : { type: "number", format: "float64" };
    default:
      return { type: Array.isArray(value) ? "array" : "object", format: "" };
  }
}

function fitsType(types: readonly string[], type: string, value: JsonValue): boolean {
  if (types.includes(type)) return true;
  if (type === "number") return types.includes("integer") && isJsonInteger(Number(value));
  return type === "integer" && types.includes("number");
}

function checkType(schema: SchemaNode, value: JsonValue, place: Place): void {
  const { type, format } = typeOf(value);
  const { types } = schema;
  const fits = fitsType(types, type, value);
  const isTextOrList = type === "string" || type === "array";
  if (schema.format !== "" && !isTextOrList && !fits && format !== schema.format)
    noteType(place, schema.format, format);
  // A format on anything but a number says more than the type does, and the type is then not looked at.
  else if (fits || (schema.format !== "" && isTextOrList && isTextFormat(schema))) place.finding.passed += 1;
  else noteType(place, types.join(","), type);
}

const noteType = ({ path, finding }: Place, wanted: string, got: string): void =>
  note(finding, {
    kind: "type",
    path,
    value: got,
    message: `${path} in body must be of type ${wanted}: ${goQuote(got)}`,
  });

function checkString(schema: SchemaNode, value: string, place: Place): void {
  const { finding } = place;
  if (schema.bounds !== undefined) checkText(schema.bounds, value, place.path, finding);
  finding.passed += 1;
  if (schema.format === "" || !isTextFormat(schema)) return;
  if (!fitsFormat(schema.format, value)) noteType(place, schema.format, value);
  finding.passed += 1;
}

/** Number formats are not in the registry of text formats, so a text is not held against them. */
const isTextFormat = (schema: SchemaNode): boolean =>
  !schema.types.includes("integer") && !schema.types.includes("number");

function checkEnumeration(schema: SchemaNode, value: JsonValue, { path, finding }: Place): void {
  const allowed = schema.enumeration;
  if (allowed === undefined || allowed.some((candidate) => isEnumerated(value, candidate))) return;
  const message = `${path} in body should be one of ${allowed.map(String).join(" ")}`;
  note(finding, { kind: "enum", path, value, allowed, message });
}

/** null never matches, and a fraction is cut off before it is held against a whole number: both as in Kubernetes. */
function isEnumerated(value: JsonValue, candidate: JsonValue): boolean {
  if (value === null || candidate === null) return false;
  if (typeof value === "number" && typeof candidate === "number")
    return value === candidate || (Number.isInteger(candidate) && Math.trunc(value) === candidate);
  if (typeof value === "object" && typeof candidate === "object")
    return JSON.stringify(value) === JSON.stringify(candidate);
  return typeof value === "bigint" ? String(value) === String(candidate) : value === candidate;
}

function checkList(schema: SchemaNode, items: readonly JsonValue[], place: Place): void {
  const { path, old, finding } = place;
  if (schema.items !== undefined)
    for (const [index, item] of items.entries())
      checkRatcheting(schema.items, item, { ...place, path: `${path}[${index}]`, old: old?.index(index) });
  if (schema.bounds !== undefined) checkItemCount(schema.bounds, items, path, finding);
}

function checkObject(schema: SchemaNode, value: JsonObject, place: Place): void {
  const { path, finding } = place;
  const names = Object.keys(value);
  if (schema.bounds !== undefined) checkPropertyCount(schema.bounds, names.length, path, finding);
  for (const name of names) {
    const item = value[name];
    if (item !== undefined) checkField(schema, name, item, place);
  }
  for (const name of schema.required)
    if (!Object.hasOwn(value, name) || value[name] === undefined)
      note(finding, { kind: "required", path: `${path}.${name}`, message: `${path}.${name} in body is required` });
}

function checkField(schema: SchemaNode, name: string, item: JsonValue, place: Place): void {
  const { path, old, finding } = place;
  const property = schema.properties.get(name);
  if (property !== undefined) {
    // Both sides were brought to one version, so an unchanged apiVersion says nothing about what the client sent.
    const isTypeMeta = path === "" && (name === "kind" || name === "apiVersion");
    const below = path === "" ? name : `${path}.${name}`;
    checkRatcheting(property, item, { ...place, path: below, old: isTypeMeta ? undefined : old?.key(name) });
  } else if (schema.additional === false) {
    const message = `${path}.${name} in body is a forbidden property`;
    note(finding, { kind: "invalid", path, value: name, message });
  } else if (typeof schema.additional === "object")
    checkRatcheting(schema.additional, item, { ...place, path: `${path}.${name}`, old: old?.key(name) });
}

function checkCombinations(schema: SchemaNode, value: JsonValue, place: Place): void {
  if (schema.anyOf.length > 0) checkAnyOf(schema, value, place);
  if (schema.oneOf.length > 0) checkOneOf(schema, value, place);
  if (schema.allOf.length > 0) checkAllOf(schema, value, place);
  if (schema.not !== undefined && tried(schema.not, value, place).problems.length === 0)
    noteComposite(place, "must not validate the schema (not)");
  place.finding.passed += 1;
}

const noteComposite = ({ path, finding }: Place, words: string): void =>
  note(finding, { kind: "composite", message: `${goQuote(path)} ${words}` });

function tried(schema: SchemaNode, value: JsonValue, { path, old }: Place): Finding {
  const finding = newFinding();
  check(schema, value, { path, old, finding, isWeighed: true });
  return finding;
}

const isBetter = (candidate: Finding, best: Finding | undefined): boolean =>
  best === undefined || candidate.passed > best.passed;

function checkAnyOf(schema: SchemaNode, value: JsonValue, place: Place): void {
  let nearest: Finding | undefined;
  for (const alternative of schema.anyOf) {
    const outcome = tried(alternative, value, place);
    if (outcome.problems.length === 0) {
      merge(place.finding, outcome);
      return;
    }
    if (isBetter(outcome, nearest)) nearest = outcome;
  }
  noteComposite(place, "must validate at least one schema (anyOf)");
  if (nearest !== undefined) merge(place.finding, nearest);
}

function checkOneOf(schema: SchemaNode, value: JsonValue, place: Place): void {
  let nearest: Finding | undefined;
  const fitting: Finding[] = [];
  for (const alternative of schema.oneOf) {
    const outcome = tried(alternative, value, place);
    if (outcome.problems.length === 0) fitting.push(outcome);
    else if (fitting.length === 0 && isBetter(outcome, nearest)) nearest = outcome;
  }
  const [first] = fitting;
  if (first !== undefined && fitting.length === 1) merge(place.finding, first);
  else if (first !== undefined)
    noteComposite(place, `must validate one and only one schema (oneOf). Found ${fitting.length} valid alternatives`);
  else {
    noteComposite(place, "must validate one and only one schema (oneOf). Found none valid");
    if (nearest !== undefined) merge(place.finding, nearest);
  }
}

function checkAllOf(schema: SchemaNode, value: JsonValue, place: Place): void {
  let fitting = 0;
  for (const part of schema.allOf) {
    const outcome = tried(part, value, place);
    if (outcome.problems.length === 0) fitting += 1;
    merge(place.finding, outcome);
  }
  if (fitting < schema.allOf.length)
    noteComposite(place, `must validate all the schemas (allOf)${fitting === 0 ? ". None validated" : ""}`);
}
