/** Whether a CustomResourceDefinition may stand: group, names, versions, subresources, columns, schemas. */
import { isObject, type JsonObject } from "../../../base/json.ts";
import {
  child,
  duplicate,
  type FieldError,
  forbidden,
  indexed,
  invalid,
  notSupported,
  required,
  tooMany,
} from "../../../schema/field-error.ts";
import { fieldPathIn } from "../../../schema/field-path.ts";
import { object, text, texts } from "../../../schema/fields.ts";
import { goStructJson } from "../../../schema/go-text.ts";
import { label1035Problems, subdomainProblems } from "../../../schema/names.ts";
import { readSchema, type SchemaNode } from "../../../schema/node.ts";
import { defaultErrors } from "./default-values.ts";
import { openApiErrors, type RuleJudge, saysUnsupported } from "./openapi.ts";
import { structuralErrors } from "./structural.ts";
import { type DefinitionView, type NamesView, shownSchema, shownVersions, type VersionView } from "./view.ts";

/** Makes the judge of one schema's CEL rules: it needs the whole schema to know the types. */
export type RuleJudgeFor = (schema: JsonObject) => RuleJudge;

export function specErrors(view: DefinitionView, judgeFor: RuleJudgeFor): readonly FieldError[] {
  return [
    ...groupErrors(view.group),
    ...scopeErrors(view.scope),
    ...missingSchemaErrors(view),
    ...view.versions.flatMap((version, index) => versionErrors(version, view, index, judgeFor)),
    ...versionListErrors(view.versions),
    ...requiredNameErrors(view.names),
    ...nameErrors(view.names, "spec.names"),
    ...schemaErrors(view.validation, hasStatus(view), "spec.validation", judgeFor),
    ...subresourceErrors(view.subresources, "spec.subresources"),
    ...view.columns.flatMap((column, index) => columnErrors(column, indexed("spec.additionalPrinterColumns", index))),
    ...selectableErrors(view.selectableFields, view.validation, "spec.selectableFields"),
    ...conversionErrors(view.conversion, "spec.conversion"),
    ...(view.preserveUnknownFields
      ? [
          invalid(
            "spec.preserveUnknownFields",
            true,
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
          ),
        ]
      : []),
  ];
}

function groupErrors(group: string): readonly FieldError[] {
  if (group === "") return [required("spec.group")];
  const problems = subdomainProblems(group);
  if (problems.length > 0) return [invalid("spec.group", group, problems.join(","))];
  return group.includes(".") ? [] : [invalid("spec.group", group, "should be a domain with at least one dot")];
}

function scopeErrors(scope: string): readonly FieldError[] {
  if (scope === "") return [required("spec.scope")];
  return scope === "Cluster" || scope === "Namespaced"
    ? []
    : [notSupported("spec.scope", scope, ["Cluster", "Namespaced"])];
}

const rootSchemaOf = (validation: JsonObject | undefined): JsonObject | undefined => {
  const schema = validation?.openAPIV3Schema;
  return isObject(schema) ? schema : undefined;
};

function missingSchemaErrors(view: DefinitionView): readonly FieldError[] {
  if (rootSchemaOf(view.validation) !== undefined) return [];
  return view.versions.flatMap((version, index) =>
    rootSchemaOf(version.schema) === undefined ? [required(`spec.versions[${index}].schema.openAPIV3Schema`)] : [],
  );
}

const statusIn = (subresources: JsonObject | undefined): boolean => isObject(subresources?.status);
const hasStatus = (view: DefinitionView): boolean =>
  statusIn(view.subresources) || view.versions.some((version) => statusIn(version.subresources));

function versionErrors(
  version: VersionView,
  view: DefinitionView,
  index: number,
  judgeFor: RuleJudgeFor,
): readonly FieldError[] {
  const path = indexed("spec.versions", index);
  const problems = label1035Problems(version.name);
  const perVersion = view.versions.some(({ subresources }) => subresources !== undefined);
  const subresources = perVersion ? version.subresources : view.subresources;
  return [
    ...(problems.length > 0 ? [invalid(child(path, "name"), version.name, problems.join(","))] : []),
    ...deprecationErrors(version, child(path, "deprecationWarning")),
    ...schemaErrors(version.schema, statusIn(subresources), child(path, "schema"), judgeFor),
    ...subresourceErrors(version.subresources, child(path, "subresources")),
    ...version.columns.flatMap((column, at) =>
      columnErrors(column, indexed(child(path, "additionalPrinterColumns"), at)),
    ),
    ...selectableErrors(version.selectableFields, version.schema, child(path, "selectableFields")),
  ];
}

