/**
 * The rules of a whole schema against a whole object: where they apply, with which old value, and what they say. Rules that
 * speak of oldSelf are asked only where an old value belongs to the new one; failures of others are tolerated where nothing
 * changed.
 */
import { isObject, type JsonObject, type JsonValue } from "../base/json.ts";
import { celTypeOf, celValueOf, selfTypeName, withTypeMeta } from "./cel/data.ts";
import { type CompiledRule, compileRule } from "./cel/rules.ts";
import type { CelType } from "./cel/types.ts";
import { CelFault, none, some, type Value } from "./cel/value.ts";
import { type Correlation, oldEntries } from "./correlate.ts";
import {
  child,
  duplicate,
  type FieldError,
  forbidden,
  indexed,
  invalid,
  messageOf,
  omitted,
  required,
  wholeObject,
} from "./field-error.ts";
import type { Rule, SchemaNode } from "./node.ts";

interface RuleNode {
  readonly schema: SchemaNode;
  readonly isResource: boolean;
  readonly rules: readonly CompiledRule[];
  readonly properties: ReadonlyMap<string, RuleNode>;
  readonly additional: RuleNode | undefined;
  readonly items: RuleNode | undefined;
  /** Parts about which no rule has said anything when they stayed as they are: stored parts never change, nor does what is said. */
  readonly silent: WeakSet<object>;
}

export interface RuleSet {
  /** `warn` is told of failures that are tolerated. */
  check(
    object: JsonObject,
    old: JsonObject | undefined,
    relation: Correlation | undefined,
    warn: (text: string) => void,
  ): readonly FieldError[];
}

/** undefined when the schema has no rules. */
export function createRuleSet(root: SchemaNode): RuleSet | undefined {
  if (!hasRules(root)) return undefined;
  let node: RuleNode | undefined;
  return {
    check: (object, old, relation, warn) => {
      node ??= compileNode(root, true);
      const errors: FieldError[] = [];
      if (node !== undefined)
        visit(node, object, { path: wholeObject, old, relation, parent: undefined, isRoot: true, errors, warn });
      return errors;
    },
  };
}

export function hasRules(schema: SchemaNode): boolean {
  if (schema.rules.length > 0 || (schema.items !== undefined && hasRules(schema.items))) return true;
  if (typeof schema.additional === "object" && hasRules(schema.additional)) return true;
  for (const property of schema.properties.values()) if (hasRules(property)) return true;
  return false;
}

function compileNode(schema: SchemaNode, isResource: boolean): RuleNode | undefined {
  if (!hasRules(schema)) return undefined;
  const type = celTypeOf(schema, isResource, selfTypeName);
  const below = (of: SchemaNode | undefined): RuleNode | undefined =>
    of === undefined ? undefined : compileNode(of, of.embeddedResource);
  const properties = new Map<string, RuleNode>();
  for (const [property, of] of schema.properties) {
    const node = below(of);
    if (node !== undefined) properties.set(property, node);
  }
  return {
    schema,
    isResource,
    rules: type === undefined ? [] : compiledRules(schema, type),
    properties,
    additional: below(typeof schema.additional === "object" ? schema.additional : undefined),
    items: below(schema.items),
    silent: new WeakSet(),
  };
}

/** Definitions with rules that do not compile are refused, so those met here do. */
const compiledRules = (schema: SchemaNode, type: CelType): readonly CompiledRule[] =>
  schema.rules.flatMap((rule) => {
    const outcome = compileRule(rule, schema, type);
    return outcome.kind === "compiled" ? [outcome.compiled] : [];
  });

interface Place {
  readonly path: string;
  readonly old: JsonValue | undefined;
  readonly relation: Correlation | undefined;
  /** The nearest ancestor that has a counterpart in the old object. */
  readonly parent: Correlation | undefined;
  readonly isRoot: boolean;
  readonly errors: FieldError[];
  warn(text: string): void;
}

const isUnchanged = ({ relation, parent }: Place): boolean =>
  relation === undefined ? parent?.unchanged() === true : relation.unchanged();

function visit(node: RuleNode, value: JsonValue | undefined, place: Place): void {
  if (value === undefined || value === null) return;
  if (typeof value === "object" && value === place.old) visitStored(node, value, place);
  else visitChanged(node, value, place);
}

/** The part that is stored, itself: once it was heard in silence, it need not be heard again. */
function visitStored(node: RuleNode, value: JsonObject | JsonValue[], place: Place): void {
  if (node.silent.has(value)) return;
  const errorsBefore = place.errors.length;
  let isWarned = false;
  const warn = (text: string): void => {
    isWarned = true;
    place.warn(text);
  };
  visitChanged(node, value, { ...place, warn });
  if (!isWarned && place.errors.length === errorsBefore) node.silent.add(value);
}

function visitChanged(node: RuleNode, value: JsonValue, place: Place): void {
  for (const rule of node.rules) judge(node, rule, value, place);
  if (Array.isArray(value)) visitItems(node, value, place);
  else if (isObject(value)) visitFields(node, value, place);
}

