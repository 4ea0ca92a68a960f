/** Command line → command → exit code. main.ts gives it the process; tests give it anything. */
import { Fault } from "../base/fault.ts";
import { nearest } from "../base/nearest.ts";
import type { CommandContext, CommandModule, CommandRow } from "../runtime/command.ts";
import { failureCode } from "../runtime/command.ts";
import { parseFlags } from "../runtime/flags.ts";
import { examplesHelp, flagsHelp } from "../runtime/help.ts";
import { lastWords } from "../runtime/process.ts";

const program = "snapkeep";
const isHelp = (word: string | undefined): boolean => word === "--help" || word === "-help" || word === "-h";
const isVersion = (word: string | undefined): boolean => /^--?version(=true)?$/.test(word ?? "");

export async function runCommandLine(
  commands: readonly CommandRow[],
  argv: readonly string[],
  context: CommandContext,
): Promise<number> {
  const [first, ...rest] = argv;
  if (first === undefined || isHelp(first)) {
    context.out.write(programHelp(commands));
    return first === undefined ? 2 : 0;
  }
  if (isVersion(first) || first === "version") {
    context.out.write(`${program} ${context.version}\n`);
    return 0;
  }
  if (first === "help") return help(commands, rest[0], context);
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
    return 0;
  }
  try {
    const { command } = await row.load();
    const { warnings, ...parsed } = parseFlags(command.flags, argv, context.environment);
    refuseStray(command, parsed.positionals);
    const wrong = command.check?.(parsed.options);
    if (wrong !== undefined) throw new Fault("InvalidArgument", wrong);
    for (const warning of warnings) context.error.write(`${program} ${row.name}: ${warning}\n`);
    return await command.run({ ...context, ...parsed });
  } catch (reason) {
    if (context.signal.aborted && Fault.from(reason).code === "Cancelled") return 0;
    const words = lastWords(reason);
    context.error.write(`${program} ${row.name}: ${words}\n`);
    if (row.kind === "component") context.leaveWord?.(words);
    return failureCode(row);
  }
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
  if (name !== undefined && row === undefined) return unknownCommand(commands, name, context);
  context.out.write(row === undefined ? programHelp(commands) : commandHelp(row, (await row.load()).command));
  return 0;
}

export const usageLine = (row: CommandRow, command: CommandModule): string =>
  `${program} ${row.name} [flags]${command.takes === undefined ? "" : ` ${command.takes}`}`;

const commandHelp = (row: CommandRow, command: CommandModule): string =>
  `${row.summary}\n\n${examplesHelp(command.examples)}${flagsHelp(command.flags)}\nUsage:\n  ${usageLine(row, command)}\n`;

function programHelp(commands: readonly CommandRow[]): string {
  const width = Math.max(0, ...commands.map(({ name }) => name.length)) + 3;
  const section = (title: string, kind: CommandRow["kind"]): string => {
    const lines = commands
      .filter((row) => row.kind === kind)
      .map((row) => `  ${row.name.padEnd(width)}${row.summary}\n`);
    return lines.length === 0 ? "" : `${title}:\n${lines.join("")}\n`;
  };
  return `${program} takes, keeps and deletes CSI volume snapshots in Kubernetes.\n\n${section("Components", "component")}${section(
    "Tools",
    "tool",
  )}Usage:\n  ${program} <command> [flags]\n  ${program} help <command>\n  ${program} --version\n`;
}

function unknownCommand(commands: readonly CommandRow[], name: string, { error }: CommandContext): number {
  if (name.startsWith("-")) {
    error.write(`${program}: flag ${name} comes before a command; write "${program} <command> ${name}"\n`);
    return 2;
  }
  const names = commands.map((row) => row.name);
  const meant = nearest(name, names);
  const hint = meant === undefined ? `run "${program} --help" to see all commands` : `did you mean "${meant}"?`;
  error.write(`${program}: unknown command ${JSON.stringify(name)}; ${hint}\n`);
  return 2;
}
