/** The arguments of csi-sidecars, from those of the programs that it takes the place of. */
import { Fault } from "../../base/fault.ts";
import type { FlagTable } from "../../runtime/flag-kinds.ts";
import { flagName, type Parsed, parseFlags } from "../../runtime/flags.ts";
import type { MergedTable } from "../../runtime/merged-flags.ts";
import type { JoinedPart } from "./joined-sidecars.ts";
import { refusal } from "./sidecar.ts";

export interface JoinedFlags {
  readonly merged: Pick<MergedTable, "keyOf" | "table">;
  /** Keyed by the name of the replaced program: what csi-sidecars calls the controller, and the flags of its own command. */
  readonly programs: Readonly<Record<string, { readonly controller: string; readonly flags: FlagTable }>>;
}

/** One process has one of these: those of the first program that has any. */
const ofTheFirst: readonly string[] = ["httpEndpoint", "metricsPath", "verbosity", "loggingFormat"];

interface Given {
  readonly program: string;
  readonly controller: string;
  readonly parsed: Parsed<FlagTable>;
}

export function joinArguments({ merged, programs }: JoinedFlags, parts: readonly JoinedPart[]) {
  const table: FlagTable = merged.table;
  const all = parts.map(({ name, argv }): Given => {
    const { controller = name, flags = {} } = programs[name] ?? {};
    return { program: name, controller, parsed: parsedFor(name, flags, argv) };
  });
  const values = new Map<string, string>();
  const notes: string[] = [];
  for (const { program, controller, parsed } of all)
    for (const key of parsed.given) {
      const joinedKey = merged.keyOf(controller, key);
      const flag = table[joinedKey];
      if (flag === undefined || flag.hidden === true) continue;
      const name = flagName(joinedKey, flag);
      const value = flag.print(parsed.options[key]);
      const differing = joinedKey !== key ? undefined : all.find((one) => differs(one, key, value, flag.print));
      if (differing !== undefined && !ofTheFirst.includes(key))
        throw refusal(
          `the sidecars cannot be joined: --${name} is ${shown(value)} for ${program} and ${shown(flag.print(differing.parsed.options[key]))} for ${differing.program}; make it one, or use --separate`,
        );
      if (!values.has(name)) values.set(name, value);
      else if (values.get(name) !== value)
        notes.push(`--${name}=${value} of ${program} is left out: one process has one, and keeps ${values.get(name)}`);
    }
  return { args: [...values].map(([name, value]) => `--${name}=${value}`), notes };
}

const shown = (value: string): string => (value === "" ? "empty" : value);

/** A program that has no such flag does not differ. */
const differs = ({ parsed }: Given, key: string, value: string, print: (value: unknown) => string): boolean =>
  Object.hasOwn(parsed.options, key) && print(parsed.options[key]) !== value;

function parsedFor(name: string, flags: FlagTable, argv: readonly string[]): Parsed<FlagTable> {
  try {
    return parseFlags(flags, argv);
  } catch (reason) {
    throw refusal(`${name}: ${Fault.from(reason).message}`);
  }
}