function deprecationErrors({ deprecated, deprecationWarning }: VersionView, path: string): readonly FieldError[] {
  if (deprecationWarning === undefined) return [];
  const errors: string[] = [];
  if (!deprecated) return [invalid(path, deprecationWarning, "can only be set for deprecated versions")];
  if (Buffer.byteLength(deprecationWarning) > 256) errors.push("must be <= 256 characters long");
  if (deprecationWarning === "") errors.push("must not be an empty string");
  const bad = [...deprecationWarning].findIndex((character) => !/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character));
  if (bad !== -1)
    errors.push(`must only contain printable UTF-8 characters; non-printable character found at index ${bad}`);
  return errors.map((words) => invalid(path, deprecationWarning, words));
}

function versionListErrors(versions: readonly VersionView[]): readonly FieldError[] {
  const errors: FieldError[] = [];
  const names = versions.map(({ name }) => name);
  if (new Set(names).size < names.length)
    errors.push(invalid("spec.versions", shownVersions(versions), "must contain unique version names"));
  if (versions.filter(({ storage }) => storage).length !== 1)
    errors.push(
      invalid("spec.versions", shownVersions(versions), "must have exactly one version marked as storage version"),
    );
  const [first] = names;
  const problems = first === undefined || first === "" ? [] : label1035Problems(first);
  if (problems.length > 0) errors.push(invalid("spec.version", first, problems.join(",")));
  return errors;
}

const requiredNameErrors = (names: NamesView): readonly FieldError[] =>
  (["plural", "singular", "kind", "listKind"] as const)
    .filter((name) => names[name] === "")
    .map((name) => required(`spec.names.${name}`));

/** Also judges status.acceptedNames, where everything may be empty. */
export function nameErrors(names: NamesView, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ["plural", "singular"] as const) {
    const problems = names[name] === "" ? [] : label1035Problems(names[name]);
    if (problems.length > 0) errors.push(invalid(child(path, name), names[name], problems.join(",")));
  }
  for (const name of ["kind", "listKind"] as const) {
    const problems = names[name] === "" ? [] : label1035Problems(names[name].toLowerCase());
    if (problems.length > 0)
      errors.push(
        invalid(
          child(path, name),
          names[name],
          `may have mixed case, but should otherwise match: ${problems.join(",")}`,
        ),
      );
  }
  errors.push(...eachLabel(names.shortNames, child(path, "shortNames")));
  if (names.kind !== "" && names.kind === names.listKind)
    errors.push(invalid(child(path, "listKind"), names.listKind, "kind and listKind may not be the same"));
  return [...errors, ...eachLabel(names.categories, child(path, "categories"))];
}

const eachLabel = (labels: readonly string[], path: string): readonly FieldError[] =>
  labels.flatMap((label, index) => {
    const problems = label1035Problems(label);
    return problems.length === 0 ? [] : [invalid(indexed(path, index), label, problems.join(","))];
  });

const columnTypes = ["boolean", "date", "integer", "number", "string"];
const columnFormats = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

function columnErrors(column: JsonObject, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const [type, format, jsonPath] = [text(column.type), text(column.format), text(column.jsonPath)];
  const oneOf = (allowed: readonly string[]): string => `must be one of ${allowed.join(",")}`;
  if (text(column.name) === "") errors.push(required(child(path, "name")));
  if (type === "") errors.push(required(child(path, "type"), oneOf(columnTypes)));
  else if (!columnTypes.includes(type)) errors.push(invalid(child(path, "type"), type, oneOf(columnTypes)));
  if (format !== "" && !columnFormats.includes(format))
    errors.push(invalid(child(path, "format"), format, oneOf(columnFormats)));
  if (jsonPath === "") errors.push(required(child(path, "JSONPath")));
  else errors.push(...simplePathErrors(jsonPath, child(path, "JSONPath")));
  return errors;
}

const simplePathErrors = (jsonPath: string, path: string): readonly FieldError[] =>
  jsonPath.startsWith(".") ? [] : [invalid(path, jsonPath, "must be a simple json path starting with .")];

function subresourceErrors(subresources: JsonObject | undefined, path: string): readonly FieldError[] {
  const scale = subresources?.scale;
  if (!isObject(scale)) return [];
  return [
    ...scalePathErrors(text(scale.specReplicasPath), child(path, "scale.specReplicasPath"), [".spec."]),
    ...scalePathErrors(text(scale.statusReplicasPath), child(path, "scale.statusReplicasPath"), [".status."]),
    ...(text(scale.labelSelectorPath) === ""
      ? []
      : scalePathErrors(text(scale.labelSelectorPath), child(path, "scale.labelSelectorPath"), [".spec.", ".status."])),
  ];
}

function scalePathErrors(value: string, path: string, under: readonly string[]): readonly FieldError[] {
  if (value === "") return [required(path)];
  const errors = simplePathErrors(value, path);
  if (errors.length > 0 || under.some((prefix) => value.startsWith(prefix))) return errors;
  const where = under.length === 1 ? (under[0] ?? "").slice(0, -1) : "either .spec or .status";
  return [invalid(path, value, `should be a json path under ${where}`)];
}

const selectableFieldsMax = 8;