function below(place: Place, path: string, old: JsonValue | undefined, relation: Correlation | undefined): Place {
  const parent = place.relation ?? place.parent;
  return { path, old, relation, parent, isRoot: false, errors: place.errors, warn: place.warn };
}

function visitItems(node: RuleNode, items: readonly JsonValue[], place: Place): void {
  if (node.items === undefined) return;
  const oldEntry = oldEntries(node.schema, place.old);
  for (const [index, item] of items.entries())
    visit(node.items, item, below(place, indexed(place.path, index), oldEntry(item), place.relation?.index(index)));
}

function visitFields(node: RuleNode, value: JsonObject, place: Place): void {
  const old = isObject(place.old) ? place.old : {};
  for (const [name, item] of Object.entries(value)) {
    const [property, before] = [node.properties.get(name), Object.hasOwn(old, name) ? old[name] : undefined];
    // apiVersion and kind of the root are the same on both sides by conversion, which says nothing.
    const isTypeMeta = place.isRoot && (name === "apiVersion" || name === "kind");
    const relation = isTypeMeta ? undefined : place.relation?.key(name);
    const inner = (path: string): Place => {
      const made = below(place, path, before, relation);
      return isTypeMeta ? { ...made, parent: undefined } : made;
    };
    if (node.additional !== undefined) visit(node.additional, item, inner(indexed(place.path, name)));
    if (property !== undefined) visit(property, item, inner(child(place.path, name)));
  }
}

function judge(node: RuleNode, compiled: CompiledRule, value: JsonValue, place: Place): void {
  const { rule, usesOldSelf } = compiled;
  const old = place.old === null ? undefined : place.old;
  if (usesOldSelf && old === undefined && !rule.optionalOldSelf) return;
  const schema = node.isResource ? withTypeMeta(node.schema) : node.schema;
  const type = node.schema.types[0] ?? "";
  try {
    const variables = variablesFor(schema, compiled, value, old);
    if (compiled.program(variables) === true) return;
    const error = failure(compiled, variables, { path: place.path, value, type });
    if (!usesOldSelf && isUnchanged(place)) place.warn(messageOf(error));
    else place.errors.push(error);
  } catch (reason) {
    if (!(reason instanceof CelFault)) throw reason;
    place.errors.push(invalid(place.path, type, faultWords(reason.message, said(rule))));
  }
}

function variablesFor(
  schema: SchemaNode,
  { rule, usesOldSelf }: CompiledRule,
  value: JsonValue,
  old: JsonValue | undefined,
): Record<string, Value> {
  const self = celValueOf(schema, value);
  if (!usesOldSelf) return { self };
  const before = old === undefined ? undefined : celValueOf(schema, old);
  if (rule.optionalOldSelf) return { self, oldSelf: before === undefined ? none : some(before) };
  return before === undefined ? { self } : { self, oldSelf: before };
}

const said = (rule: Rule): string => (rule.message === "" ? rule.rule : rule.message).trim();

function faultWords(message: string, rule: string): string {
  if (message.startsWith("no such overload"))
    return `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${rule}`;
  if (message.startsWith("operation cancelled: actual cost limit exceeded"))
    return `'${message}': no further validation rules will be run due to call cost exceeds limit for rule: ${rule}`;
  return `${message} evaluating rule: ${rule}`;
}

function failure(
  { rule, message, fieldPath }: CompiledRule,
  variables: Record<string, Value>,
  at: { readonly path: string; readonly value: JsonValue; readonly type: string },
): FieldError {
  const field = fieldPath === "" ? at.path : child(at.path, fieldPath);
  const detail = (message === undefined ? undefined : evaluatedMessage(message, variables)) ?? defaultMessage(rule);
  const value = at.type === "object" || at.type === "array" ? omitted : at.value;
  switch (rule.reason) {
    case "FieldValueForbidden":
      return forbidden(field, detail);
    case "FieldValueRequired":
      return required(field, detail);
    case "FieldValueDuplicate":
      return duplicate(field, value);
    default:
      return invalid(field, value, detail);
  }
}

const defaultMessage = (rule: Rule): string =>
  rule.message === "" ? `failed rule: ${said(rule)}` : rule.message.trim();
const messageBytesMax = 5 * 1024;

/** A message that cannot be made, is empty, or would break the line is not used. */
function evaluatedMessage(program: CompiledRule["program"], variables: Record<string, Value>): string | undefined {
  try {
    const text = program(variables);
    const trimmed = typeof text === "string" ? text.trim() : "";
    const isGood = trimmed !== "" && !trimmed.includes("\n") && Buffer.byteLength(trimmed) <= messageBytesMax;
    return isGood ? trimmed : undefined;
  } catch (reason) {
    if (reason instanceof CelFault) return undefined;
    throw reason;
  }
}
