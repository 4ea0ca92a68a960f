/**
 * One OpenAPI definition as a line of facts. A field is a short text: flags, type, then attributes.
 * Flags: "R" required, "D" the default is the type's zero value.
 * Types: s string, i int32, l int64, b bool, f number, q Quantity, t Time, m MicroTime, y bytes, x IntOrString, j any JSON,
 * F FieldsV1, W RawExtension, J JSON (any JSON under a name of its own),
 * P, B, S the three "schema or …" types, #name another definition, [T a list, {T a map.
 * Attributes: p patch strategy, k merge key, l list type and keys, M map type, d default, e enumeration.
 */
export interface OpenApiSchema {
  readonly type?: string;
  readonly format?: string;
  readonly $ref?: string;
  readonly allOf?: readonly OpenApiSchema[];
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly additionalProperties?: OpenApiSchema;
  readonly items?: OpenApiSchema;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly "x-kubernetes-group-version-kind"?: readonly { group: string; version: string; kind: string }[];
  readonly "x-kubernetes-patch-strategy"?: string;
  readonly "x-kubernetes-patch-merge-key"?: string;
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: string;
}

const leaves: Readonly<Record<string, string>> = {
  "io.k8s.apimachinery.pkg.api.resource.Quantity": "q",
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "x",
  "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "t",
  "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "m",
  "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "F",
  "io.k8s.apimachinery.pkg.runtime.RawExtension": "W",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": "J",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray": "P",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool": "B",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray": "S",
};

interface Described {
  readonly definition: { readonly f: Readonly<Record<string, string>>; readonly M?: string };
  readonly refers: readonly string[];
}

export function describeDefinition(
  schema: OpenApiSchema,
  enumOf: (field: string) => readonly string[] | undefined,
): Described {
  const refers: string[] = [];
  const fields: Record<string, string> = {};
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    fields[name] = describeField(property, schema.required?.includes(name) === true, enumOf(name), refers);
  const mapType = schema["x-kubernetes-map-type"];
  return { definition: { f: fields, ...(mapType === undefined ? {} : { M: mapType }) }, refers };
}

function describeField(
  schema: OpenApiSchema,
  required: boolean,
  values: readonly string[] | undefined,
  refers: string[],
): string {
  const flags = `${required ? "R" : ""}${isZero(schema.default) ? "D" : ""}`;
  return [flags + describeType(schema, refers), ...attributesOf(schema, values)].join(" ");
}

const attributesOf = (schema: OpenApiSchema, values: readonly string[] | undefined): readonly string[] => {
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const listType = schema["x-kubernetes-list-type"];
  const attributes: readonly [string, string | undefined][] = [
    ["p", schema["x-kubernetes-patch-strategy"]],
    ["k", schema["x-kubernetes-patch-merge-key"]],
    ["l", listType === undefined ? undefined : [listType, ...keys].join(":")],
    ["M", schema["x-kubernetes-map-type"]],
    ["d", schema.default === undefined || isZero(schema.default) ? undefined : JSON.stringify(schema.default)],
    ["e", values?.join("|")],
  ];
  return attributes.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
};

const isZero = (value: unknown): boolean =>
  value === "" || value === 0 || value === false || JSON.stringify(value) === "{}";

function describeType(schema: OpenApiSchema, refers: string[]): string {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (reference !== undefined) return describeReference(reference.replace("#/components/schemas/", ""), refers);
  if (schema.items !== undefined) return `[${describeType(schema.items, refers)}`;
  if (schema.additionalProperties !== undefined) return `{${describeType(schema.additionalProperties, refers)}`;
  switch (schema.type) {
    case "string":
      return schema.format === "byte" ? "y" : "s";
    case "integer":
      return schema.format === "int64" ? "l" : "i";
    case "boolean":
      return "b";
    case "number":
      return "f";
    default:
      return "j";
  }
}

function describeReference(name: string, refers: string[]): string {
  const leaf = leaves[name];
  if (leaf !== undefined) return leaf;
  refers.push(name);
  return `#${name}`;
}
