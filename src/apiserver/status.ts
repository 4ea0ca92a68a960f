/** Refusals in Kubernetes' words: every error answer of the server is a Status, and most of them are worded here. */
import type { JsonValue } from "../base/json.ts";
import { print } from "../base/json.ts";
import type { FieldError, FieldErrorType, Resource } from "./contracts.ts";

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface Status {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: Readonly<Record<string, never>>;
  readonly status: "Failure" | "Success";
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code: number;
}

/** Thrown by anything that takes part in a request; the handler answers with its status. */
export class Refusal extends Error {
  readonly status: Status;

  constructor(code: number, reason: string, message: string, details?: StatusDetails) {
    super(message);
    this.name = "Refusal";
    this.status = failure(code, reason, message, details);
  }
}

function failure(code: number, reason: string, message: string, details?: StatusDetails): Status {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    ...(reason === "" ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  };
}

/** "volumesnapshots.snapshot.storage.k8s.io", or "pods" in the core group. */
export const qualified = (name: string, group: string): string => (group === "" ? name : `${name}.${group}`);

type Named = Pick<Resource, "group" | "plural">;
const detailsOf = (resource: Named, name: string): StatusDetails => ({
  ...(name === "" ? {} : { name }),
  ...(resource.group === "" ? {} : { group: resource.group }),
  kind: resource.plural,
});
const quoted = (resource: Named, name: string): string =>
  `${qualified(resource.plural, resource.group)} ${print(name)}`;

export const badRequest = (message: string): Refusal => new Refusal(400, "BadRequest", message);

export const unauthorized = (message = "Unauthorized"): Refusal => new Refusal(401, "Unauthorized", message);

export const forbidden = (resource: Named, name: string, why: string): Refusal =>
  new Refusal(
    403,
    "Forbidden",
    name === ""
      ? `${qualified(resource.plural, resource.group)} is forbidden: ${why}`
      : `${quoted(resource, name)} is forbidden: ${why}`,
    detailsOf(resource, name),
  );

export const notFound = (resource: Named, name: string): Refusal =>
  new Refusal(404, "NotFound", `${quoted(resource, name)} not found`, detailsOf(resource, name));

export const methodNotSupported = (resource: Named, action: string): Refusal =>
  new Refusal(
    405,
    "MethodNotAllowed",
    `${action} is not supported on resources of kind "${qualified(resource.plural, resource.group)}"`,
    detailsOf(resource, ""),
  );

export const alreadyExists = (resource: Named, name: string): Refusal =>
  new Refusal(409, "AlreadyExists", `${quoted(resource, name)} already exists`, detailsOf(resource, name));

export const conflict = (resource: Named, name: string, why: string): Refusal =>
  new Refusal(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${quoted(resource, name)}: ${why}`,
    detailsOf(resource, name),
  );

export const changedMeanwhile =
  "the object has been modified; please apply your changes to the latest version and try again";

export const expired = (message: string): Refusal => new Refusal(410, "Expired", message);

export const tooLarge = (message: string): Refusal =>
  new Refusal(413, "RequestEntityTooLarge", `Request entity too large: ${message}`);

export const unsupportedMediaType = (message: string): Refusal => new Refusal(415, "UnsupportedMediaType", message);

export const internal = (message: string): Refusal =>
  new Refusal(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });

const typeWords: Readonly<Record<FieldErrorType, string>> = {
  FieldValueNotFound: "Not found",
  FieldValueRequired: "Required value",
  FieldValueDuplicate: "Duplicate value",
  FieldValueInvalid: "Invalid value",
  FieldValueNotSupported: "Unsupported value",
  FieldValueForbidden: "Forbidden",
  FieldValueTooLong: "Too long",
  FieldValueTooMany: "Too many",
  FieldValueTooFew: "Too few",
  FieldValueTooShort: "Too short",
  FieldValueTypeInvalid: "Invalid value",
  InternalError: "Internal error",
};

/** These never show the value: it is absent, secret or too long. */
const silentTypes: ReadonlySet<FieldErrorType> = new Set([
  "FieldValueRequired",
  "FieldValueForbidden",
  "FieldValueTooLong",
  "FieldValueTooShort",
  "InternalError",
]);

/** The message without its field: 'Invalid value: "x": must be …'. */
export function fieldErrorText({ type, detail, badValue }: FieldError): string {
  const shown = badValue === undefined || silentTypes.has(type) ? "" : `: ${print(badValue)}`;
  return `${typeWords[type]}${shown}${detail === "" ? "" : `: ${detail}`}`;
}

/** Several errors read "[first, second]", with repeated ones said once. */
export function aggregated(messages: readonly string[]): string {
  const distinct = [...new Set(messages)];
  return distinct.length === 1 ? (distinct[0] ?? "") : `[${distinct.join(", ")}]`;
}

export function invalid(of: Pick<Resource, "group" | "kind">, name: string, errors: readonly FieldError[]): Refusal {
  const causes = errors.map((error) => ({ reason: error.type, message: fieldErrorText(error), field: error.field }));
  const why = aggregated(errors.map((error) => `${error.field}: ${fieldErrorText(error)}`));
  return new Refusal(422, "Invalid", `${qualified(of.kind, of.group)} ${print(name)} is invalid: ${why}`, {
    ...(name === "" ? {} : { name }),
    ...(of.group === "" ? {} : { group: of.group }),
    kind: of.kind,
    causes,
  });
}

/** Short ways to say the usual field errors. */
export const fieldErrors = {
  required: (field: string, detail = ""): FieldError => ({ type: "FieldValueRequired", field, detail }),
  invalid: (field: string, badValue: JsonValue, detail: string): FieldError => ({
    type: "FieldValueInvalid",
    field,
    badValue,
    detail,
  }),
  forbidden: (field: string, detail: string): FieldError => ({ type: "FieldValueForbidden", field, detail }),
  duplicate: (field: string, badValue: JsonValue): FieldError => ({
    type: "FieldValueDuplicate",
    field,
    badValue,
    detail: "",
  }),
  notFound: (field: string, badValue: JsonValue): FieldError => ({
    type: "FieldValueNotFound",
    field,
    badValue,
    detail: "",
  }),
  notSupported: (field: string, badValue: JsonValue, supported: readonly string[]): FieldError => ({
    type: "FieldValueNotSupported",
    field,
    badValue,
    detail: supported.length === 0 ? "" : `supported values: ${supported.map((value) => print(value)).join(", ")}`,
  }),
  tooLong: (field: string, max: number): FieldError => ({
    type: "FieldValueTooLong",
    field,
    detail: `may not be more than ${max} bytes`,
  }),
  tooMany: (field: string, count: number, max: number): FieldError => ({
    type: "FieldValueTooMany",
    field,
    badValue: count,
    detail: `must have at most ${max} items`,
  }),
} as const;
