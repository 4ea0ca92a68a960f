/** A CustomResourceDefinition → the resources it defines, one per served version. */
import { isObject, type JsonObject, type JsonValue } from "../base/json.ts";
import { goJson } from "../schema/go-text.ts";
import { ageSince } from "./age.ts";
import { ageColumn, nameColumn } from "./columns/basic.ts";
import type { ApiObject, Column, Parts, Resource, Strategy, Subresource, Verb } from "./contracts.ts";
import { compilePath } from "./json-path.ts";
import { apiVersionOf, collectionOf } from "./rows.ts";

const verbs: readonly Verb[] = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const writable: readonly Verb[] = ["get", "patch", "update"];

export interface DefinitionVersion extends JsonObject {
  name: string;
  served?: boolean;
  storage?: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  subresources?: JsonObject;
  additionalPrinterColumns?: JsonValue[];
  selectableFields?: JsonValue[];
}

export interface DefinitionNames extends JsonObject {
  plural: string;
  singular?: string;
  kind: string;
  listKind?: string;
  shortNames?: string[];
  categories?: string[];
}

export interface Definition extends ApiObject {
  spec: {
    group: string;
    scope: "Namespaced" | "Cluster";
    names: DefinitionNames;
    versions: DefinitionVersion[];
  } & JsonObject;
  status?: { conditions?: Condition[]; acceptedNames?: DefinitionNames; storedVersions?: string[] } & JsonObject;
}

export interface Condition extends JsonObject {
  type: string;
  status: "True" | "False" | "Unknown";
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

/** Validation has seen to it that a stored definition has this form. */
export const asDefinition = (object: ApiObject): Definition => object as Definition;

export const isTrue = ({ status }: Definition, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === "True") ?? false;

export function resourcesOf(definition: Definition, parts: Parts): readonly Resource[] {
  return definition.spec.versions
    .filter(({ served }) => served === true)
    .map((version) => resourceOf(definition, version, parts));
}

function resourceOf(definition: Definition, version: DefinitionVersion, parts: Parts): Resource {
  const { group, scope, versions } = definition.spec;
  const names = definition.status?.acceptedNames ?? definition.spec.names;
  const stored = versions.find(({ storage }) => storage === true)?.name ?? version.name;
  return {
    group,
    version: version.name,
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    scope: scope === "Cluster" ? "cluster" : "namespace",
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    verbs,
    subresources: subresourcesOf(version),
    collection: collectionOf(group, names.plural),
    storedAs: apiVersionOf(group, stored),
    shape: lazily(() => parts.schemas.custom(definition, version.name)),
    columns: columnsOf(version.additionalPrinterColumns),
    strategy: { ...customStrategy, fields: fieldsOf(version) },
    definition,
    ...deprecationOf(definition, version),
  };
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

const customStrategy: Strategy = {
  generation: "allButMetadata",
  unconditionalUpdate: false,
  warnings: (object, old) =>
    (object.metadata.finalizers ?? [])
      .filter((name) => !name.includes("/") && !old?.metadata.finalizers?.includes(name))
      .map(
        (name) =>
          `metadata.finalizers: "${name}": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers`,
      ),
};

function subresourcesOf({ subresources }: DefinitionVersion): Readonly<Record<string, Subresource>> {
  return isObject(subresources?.status) ? { status: { verbs: writable } } : {};
}

function fieldsOf({ selectableFields = [] }: DefinitionVersion): Readonly<Record<string, string>> {
  const paths = selectableFields.flatMap((field) =>
    isObject(field) && typeof field.jsonPath === "string" ? [field.jsonPath.replace(/^\./, "")] : [],
  );
  return Object.fromEntries(paths.map((path) => [path, path]));
}

function deprecationOf({ spec }: Definition, version: DefinitionVersion): { readonly deprecation?: string } {
  if (version.deprecated !== true) return {};
  const usual = `${spec.group}/${version.name} ${spec.names.kind} is deprecated`;
  return { deprecation: version.deprecationWarning ?? usual };
}

function columnsOf(declared: readonly JsonValue[] | undefined): readonly Column[] {
  if (declared === undefined || declared.length === 0) return [nameColumn, { ...ageColumn, type: "date" }];
  return [nameColumn, ...declared.flatMap((column) => (isObject(column) ? [columnOf(column)] : []))];
}

function columnOf(declared: JsonObject): Column {
  const { name, type, format, description, priority, jsonPath } = declared;
  const find = compilePath(String(jsonPath));
  const kind = String(type);
  return {
    name: String(name),
    type: kind,
    format: typeof format === "string" ? format : "",
    description:
      typeof description === "string" && description !== ""
        ? description
        : `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    priority: typeof priority === "number" ? priority : 0,
    cell: (object, now) => {
      const [found] = find?.(object) ?? [];
      return found === undefined || found === null ? null : cellOf(kind, found, now);
    },
  };
}

/** A value of another type than the column declares is not shown. */
function cellOf(type: string, value: JsonValue, now: number): JsonValue {
  switch (type) {
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : typeof value === "bigint" ? value : null;
    case "number":
      return typeof value === "number" || typeof value === "bigint" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? age(value, now) : null;
    default:
      return shown(value);
  }
}

function age(time: string, now: number): string {
  const shownAge = ageSince(time, now);
  return shownAge === "<unknown>" ? "<invalid>" : shownAge;
}

const shown = (value: JsonValue): string =>
  typeof value === "string" ? value : typeof value === "object" ? goJson(value) : String(value);
