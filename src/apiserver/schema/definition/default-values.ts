/** A default must itself be valid: typed as the schema says, and without fields that would be pruned. */
import { equal, isObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { child, type FieldError, indexed, invalid } from "../../../schema/field-error.ts";
import { object } from "../../../schema/fields.ts";
import { readSchema } from "../../../schema/node.ts";
import { pruned } from "../../../schema/prune.ts";
import { validateValue } from "../../../schema/validate.ts";

export function defaultErrors(schema: JsonObject, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  visit(schema, path, errors);
  return errors;
}

function visit(schema: JsonObject, path: string, errors: FieldError[]): void {
  if (schema.default !== undefined && schema.default !== null) errors.push(...errorsOf(schema, schema.default, path));
  if (isObject(schema.items)) visit(schema.items, child(path, "items"), errors);
  for (const [name, property] of Object.entries(object(schema.properties)))
    visit(object(property), indexed(child(path, "properties"), name), errors);
}

function errorsOf(schema: JsonObject, value: JsonValue, path: string): readonly FieldError[] {
  const node = readSchema(schema);
  const at = child(path, "default");
  const unknown = equal(pruned(node, value), value) ? [] : [invalid(at, value, "must not have unknown fields")];
  return [...unknown, ...validateValue(node, value, undefined, at)];
}
