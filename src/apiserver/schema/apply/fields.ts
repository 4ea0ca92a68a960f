/**
 * Sets of fields, as managedFields keep them. A tree of path elements: "f:name" a field, "k:{…}" an entry by its keys,
 * "v:…" an entry by its value, "i:0" one by its position. A node that is itself in the set is a member; its children may be too.
 */
import { isObject, type JsonObject, type JsonValue } from "../../../base/json.ts";

export interface Fields {
  isMember: boolean;
  readonly children: Map<string, Fields>;
}

export const noFields = (): Fields => ({ isMember: false, children: new Map() });
export const isEmpty = (fields: Fields): boolean => !fields.isMember && fields.children.size === 0;

/** The node at `element`, made when missing. */
export function below(fields: Fields, element: string): Fields {
  const found = fields.children.get(element);
  if (found !== undefined) return found;
  const made = noFields();
  fields.children.set(element, made);
  return made;
}

export function readFields(raw: JsonValue | undefined): Fields {
  const fields = noFields();
  if (!isObject(raw)) return fields;
  for (const [key, value] of Object.entries(raw)) {
    if (key === ".") fields.isMember = true;
    else {
      const child = readFields(value);
      if (child.children.size === 0) child.isMember = true;
      fields.children.set(key, child);
    }
  }
  return fields;
}

export function printFields(fields: Fields): JsonObject {
  const out: JsonObject = {};
  if (fields.isMember && fields.children.size > 0) out["."] = {};
  for (const key of [...fields.children.keys()].sort(byElement)) {
    const child = fields.children.get(key);
    if (child !== undefined) out[key] = printFields(child);
  }
  return out;
}

/** Fields before keys before values before positions; among themselves as text, positions as numbers. */
function byElement(a: string, b: string): number {
  const kinds = "fkvi";
  const order = kinds.indexOf(a[0] ?? "") - kinds.indexOf(b[0] ?? "");
  if (order !== 0) return order;
  if (a.startsWith("i:")) return Number(a.slice(2)) - Number(b.slice(2));
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What remains after `keep` chose; nodes left without anything are gone. */
function filtered(
  fields: Fields,
  isMember: boolean,
  child: (element: string, of: Fields) => Fields | undefined,
): Fields {
  const result: Fields = { isMember, children: new Map() };
  for (const [element, of] of fields.children) {
    const kept = child(element, of);
    if (kept !== undefined && !isEmpty(kept)) result.children.set(element, kept);
  }
  return result;
}

export function difference(a: Fields, b: Fields): Fields {
  return filtered(a, a.isMember && !b.isMember, (element, of) => {
    const other = b.children.get(element);
    return other === undefined ? of : difference(of, other);
  });
}

/** Also takes away everything below a member of `b`. */
export function withoutRecursively(a: Fields, b: Fields): Fields {
  if (b.isMember) return noFields();
  return filtered(a, a.isMember, (element, of) => {
    const other = b.children.get(element);
    return other === undefined ? of : withoutRecursively(of, other);
  });
}

export function intersection(a: Fields, b: Fields): Fields {
  return filtered(a, a.isMember && b.isMember, (element, of) => {
    const other = b.children.get(element);
    return other === undefined ? undefined : intersection(of, other);
  });
}

export function union(a: Fields, b: Fields): Fields {
  const result: Fields = { isMember: a.isMember || b.isMember, children: new Map(a.children) };
  for (const [element, of] of b.children) {
    const other = result.children.get(element);
    result.children.set(element, other === undefined ? of : union(other, of));
  }
  return result;
}

/** Every member with its path, outer ones first. */
export function* members(fields: Fields, path = ""): Generator<string> {
  const elements = [...fields.children.keys()].sort(byElement);
  for (const element of elements)
    if (fields.children.get(element)?.isMember === true) yield path + printElement(element);
  for (const element of elements) {
    const child = fields.children.get(element);
    if (child !== undefined)
      yield* members({ isMember: false, children: child.children }, path + printElement(element));
  }
}

/** ".spec", "[name=\"a\"]", "[=\"x\"]", "[0]": as conflicts name them. */
export function printElement(element: string): string {
  const text = element.slice(2);
  if (element.startsWith("f:")) return `.${text}`;
  if (element.startsWith("i:")) return `[${text}]`;
  if (element.startsWith("v:")) return `[=${text}]`;
  const keys = Object.entries(JSON.parse(text) as Record<string, unknown>);
  return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(",")}]`;
}

/** The set of plain field paths: [["metadata", "name"], …]. */
export function fieldsAt(paths: readonly (readonly string[])[]): Fields {
  const fields = noFields();
  for (const path of paths) {
    let at = fields;
    for (const name of path) at = below(at, `f:${name}`);
    at.isMember = true;
  }
  return fields;
}
