/** What `--help` prints: summary, examples, flags by group in aligned columns, usage last (where the eye lands). */
import type { Flag, FlagTable } from "./flag-kinds.ts";
import { dashed, flagName } from "./flags.ts";

export interface Example {
  readonly does: string;
  readonly line: string;
}

const widthMax = 110;
const widthWithoutTerminal = 80;
/** Less room than this for the sentences, and they stand below their flags instead of beside them. */
const sentenceWidthMin = 30;
const below = 6;

export const helpWidth = (columns: number | undefined): number => Math.min(widthMax, columns || widthWithoutTerminal);

export const defaultText = (flag: Flag<unknown>): string => flag.print(flag.default);

/** Groups in order of first appearance; rows without one come first, under "Flags". */
export function flagGroups(table: FlagTable): ReadonlyMap<string, readonly (readonly [string, Flag<unknown>])[]> {
  const groups = new Map<string, (readonly [string, Flag<unknown>])[]>([["Flags", []]]);
  for (const [key, flag] of Object.entries(table)) {
    if (flag.hidden === true) continue;
    const group = flag.group ?? "Flags";
    const rows = groups.get(group) ?? [];
    groups.set(group, [...rows, [flagName(key, flag), flag]]);
  }
  return new Map([...groups].filter(([, rows]) => rows.length > 0));
}

/** Kubernetes users know this from kubectl: the flag and its type on the left, the sentence on the right. */
const left = (name: string, flag: Flag<unknown>): string =>
  `  ${flag.short === undefined ? "" : `-${flag.short}, `}${dashed(name)}${flag.alone === undefined ? ` ${flag.type}` : ""}`;

function sentence(flag: Flag<unknown>): string {
  const value = defaultText(flag);
  const from = flag.environment === undefined ? "" : ` Also $${flag.environment}.`;
  return value === "" || (flag.alone !== undefined && flag.default === false)
    ? `${flag.help}${from}`
    : `${flag.help}${from} (default ${value})`;
}

export function flagsHelp(table: FlagTable, width: number): string {
  const groups = flagGroups(table);
  const rows = [...groups.values()].flat();
  const beside = Math.min(44, Math.max(0, ...rows.map(([name, flag]) => left(name, flag).length)) + 3);
  const column = width - beside < sentenceWidthMin ? below : beside;
  return [...groups]
    .map(([group, members]) => `${group}:\n${members.map((row) => flagHelp(row, column, width)).join("\n")}\n`)
    .join("\n");
}

function flagHelp([name, flag]: readonly [string, Flag<unknown>], column: number, width: number): string {
  const lines = wrapped(sentence(flag), width - column).map((line) => " ".repeat(column) + line);
  const head = left(name, flag);
  if (head.length + 2 > column) return [head, ...lines].join("\n");
  return [head + (lines[0] ?? "").slice(head.length), ...lines.slice(1)].join("\n");
}

export function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

export const examplesHelp = (examples: readonly Example[], width: number): string =>
  examples.length === 0
    ? ""
    : `Examples:\n${examples.map((example) => `${exampleHelp(example, width)}\n`).join("\n")}\n`;

/** A command that is longer than the line goes on after a backslash: it can be copied as it stands. */
function exampleHelp({ does, line }: Example, width: number): string {
  const comment = wrapped(does, width - 4).map((words) => `  # ${words}`);
  const [first = "", ...rest] = wrapped(line, width - 8);
  return [...comment, [`  ${first}`, ...rest.map((words) => `      ${words}`)].join(" \\\n")].join("\n");
}
