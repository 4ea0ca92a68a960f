/**
 * CEL as Kubernetes speaks it: parsed here (this folder), checked against the schema's types, compiled to closures.
 * Why not a package: the one there is for JavaScript checks no types (a rule that names a missing field must be refused when the
 * definition is created), has no optional values (`optionalOldSelf`) and no room for Kubernetes' own types.
 */
export type Constant = null | boolean | bigint | number | string | Uint8Array | { readonly uint: bigint };

/** `at` is the offset in the source that errors point to: the operator, the dot, the opening bracket. */
export type Expression = { readonly at: number } & (
  | { readonly kind: "constant"; readonly value: Constant }
  | { readonly kind: "name"; readonly name: string }
  | {
      readonly kind: "select";
      readonly of: Expression;
      readonly field: string;
      /** "has": only whether it is there; "optional": as an optional value. */
      readonly mode: "value" | "has" | "optional";
    }
  | {
      readonly kind: "call";
      readonly name: string;
      readonly target: Expression | undefined;
      readonly args: readonly Expression[];
    }
  | { readonly kind: "list"; readonly items: readonly { readonly value: Expression; readonly optional: boolean }[] }
  | {
      readonly kind: "map";
      readonly entries: readonly { readonly key: Expression; readonly value: Expression; readonly optional: boolean }[];
    }
  | Comprehension
);

export type ComprehensionKind =
  | "all"
  | "exists"
  | "existsOne"
  | "map"
  | "filter"
  | "transformList"
  | "transformMap"
  | "transformMapEntry"
  | "sortBy"
  | "optMap"
  | "optFlatMap";

export interface Comprehension {
  readonly at: number;
  readonly kind: "comprehension";
  readonly does: ComprehensionKind;
  readonly range: Expression;
  /** One name, or two: key (or position) and value. */
  readonly names: readonly string[];
  /** Only entries for which this holds take part (three-argument map, transform… with filter). */
  readonly where: Expression | undefined;
  readonly body: Expression;
}

/** Something is wrong with an expression, at an offset of its source. */
export class CelProblem extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.name = "CelProblem";
    this.at = at;
  }
}

/** All that is wrong with the form of an expression. */
export class CelProblems extends Error {
  readonly problems: readonly CelProblem[];

  constructor(problems: readonly CelProblem[]) {
    super(problems.map(({ message }) => message).join("; "));
    this.name = "CelProblems";
    this.problems = problems;
  }
}

/** Problems as Kubernetes shows them: place, sentence, the line, and an arrow. */
export function printProblems(source: string, problems: readonly CelProblem[]): string {
  return [...problems]
    .sort((a, b) => a.at - b.at)
    .map(({ at, message }) => {
      const before = source.slice(0, at);
      const line = before.split("\n").length;
      const column = at - (before.lastIndexOf("\n") + 1);
      const text = source.split("\n")[line - 1] ?? "";
      return `ERROR: <input>:${line}:${column + 1}: ${message}\n | ${text}\n | ${".".repeat(column)}^`;
    })
    .join("\n");
}
