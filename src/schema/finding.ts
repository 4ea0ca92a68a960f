/**
 * What checking one value came to: its problems, and how many checks it passed. The count decides which alternative of
 * anyOf and oneOf is reported, so it is kept exactly as Kubernetes' validator keeps it.
 */
import {
  type FieldError,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
  wholeObject,
} from "./field-error.ts";
import { goJson } from "./go-text.ts";

export type Problem =
  | { readonly kind: "type"; readonly path: string; readonly value: string; readonly message: string }
  | { readonly kind: "required"; readonly path: string; readonly message: string }
  | {
      readonly kind: "enum";
      readonly path: string;
      readonly value: unknown;
      readonly allowed: readonly unknown[];
      readonly message: string;
    }
  | { readonly kind: "tooLong"; readonly path: string; readonly max: number; readonly message: string }
  | {
      readonly kind: "tooMany";
      readonly path: string;
      readonly actual: number;
      readonly max: number;
      readonly message: string;
    }
  | { readonly kind: "invalid"; readonly path: string; readonly value: unknown; readonly message: string }
  /** About the schema as a whole; Kubernetes gives no field for these. */
  | { readonly kind: "composite"; readonly message: string };

export interface Finding {
  readonly problems: Problem[];
  passed: number;
}

export const newFinding = (): Finding => ({ problems: [], passed: 0 });

/** The same message is kept once. */
export function note(finding: Finding, problem: Problem): void {
  if (!finding.problems.some(({ message }) => message === problem.message)) finding.problems.push(problem);
}

export function merge(into: Finding, other: Finding): void {
  for (const problem of other.problems) note(into, problem);
  into.passed += other.passed;
}

/** `prefix` is the field under which the checked value stands ("status"), or the whole object. */
export function toFieldError(problem: Problem, prefix: string): FieldError {
  if (problem.kind === "composite") return invalid(prefix, "", problem.message);
  const field = fieldOf(problem.path, prefix);
  switch (problem.kind) {
    case "type":
      return typeInvalid(field, problem.value, problem.message);
    case "required":
      return required(field);
    case "enum":
      return notSupported(
        field,
        problem.value,
        problem.allowed.map((value) => (typeof value === "string" ? value : goJson(value))),
      );
    case "tooLong":
      return tooLong(field, problem.max);
    case "tooMany":
      return tooMany(field, problem.actual, problem.max);
    case "invalid":
      return invalid(field, problem.value ?? "", problem.message);
  }
}

function fieldOf(path: string, prefix: string): string {
  const own = path.startsWith(".") ? path.slice(1) : path;
  if (own === "") return prefix;
  return prefix === wholeObject ? own : `${prefix}.${own}`;
}
