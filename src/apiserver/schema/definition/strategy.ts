/** How a CustomResourceDefinition object is defaulted, prepared and judged: `Schemas.definitions`. */
import { equal, isObject, type JsonObject } from "../../../base/json.ts";
import { invalid, required } from "../../../schema/field-error.ts";
import { object, objects, text, texts } from "../../../schema/fields.ts";
import type { ApiObject, Context, FieldError, Schemas } from "../../contracts.ts";
import { approvalAnnotation, approvalOf, isProtectedGroup } from "./approval.ts";
import { nameErrors, type RuleJudgeFor, specErrors } from "./spec.ts";
import { namesTaken, settledStatus, withStored } from "./status.ts";
import { readNames, viewOf } from "./view.ts";
import { definitionWarnings } from "./warnings.ts";

export const definitionsCollection = "apiextensions.k8s.io/customresourcedefinitions";
const immutable = "field is immutable";

export function createDefinitionStrategy(judgeFor: RuleJudgeFor): Schemas["definitions"] {
  return {
    defaults: giveDefaults,
    prepareForCreate: (definition) => {
      const metadata = definition.metadata as { generation?: number };
      metadata.generation = 1;
      definition.status = {
        conditions: null,
        acceptedNames: { plural: "", kind: "" },
        storedVersions: withStored([], definition),
      };
    },
    afterCreate: (definition, context) => ({ ...definition, status: settled({ ...definition, status: {} }, context) }),
    warnings: (definition, old) => definitionWarnings(definition, old),
    prepareForUpdate: (definition, old, context) => {
      if (context.subresource === "status") return;
      definition.status = structuredClone(old.status ?? {});
      if (!equal(definition.spec, old.spec)) definition.metadata.generation = (old.metadata.generation ?? 0) + 1;
      definition.status = settled(definition, context);
    },
    validateCreate: (definition) => [
      ...requiredNameErrors(definition),
      ...specErrors(viewOf(definition), judgeFor),
      ...storedVersionErrors(definition),
      ...approvalErrors(definition, undefined),
    ],
    validateUpdate: (definition, old, context) =>
      context.subresource === "status"
        ? nameErrors(readNames(object(definition.status).acceptedNames), "status.acceptedNames")
        : [
            ...specErrors(viewOf(definition), judgeFor),
            ...immutableErrors(definition, old),
            ...storedVersionErrors(definition),
            ...approvalErrors(definition, old),
          ],
  };
}

function giveDefaults(definition: ApiObject): void {
  if (!isObject(definition.spec)) return;
  const { spec } = definition;
  if (isObject(spec.names)) {
    const kind = text(spec.names.kind);
    if (text(spec.names.singular) === "" && kind !== "") spec.names.singular = kind.toLowerCase();
    if (text(spec.names.listKind) === "" && kind !== "") spec.names.listKind = `${kind}List`;
  }
  if (!isObject(spec.conversion)) spec.conversion = { strategy: "None" };
  const service = object(object(object(spec.conversion).webhook).clientConfig).service;
  if (isObject(service) && service.port === undefined) service.port = 443;
}

const rfc3339 = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

function settled(definition: ApiObject, context: Context): JsonObject {
  const others = context.reader.list(definitionsCollection);
  return settledStatus(definition, namesTaken(definition, others), rfc3339(context.world.now()));
}

function requiredNameErrors(definition: ApiObject): readonly FieldError[] {
  const { names, group } = viewOf(definition);
  const name = definition.metadata.name ?? "";
  return name === "" || name === `${names.plural}.${group}`
    ? []
    : [invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')];
}

function immutableErrors(definition: ApiObject, old: ApiObject): readonly FieldError[] {
  const [now, before] = [viewOf(definition), viewOf(old)];
  const established = objects(object(old.status).conditions).some(
    (condition) => condition.type === "Established" && condition.status === "True",
  );
  const held: readonly (readonly [field: string, now: string, before: string])[] = [
    ...(established
      ? ([
          ["spec.scope", now.scope, before.scope],
          ["spec.names.kind", now.names.kind, before.names.kind],
        ] as const)
      : []),
    ["spec.group", now.group, before.group],
    ["spec.names.plural", now.names.plural, before.names.plural],
  ];
  return held.filter(([, a, b]) => a !== b).map(([field, value]) => invalid(field, value, immutable));
}

function storedVersionErrors(definition: ApiObject): readonly FieldError[] {
  const stored = texts(object(definition.status).storedVersions);
  const { versions } = viewOf(definition);
  const field = "status.storedVersions";
  if (stored.length === 0) return [invalid(field, null, "must have at least one stored version")];
  const unstored = versions.filter(({ name, storage }) => storage && !stored.includes(name));
  const gone = stored.flatMap((version, index) =>
    versions.some(({ name }) => name === version) ? [] : [{ version, index }],
  );
  return [
    ...unstored.map(({ name }) => invalid(field, stored, `must have the storage version ${name}`)),
    ...gone.map(({ version, index }) =>
      invalid(
        `${field}[${index}]`,
        version,
        `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`,
      ),
    ),
  ];
}

function approvalErrors(definition: ApiObject, old: ApiObject | undefined): readonly FieldError[] {
  if (!isProtectedGroup(viewOf(definition).group)) return [];
  const { state, message } = approvalOf(definition);
  if (old !== undefined && approvalOf(old).state === state) return [];
  const field = `metadata.annotations[${approvalAnnotation}]`;
  if (state === "missing") return [required(field, message)];
  return state === "invalid" ? [invalid(field, definition.metadata.annotations?.[approvalAnnotation], message)] : [];
}
