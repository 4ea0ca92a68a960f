/** Rules that several built-in kinds share, in Kubernetes' words. All are pure. */
import type { NodeSelector, NodeSelectorRequirement } from "kubernetes-types/core/v1.js";
import type { LabelSelector } from "kubernetes-types/meta/v1.js";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { equal, isObject } from "../../base/json.ts";
import { parseQuantity, type Quantity } from "../../base/quantity.ts";
import { child, forbidden, indexed, invalid, notSupported, required, tooLong } from "../../schema/field-error.ts";
import { labelErrors } from "../../schema/metadata.ts";
import { labelProblems, labelValueProblems, qualifiedNameProblems, subdomainProblems } from "../../schema/names.ts";
import type { ApiObject, FieldError } from "../contracts.ts";

/** A part of an object that its Go type has already made sure of. */
export const part = (object: JsonObject, key: string): JsonObject => {
  const value = object[key];
  return isObject(value) ? value : {};
};

/** Sees an object through the type of its kind; the shape has made it fit. */
export const as = <T>(object: ApiObject): T & { metadata: ApiObject["metadata"] } =>
  object as unknown as T & { metadata: ApiObject["metadata"] };

export const immutable = "field is immutable";

export const immutableField = (field: string, now: unknown, old: unknown): readonly FieldError[] =>
  equal(now ?? null, old ?? null) ? [] : [invalid(field, now ?? null, immutable)];

export const subdomainErrors = (field: string, value: string): readonly FieldError[] =>
  subdomainProblems(value).map((problem) => invalid(field, value, problem));

export const labelNameErrors = (field: string, value: string): readonly FieldError[] =>
  labelProblems(value).map((problem) => invalid(field, value, problem));

export const qualifiedNameErrors = (field: string, value: string): readonly FieldError[] =>
  qualifiedNameProblems(value).map((problem) => invalid(field, value, problem));

/** "" is left to whoever requires the field. */
export const oneOf = (field: string, value: string | undefined, allowed: readonly string[]): readonly FieldError[] =>
  value === undefined || allowed.includes(value) ? [] : [notSupported(field, value, allowed)];

export const quantityOf = (value: JsonValue | undefined): Quantity => parseQuantity((value ?? "0") as string);

export const positiveQuantityErrors = (field: string, value: string): readonly FieldError[] =>
  quantityOf(value).nanos > 0n ? [] : [invalid(field, value, "must be greater than zero")];

export const resourceErrors = (field: string, value: string): readonly FieldError[] =>
  quantityOf(value).nanos >= 0n
    ? []
    : [invalid(field, Number(quantityOf(value).nanos / 1_000_000_000n), "must be a valid resource quantity")];

export function labelSelectorErrors(selector: LabelSelector, field: string): readonly FieldError[] {
  const expressions = selector.matchExpressions ?? [];
  return [
    ...labelErrors(selector.matchLabels ?? {}, child(field, "matchLabels")),
    ...expressions.flatMap((expression, index) => {
      const at = indexed(child(field, "matchExpressions"), index);
      return [...operatorErrors(expression, at, false), ...keyAndValueErrors(expression, at)];
    }),
  ];
}

type Expression = Pick<NodeSelectorRequirement, "key" | "operator" | "values">;

function operatorErrors({ operator, values = [] }: Expression, at: string, ordered: boolean): readonly FieldError[] {
  if (operator === "In" || operator === "NotIn")
    return values.length > 0
      ? []
      : [required(child(at, "values"), "must be specified when `operator` is 'In' or 'NotIn'")];
  if (operator === "Exists" || operator === "DoesNotExist")
    return values.length === 0
      ? []
      : [forbidden(child(at, "values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
  if (ordered && (operator === "Gt" || operator === "Lt"))
    return values.length === 1
      ? []
      : [required(child(at, "values"), "must be specified single value when `operator` is 'Lt' or 'Gt'")];
  return [invalid(child(at, "operator"), operator, "not a valid selector operator")];
}

const keyAndValueErrors = ({ key, values = [] }: Expression, at: string): readonly FieldError[] => [
  ...qualifiedNameErrors(child(at, "key"), key),
  ...values.flatMap((value, index) =>
    labelValueProblems(value).map((problem) => invalid(indexed(child(at, "values"), index), value, problem)),
  ),
];

export function nodeSelectorErrors(selector: NodeSelector, field: string): readonly FieldError[] {
  const terms = child(field, "nodeSelectorTerms");
  const list = selector.nodeSelectorTerms ?? [];
  if (list.length === 0) return [required(terms, "must have at least one node selector term")];
  return list.flatMap((term, index) => {
    const at = indexed(terms, index);
    return [
      ...(term.matchExpressions ?? []).flatMap((expression, position) => {
        const where = indexed(child(at, "matchExpressions"), position);
        return [...operatorErrors(expression, where, true), ...keyAndValueErrors(expression, where)];
      }),
      ...(term.matchFields ?? []).flatMap((wanted, position) =>
        matchFieldErrors(wanted, indexed(child(at, "matchFields"), position)),
      ),
    ];
  });
}

function matchFieldErrors({ key, operator, values = [] }: Expression, at: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (operator !== "In" && operator !== "NotIn")
    errors.push(invalid(child(at, "operator"), operator, "not a valid selector operator"));
  else if (values.length !== 1)
    errors.push(
      required(
        child(at, "values"),
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
      ),
    );
  if (key !== "metadata.name") errors.push(invalid(child(at, "key"), key, "not a valid field selector key"));
  else
    for (const [index, value] of values.entries())
      errors.push(...subdomainErrors(indexed(child(at, "values"), index), value));
  return errors;
}

const oldFinalizers = ["kubernetes", "orphan", "foregroundDeletion"];

/** Beyond what any finalizer must be: without a domain only a few old names will do. */
export const finalizerErrors = (field: string, name: string): readonly FieldError[] =>
  name.includes("/") || oldFinalizers.includes(name)
    ? []
    : [invalid(field, name, "name is neither a standard finalizer name nor is it fully qualified")];

const driverNameBytesMax = 63;

export function driverNameErrors(field: string, name: string): readonly FieldError[] {
  if (name === "") return [required(field)];
  const long = Buffer.byteLength(name) > driverNameBytesMax ? [tooLong(field, driverNameBytesMax)] : [];
  return [...long, ...subdomainProblems(name.toLowerCase()).map((problem) => invalid(field, name, problem))];
}

/** Puts a value where there is none. (The Go type has already removed an empty one that means "none".) */
export function setDefault(object: JsonObject, key: string, value: JsonValue): void {
  if (object[key] === undefined || object[key] === null) object[key] = value;
}

/** An object below `object`, made when it is not there. */
export function ensure(object: JsonObject, key: string): JsonObject {
  const current = object[key];
  if (isObject(current)) return current;
  const made: JsonObject = {};
  object[key] = made;
  return made;
}
