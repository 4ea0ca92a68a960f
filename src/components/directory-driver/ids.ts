/** Names become ids, and ids become file names: nothing that could climb out of the root passes here. */
import { createHash } from "node:crypto";
import { Fault } from "../../base/fault.ts";

const safe = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
/** A name that looks like one of our hashes is hashed as well, so that no name can get the id of another name. */
const hashed = /^x-[0-9a-f]{40}$/;

/** The same name always gives the same id. A name that is no safe file name is replaced by its hash. */
export const idFor = (name: string): string =>
  safe.test(name) && !name.includes("..") && !hashed.test(name)
    ? name
    : `x-${createHash("sha256").update(name).digest("hex").slice(0, 40)}`;

export function required(value: string, field: string): string {
  if (value === "") throw new Fault("InvalidArgument", `${field} is required`);
  return value;
}