function selectableErrors(
  fields: readonly JsonObject[],
  validation: JsonObject | undefined,
  path: string,
): readonly FieldError[] {
  const raw = rootSchemaOf(validation);
  if (fields.length === 0 || raw === undefined) return [];
  const schema = readSchema(raw);
  const seen = new Set<string>();
  const errors = fields.flatMap((field, index) =>
    selectableFieldErrors(field, schema, child(indexed(path, index), "jsonPath"), seen),
  );
  return seen.size > selectableFieldsMax ? [...errors, tooMany(path, seen.size, selectableFieldsMax)] : errors;
}

function selectableFieldErrors(
  field: JsonObject,
  schema: SchemaNode,
  path: string,
  seen: Set<string>,
): readonly FieldError[] {
  const jsonPath = text(field.jsonPath);
  if (jsonPath === "") return [required(path)];
  const found = fieldPathIn(jsonPath, schema, false);
  if (found.kind === "bad") return [invalid(path, jsonPath, `is an invalid path: ${found.problem}`)];
  const errors: FieldError[] = [];
  if (found.path === "metadata" || found.path.startsWith("metadata."))
    errors.push(invalid(path, jsonPath, "must not point to fields in metadata"));
  if (!["string", "boolean", "integer"].includes(found.schema.types[0] ?? "") || found.schema.intOrString)
    errors.push(
      invalid(
        path,
        jsonPath,
        "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
      ),
    );
  if (seen.has(found.path)) errors.push(duplicate(path, jsonPath));
  seen.add(found.path);
  return errors;
}

function conversionErrors(conversion: JsonObject, path: string): readonly FieldError[] {
  const strategy = text(conversion.strategy);
  if (strategy === "") return [required(child(path, "strategy"))];
  if (strategy !== "None" && strategy !== "Webhook")
    return [notSupported(child(path, "strategy"), strategy, ["None", "Webhook"])];
  const webhook = object(conversion.webhook);
  if (strategy === "Webhook") return webhookErrors(webhook, path);
  const words = "should not be set when strategy is not set to Webhook";
  return [
    ...(isObject(webhook.clientConfig) ? [forbidden(child(path, "webhookClientConfig"), words)] : []),
    ...(texts(webhook.conversionReviewVersions).length > 0
      ? [forbidden(child(path, "conversionReviewVersions"), words)]
      : []),
  ];
}

function webhookErrors(webhook: JsonObject, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const configPath = child(path, "webhookClientConfig");
  if (!isObject(webhook.clientConfig)) errors.push(required(configPath, "required when strategy is set to Webhook"));
  else if ((webhook.clientConfig.url === undefined) === !isObject(webhook.clientConfig.service))
    errors.push(required(configPath, "exactly one of url or service is required"));
  const versions = texts(webhook.conversionReviewVersions);
  const versionsPath = child(path, "conversionReviewVersions");
  if (versions.length === 0) errors.push(required(versionsPath));
  else if (!versions.some((version) => version === "v1" || version === "v1beta1"))
    errors.push(invalid(versionsPath, versions, "must include at least one of v1, v1beta1"));
  return errors;
}

/** Go's names of what the root of a schema may say when status is extracted from it. */
const allowedAtRoot =
  "[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations]";
const allowedRootFields: ReadonlySet<string> = new Set([
  ...["description", "type", "format", "title", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"],
  ...["maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "multipleOf", "required", "items"],
  ...["properties", "externalDocs", "example", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations"],
  "nullable",
]);

function rootErrors(schema: JsonObject, status: boolean, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (status && text(schema.type) !== "" && schema.type !== "object")
    errors.push(
      invalid(
        child(path, "type"),
        text(schema.type),
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
      ),
    );
  else if (status && Object.keys(schema).some((name) => !allowedRootFields.has(name)))
    errors.push(
      invalid(
        path,
        goStructJson(shownSchema(schema)),
        `only ${allowedAtRoot} fields are allowed at the root of the schema if the status subresource is enabled`,
      ),
    );
  if (schema.nullable === true) errors.push(forbidden(child(path, "nullable"), "nullable cannot be true at the root"));
  return errors;
}

function schemaErrors(
  validation: JsonObject | undefined,
  status: boolean,
  path: string,
  judgeFor: RuleJudgeFor,
): readonly FieldError[] {
  const schema = rootSchemaOf(validation);
  if (schema === undefined) return [];
  const rootPath = child(path, "openAPIV3Schema");
  // A schema with words that are not supported at all is not looked at any closer.
  const isReadable = !saysUnsupported(schema);
  const structural = isReadable ? structuralErrors(schema, rootPath) : [];
  const defaults = isReadable && structural.length === 0 ? defaultErrors(schema, rootPath) : [];
  const judge = isReadable && structural.length === 0 && defaults.length === 0 ? judgeFor(schema) : undefined;
  return [
    ...rootErrors(schema, status, rootPath),
    ...structural,
    ...defaults,
    ...openApiErrors(schema, rootPath, judge),
  ];
}
