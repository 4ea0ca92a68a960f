/**
 * Go-style flags from one typed table: `--flag=value`, `--flag value`, `-flag`, `--bool`, `--bool=false`, `--` ends them.
 * As in Kubernetes' own programs an underscore in a name counts as a dash. Every refusal is one line that names the
 * flag, the value, what is expected and what to write instead.
 */
import { Fault } from "../base/fault.ts";
import { nearest } from "../base/nearest.ts";
import type { Environment } from "../kube/target.ts";
import type { Flag, FlagTable, Options } from "./flag-kinds.ts";

export type { Environment };

export interface Parsed<T extends FlagTable> {
  readonly options: Options<T>;
  /** Rows that were set on the command line or by the environment, not left at their default. */
  readonly given: ReadonlySet<keyof T>;
  readonly positionals: readonly string[];
  /** Warnings for the log: deprecated flag names in use. */
  readonly warnings: readonly string[];
}

export const kebab = (key: string): string => key.replace(/[A-Z]+/g, (capitals) => `-${capitals.toLowerCase()}`);
export const flagName = (key: string, flag: Flag<unknown>): string => flag.name ?? kebab(key);
/** `-v`, but `--timeout`: a single letter takes a single dash, everywhere we print one. */
export const dashed = (name: string): string => (name.length === 1 ? `-${name}` : `--${name}`);

interface Known {
  readonly key: string;
  readonly flag: Flag<unknown>;
  readonly name: string;
  /** Set when this is an old name of the flag. */
  readonly deprecation?: string;
}

const sameName = (name: string): string => name.replaceAll("_", "-");

function knownNames(table: FlagTable): ReadonlyMap<string, Known> {
  const known = new Map<string, Known>();
  for (const [key, flag] of Object.entries(table)) {
    const name = flagName(key, flag);
    known.set(sameName(name), { key, flag, name });
    if (flag.short !== undefined) known.set(flag.short, { key, flag, name });
    for (const [old, deprecation] of Object.entries(flag.deprecated ?? {}))
      known.set(sameName(old), { key, flag, name: old, deprecation });
  }
  return known;
}

const refuse = (message: string): never => {
  throw new Fault("InvalidArgument", message);
};

export function parseFlags<T extends FlagTable>(
  table: T,
  argv: readonly string[],
  environment: Environment = {},
): Parsed<T> {
  const reading: Reading = { known: knownNames(table), values: new Map(), saidAs: new Map(), warnings: [] };
  const positionals: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? "";
    if (word === "--") {
      positionals.push(...argv.slice(at + 1));
      break;
    }
    if (isFlag(word)) at += readFlag(reading, word, argv[at + 1]);
    else positionals.push(word);
  }
  fromEnvironment(table, environment, reading.values);
  const settingOf = (key: string, flag: Flag<unknown>): unknown =>
    reading.values.has(key) ? reading.values.get(key) : flag.default;
  const options = Object.fromEntries(Object.entries(table).map(([key, flag]) => [key, settingOf(key, flag)]));
  return {
    options: Object.freeze(options) as Options<T>,
    given: new Set(reading.values.keys()),
    positionals,
    warnings: reading.warnings,
  };
}

interface Reading {
  readonly known: ReadonlyMap<string, Known>;
  readonly values: Map<string, unknown>;
  /** The name each row was given under: one row under two names is a contradiction waiting to happen. */
  readonly saidAs: Map<string, string>;
  readonly warnings: string[];
}

/** "-1" is a number and "-" is standard input; both are arguments. */
function isFlag(word: string): boolean {
  if (/^--?[a-z]/i.test(word)) return true;
  return word.startsWith("--") ? refuse(`${word} is not a flag; flags are written like --name=value`) : false;
}

/** Returns how many of the following words belong to the flag: one or none. */
function readFlag(reading: Reading, word: string, following: string | undefined): 0 | 1 {
  const [, name = "", inline] = /^--?([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
  const found = lookUp(reading.known, name);
  remember(reading, found);
  const { key, flag } = found;
  if (inline === undefined && flag.alone !== undefined) {
    reading.values.set(key, flag.alone);
    return 0;
  }
  const given = inline ?? valueAfter(found, following, reading.known);
  reading.values.set(key, readValue(found, given, reading.values.get(key)));
  return inline === undefined ? 1 : 0;
}

function remember({ saidAs, warnings }: Reading, { key, flag, name, deprecation }: Known): void {
  const earlier = saidAs.get(key);
  if (earlier !== undefined && earlier !== name)
    refuse(`${dashed(earlier)} and ${dashed(name)} are one flag; give only ${dashed(flagName(key, flag))}`);
  saidAs.set(key, name);
  if (deprecation !== undefined) warnings.push(`${dashed(name)} is deprecated: ${deprecation}`);
}

function lookUp(known: ReadonlyMap<string, Known>, name: string): Known {
  const found = known.get(sameName(name));
  if (found !== undefined) return found;
  const meant = nearest(
    sameName(name),
    [...known.values()].filter(({ flag }) => flag.hidden !== true).map((row) => row.name),
  );
  // Where several controllers have a flag of one name, each has its own.
  const owned = [...known.keys()].filter((row) => row.endsWith(`-${sameName(name)}`)).map(dashed);
  const near = owned.length > 1 ? owned.join(" or ") : meant && dashed(meant);
  const hint = near === undefined ? "run with --help to see all flags" : `did you mean ${near}?`;
  return refuse(`unknown flag ${dashed(name)}; ${hint}`);
}

/** Go would take the next flag for this one's value and fail far away; a flag we know is never a value. */
function valueAfter(found: Known, following: string | undefined, known: ReadonlyMap<string, Known>): string {
  const [, name] = /^--([^=]+)/.exec(following ?? "") ?? [];
  if (following !== undefined && (name === undefined || !known.has(sameName(name)))) return following;
  return refuse(`${dashed(found.name)} needs a value: expected ${found.flag.expects}; ${remedy(found)}`);
}

function readValue(found: Known, given: string, before: unknown, origin?: string): unknown {
  const value = found.flag.read(given, before);
  if (value !== undefined) return value;
  const whence = origin === undefined ? dashed(found.name) : `${dashed(found.name)} (from ${origin})`;
  const why = found.flag.explain?.(given) ?? `${JSON.stringify(given)} is not valid: expected ${found.flag.expects}`;
  return refuse(`${whence}: ${why}; ${remedy(found)}`);
}

/** A shell would replace a "*", or complain of it. */
const quoted = (value: string): string => (/[*?$;&|<>()[\]\s]/.test(value) ? `'${value}'` : value);

const remedy = ({ name, flag }: Known): string => {
  const example = flag.example ?? flag.print(flag.default);
  return example === "" ? "run with --help to see what it does" : `for example ${dashed(name)}=${quoted(example)}`;
};

function fromEnvironment(table: FlagTable, environment: Environment, values: Map<string, unknown>): void {
  for (const [key, flag] of Object.entries(table)) {
    const given = flag.environment === undefined ? undefined : environment[flag.environment];
    if (given === undefined || given === "" || values.has(key)) continue;
    values.set(key, readValue({ key, flag, name: flagName(key, flag) }, given, undefined, `$${flag.environment}`));
  }
}
