/** A few words in which an OpenAPI schema reads like the object it describes. Every field says what it is for. */
import type { JsonObject } from "../../base/json.ts";

export interface CelRule {
  readonly rule: string;
  readonly message: string;
}

interface Extras {
  readonly rules?: readonly CelRule[];
  readonly [key: string]: unknown;
}

const schema = (type: string, description: string, { rules, ...rest }: Extras = {}): JsonObject => ({
  type,
  ...(description === "" ? {} : { description }),
  ...(rest as JsonObject),
  ...(rules === undefined ? {} : { "x-kubernetes-validations": rules.map(({ rule, message }) => ({ rule, message })) }),
});

export const string = (description: string, extras?: Extras): JsonObject => schema("string", description, extras);
export const flag = (description: string, extras?: Extras): JsonObject => schema("boolean", description, extras);
export const int64 = (description: string, extras?: Extras): JsonObject =>
  schema("integer", description, { format: "int64", ...extras });
export const dateTime = (description: string): JsonObject => string(description, { format: "date-time" });
export const enumOf = (description: string, ...values: readonly string[]): JsonObject =>
  string(description, { enum: [...values] });
export const stringMap = (description: string): JsonObject =>
  schema("object", description, { additionalProperties: { type: "string" } });

/** "required" is a list of names, so that a reader sees it in one place. */
export const fields = (
  description: string,
  properties: JsonObject,
  extras: Extras & { readonly required?: readonly string[] } = {},
): JsonObject => schema("object", description, { ...extras, properties });

const quantityPattern =
  "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";
export const resourceQuantity = (description: string): JsonObject => ({
  description,
  anyOf: [{ type: "integer" }, { type: "string" }],
  pattern: quantityPattern,
  "x-kubernetes-int-or-string": true,
});

export const neverChanges = (name: string): CelRule => ({ rule: "self == oldSelf", message: `${name} is immutable` });
export const requiredOnceSet = (name: string): CelRule => ({
  rule: `!has(oldSelf.${name}) || has(self.${name})`,
  message: `${name} is required once set`,
});
export const oneIsSet = (a: string, b: string): CelRule => ({
  rule: `has(self.${a}) != has(self.${b})`,
  message: `exactly one of ${a} and ${b} must be set`,
});
