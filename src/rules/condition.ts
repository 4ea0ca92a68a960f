/**
 * What a rule asks of an object and of the one before it, and what it says. Each is written once, and has two readers: webhook, lint and
 * controllers evaluate it, and admission policies of Kubernetes get the same as CEL.
 */
import type { JsonObject } from "../base/json.ts";
import { isGiven, textMember, valueAt, valueText } from "./values.ts";

/** An object as it would be stored, and as it is stored now. */
export interface Pair {
  readonly object: JsonObject;
  readonly oldObject?: JsonObject | undefined;
}
export type Side = keyof Pair;

/** How CEL names what an object has: the same rule is asked of an object and of the one before it. */
export interface Names {
  /** A text; empty where there is none. */
  text(path: string, side: Side): string;
  /** The value, which may be absent. */
  optional(path: string, side: Side): string;
  /** The value as a message shows it. */
  shown(path: string, side: Side): string;
}

export interface RuleCondition {
  holds(pair: Pair): boolean;
  /** The same in CEL. */
  cel(names: Names): string;
  /** The CEL stands in brackets already. */
  readonly isBracketed?: boolean;
}

const memberOf = ({ object, oldObject = {} }: Pair, side: Side): JsonObject => (side === "object" ? object : oldObject);
export const celText = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

/** A name or a handle that is not empty. */
export const given = (path: string, side: Side = "object"): RuleCondition => ({
  holds: (pair) => isGiven(memberOf(pair, side), path),
  cel: (names) => `${names.text(path, side)} != ''`,
});

/** There is a value, whatever it says. */
export const present = (path: string, side: Side = "object"): RuleCondition => ({
  holds: (pair) => valueAt(memberOf(pair, side), path) !== undefined,
  cel: (names) => `${names.optional(path, side)}.hasValue()`,
});

/** There is a text. The schemas of all CRDs allow nothing else where this is asked. */
export const isText = (path: string, side: Side = "object"): RuleCondition => ({
  ...present(path, side),
  holds: (pair) => textMember(memberOf(pair, side), path) !== undefined,
});

/** None of the values is the empty text. */
export const isOneOf = (path: string, values: readonly string[]): RuleCondition => ({
  holds: ({ object }) => values.some((value) => valueAt(object, path) === value),
  cel: (names) => `${names.text(path, "object")} in [${values.map(celText).join(", ")}]`,
});

/**
 * The text is another one than before; an empty one says nothing, and an absent one neither. In lists, because Kubernetes counts what a
 * comparison of texts costs by their length.
 */
export const changed = (path: string): RuleCondition => ({
  holds: ({ object, oldObject = {} }) => (textMember(oldObject, path) ?? "") !== (textMember(object, path) ?? ""),
  cel: (names) => `[${names.text(path, "oldObject")}] != [${names.text(path, "object")}]`,
});

export const not = (condition: RuleCondition): RuleCondition => ({
  holds: (pair) => !condition.holds(pair),
  cel: (names) => (condition.isBracketed ? `!${condition.cel(names)}` : `!(${condition.cel(names)})`),
});
export const allOf = (...conditions: readonly [RuleCondition, ...RuleCondition[]]): RuleCondition => ({
  holds: (pair) => conditions.every((condition) => condition.holds(pair)),
  cel: (names) => conditions.map((condition) => condition.cel(names)).join(" && "),
});
export const anyOf = (...conditions: readonly RuleCondition[]): RuleCondition => ({
  holds: (pair) => conditions.some((condition) => condition.holds(pair)),
  cel: (names) => `(${conditions.map((condition) => condition.cel(names)).join(" || ")})`,
  isBracketed: true,
});

/** A part of a sentence: a text that a rule has, or a value that an object has. */
export interface Phrase {
  text(pair: Pair): string;
  cel(names: Names): string;
}

export const shown = (path: string, side: Side = "object"): Phrase => ({
  text: (pair) => valueText(valueAt(memberOf(pair, side), path)),
  cel: (names) => names.shown(path, side),
});

/** says`must be Delete, but is ${shown(field)}` */
export const says = (texts: TemplateStringsArray, ...values: readonly (string | Phrase)[]): Phrase => {
  const parts = texts.flatMap((text, index) => [text, ...values.slice(index, index + 1)]);
  const merged: (string | Phrase)[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (typeof part === "string" && typeof last === "string") merged.splice(-1, 1, last + part);
    else if (part !== "") merged.push(part);
  }
  return {
    text: (pair) => merged.map((part) => (typeof part === "string" ? part : part.text(pair))).join(""),
    cel: (names) => merged.map((part) => (typeof part === "string" ? celText(part) : part.cel(names))).join(" + "),
  };
};

/** When a rule is broken, and what it says then. Of several cases the first that holds counts. */
export interface Case {
  readonly when: RuleCondition;
  readonly says: Phrase;
}

export const problemIn = (cases: readonly Case[], pair: Pair): string | undefined =>
  cases.find(({ when }) => when.holds(pair))?.says.text(pair);
