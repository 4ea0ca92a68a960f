/** A place in a configuration file, and typed looks at what stands there. */
import { Fault, type FaultCode } from "../base/fault.ts";
import { isObject, type JsonObject } from "../base/json.ts";

export interface ConfigLocation {
  readonly file: string;
  /** "users[0].user.exec" */
  readonly field: string;
}

export const within = ({ file, field }: ConfigLocation, name: string): ConfigLocation => ({
  file,
  field: field === "" ? name : `${field}.${name}`,
});
export const describeLocation = ({ file, field }: ConfigLocation): string => `${field} in ${file}`;

/** The one form of every complaint: file, field, problem, remedy. */
export const configError = (
  { file, field }: ConfigLocation,
  problem: string,
  remedy: string,
  code: FaultCode = "InvalidArgument",
): Fault => new Fault(code, `${file}: ${field === "" ? "" : `${field}: `}${problem}; ${remedy}`);

/** One mapping of the file: its fields are read by name, and a wrong type is a complaint. */
export interface Section {
  readonly spot: ConfigLocation;
  text(name: string): string | undefined;
  flag(name: string): boolean;
  list(name: string): readonly unknown[];
  section(name: string): Section | undefined;
  at(name: string): ConfigLocation;
}

export function sectionOf(value: unknown, spot: ConfigLocation): Section {
  if (!isObject(value)) throw configError(spot, "is not a mapping", 'write it as "name: value" lines');
  const object: JsonObject = value;
  const at = (name: string): ConfigLocation => within(spot, name);
  const typed = (name: string, is: (found: unknown) => boolean, expected: string): unknown => {
    const found = object[name] ?? undefined;
    if (found !== undefined && !is(found)) throw configError(at(name), `is not ${expected}`, `write ${expected}`);
    return found;
  };
  return {
    spot,
    at,
    // An empty text is what tools write for "not set".
    text: (name) => (typed(name, (found) => typeof found === "string", "a text") as string | undefined) || undefined,
    flag: (name) => typed(name, (found) => typeof found === "boolean", "true or false") === true,
    list: (name) => (typed(name, Array.isArray, "a list") as readonly unknown[] | undefined) ?? [],
    section: (name) =>
      object[name] === undefined || object[name] === null ? undefined : sectionOf(object[name], at(name)),
  };
}
