/** How large the values of a schema can be, and how often they can occur: what the cost of rules is reckoned from. */

import type { Measure } from "../cel/cost.ts";
import { withTypeMeta } from "../cel/data.ts";
import { unescapeName } from "../cel/escape.ts";
import type { SchemaNode } from "../node.ts";
import type { Step } from "./openapi.ts";

const requestBytesMax = 3 * 1024 * 1024;

/** The fewest bytes of JSON a value of this schema takes. */
export function bytesMin(schema: SchemaNode): number {
  if (schema.intOrString) return 1;
  switch (schema.types[0]) {
    case "string":
      return textBytesMin[schema.format] ?? 2;
    case "boolean":
      return 4;
    case "array":
      return 2;
    case "object":
      return typeof schema.additional === "object" ? 2 : objectBytesMin(schema);
    default:
      return 1;
  }
}

const textBytesMin: Readonly<Record<string, number>> = { duration: 3, date: 12, "date-time": 21 };
const textSizes: Readonly<Record<string, number>> = { duration: 32, date: 12, "date-time": 32 };

function objectBytesMin(schema: SchemaNode): number {
  let bytes = 2;
  for (const name of schema.required) {
    const property = schema.properties.get(name);
    if (property !== undefined && property.defaultValue === undefined && isVisible(property))
      bytes += Buffer.byteLength(name) + bytesMin(property) + 4;
  }
  return bytes;
}

const isVisible = (schema: SchemaNode): boolean => schema.intOrString || schema.types.length > 0;

/** Entries, properties or characters at most. */
function elementsMax(schema: SchemaNode): number {
  const { bounds } = schema;
  if (schema.intOrString) return bounds?.maxLength === undefined ? requestBytesMax - 2 : bounds.maxLength * 4;
  switch (schema.types[0]) {
    case "array":
      return bounds?.maxItems ?? Math.floor((requestBytesMax - 2) / (bytesMin(schema.items ?? schema) + 1));
    case "object":
      if (typeof schema.additional !== "object") return 0;
      return bounds?.maxProperties ?? Math.floor((requestBytesMax - 2) / (bytesMin(schema.additional) + 6));
    case "string":
      return textElementsMax(schema);
    default:
      return 0;
  }
}

function textElementsMax(schema: SchemaNode): number {
  const { bounds, format, enumeration } = schema;
  const fixed = textSizes[format];
  if (fixed !== undefined) return fixed;
  if (bounds?.maxLength !== undefined) return format === "byte" ? bounds.maxLength : bounds.maxLength * 4;
  if (enumeration === undefined || format === "byte") return requestBytesMax - 2;
  return Math.max(...enumeration.map((value) => (typeof value === "string" ? Buffer.byteLength(value) : 0)));
}

export const measureOf =
  (root: SchemaNode, isResource: boolean): Measure =>
  (path) => {
    let node: SchemaNode = isResource ? withTypeMeta(root) : root;
    for (const step of path) {
      // Keys of maps are texts without a bound of their own.
      if (step === "@keys") return typeof node.additional === "object" ? 0 : undefined;
      const next = nodeBelow(node, step);
      if (next === undefined) return undefined;
      node = next;
    }
    return elementsMax(node);
  };

function nodeBelow(node: SchemaNode, step: string): SchemaNode | undefined {
  if (step === "@items" || step === "@values")
    return node.items ?? (typeof node.additional === "object" ? node.additional : undefined);
  return node.properties.get(unescapeName(step) ?? "");
}

/** How many values of this place an object can hold; without a bound, as many as a request has room for. */
export function occurrencesMax(root: SchemaNode, steps: readonly Step[], node: SchemaNode): number {
  let [at, product]: [SchemaNode, number | undefined] = [root, 1];
  for (const step of steps) {
    const factor =
      step.kind === "property" ? 1 : step.kind === "items" ? at.bounds?.maxItems : at.bounds?.maxProperties;
    product = product === undefined || factor === undefined ? undefined : product * factor;
    const next =
      step.kind === "property" ? at.properties.get(step.name) : step.kind === "items" ? at.items : at.additional;
    if (typeof next !== "object") break;
    at = next;
  }
  return product ?? Math.floor(requestBytesMax / (bytesMin(node) + 1));
}

export const ruleCostMax = 10_000_000;
export const schemaCostMax = 100_000_000;

export function costWords(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? "more than 100x" : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${what} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}
