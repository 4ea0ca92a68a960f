/**
 * `snapkeep __complete WORD…`: candidates for the last word, one a line, with a tab and a description, and at the end a directive of
 * cobra. So the scripts of `snapkeep completion` and kubectl's hook for plugins read the same.
 */
import type { KindName } from "../../api/kinds.ts";
import { withDeadline } from "../../base/world.ts";
import type { CommandContext, CommandModule, CommandRow } from "../../runtime/command.ts";
import { kubeFlags } from "../../runtime/common-flags.ts";
import { exitCodes } from "../../runtime/exit-codes.ts";
import { text } from "../../runtime/flag-kinds.ts";
import { parseFlags } from "../../runtime/flags.ts";
import { connected } from "../connected.ts";
import { type Candidate, type Wanted, wantedCommand, wantedIn } from "./wanted.ts";

/** cobra's ShellCompDirective: 0 leaves the rest to the shell, which offers files; 2 adds no space; 4 offers no files. */
const directives = { files: 0, noSpace: 2, noFiles: 4 } as const;
/** Somebody waits at a prompt. */
const readMsMax = 2_000;

export async function complete(
  commands: readonly CommandRow[],
  words: readonly string[],
  context: CommandContext,
): Promise<number> {
  const [name = "", ...typed] = words;
  const row = typed.length === 0 ? undefined : commands.find((each) => each.name === name);
  if (typed.length === 0) return printed(context, wantedCommand(commands), name);
  if (row === undefined) return printed(context, { kind: "words", candidates: [] }, "");
  const { command } = await row.load();
  const wanted = wantedIn(command, typed);
  const current = typed.at(-1) ?? "";
  if (wanted.kind !== "names") return printed(context, wanted, current);
  const names = await namesOf(wanted.of, command, typed.slice(0, -1), context);
  const candidates = names.map((word) => ({ word: `${wanted.prefix}${word}`, says: "" }));
  return printed(context, { kind: "words", candidates }, current);
}

function printed({ out }: CommandContext, wanted: Wanted, current: string): number {
  const candidates = wanted.kind === "words" ? wanted.candidates.filter(({ word }) => word.startsWith(current)) : [];
  const opens = candidates.length > 0 && candidates.every(({ word }) => /[=/]$/.test(word));
  const directive = wanted.kind === "files" ? directives.files : directives.noFiles + (opens ? directives.noSpace : 0);
  out.write(`${candidates.map(lineOf).join("")}:${directive}\n`);
  return exitCodes.good.code;
}

const lineOf = ({ word, says }: Candidate): string => `${word}${says === "" ? "" : `\t${says}`}\n`;

const readFlags = { ...kubeFlags, namespace: text({ short: "n", default: "", help: "" }) } as const;

/** Whatever stands against reading them, there is nothing to offer: an error has no place in a prompt. */
async function namesOf(
  kind: KindName,
  command: CommandModule,
  typed: readonly string[],
  context: CommandContext,
): Promise<readonly string[]> {
  try {
    const flags = { ...command.flags, ...readFlags };
    // A flag whose value is being typed cannot be read yet.
    const isOpen = wantedIn(command, [...typed, "-"]).kind !== "words";
    const { options } = parseFlags(flags, isOpen ? typed.slice(0, -1) : typed, context.environment);
    const silent = { ...context, error: { write: () => undefined } };
    return await withDeadline(context.world, context.signal, readMsMax, (signal) =>
      connected("snapkeep-complete", { ...silent, options, signal }, { kinds: [] }, async (api, target) => {
        const namespace = kind === "Namespace" ? undefined : options.namespace || target.namespace;
        return (await api.list(kind, { namespace, signal })).objects.map(({ metadata }) => metadata.name);
      }),
    );
  } catch {
    return [];
  }
}
