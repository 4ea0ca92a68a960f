/** Declared fields count as members when anything below them does: removing all of it then removes the field as well. */
import type { SchemaNode } from "../../../schema/node.ts";
import type { Fields } from "./fields.ts";
import { fieldSchema, itemSchema } from "./walk.ts";

export function namedMembers(schema: SchemaNode, fields: Fields): Fields {
  const result: Fields = { isMember: fields.isMember, children: new Map() };
  for (const [element, child] of fields.children) {
    const name = element.startsWith("f:") ? element.slice(2) : undefined;
    const below = name === undefined ? itemSchema(schema) : fieldSchema(schema, name);
    const inner = namedMembers(below, child);
    const isNamed = name !== undefined && schema.properties.has(name);
    result.children.set(element, {
      isMember: child.isMember || (isNamed && child.children.size > 0),
      children: inner.children,
    });
  }
  return result;
}
