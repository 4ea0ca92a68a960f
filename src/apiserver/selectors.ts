/** Label and field selectors as they stand in a query string: parsed once, asked often, refused in Kubernetes' words. */

import { aggregate, indexed, invalid, wholeObject } from "../schema/field-error.ts";
import { labelValueProblems, qualifiedNameProblems } from "../schema/names.ts";
import type { FieldError } from "./contracts.ts";
import { badRequest } from "./status.ts";

type Operator = "=" | "==" | "!=" | "in" | "notin" | ">" | "<" | "exists" | "!";

interface Requirement {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

export type Labels = Readonly<Record<string, string>>;
export interface LabelSelector {
  /** Selects everything. */
  readonly empty: boolean;
  matches(labels: Labels | undefined): boolean;
}

export const everything: LabelSelector = { empty: true, matches: () => true };

const noLabels: Labels = {};

export function parseLabelSelector(text: string): LabelSelector {
  if (text === "") return everything;
  const requirements = createParser(text).parse();
  if (requirements.length === 0) return everything;
  return { empty: false, matches: (labels = noLabels) => requirements.every((wanted) => satisfied(wanted, labels)) };
}

function satisfied({ key, operator, values }: Requirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "exists":
      return value !== undefined;
    case "!":
      return value === undefined;
    case "!=":
    case "notin":
      return value === undefined || !values.includes(value);
    case ">":
    case "<":
      return value !== undefined && /^[-+]?\d+$/.test(value) && compare(operator, value, values[0] ?? "");
    default:
      return value !== undefined && values.includes(value);
  }
}

const compare = (operator: ">" | "<", value: string, bound: string): boolean =>
  operator === ">" ? BigInt(value) > BigInt(bound) : BigInt(value) < BigInt(bound);

type Token = { readonly kind: "word" | "sign" | "end"; readonly text: string };
const binaryOperators = "in, notin, =, ==, !=, gt, lt";

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (const [part] of text.matchAll(/==|!=|[=!<>(),]|[^\s=!<>(),]+/g))
    tokens.push({ kind: /^[=!<>(),]/.test(part) ? "sign" : "word", text: part });
  return tokens;
}

const isWord = ({ kind }: Token): boolean => kind === "word";

function createParser(text: string) {
  const tokens = tokensOf(text);
  let at = 0;
  const peek = (): Token => tokens[at] ?? { kind: "end", text: "" };
  const next = (): Token => {
    const token = peek();
    at += 1;
    return token;
  };

  function parse(): readonly Requirement[] {
    const requirements: Requirement[] = [];
    while (peek().kind !== "end") {
      if (!isWord(peek()) && peek().text !== "!")
        throw failure(`found '${peek().text}', expected: !, identifier, or 'end of string'`);
      requirements.push(requirement());
      const separator = next();
      if (separator.kind === "end") break;
      if (separator.text !== ",") throw failure(`found '${separator.text}', expected: ',' or 'end of string'`);
      if (!isWord(peek()) && peek().text !== "!")
        throw failure(`found '${peek().text}', expected: identifier after ','`);
    }
    return requirements;
  }

  function requirement(): Requirement {
    const negated = peek().text === "!" && peek().kind === "sign";
    if (negated) next();
    const key = next();
    if (!isWord(key)) throw unable(`found '${key.text}', expected: identifier`);
    if (negated) return checked({ key: key.text, operator: "!", values: [] });
    const ahead = peek();
    if (ahead.kind === "end" || ahead.text === ",") return checked({ key: key.text, operator: "exists", values: [] });
    const operator = operatorOf(next());
    const values = operator === "in" || operator === "notin" ? list() : [exact()];
    return checked({ key: key.text, operator, values });
  }

  function operatorOf({ text: sign }: Token): Operator {
    if (sign === "=" || sign === "==" || sign === "!=" || sign === ">" || sign === "<") return sign;
    if (sign === "in" || sign === "notin") return sign;
    throw unable(`found '${sign}', expected: ${binaryOperators}`);
  }

  function list(): readonly string[] {
    const open = next();
    if (open.text !== "(") throw unable(`found '${open.text}' expected: '('`);
    const values = new Set<string>();
    if (!isWord(peek()) && peek().text !== "," && peek().text !== ")")
      throw unable(`found '${next().text}', expected: ',', ')' or identifier`);
    for (;;) {
      values.add(isWord(peek()) ? next().text : "");
      const separator = next();
      if (separator.text === ")" && separator.kind === "sign") return [...values].sort();
      if (separator.text !== ",") throw unable(`found '${separator.text}', expected: ',' or ')'`);
    }
  }

  function exact(): string {
    const ahead = peek();
    if (ahead.kind === "end" || ahead.text === ",") return "";
    if (!isWord(ahead)) throw unable(`found '${ahead.text}', expected: identifier`);
    return next().text;
  }

  return { parse };
}

const failure = (why: string): Error => badRequest(why);
const unable = (why: string): Error => failure(`unable to parse requirement: ${why}`);

function checked(requirement: Requirement): Requirement {
  const { key, operator, values } = requirement;
  const errors: FieldError[] = [];
  const keyProblems = qualifiedNameProblems(key);
  if (keyProblems.length > 0) errors.push(invalid(wholeObject, key, keyProblems.join("; ")));
  if ((operator === ">" || operator === "<") && !/^[-+]?\d+$/.test(values[0] ?? ""))
    errors.push(invalid(indexed("values", 0), values[0], "for 'Gt', 'Lt' operators, the value must be an integer"));
  values.forEach((value, index) => {
    const problems = labelValueProblems(value);
    if (problems.length > 0) errors.push(invalid(`values[${index}][${key}]`, value, problems.join("; ")));
  });
  if (errors.length > 0) throw unable(aggregate(errors));
  return requirement;
}

/** Field selectors: "metadata.name=a,status.phase!=Running" */

interface FieldTerm {
  readonly field: string;
  readonly value: string;
  readonly equals: boolean;
}

export interface FieldSelector {
  readonly terms: readonly FieldTerm[];
  matches(fields: (name: string) => string): boolean;
}

export function parseFieldSelector(text: string): FieldSelector {
  const terms = splitTerms(text)
    .filter((part) => part !== "")
    .map((part) => termOf(part, text))
    .filter(({ field, value }) => field !== "" || value !== "");
  return {
    terms,
    matches: (fields) => terms.every(({ field, value, equals }) => (fields(field) === value) === equals),
  };
}

/** A backslash before a comma makes it part of the value. */
const splitTerms = (text: string): readonly string[] => text.match(/(?:\\[\s\S]|[^,\\])+/g) ?? [];

function termOf(part: string, whole: string): FieldTerm {
  const found = /^((?:[^=!])*)(==|!=|=)([\s\S]*)$/.exec(part);
  if (found === null) throw badRequest(`invalid selector: '${whole}'; can't understand '${part}'`);
  const [, field = "", operator, value = ""] = found;
  return { field, value: unescaped(value), equals: operator !== "!=" };
}

function unescaped(value: string): string {
  const bad = /\\(?![\\,=])[\s\S]?/.exec(value.replace(/\\[\\,=]/g, ""));
  if (bad !== null) throw badRequest(`invalid field selector: invalid escape sequence: ${bad[0]}`);
  const loose = /[,=]/.exec(value.replace(/\\[\\,=]/g, ""));
  if (loose !== null)
    throw badRequest(`invalid field selector: unescaped character in value: ${loose[0].charCodeAt(0)}`);
  return value.replace(/\\([\\,=])/g, "$1");
}
