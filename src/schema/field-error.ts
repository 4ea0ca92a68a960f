/**
 * What is wrong with which field, in Kubernetes' own words: clients (and people) match on these types and sentences.
 * Nothing here knows a schema; the schema engine, the built-in rules and admission all speak it.
 */
import { goJson, goNumber, goQuote } from "./go-text.ts";

const titles = {
  FieldValueNotFound: "Not found",
  FieldValueRequired: "Required value",
  FieldValueDuplicate: "Duplicate value",
  FieldValueInvalid: "Invalid value",
  FieldValueNotSupported: "Unsupported value",
  FieldValueForbidden: "Forbidden",
  FieldValueTooLong: "Too long",
  FieldValueTooMany: "Too many",
  FieldValueTooFew: "Too few",
  FieldValueTypeInvalid: "Invalid value",
  FieldValueTooShort: "Too short",
  InternalError: "Internal error",
} as const;

export type FieldErrorType = keyof typeof titles;

/** Stands for "do not print the value": it would only repeat a whole object. */
export const omitted: unique symbol = Symbol("omitted");

export interface FieldError {
  readonly type: FieldErrorType;
  /** "spec.items[0].name"; "<nil>" when the object as a whole is meant. */
  readonly field: string;
  readonly value: unknown;
  readonly detail: string;
}

/** One entry of `details.causes` in a Status. */
export interface StatusCause {
  readonly reason: FieldErrorType;
  readonly message: string;
  readonly field: string;
}

/** The path of nothing: what Kubernetes prints for an error about the whole object. */
export const wholeObject = "<nil>";
export const child = (path: string, name: string): string =>
  path === "" || path === wholeObject ? name : `${path}.${name}`;
export const indexed = (path: string, key: string | number): string =>
  path === wholeObject ? `[${key}]` : `${path}[${key}]`;

export const invalid = (field: string, value: unknown, detail: string): FieldError => ({
  type: "FieldValueInvalid",
  field,
  value,
  detail,
});
export const typeInvalid = (field: string, value: unknown, detail: string): FieldError => ({
  type: "FieldValueTypeInvalid",
  field,
  value,
  detail,
});
export const required = (field: string, detail = ""): FieldError => ({
  type: "FieldValueRequired",
  field,
  value: "",
  detail,
});
export const forbidden = (field: string, detail: string): FieldError => ({
  type: "FieldValueForbidden",
  field,
  value: "",
  detail,
});
export const duplicate = (field: string, value: unknown): FieldError => ({
  type: "FieldValueDuplicate",
  field,
  value,
  detail: "",
});
export const notFound = (field: string, value: unknown): FieldError => ({
  type: "FieldValueNotFound",
  field,
  value,
  detail: "",
});
export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  type: "FieldValueNotSupported",
  field,
  value,
  detail: supported.length === 0 ? "" : `supported values: ${supported.map(goQuote).join(", ")}`,
});
export const tooLong = (field: string, bytesMax: number): FieldError => ({
  type: "FieldValueTooLong",
  field,
  value: "<value omitted>",
  detail: bytesMax < 0 ? "value is too long" : `may not be more than ${bytesMax} ${bytesMax === 1 ? "byte" : "bytes"}`,
});
export const tooMany = (field: string, actual: number, max: number): FieldError => ({
  type: "FieldValueTooMany",
  field,
  value: actual < 0 ? omitted : actual,
  detail: max < 0 ? "has too many items" : `must have at most ${max} ${max === 1 ? "item" : "items"}`,
});

const valueless: ReadonlySet<FieldErrorType> = new Set([
  "FieldValueRequired",
  "FieldValueForbidden",
  "FieldValueTooLong",
  "FieldValueTooShort",
  "InternalError",
]);

function printedValue(value: unknown): string {
  if (typeof value === "string") return goQuote(value);
  return typeof value === "number" ? goNumber(value) : goJson(value);
}

/** The sentence without the field's name. */
export function bodyOf(error: FieldError): string {
  const title = titles[error.type];
  const head = valueless.has(error.type) || error.value === omitted ? title : `${title}: ${printedValue(error.value)}`;
  return error.detail === "" ? head : `${head}: ${error.detail}`;
}

export const messageOf = (error: FieldError): string => `${error.field}: ${bodyOf(error)}`;

/** All errors as one sentence; the same sentence is said once. */
export function aggregate(errors: readonly FieldError[]): string {
  const messages = [...new Set(errors.map(messageOf))];
  return messages.length === 1 ? (messages[0] ?? "") : `[${messages.join(", ")}]`;
}

export const causesOf = (errors: readonly FieldError[]): readonly StatusCause[] =>
  errors.map((error) => ({ reason: error.type, message: bodyOf(error), field: error.field }));
