/**
 * Rules on one object, and on the change from one version of it to the next. They look at plain JSON, because admission and lint
 * see what a user wrote, whatever its shape.
 */
import type { CodedMessage } from "../api/plan.ts";
import { isObject, type JsonObject, type JsonValue, print } from "../base/json.ts";
import { type ErrorCode, fix, withCode } from "../errors/codes.ts";

/** What one rule found. The message ends in the code. */
export interface FieldViolation {
  readonly code: ErrorCode;
  readonly field: string;
  readonly message: CodedMessage;
}

/** What must hold for every object of a kind. */
export interface ObjectRule {
  readonly code: ErrorCode;
  readonly field: string;
  /** Why it does not hold, without the code; undefined when it does. */
  problem(object: JsonObject): string | undefined;
}

/** What must hold for a change. */
export interface ChangeRule {
  readonly code: ErrorCode;
  readonly field: string;
  /** The rules that the old object must keep for this one to count: what was wrong may be mended. */
  readonly unlessBroken: readonly ErrorCode[];
  problem(before: JsonObject, after: JsonObject): string | undefined;
}

export interface ObjectRules {
  readonly objects: readonly ObjectRule[];
  readonly changes: readonly ChangeRule[];
}

/** Refused: the request is denied. Ratcheted: broken before already, so the request may pass, with a warning. */
export interface RuleVerdict {
  readonly refused: readonly FieldViolation[];
  readonly ratcheted: readonly FieldViolation[];
}

export const strictViolations = ({ objects }: ObjectRules, object: JsonObject): readonly FieldViolation[] =>
  objects.flatMap((rule) => broken(rule, rule.problem(object)));

/** Without an old object this is a creation, and all rules count. */
export function judgeObject(rules: ObjectRules, after: JsonObject, before: JsonObject | undefined): RuleVerdict {
  const found = strictViolations(rules, after);
  if (before === undefined) return { refused: found, ratcheted: [] };
  const earlier = strictViolations(rules, before);
  const wasBroken = (rule: FieldViolation): boolean =>
    earlier.some(({ code, field }) => code === rule.code && field === rule.field);
  const changed = rules.changes
    .filter(({ unlessBroken }) => !earlier.some(({ code }) => unlessBroken.includes(code)))
    .flatMap((rule) => broken(rule, rule.problem(before, after)));
  return {
    refused: [...changed, ...found.filter((rule) => !wasBroken(rule))],
    ratcheted: found.filter(wasBroken),
  };
}

/** The field comes first, and the code last; "" is the whole object. */
export const violationAt = (code: ErrorCode, field: string, problem: string): FieldViolation => ({
  code,
  field,
  message: withCode(`${field === "" ? "" : `${field}: `}${problem}`, code),
});

const broken = (
  { code, field }: Pick<ObjectRule, "code" | "field">,
  problem: string | undefined,
): readonly FieldViolation[] => (problem === undefined ? [] : [violationAt(code, field, problem)]);

/** The value at a path like "spec.source.volumeHandle"; undefined where there is none. Go writes an absent pointer as null. */
export function valueAt(object: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = object;
  for (const key of path.split(".")) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value ?? undefined;
}

/** Tells whether a name or a handle is given: an empty one is not. Go writes an absent pointer as null. */
export const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== "";
export const isGiven = (object: JsonObject, path: string): boolean => isSet(valueAt(object, path));

/** For messages: short, whatever somebody wrote. */
export function valueText(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "nothing";
  if (typeof value === "object") return Array.isArray(value) ? "a list" : "an object";
  return print(typeof value === "string" && value.length > textMax ? `${value.slice(0, textMax)}…` : value);
}
const textMax = 253;

/** Whatever is not text is refused by its type, and needs no comparison. */
export const textMember = (object: JsonObject, path: string): string | undefined => {
  const value = valueAt(object, path);
  return typeof value === "string" ? value : undefined;
};

/** Exactly one of two members of an object is given. */
export const exactlyOneMember = (code: ErrorCode, field: string, one: string, other: string): ObjectRule => ({
  code,
  field,
  problem: (object) => {
    const count = [one, other].filter((name) => isGiven(object, `${field}.${name}`)).length;
    if (count === 1) return undefined;
    const [found, remedy] = count === 2 ? ["both are set", "remove one"] : ["neither is set", "set one"];
    return `exactly one of ${one} and ${other} must be set, but ${found}; ${remedy}`;
  },
});

/** Beside a member that is given, the other is not there at all: a CRD asks whether it is there, whatever it says. */
export const noEmptyOther = (field: string, one: string, other: string): ObjectRule => ({
  code: "SNAP-104",
  field,
  problem: (object) => {
    const given = [one, other].filter((name) => isGiven(object, `${field}.${name}`));
    const empty = given[0] === one ? other : one;
    return given.length === 1 && valueAt(object, `${field}.${empty}`) !== undefined
      ? `${empty} must not be the empty string beside ${given[0]}; ${fix("SNAP-104", empty)}`
      : undefined;
  },
});

export const immutableMembers = (
  code: ErrorCode,
  field: string,
  unlessBroken: readonly ErrorCode[],
  names: readonly string[],
): ChangeRule => ({
  code,
  field,
  unlessBroken,
  problem: (before, after) => {
    // An empty text may be removed: it says nothing.
    const said = (object: JsonObject, name: string): string => textMember(object, `${field}.${name}`) ?? "";
    const changed = names.find((name) => said(before, name) !== said(after, name));
    return changed === undefined
      ? undefined
      : `${changed} is immutable but was changed from ${valueText(valueAt(before, `${field}.${changed}`))} to ${valueText(valueAt(after, `${field}.${changed}`))}; ${fix(code)}`;
  },
});

export const areTexts = (...paths: readonly string[]): readonly ObjectRule[] =>
  paths.map((field) => ({
    code: "SNAP-191",
    field,
    problem: (object) => {
      const value = valueAt(object, field);
      return value === undefined || typeof value === "string"
        ? undefined
        : `must be text, but is ${valueText(value)}; ${fix("SNAP-191", "it")}`;
    },
  }));
