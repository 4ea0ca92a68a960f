/** What a definition's schema may say, node by node, apart from being structural. CEL rules are compiled by a hook. */
import { isObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import {
  child,
  type FieldError,
  forbidden,
  indexed,
  invalid,
  notSupported,
  required,
} from "../../../schema/field-error.ts";
import { fieldPathIn } from "../../../schema/field-path.ts";
import { object, objects, text, texts } from "../../../schema/fields.ts";
import { readSchema } from "../../../schema/node.ts";

/** Judges the x-kubernetes-validations of one node. */
export type RuleJudge = (place: {
  readonly schema: JsonObject;
  readonly path: string;
  readonly steps: readonly Step[];
  /** The highest ancestor whose parts cannot be told apart between old and new. */
  readonly uncorrelatable: string | undefined;
}) => readonly FieldError[];

export type Step = { readonly kind: "property"; readonly name: string } | { readonly kind: "items" | "additional" };

interface Place {
  readonly path: string;
  readonly steps: readonly Step[] | undefined;
  readonly isRoot: boolean;
  readonly insideMeta: boolean;
  /** Why defaults may not be set here, if so. */
  readonly noDefaults: string | undefined;
  readonly uncorrelatable: string | undefined;
}

interface Errors {
  readonly schema: FieldError[];
  readonly rules: FieldError[];
}

const types: readonly string[] = ["array", "boolean", "integer", "number", "object", "string"];
const metaFields: ReadonlySet<string> = new Set(["metadata", "kind", "apiVersion"]);

export function openApiErrors(schema: JsonObject, path: string, judge: RuleJudge | undefined): readonly FieldError[] {
  const root: Place = {
    path,
    steps: [],
    isRoot: true,
    insideMeta: false,
    noDefaults: undefined,
    uncorrelatable: undefined,
  };
  const { schema: schemaErrors, rules } = judgeNode(schema, root, judge);
  return [...schemaErrors, ...rules];
}

function judgeNode(schema: JsonObject, place: Place, judge: RuleJudge | undefined): Errors {
  const errors: Errors = { schema: [], rules: [] };
  errors.schema.push(...vocabularyErrors(schema, place));
  for (const { schema: below, place: where } of childrenOf(schema, place)) {
    const found = judgeNode(below, where, judge);
    errors.schema.push(...found.schema);
    errors.rules.push(...found.rules);
  }
  errors.schema.push(...extensionErrors(schema, place.path));
  const rules = objects(schema["x-kubernetes-validations"]);
  if (rules.length === 0) return errors;
  errors.schema.push(
    ...rules.flatMap((rule, index) =>
      ruleErrors(schema, rule, indexed(child(place.path, "x-kubernetes-validations"), index)),
    ),
  );
  if (errors.schema.length === 0 && judge !== undefined && place.steps !== undefined)
    errors.rules.push(...judge({ schema, path: place.path, steps: place.steps, uncorrelatable: place.uncorrelatable }));
  return errors;
}

const unsupported = ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"] as const;

export function saysUnsupported(schema: JsonObject): boolean {
  if (Array.isArray(schema.items) || unsupported.some((name) => isSet(schema[name]) && schema[name] !== ""))
    return true;
  const parts = [schema.items, schema.additionalProperties, schema.not, ...Object.values(object(schema.properties))];
  const branches = ["allOf", "anyOf", "oneOf"].flatMap((name) => objects(schema[name]));
  return [...parts, ...branches].some((part) => isObject(part) && saysUnsupported(part));
}

const isSet = (value: JsonValue | undefined): boolean => value !== undefined && value !== null;

function vocabularyErrors(schema: JsonObject, { path, noDefaults, insideMeta }: Place): readonly FieldError[] {
  const errors: FieldError[] = [];
  const type = text(schema.type);
  if (type !== "" && !types.includes(type)) errors.push(notSupported(child(path, "type"), type, types));
  if (isSet(schema.default) && noDefaults !== undefined)
    errors.push(forbidden(child(path, "default"), `must not be set ${noDefaults}`));
  for (const name of unsupported)
    if (isSet(schema[name]) && schema[name] !== "")
      errors.push(forbidden(child(path, name), `${name} is not supported`));
  if (type === "null")
    errors.push(forbidden(child(path, "type"), "type cannot be set to null, use nullable as an alternative"));
  if (Array.isArray(schema.items))
    errors.push(forbidden(child(path, "items"), "items must be a schema object and not an array"));
  if (insideMeta && schema["x-kubernetes-embedded-resource"] === true)
    errors.push(forbidden(child(path, "x-kubernetes-embedded-resource"), "must not be used inside of resource meta"));
  if (schema.uniqueItems === true)
    errors.push(
      forbidden(
        child(path, "uniqueItems"),
        "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
      ),
    );
  if (isSet(schema.additionalProperties) && schema.additionalProperties !== true && hasProperties(schema))
    errors.push(
      forbidden(child(path, "additionalProperties"), "additionalProperties and properties are mutual exclusive"),
    );
  return errors;
}

const hasProperties = (schema: JsonObject): boolean => Object.keys(object(schema.properties)).length > 0;

function childrenOf(schema: JsonObject, place: Place): readonly { schema: JsonObject; place: Place }[] {
  const inner: Place = { ...place, isRoot: false };
  const found: { schema: JsonObject; place: Place }[] = [];
  const step = (next: Step): readonly Step[] | undefined =>
    place.steps === undefined ? undefined : [...place.steps, next];
  if (isObject(schema.additionalProperties))
    found.push({
      schema: schema.additionalProperties,
      place: {
        ...inner,
        path: child(place.path, "additionalProperties"),
        steps: step({ kind: "additional" }),
        noDefaults: place.insideMeta ? "inside additionalProperties applying to object metadata" : place.noDefaults,
      },
    });
  for (const [name, property] of Object.entries(object(schema.properties)))
    found.push({
      schema: object(property),
      place: propertyPlace(schema, name, place, step({ kind: "property", name })),
    });
  if (isObject(schema.not))
    found.push({ schema: schema.not, place: { ...inner, path: child(place.path, "not"), steps: undefined } });
  for (const name of ["allOf", "oneOf", "anyOf"])
    for (const [index, part] of objects(schema[name]).entries())
      found.push({
        schema: part,
        place: { ...inner, path: indexed(child(place.path, name), index), steps: undefined },
      });
  if (isObject(schema.items))
    found.push({
      schema: schema.items,
      place: {
        ...inner,
        path: child(place.path, "items"),
        steps: step({ kind: "items" }),
        uncorrelatable: place.uncorrelatable ?? (schema["x-kubernetes-list-type"] === "map" ? undefined : place.path),
      },
    });
  return found;
}

function propertyPlace(schema: JsonObject, name: string, place: Place, steps: readonly Step[] | undefined): Place {
  const isMeta = (place.isRoot || schema["x-kubernetes-embedded-resource"] === true) && metaFields.has(name);
  return {
    path: indexed(child(place.path, "properties"), name),
    steps,
    isRoot: false,
    insideMeta: place.insideMeta || isMeta,
    noDefaults: isMeta && place.isRoot ? `in top-level ${name}` : place.noDefaults,
    uncorrelatable: place.uncorrelatable,
  };
}

function extensionErrors(schema: JsonObject, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (schema["x-kubernetes-preserve-unknown-fields"] === false)
    errors.push(invalid(child(path, "x-kubernetes-preserve-unknown-fields"), false, "must be true or undefined"));
  errors.push(...mapTypeErrors(schema, path), ...listTypeErrors(schema, path));
  if (schema["x-kubernetes-list-type"] === "map") errors.push(...mapListErrors(schema, path));
  errors.push(...entryErrors(schema, path));
  return errors;
}

const typeMustBe = (schema: JsonObject, path: string, wanted: string, because: string): readonly FieldError[] => {
  const type = text(schema.type);
  if (type === wanted) return [];
  const words = `must be ${wanted} if ${because} is specified`;
  return [type === "" ? required(child(path, "type"), words) : invalid(child(path, "type"), type, words)];
};

function mapTypeErrors(schema: JsonObject, path: string): readonly FieldError[] {
  const mapType = schema["x-kubernetes-map-type"];
  if (typeof mapType !== "string") return [];
  const errors = [...typeMustBe(schema, path, "object", "x-kubernetes-map-type")];
  if (mapType !== "atomic" && mapType !== "granular")
    errors.push(notSupported(child(path, "x-kubernetes-map-type"), mapType, ["atomic", "granular"]));
  return errors;
}

function listTypeErrors(schema: JsonObject, path: string): readonly FieldError[] {
  const listType = schema["x-kubernetes-list-type"];
  const keys = texts(schema["x-kubernetes-list-map-keys"]);
  const errors: FieldError[] = [];
  const typePath = child(path, "x-kubernetes-list-type");
  if (typeof listType === "string") {
    errors.push(...typeMustBe(schema, path, "array", "x-kubernetes-list-type"));
    if (listType === "set" && schema.type === "array")
      errors.push(...setItemErrors(object(schema.items), child(path, "items")));
    if (!["atomic", "set", "map"].includes(listType))
      errors.push(notSupported(typePath, listType, ["atomic", "set", "map"]));
  }
  if (keys.length > 0 && listType !== "map") {
    const words = "must be map if x-kubernetes-list-map-keys is non-empty";
    errors.push(typeof listType === "string" ? invalid(typePath, listType, words) : required(typePath, words));
  }
  return errors;
}

function setItemErrors(items: JsonObject, path: string): readonly FieldError[] {
  const words = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const listType = items["x-kubernetes-list-type"];
  if (items.type === "array" && isSet(listType) && listType !== "atomic")
    return [invalid(child(path, "x-kubernetes-list-type"), listType, words)];
  if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic")
    return [invalid(child(path, "x-kubernetes-map-type"), listType ?? null, words)];
  return [];
}

function mapListErrors(schema: JsonObject, path: string): readonly FieldError[] {
  const keys = texts(schema["x-kubernetes-list-map-keys"]);
  const keysPath = child(path, "x-kubernetes-list-map-keys");
  const errors: FieldError[] = [];
  if (keys.length === 0) errors.push(required(keysPath, "must not be empty if x-kubernetes-list-type is map"));
  if (!isObject(schema.items))
    return [...errors, required(child(path, "items"), "must have a schema if x-kubernetes-list-type is map")];
  const { items } = schema;
  if (items.type !== "object")
    return [
      ...errors,
      invalid(
        child(path, "items.type"),
        text(items.type),
        "must be object if parent array's x-kubernetes-list-type is map",
      ),
    ];
  for (const [index, key] of keys.entries()) {
    const property = object(items.properties)[key];
    if (!isObject(property)) errors.push(invalid(keysPath, keys, "entries must all be names of item properties"));
    else if (property.type === "array" || property.type === "object")
      errors.push(
        invalid(
          child(indexed(child(path, "items.properties"), key), "type"),
          text(items.type),
          "must be a scalar type if parent array's x-kubernetes-list-type is map",
        ),
      );
    if (keys.indexOf(key) < index) errors.push(invalid(keysPath, keys, "must not contain duplicate entries"));
  }
  return errors;
}

/** Entries of sets and maps are always there, and so are the keys of the latter. */
function entryErrors(schema: JsonObject, path: string): readonly FieldError[] {
  const listType = schema["x-kubernetes-list-type"];
  if (!isObject(schema.items) || (listType !== "set" && listType !== "map")) return [];
  const { items } = schema;
  const errors: FieldError[] = [];
  if (items.nullable === true)
    errors.push(
      forbidden(child(path, "items.nullable"), `cannot be nullable when x-kubernetes-list-type is ${listType}`),
    );
  if (listType === "set") return errors;
  for (const key of texts(schema["x-kubernetes-list-map-keys"])) {
    const property = object(items.properties)[key];
    if (!isObject(property)) continue;
    const at = indexed(child(path, "items.properties"), key);
    if (!texts(items.required).includes(key) && !isSet(property.default))
      errors.push(
        required(
          child(at, "default"),
          "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
        ),
      );
    if (property.nullable === true)
      errors.push(
        forbidden(child(at, "nullable"), "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"),
      );
  }
  return errors;
}

const reasons: readonly string[] = [
  "FieldValueDuplicate",
  "FieldValueForbidden",
  "FieldValueInvalid",
  "FieldValueRequired",
];
const hasNewline = (value: string): boolean => /[\n\r]/.test(value);

function ruleErrors(schema: JsonObject, rule: JsonObject, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const [source, message] = [text(rule.rule).trim(), text(rule.message)];
  if (source === "") errors.push(required(child(path, "rule"), "rule is not specified"));
  else if (message !== "" && message.trim() === "")
    errors.push(invalid(child(path, "message"), message, "must be non-empty if specified"));
  else if (hasNewline(message.trim()))
    errors.push(invalid(child(path, "message"), message, "must not contain line breaks"));
  else if (hasNewline(source) && message.trim() === "")
    errors.push(required(child(path, "message"), "message must be specified if rule contains line breaks"));
  if (text(rule.messageExpression) !== "" && text(rule.messageExpression).trim() === "")
    errors.push(required(child(path, "messageExpression"), "messageExpression must be non-empty if specified"));
  if (typeof rule.reason === "string" && !reasons.includes(rule.reason))
    errors.push(notSupported(child(path, "reason"), rule.reason, reasons));
  return [...errors, ...fieldPathErrors(schema, text(rule.fieldPath), child(path, "fieldPath"))];
}

function fieldPathErrors(schema: JsonObject, value: string, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (value !== "" && value.trim() === "") errors.push(invalid(path, value, "must be non-empty if specified"));
  if (hasNewline(value)) errors.push(invalid(path, value, "must not contain line breaks"));
  if (value !== "" && fieldPathIn(value, readSchema(schema)).kind === "bad")
    errors.push(invalid(path, value, "must be a valid path"));
  return errors;
}
