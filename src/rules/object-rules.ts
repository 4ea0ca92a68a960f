/**
 * Rules on one object, and on the change from one version of it to the next. They look at plain JSON, because admission and lint
 * see what a user wrote, whatever its shape.
 */
import type { CodedMessage } from "../api/plan.ts";
import type { JsonObject } from "../base/json.ts";
import { type ErrorCode, fix, withCode } from "../errors/codes.ts";
import {
  allOf,
  anyOf,
  type Case,
  changed,
  given,
  isText,
  not,
  type Pair,
  present,
  problemIn,
  says,
  shown,
} from "./condition.ts";

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
  /** When it does not hold. */
  readonly cases: readonly Case[];
  /** Why no admission policy has this rule; absent: one has. */
  readonly withoutPolicy?: string;
}

/** What must hold for a change. */
export interface ChangeRule extends ObjectRule {
  /** The rules that the old object must keep for this one to count: what was wrong may be mended. */
  readonly unlessBroken: readonly ErrorCode[];
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
  objects.flatMap((rule) => broken(rule, { object }));

/** Without an old object this is a creation, and all rules count. */
export function judgeObject(rules: ObjectRules, after: JsonObject, before: JsonObject | undefined): RuleVerdict {
  const found = strictViolations(rules, after);
  if (before === undefined) return { refused: found, ratcheted: [] };
  const earlier = strictViolations(rules, before);
  const wasBroken = (rule: FieldViolation): boolean =>
    earlier.some(({ code, field }) => code === rule.code && field === rule.field);
  const changed = rules.changes
    .filter(({ unlessBroken }) => !earlier.some(({ code }) => unlessBroken.includes(code)))
    .flatMap((rule) => broken(rule, { object: after, oldObject: before }));
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

const broken = ({ code, field, cases }: ObjectRule, pair: Pair): readonly FieldViolation[] => {
  const problem = problemIn(cases, pair);
  return problem === undefined ? [] : [violationAt(code, field, problem)];
};

/** Exactly one of two members of an object is given. */
export const exactlyOneMember = (code: ErrorCode, field: string, one: string, other: string): ObjectRule => {
  const [hasOne, hasOther] = [given(`${field}.${one}`), given(`${field}.${other}`)];
  const mustBe = `exactly one of ${one} and ${other} must be set`;
  return {
    code,
    field,
    cases: [
      { when: allOf(hasOne, hasOther), says: says`${mustBe}, but both are set; remove one` },
      { when: not(anyOf(hasOne, hasOther)), says: says`${mustBe}, but neither is set; set one` },
    ],
  };
};

/** Beside a member that is given, the other is not there at all: a CRD asks whether it is there, whatever it says. */
export const noEmptyOther = (field: string, one: string, other: string): ObjectRule => {
  const beside = (name: string, empty: string): Case => ({
    when: allOf(given(`${field}.${name}`), present(`${field}.${empty}`), not(given(`${field}.${empty}`))),
    says: says`${empty} must not be the empty string beside ${name}; ${fix("SNAP-104", empty)}`,
  });
  return { code: "SNAP-104", field, cases: [beside(one, other), beside(other, one)] };
};

export const immutableMembers = (
  code: ErrorCode,
  field: string,
  unlessBroken: readonly ErrorCode[],
  names: readonly string[],
): ChangeRule => ({
  code,
  field,
  unlessBroken,
  cases: names.map((name) => {
    const path = `${field}.${name}`;
    return {
      when: changed(path),
      says: says`${name} is immutable but was changed from ${shown(path, "oldObject")} to ${shown(path)}; ${fix(code)}`,
    };
  }),
});

export const areTexts = (...paths: readonly string[]): readonly ObjectRule[] =>
  paths.map((field) => ({
    code: "SNAP-191",
    field,
    withoutPolicy: "The schemas of all CRDs refuse what is not text before any policy is asked.",
    cases: [
      {
        when: allOf(present(field), not(isText(field))),
        says: says`must be text, but is ${shown(field)}; ${fix("SNAP-191", "it")}`,
      },
    ],
  }));
