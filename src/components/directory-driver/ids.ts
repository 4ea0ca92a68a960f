/** Names become ids, and ids become file names: nothing that could climb out of the root passes here. */
import { createHash } from "node:crypto";
import { Fault } from "../../base/fault.ts";

const safe = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** The same name always gives the same id. A name that is no safe file name is replaced by its hash. */
export const idFor = (name: string): string =>
  safe.test(name) && !name.includes("..") ? name : `x-${createHash("sha256").update(name).digest("hex").slice(0, 40)}`;

/** An id we never gave out names nothing; it is not an attempt to reach a file. */
export const isId = (id: string): boolean => safe.test(id) && !id.includes("..");

export function required(value: string, field: string): string {
  if (value === "") throw new Fault("InvalidArgument", `${field} is required`);
  return value;
}
