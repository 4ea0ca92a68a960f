/**
 * The part of kubectl's JSONPath that printer columns use: members (".a.b", "['a.b']", "\." for a dot),
 * indexes ("[0]", "[-1]", "[*]") and filters ("[?(@.type=="Ready")]").
 */
import { isObject, type JsonValue } from "../base/json.ts";

type Step =
  | { readonly kind: "member"; readonly name: string }
  | { readonly kind: "index"; readonly index: number }
  | { readonly kind: "all" }
  | { readonly kind: "filter"; readonly path: Find; readonly operator: string; readonly value: JsonValue };

export type Find = (value: JsonValue | undefined) => readonly JsonValue[];

const stepPattern =
  /\.((?:\\.|[^.[\\{}\s])+)|\[(-?\d+)\]|\[\*\]|\.\*|\['((?:\\.|[^'\\])*)'\]|\["((?:\\.|[^"\\])*)"\]|\[\?\(@((?:\.[^=!<>\s]+)+)\s*(==|!=)\s*("[^"]*"|'[^']*'|[^)\s]+)\s*\)\]/y;

/** Undefined when the path is not one of this subset. */
export function compilePath(text: string): Find | undefined {
  const path = text.startsWith(".") || text.startsWith("[") ? text : `.${text}`;
  const steps: Step[] = [];
  stepPattern.lastIndex = 0;
  while (stepPattern.lastIndex < path.length) {
    const at = stepPattern.lastIndex;
    const found = stepPattern.exec(path);
    const step = found === null ? undefined : stepOf(found);
    if (step === undefined) return undefined;
    steps.push(step);
    stepPattern.lastIndex = at + (found?.[0].length ?? 0);
  }
  return (value) => steps.reduce<readonly JsonValue[]>(walk, value === undefined ? [] : [value]);
}

function stepOf([whole, member, index, single, double, path, operator, value]: RegExpExecArray): Step | undefined {
  if (member !== undefined) return member === "*" ? { kind: "all" } : { kind: "member", name: unescaped(member) };
  if (index !== undefined) return { kind: "index", index: Number(index) };
  if (single !== undefined || double !== undefined) return { kind: "member", name: unescaped(single ?? double ?? "") };
  if (path !== undefined && operator !== undefined && value !== undefined) {
    const inner = compilePath(path);
    return inner === undefined ? undefined : { kind: "filter", path: inner, operator, value: literal(value) };
  }
  return whole === "[*]" || whole === ".*" ? { kind: "all" } : undefined;
}

const unescaped = (text: string): string => text.replace(/\\(.)/g, "$1");

function literal(text: string): JsonValue {
  if (/^["']/.test(text)) return text.slice(1, -1);
  if (text === "true" || text === "false") return text === "true";
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}

function walk(values: readonly JsonValue[], step: Step): readonly JsonValue[] {
  return values.flatMap((value) => taken(value, step).filter((item) => item !== undefined));
}

function taken(value: JsonValue, step: Step): readonly JsonValue[] {
  switch (step.kind) {
    case "member": {
      const member = isObject(value) && Object.hasOwn(value, step.name) ? value[step.name] : undefined;
      return member === undefined ? [] : [member];
    }
    case "index": {
      const item = Array.isArray(value) ? value.at(step.index) : undefined;
      return item === undefined ? [] : [item];
    }
    case "all":
      return Array.isArray(value)
        ? value
        : isObject(value)
          ? Object.values(value).filter((item) => item !== undefined)
          : [];
    case "filter":
      return Array.isArray(value) ? value.filter((item) => passes(item, step)) : [];
    default:
      return step satisfies never;
  }
}

function passes(item: JsonValue, { path, operator, value }: Step & { kind: "filter" }): boolean {
  const [found] = path(item);
  return (found === value) === (operator === "==");
}
