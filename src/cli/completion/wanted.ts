/** What the word before the cursor may become. Pure: names of objects are only asked for here, not read. */
import type { KindName } from "../../api/kinds.ts";
import type { CommandModule, CommandRow } from "../../runtime/command.ts";
import type { Flag, FlagTable } from "../../runtime/flag-kinds.ts";
import { dashed, flagName } from "../../runtime/flags.ts";

export interface Candidate {
  readonly word: string;
  readonly says: string;
}

export type Wanted =
  | { readonly kind: "words"; readonly candidates: readonly Candidate[] }
  /** Names of objects, each after what has been typed before it. */
  | { readonly kind: "names"; readonly of: KindName; readonly prefix: string }
  | { readonly kind: "files" };

const nothing: Wanted = { kind: "words", candidates: [] };
const plain = (words: readonly string[], prefix = ""): Wanted => ({
  kind: "words",
  candidates: words.map((word) => ({ word: `${prefix}${word}`, says: "" })),
});

/** The command line begins with the name of a command. */
export const wantedCommand = (rows: readonly CommandRow[]): Wanted => ({
  kind: "words",
  candidates: rows.map(({ name, summary }) => ({ word: name, says: summary })),
});

/** `typed` are the words after the command; the last one is being typed, and may be empty. */
export function wantedIn(command: CommandModule, typed: readonly string[]): Wanted {
  const current = typed.at(-1) ?? "";
  const before = typed.at(-2);
  const inline = /^(--?[^=]+)=(.*)$/s.exec(current);
  if (inline !== null) return wantedValue(flagOf(command.flags, inline[1]), `${inline[1]}=`);
  const flag = before?.startsWith("-") ? flagOf(command.flags, before) : undefined;
  if (flag !== undefined && flag[1].alone === undefined) return wantedValue(flag, "");
  if (current.startsWith("-")) return flagsOf(command.flags);
  return wantedArgument(command, current);
}

const flagOf = (table: FlagTable, written = ""): readonly [string, Flag<unknown>] | undefined =>
  Object.entries(table).find(
    ([key, flag]) =>
      dashed(flagName(key, flag)) === written || (flag.short !== undefined && `-${flag.short}` === written),
  );

const flagsOf = (table: FlagTable): Wanted => ({
  kind: "words",
  candidates: Object.entries(table)
    .filter(([, { hidden }]) => hidden !== true)
    .map(([key, flag]) => ({
      word: `${dashed(flagName(key, flag))}${flag.alone === undefined ? "=" : ""}`,
      says: flag.help,
    })),
});

/** Flags whose values are names of objects, by the name that they have in every command. */
const namesIn: Readonly<Record<string, KindName>> = {
  namespace: "Namespace",
  storageClass: "StorageClass",
  class: "VolumeSnapshotClass",
};

function wantedValue(found: readonly [string, Flag<unknown>] | undefined, prefix: string): Wanted {
  if (found === undefined) return nothing;
  const [key, { type }] = found;
  const of = namesIn[key];
  if (of !== undefined) return { kind: "names", of, prefix };
  if (type === "bool") return plain(["true", "false"], prefix);
  if (type.includes("|")) return plain(type.split("|"), prefix);
  return type === "string" ? { kind: "files" } : nothing;
}

function wantedArgument({ completes, takes }: CommandModule, current: string): Wanted {
  if (completes === undefined) return takes === undefined ? nothing : { kind: "files" };
  const [only] = Object.values(completes);
  const words = Object.keys(completes);
  if (words.length === 1 && only !== undefined) return { kind: "names", of: only, prefix: "" };
  const slash = current.indexOf("/");
  if (slash === -1) return plain(words.map((word) => `${word}/`));
  const of = completes[current.slice(0, slash)];
  return of === undefined ? nothing : { kind: "names", of, prefix: current.slice(0, slash + 1) };
}
