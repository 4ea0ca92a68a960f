/** Refusals in Kubernetes' words: every error answer of the server is a Status, and most of them are worded here. */

import { aggregate, causesOf } from "../schema/field-error.ts";
import { goQuote } from "../schema/go-text.ts";
import type { FieldError, Resource } from "./contracts.ts";

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
  readonly metadata: { readonly continue?: string };
  readonly status: "Failure" | "Success";
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code: number;
}

/** Thrown by anything that takes part in a request; the handler answers with its status. */
export class Refusal extends Error {
  readonly status: Status;

  constructor(
    code: number,
    reason: string,
    message: string,
    details?: StatusDetails,
    metadata: Status["metadata"] = {},
  ) {
    // A refusal is an answer like others: nobody asks where in the code it was worded, and to find that out costs more than all the rest of it.
    const framesMax = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = framesMax;
    this.name = "Refusal";
    this.status = failure(code, reason, message, details, metadata);
  }
}

function failure(
  code: number,
  reason: string,
  message: string,
  details: StatusDetails | undefined,
  metadata: Status["metadata"],
): Status {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata,
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
  `${qualified(resource.plural, resource.group)} ${goQuote(name)}`;

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

export const expired = (message: string, metadata: Status["metadata"] = {}): Refusal =>
  new Refusal(410, "Expired", message, undefined, metadata);

export const tooLarge = (message: string): Refusal =>
  new Refusal(413, "RequestEntityTooLarge", `Request entity too large: ${message}`);

export const unsupportedMediaType = (message: string, details?: StatusDetails): Refusal =>
  new Refusal(415, "UnsupportedMediaType", message, details);

export const internal = (message: string): Refusal =>
  new Refusal(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });

export function invalid(of: Pick<Resource, "group" | "kind">, name: string, errors: readonly FieldError[]): Refusal {
  const message = `${qualified(of.kind, of.group)} ${goQuote(name)} is invalid: ${aggregate(errors)}`;
  return new Refusal(422, "Invalid", message, {
    ...(name === "" ? {} : { name }),
    ...(of.group === "" ? {} : { group: of.group }),
    ...(of.kind === "" ? {} : { kind: of.kind }),
    causes: causesOf(errors),
  });
}
