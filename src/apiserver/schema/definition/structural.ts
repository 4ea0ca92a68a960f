/** Whether a schema is structural: every field has its one type outside of anyOf, allOf, oneOf and not, and nothing inside. */
import { equal, isObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import {
  child,
  type FieldError,
  forbidden,
  indexed,
  invalid,
  messageOf,
  required,
} from "../../../schema/field-error.ts";
import { object, objects, text } from "../../../schema/fields.ts";
import { goRegExp } from "../../../schema/go-regexp.ts";

type Level = "root" | "item" | "field";

export function structuralErrors(schema: JsonObject, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  checkInvariants(schema, "root", path, errors);
  checkComplete(schema, schema, { structural: path, validation: path }, errors);
  return errors.sort((a, b) => (messageOf(a) < messageOf(b) ? -1 : 1));
}

const keyed = (path: string, map: string, key: string): string => indexed(child(path, map), key);
const has = (schema: JsonObject, name: string): boolean => schema[name] !== undefined && schema[name] !== null;

function checkInvariants(schema: JsonObject, level: Level, path: string, errors: FieldError[]): void {
  if (schema.type === "array" && !isObject(schema.items))
    errors.push(required(child(path, "items"), "must be specified"));
  if (isObject(schema.items)) checkInvariants(schema.items, "item", child(path, "items"), errors);
  for (const [name, property] of Object.entries(object(schema.properties)))
    checkInvariants(object(property), "field", keyed(path, "properties", name), errors);
  if (has(schema, "additionalProperties")) {
    if (level === "root") errors.push(forbidden(child(path, "additionalProperties"), "must not be used at the root"));
    if (isObject(schema.additionalProperties))
      checkInvariants(schema.additionalProperties, "field", child(path, "additionalProperties"), errors);
  }
  checkExtensions(schema, path, errors);
  const skip = { anyOf: isIntOrString(schema.anyOf), firstAllOf: isIntOrString(objects(schema.allOf)[0]?.anyOf) };
  checkValueValidation(schema, skip, path, errors);
  checkOwnType(schema, level, path, errors);
  checkMetadata(schema, level, path, errors);
}

const isIntOrString = (anyOf: JsonValue | undefined): boolean =>
  equal(anyOf, [{ type: "integer" }, { type: "string" }]);

function checkExtensions(schema: JsonObject, path: string, errors: FieldError[]): void {
  if (schema["x-kubernetes-int-or-string"] !== true) return;
  for (const name of ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"])
    if (schema[name] === true)
      errors.push(invalid(child(path, name), true, "must be false if x-kubernetes-int-or-string is true"));
}

const emptyTypeWords: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

function checkOwnType(schema: JsonObject, level: Level, path: string, errors: FieldError[]): void {
  const type = text(schema.type);
  const embedded = schema["x-kubernetes-embedded-resource"] === true;
  const preserves = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const typePath = child(path, "type");
  if (embedded && type !== "object") {
    const words = "must be object if x-kubernetes-embedded-resource is true";
    errors.push(type === "" ? required(typePath, words) : invalid(typePath, type, words));
  } else if (type === "" && schema["x-kubernetes-int-or-string"] !== true && !preserves)
    errors.push(required(typePath, emptyTypeWords[level]));
  if (embedded && has(schema, "additionalProperties"))
    errors.push(
      forbidden(child(path, "additionalProperties"), "must not be used if x-kubernetes-embedded-resource is set"),
    );
  if (level === "root" && type !== "" && type !== "object")
    errors.push(invalid(typePath, type, "must be object at the root"));
  if (embedded && !preserves && Object.keys(object(schema.properties)).length === 0)
    errors.push(
      required(
        child(path, "properties"),
        "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
      ),
    );
}

function checkMetadata(schema: JsonObject, level: Level, path: string, errors: FieldError[]): void {
  const isResource = level === "root" || schema["x-kubernetes-embedded-resource"] === true;
  const properties = object(schema.properties);
  for (const name of ["kind", "apiVersion"]) {
    const property = properties[name];
    if (isResource && isObject(property) && property.type !== "string")
      errors.push(invalid(child(keyed(path, "properties", name), "type"), text(property.type), "must be string"));
  }
  if (!isObject(properties.metadata)) return;
  const metadataPath = keyed(path, "properties", "metadata");
  if (isResource && properties.metadata.type !== "object")
    errors.push(invalid(child(metadataPath, "type"), text(properties.metadata.type), "must be object"));
  if (level === "root" && !saysOnlyNames(properties.metadata))
    errors.push(
      forbidden(
        metadataPath,
        "must not specify anything other than name and generateName, but metadata is implicitly specified",
      ),
    );
}

function saysOnlyNames(metadata: JsonObject): boolean {
  const { type: _type, default: _default, properties, ...rest } = metadata;
  const names = Object.keys(object(properties));
  return Object.keys(rest).length === 0 && names.every((name) => name === "name" || name === "generateName");
}

interface Skip {
  readonly anyOf: boolean;
  readonly firstAllOf: boolean;
}

const skipNothing: Skip = { anyOf: false, firstAllOf: false };

function checkValueValidation(schema: JsonObject, skip: Skip, path: string, errors: FieldError[]): void {
  if (!skip.anyOf) checkBranches(schema, "anyOf", path, errors);
  for (const [index, part] of objects(schema.allOf).entries())
    checkNested(
      part,
      { anyOf: skip.firstAllOf && index === 0, firstAllOf: false },
      indexed(child(path, "allOf"), index),
      errors,
    );
  checkBranches(schema, "oneOf", path, errors);
  if (isObject(schema.not)) checkNested(schema.not, skipNothing, child(path, "not"), errors);
  const pattern = text(schema.pattern);
  const problem = pattern === "" ? undefined : goRegExp(pattern).problem;
  if (problem !== undefined)
    errors.push(invalid(child(path, "pattern"), pattern, `must be a valid regular expression, but isn't: ${problem}`));
}

function checkBranches(schema: JsonObject, name: "anyOf" | "oneOf", path: string, errors: FieldError[]): void {
  for (const [index, part] of objects(schema[name]).entries())
    checkNested(part, skipNothing, indexed(child(path, name), index), errors);
}

/** What may not be said inside of a branch, and how the error puts it. */
const forbiddenInside: readonly (readonly [name: string, words: string])[] = [
  ["type", "must be empty to be structural"],
  ["additionalProperties", "must be undefined to be structural"],
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
  ["x-kubernetes-validations", "must be empty to be structural"],
];

const isSaid = (value: JsonValue | undefined): boolean =>
  value !== undefined &&
  value !== null &&
  value !== "" &&
  value !== false &&
  !(Array.isArray(value) && value.length === 0);

function checkNested(schema: JsonObject, skip: Skip, path: string, errors: FieldError[]): void {
  checkValueValidation(schema, skip, path, errors);
  if (isObject(schema.items)) checkNested(schema.items, skipNothing, child(path, "items"), errors);
  for (const [name, property] of Object.entries(object(schema.properties)))
    checkNested(object(property), skipNothing, keyed(path, "properties", name), errors);
  for (const [name, words] of forbiddenInside)
    if (isSaid(schema[name])) errors.push(forbidden(child(path, name), words));
  if (has(object(schema.properties), "metadata"))
    errors.push(forbidden(keyed(path, "properties", "metadata"), "must not be specified in a nested context"));
}

interface TwoPaths {
  readonly structural: string;
  readonly validation: string;
}

/** What a branch says something about must have its type outside of the branch. */
function checkComplete(
  branch: JsonObject,
  outside: JsonObject | undefined,
  paths: TwoPaths,
  errors: FieldError[],
): void {
  if (outside === undefined) {
    errors.push(required(paths.structural, `because it is defined in ${paths.validation}`));
    return;
  }
  const inside = (part: JsonObject, at: string): void =>
    checkNestedComplete(part, outside, { structural: paths.structural, validation: at }, errors);
  if (isObject(branch.not)) inside(branch.not, child(paths.validation, "not"));
  for (const name of ["allOf", "anyOf", "oneOf"])
    for (const [index, part] of objects(branch[name]).entries())
      inside(part, indexed(child(paths.validation, name), index));
}

function checkNestedComplete(
  branch: JsonObject,
  outside: JsonObject,
  { structural, validation }: TwoPaths,
  errors: FieldError[],
): void {
  checkComplete(branch, outside, { structural, validation }, errors);
  if (isObject(branch.items)) {
    const below = { structural: child(structural, "items"), validation: child(validation, "items") };
    if (isObject(outside.items)) checkNestedComplete(branch.items, outside.items, below, errors);
    else errors.push(required(below.structural, `because it is defined in ${below.validation}`));
  }
  for (const [name, property] of Object.entries(object(branch.properties))) {
    const below = {
      structural: keyed(structural, "properties", name),
      validation: keyed(validation, "properties", name),
    };
    const counterpart = object(outside.properties)[name];
    if (isObject(counterpart)) checkNestedComplete(object(property), counterpart, below, errors);
    else errors.push(required(below.structural, `because it is defined in ${below.validation}`));
  }
}
