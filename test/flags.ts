/** Flags that are numbers, as a table: the programs of test/ read them, and tell of them in --help, the same way. */

export interface NumberFlag {
  readonly value: number;
  readonly help: string;
  /** Parts of one are allowed. */
  readonly partly?: true;
}
export type NumberFlags = Readonly<Record<string, NumberFlag>>;

export const stringsFor = <Flags extends NumberFlags>(flags: Flags): Record<keyof Flags & string, { type: "string" }> =>
  Object.fromEntries(Object.keys(flags).map((flag) => [flag, { type: "string" as const }])) as never;

export function numbersIn<Flags extends NumberFlags>(
  flags: Flags,
  given: Readonly<Record<string, unknown>>,
): Record<keyof Flags & string, number> {
  const rows = Object.entries(flags).map(([flag, row]) => [flag, numberOf(flag, row, given[flag])] as const);
  return Object.fromEntries(rows) as never;
}

function numberOf(flag: string, { value, partly }: NumberFlag, given: unknown): number {
  if (given === undefined) return value;
  if (!(partly === true ? /^\d+(\.\d+)?$/ : /^\d+$/).test(String(given)))
    throw new Error(`--${flag} ${given}: it is a ${partly === true ? "" : "whole "}number, not below zero`);
  return Number(given);
}

export const flagHelp = (flags: NumberFlags): string =>
  Object.entries(flags)
    .map(([flag, { help, value }]) => `  --${flag.padEnd(17)} ${help} (default ${value})`)
    .join("\n");

export type Output = "text" | "json";
export function outputOf(given: string | undefined): Output {
  const output = given ?? "text";
  if (output !== "text" && output !== "json") throw new Error(`--output ${output}: it is text or json`);
  return output;
}

/** What is to be run; help and a wrong flag end the process here. */
export function mustRun<Options>(parsed: Parsed<Options>, command: string, usage: string) {
  if (parsed.kind === "help") {
    process.stdout.write(usage);
    process.exit(0);
  }
  if (parsed.kind === "wrong") {
    process.stderr.write(`${parsed.why}; see ${command} -- --help\n`);
    process.exit(2);
  }
  return parsed;
}

export type Parsed<Options> =
  | { readonly kind: "run"; readonly options: Options; readonly output: Output }
  | { readonly kind: "help" }
  | { readonly kind: "wrong"; readonly why: string };
