/** Command line → command → exit code. main.ts gives it the process; tests give it anything. */
import { Fault } from "../base/fault.ts";
import { nearest } from "../base/nearest.ts";
import { printableLine, printableLines } from "../base/printable.ts";
import type { CommandContext, CommandModule, CommandRow, Writer } from "../runtime/command.ts";
import { exitCodes } from "../runtime/exit-codes.ts";
import type { FlagTable } from "../runtime/flag-kinds.ts";
import { type Parsed, parseFlags } from "../runtime/flags.ts";
import { examplesHelp, flagsHelp, helpWidth, wrapped } from "../runtime/help.ts";
import { fatalMessage, stackLines } from "../runtime/process.ts";

const program = "snapkeep";
/** The same sentence stands in README.md and package.json. */
export const tagline = "Takes, protects, restores and deletes CSI volume snapshots in Kubernetes.";
const isHelp = (word: string | undefined): boolean => word === "--help" || word === "-help" || word === "-h";
const isVersion = (word: string | undefined): boolean => /^--?version(=true)?$/.test(word ?? "");

export async function runCommandLine(
  commands: readonly CommandRow[],
  argv: readonly string[],
  context: CommandContext,
): Promise<number> {
  const [first, ...rest] = argv;
  if (first === undefined || isHelp(first)) {
    context.out.write(programHelp(commands, context));
    return first === undefined ? exitCodes.usage.code : exitCodes.good.code;
  }
  if (isVersion(first) || first === "version") {
    context.out.write(`${program} ${context.version}\n`);
    return exitCodes.good.code;
  }
  if (first === "help") return help(commands, rest[0], context);
  if (first === "__complete") return (await import("./completion/complete.ts")).complete(commands, rest, context);
  const row = commands.find(({ name }) => name === first);
  if (row === undefined) return unknownCommand(commands, first, context);
  return runCommand(row, rest, context);
}

async function runCommand(row: CommandRow, argv: readonly string[], context: CommandContext): Promise<number> {
  const flagsEnd = argv.indexOf("--");
  const before = flagsEnd === -1 ? argv : argv.slice(0, flagsEnd);
  if (before.some(isHelp)) return help([row], row.name, context);
  if (before.some(isVersion)) {
    context.out.write(`${program} ${row.name} ${context.version}\n`);
    return exitCodes.good.code;
  }
  const failed = (reason: unknown, { code }: { readonly code: number }): number => {
    const words = fatalMessage(reason);
    context.error.write(printableLine(`${program} ${row.name}: ${words}`) + printableLines(stackLines(reason)));
    if (row.kind === "component") context.writeTerminationMessage?.(words);
    return code;
  };
  const { command } = await row.load();
  let parsed: Parsed<FlagTable>;
  try {
    parsed = parsedFor(command, argv, context);
  } catch (reason) {
    return failed(reason, exitCodes.usage);
  }
  for (const warning of parsed.warnings) context.error.write(`${program} ${row.name}: ${warning}\n`);
  try {
    return await command.run({ ...context, ...(row.kind === "tool" ? printableWriters(context) : {}), ...parsed });
  } catch (reason) {
    if (context.signal.aborted && Fault.from(reason).code === "Cancelled") return exitCodes.good.code;
    return failed(reason, exitCodes.failed);
  }
}

/** Whatever a tool shows has names in it that others have chosen. Each form keeps them on one line; this keeps the rest of it harmless. */
const printableWriters = ({ out, error }: CommandContext): Pick<CommandContext, "out" | "error"> => {
  const printing = (writer: Writer): Writer => ({ write: (text) => writer.write(printableLines(text)) });
  return { out: printing(out), error: printing(error) };
};

function parsedFor(
  command: CommandModule,
  argv: readonly string[],
  { environment }: CommandContext,
): Parsed<FlagTable> {
  const parsed = parseFlags(command.flags, argv, environment);
  refuseStray(command, parsed.positionals);
  const wrong = command.check?.(parsed.options, parsed.positionals);
  if (wrong !== undefined) throw new Fault("InvalidArgument", wrong);
  return parsed;
}

function refuseStray(command: CommandModule, positionals: readonly string[]): void {
  const [stray] = positionals;
  if (stray === undefined || command.takes !== undefined) return;
  const hint = /^(true|false)$/i.test(stray)
    ? `a switch takes its value with "=", like --leader-election=${stray.toLowerCase()}`
    : "flags are written like --name=value";
  throw new Fault("InvalidArgument", `unexpected argument ${JSON.stringify(stray)}; ${hint}`);
}

async function help(
  commands: readonly CommandRow[],
  name: string | undefined,
  context: CommandContext,
): Promise<number> {
  const row = commands.find((candidate) => candidate.name === name);
  const errors = /^SNAP-\d+$/i.test(name ?? "") ? commands.find((candidate) => candidate.name === "errors") : undefined;
  if (name !== undefined && errors !== undefined) return runCommand(errors, [name], context);
  if (name !== undefined && row === undefined) return unknownCommand(commands, name, context);
  context.out.write(
    row === undefined ? programHelp(commands, context) : commandHelp(row, (await row.load()).command, context),
  );
  return exitCodes.good.code;
}

export const usageLine = (row: CommandRow, command: CommandModule): string =>
  `${program} ${row.name} [flags]${command.takes === undefined ? "" : ` ${command.takes}`}`;

function commandHelp(row: CommandRow, command: CommandModule, context: CommandContext): string {
  const width = helpWidth(context.columns);
  const summary = wrapped(row.summary, width).join("\n");
  const examples = examplesHelp(command.examples, width);
  return `${summary}\n\n${examples}${flagsHelp(command.flags, width)}\nUsage:\n  ${usageLine(row, command)}\n`;
}

function programHelp(commands: readonly CommandRow[], context: CommandContext): string {
  const width = helpWidth(context.columns);
  const column = Math.max(0, ...commands.map(({ name }) => name.length)) + 5;
  const line = (row: CommandRow): string => {
    const [first = "", ...rest] = wrapped(row.summary, width - column);
    return [`  ${row.name}`.padEnd(column) + first, ...rest.map((words) => " ".repeat(column) + words)].join("\n");
  };
  const section = (title: string, kind: CommandRow["kind"]): string => {
    const lines = commands.filter((row) => row.kind === kind).map((row) => `${line(row)}\n`);
    return lines.length === 0 ? "" : `${title}:\n${lines.join("")}\n`;
  };
  const sections = `${section("Components", "component")}${section("Tools", "tool")}`;
  const usage = `Usage:\n  ${program} <command> [flags]\n  ${program} help <command>\n  ${program} help <code of an error>\n  ${program} --version\n`;
  return `${wrapped(tagline, width).join("\n")}\n\n${sections}${usage}`;
}

function unknownCommand(commands: readonly CommandRow[], name: string, { error }: CommandContext): number {
  if (name.startsWith("-")) {
    error.write(`${program}: flag ${name} comes before a command; write "${program} <command> ${name}"\n`);
    return exitCodes.usage.code;
  }
  const names = commands.map((row) => row.name);
  const meant = nearest(name, names);
  const hint = meant === undefined ? `run "${program} --help" to see all commands` : `did you mean "${meant}"?`;
  error.write(`${program}: unknown command ${JSON.stringify(name)}; ${hint}\n`);
  return exitCodes.usage.code;
}
