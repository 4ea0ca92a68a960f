/** The columns `kubectl get` shows for built-in kinds. A kind without a row here has its name and the time it was made. */
import { ageSince } from "./age.ts";
import type { Column } from "./contracts.ts";

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

const createdColumn: Column = {
  name: "Created At",
  type: "date",
  description: "When the object was created.",
  cell: ({ metadata }) => metadata.creationTimestamp ?? null,
};

const columns: Readonly<Record<string, readonly Column[]>> = {};

export const columnsFor = (group: string, kind: string): readonly Column[] =>
  columns[`${group}/${kind}`] ?? [nameColumn, createdColumn];
