/** The shape of one version of a custom resource: what its definition's schema says, in the order Kubernetes asks it. */
import type { JsonObject } from "../base/json.ts";
import type { ApiObject, Shape } from "./contracts.ts";
import { type Correlation, correlate } from "./correlate.ts";
import { coerceEmbedded, embeddedErrors, fitMetadata } from "./embedded.ts";
import { type FieldError, invalid, wholeObject } from "./field-error.ts";
import { object, text, versionsOf } from "./fields.ts";
import { duplicatesIn } from "./list-types.ts";
import { readSchema, type SchemaNode } from "./node.ts";
import { applyDefaults, defaulted, dropNulls, prune } from "./prune.ts";
import { createRuleSet } from "./rule-set.ts";
import { validateValue } from "./validate.ts";

export function schemaOf(definition: JsonObject, version: string): SchemaNode {
  return readSchema(object(versionOf(definition, version)?.schema).openAPIV3Schema);
}

const versionOf = (definition: JsonObject, version: string): JsonObject | undefined =>
  versionsOf(definition).find((candidate) => text(candidate.name) === version);

export function createCustomShape(definition: ApiObject, version: string): Shape {
  const root = schemaOf(definition, version);
  const ruleSet = createRuleSet(root);
  const kind = {
    group: text(object(definition.spec).group),
    version,
    kind: text(object(object(definition.spec).names).kind),
  };
  return {
    prune: (candidate) => {
      const unknown = fitMetadata(candidate, kind);
      const pruned = prune(root, candidate).sort();
      dropNulls(root, candidate);
      return [...unknown, ...pruned, ...coerceEmbedded(root, candidate)];
    },
    defaults: (candidate) => applyDefaults(root, candidate),
    defaulted: (stored) => defaulted(root, stored),
    validate: (candidate, old, subresource = "", warn = () => undefined) => {
      const relation = old === undefined ? undefined : correlate(root, candidate, old);
      const errors = [
        ...schemaErrors(root, candidate, relation, subresource),
        ...(subresource === "status" ? [] : embeddedErrors(root, candidate)),
        ...duplicates(root, candidate, old),
      ];
      if (ruleSet === undefined) return errors;
      return [
        ...errors,
        ...(errors.some(isBlocking) ? [notAllChecked] : ruleSet.check(candidate, old, relation, warn)),
      ];
    },
  };
}

/** On status, only the status is held against its part of the schema, and messages name fields from there. */
function schemaErrors(
  root: SchemaNode,
  candidate: ApiObject,
  relation: Correlation | undefined,
  subresource: string,
): readonly FieldError[] {
  if (subresource !== "status") return validateValue(root, candidate, relation);
  const status = root.properties.get("status");
  return candidate.status === undefined || status === undefined
    ? []
    : validateValue(status, candidate.status, relation?.key("status"), "status");
}

/** Duplicates that were there before are tolerated, all of them. */
const duplicates = (root: SchemaNode, candidate: ApiObject, old: ApiObject | undefined): readonly FieldError[] =>
  old !== undefined && duplicatesIn(root, old).length > 0 ? [] : duplicatesIn(root, candidate);

const blocking: ReadonlySet<FieldError["type"]> = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);
const isBlocking = (error: FieldError): boolean => blocking.has(error.type);
const notAllChecked = invalid(
  wholeObject,
  null,
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
);
