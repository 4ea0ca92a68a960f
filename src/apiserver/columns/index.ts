/** The columns `kubectl get` shows for built-in kinds. A kind without a row here has its name and the time it was made. */
import type { Column } from "../contracts.ts";
import { createdColumn, nameColumn } from "./basic.ts";
import { coreColumns } from "./core.ts";
import { podColumns } from "./pods.ts";
import { storageColumns } from "./storage.ts";
import { workloadColumns } from "./workloads.ts";

const columns: Readonly<Record<string, readonly Column[]>> = {
  ...coreColumns,
  ...storageColumns,
  ...workloadColumns,
  "/Pod": podColumns,
};

export const columnsFor = (group: string, kind: string): readonly Column[] =>
  columns[`${group}/${kind}`] ?? [nameColumn, createdColumn];
