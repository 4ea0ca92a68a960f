/**
 * A CustomResourceDefinition as Kubernetes' validation sees it. What all versions have in common (a schema, subresources,
 * columns) is moved to the top first, and errors name it there: "spec.validation" instead of "spec.versions[0].schema".
 */
import { equal, isObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { object, objects, text, texts } from "../../../schema/fields.ts";
import { goStructJson, type Verbatim } from "../../../schema/go-text.ts";

export interface VersionView {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated: boolean;
  readonly deprecationWarning: string | undefined;
  /** The `schema` object, unless it is common to all versions. */
  readonly schema: JsonObject | undefined;
  readonly subresources: JsonObject | undefined;
  readonly columns: readonly JsonObject[];
  readonly selectableFields: readonly JsonObject[];
}

export interface NamesView {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

export interface DefinitionView {
  readonly group: string;
  readonly scope: string;
  readonly names: NamesView;
  readonly versions: readonly VersionView[];
  readonly validation: JsonObject | undefined;
  readonly subresources: JsonObject | undefined;
  readonly columns: readonly JsonObject[];
  readonly selectableFields: readonly JsonObject[];
  readonly preserveUnknownFields: boolean;
  readonly conversion: JsonObject;
}

const objectIfAny = (value: JsonValue | undefined): JsonObject | undefined => (isObject(value) ? value : undefined);

export function readNames(raw: JsonValue | undefined): NamesView {
  const names = object(raw);
  return {
    plural: text(names.plural),
    singular: text(names.singular),
    kind: text(names.kind),
    listKind: text(names.listKind),
    shortNames: texts(names.shortNames),
    categories: texts(names.categories),
  };
}

function readVersion(raw: JsonObject): VersionView {
  return {
    name: text(raw.name),
    served: raw.served === true,
    storage: raw.storage === true,
    deprecated: raw.deprecated === true,
    deprecationWarning: typeof raw.deprecationWarning === "string" ? raw.deprecationWarning : undefined,
    schema: objectIfAny(raw.schema),
    subresources: objectIfAny(raw.subresources),
    columns: objects(raw.additionalPrinterColumns),
    selectableFields: objects(raw.selectableFields),
  };
}

type Shared = "schema" | "subresources" | "columns" | "selectableFields";

export function viewOf(definition: JsonObject): DefinitionView {
  const spec = object(definition.spec);
  const versions = objects(spec.versions).map(readVersion);
  const [first] = versions;
  const isCommon = (field: Shared): boolean =>
    first !== undefined && versions.every((version) => equal(version[field], first[field]));
  const common = {
    schema: isCommon("schema"),
    subresources: isCommon("subresources"),
    columns: isCommon("columns"),
    selectableFields: isCommon("selectableFields"),
  };
  return {
    group: text(spec.group),
    scope: text(spec.scope),
    names: readNames(spec.names),
    versions: versions.map((version) => ({
      ...version,
      schema: common.schema ? undefined : version.schema,
      subresources: common.subresources ? undefined : version.subresources,
      columns: common.columns ? [] : version.columns,
      selectableFields: common.selectableFields ? [] : version.selectableFields,
    })),
    validation: common.schema ? first?.schema : undefined,
    subresources: common.subresources ? first?.subresources : undefined,
    columns: common.columns ? (first?.columns ?? []) : [],
    selectableFields: common.selectableFields ? (first?.selectableFields ?? []) : [],
    preserveUnknownFields: spec.preserveUnknownFields === true,
    conversion: object(spec.conversion),
  };
}

/** How an error shows the list of versions: in the words and the order of the internal Go type. */
export const shownVersions = (versions: readonly VersionView[]): Verbatim =>
  goStructJson(
    versions.map((version) => ({
      Name: version.name,
      Served: version.served,
      Storage: version.storage,
      Deprecated: version.deprecated,
      DeprecationWarning: version.deprecationWarning ?? null,
      Schema:
        version.schema === undefined
          ? null
          : {
              OpenAPIV3Schema: isObject(version.schema.openAPIV3Schema)
                ? shownSchema(version.schema.openAPIV3Schema)
                : null,
            },
      Subresources: version.subresources ?? null,
      AdditionalPrinterColumns: version.columns.length === 0 ? null : version.columns,
      SelectableFields: version.selectableFields.length === 0 ? null : version.selectableFields,
    })),
  );

/** The fields of Go's JSONSchemaProps in their order, with what each is when nothing was said. */
const schemaFields: readonly (readonly [goName: string, name: string, zero: JsonValue])[] = [
  ["ID", "id", ""],
  ["Schema", "$schema", ""],
  ["Ref", "$ref", null],
  ["Description", "description", ""],
  ["Type", "type", ""],
  ["Nullable", "nullable", false],
  ["Format", "format", ""],
  ["Title", "title", ""],
  ["Default", "default", null],
  ["Maximum", "maximum", null],
  ["ExclusiveMaximum", "exclusiveMaximum", false],
  ["Minimum", "minimum", null],
  ["ExclusiveMinimum", "exclusiveMinimum", false],
  ["MaxLength", "maxLength", null],
  ["MinLength", "minLength", null],
  ["Pattern", "pattern", ""],
  ["MaxItems", "maxItems", null],
  ["MinItems", "minItems", null],
  ["UniqueItems", "uniqueItems", false],
  ["MultipleOf", "multipleOf", null],
  ["Enum", "enum", null],
  ["MaxProperties", "maxProperties", null],
  ["MinProperties", "minProperties", null],
  ["Required", "required", null],
  ["Items", "items", null],
  ["AllOf", "allOf", null],
  ["OneOf", "oneOf", null],
  ["AnyOf", "anyOf", null],
  ["Not", "not", null],
  ["Properties", "properties", null],
  ["AdditionalProperties", "additionalProperties", null],
  ["PatternProperties", "patternProperties", null],
  ["Dependencies", "dependencies", null],
  ["AdditionalItems", "additionalItems", null],
  ["Definitions", "definitions", null],
  ["ExternalDocs", "externalDocs", null],
  ["Example", "example", null],
  ["XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", null],
  ["XEmbeddedResource", "x-kubernetes-embedded-resource", false],
  ["XIntOrString", "x-kubernetes-int-or-string", false],
  ["XListMapKeys", "x-kubernetes-list-map-keys", null],
  ["XListType", "x-kubernetes-list-type", null],
  ["XMapType", "x-kubernetes-map-type", null],
  ["XValidations", "x-kubernetes-validations", null],
];

export function shownSchema(schema: JsonObject): JsonObject {
  return Object.fromEntries(
    schemaFields.map(([goName, name, zero]) => [
      goName,
      schema[name] === undefined ? zero : shownPart(name, schema[name]),
    ]),
  );
}

function shownPart(name: string, value: JsonValue): JsonValue {
  if (name === "properties" && isObject(value))
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([property, schema]) => [property, shownSchema(object(schema))]),
    );
  if (name === "items" && isObject(value)) return { Schema: shownSchema(value), JSONSchemas: null };
  if (name === "additionalProperties")
    return isObject(value) ? { Allows: true, Schema: shownSchema(value) } : { Allows: value === true, Schema: null };
  if (name === "not" && isObject(value)) return shownSchema(value);
  if (name === "x-kubernetes-validations") return objects(value).map(shownRule);
  return ["allOf", "oneOf", "anyOf"].includes(name) ? objects(value).map(shownSchema) : value;
}

export const shownRule = (rule: JsonObject): JsonObject => ({
  Rule: text(rule.rule),
  Message: text(rule.message),
  MessageExpression: text(rule.messageExpression),
  Reason: rule.reason ?? null,
  FieldPath: text(rule.fieldPath),
  OptionalOldSelf: rule.optionalOldSelf ?? null,
});
