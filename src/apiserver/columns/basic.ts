/** What columns are made of: the two every table has, and short ways to reach into an object. */
import { isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { ageSince } from "../age.ts";
import type { ApiObject, Column } from "../contracts.ts";

export const nameColumn: Column = {
  name: "Name",
  type: "string",
  format: "name",
  description: "What the object is called: unique within its namespace, or within the cluster where there is none.",
  cell: ({ metadata }) => metadata.name ?? "",
};

export const ageColumn: Column = {
  name: "Age",
  type: "string",
  description: "Time since the object was created.",
  cell: ({ metadata }, now) => ageSince(metadata.creationTimestamp, now),
};

export const createdColumn: Column = {
  name: "Created At",
  type: "date",
  description: "When the object was created.",
  cell: ({ metadata }) => metadata.creationTimestamp ?? null,
};

interface Looks {
  readonly type?: string;
  readonly format?: string;
  /** Shown with `-o wide` only. */
  readonly wide?: true;
}

export const column = (name: string, cell: Column["cell"], { type = "string", format, wide }: Looks = {}): Column => ({
  name,
  type,
  ...(format === undefined ? {} : { format }),
  ...(wide === true ? { priority: 1 } : {}),
  cell,
});

export const wide = (name: string, cell: Column["cell"]): Column => column(name, cell, { wide: true });
export const count = (name: string, cell: (object: ApiObject) => number): Column =>
  column(name, cell, { type: "integer" });

/** What stands at a path, or undefined. */
export function at(object: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined {
  let value = object;
  for (const part of path) value = isObject(value) ? value[part] : undefined;
  return value ?? undefined;
}

export const textAt = (object: JsonValue | undefined, ...path: readonly string[]): string => {
  const value = at(object, ...path);
  return value === undefined || typeof value === "object" ? "" : String(value);
};
export const numberAt = (object: JsonValue | undefined, ...path: readonly string[]): number => {
  const value = at(object, ...path);
  return typeof value === "number" ? value : 0;
};
export const listAt = (object: JsonValue | undefined, ...path: readonly string[]): readonly JsonValue[] => {
  const value = at(object, ...path);
  return Array.isArray(value) ? value : [];
};
export const sizeAt = (object: JsonValue | undefined, ...path: readonly string[]): number => {
  const value = at(object, ...path);
  return Array.isArray(value) ? value.length : isObject(value) ? Object.keys(value).length : 0;
};

export const or = (text: string, otherwise: string): string => (text === "" ? otherwise : text);

/** "a=b,c=d" */
export const labelsText = (labels: JsonValue | undefined): string =>
  or(
    isObject(labels)
      ? Object.entries(labels)
          .map(([key, value]) => `${key}=${String(value)}`)
          .sort()
          .join(",")
      : "",
    "<none>",
  );

export function conditionOf(object: ApiObject, type: string): JsonObject | undefined {
  return listAt(object, "status", "conditions")
    .filter(isObject)
    .find((condition) => condition.type === type);
}
