/** What the commands print of the objects that they have written: kubectl's lines, names, JSON or YAML. */
import type { KindName } from "../../api/kinds.ts";
import type { Ref } from "../../api/plan.ts";
import type { Draft, KubeObject } from "../../api/types.ts";
import { print } from "../../base/json.ts";
import { printableLine, printableLines } from "../../base/printable.ts";
import type { CommandContext } from "../../runtime/command.ts";
import { exitCodes } from "../../runtime/exit-codes.ts";
import type { WaitEnd } from "../waiting.ts";
import type { Output, VerbOptions } from "./flags.ts";
import { kubectlName } from "./names.ts";

const dryRunTexts = { none: "", client: " (dry run)", server: " (server dry run)" } as const;

interface Printed {
  readonly output: Output;
  readonly dryRun: VerbOptions["dryRun"];
}

/** One object: by its name, or whole. The line for a person says what was done to it. */
export async function printWritten(
  { out }: Pick<CommandContext, "out">,
  object: Draft | KubeObject,
  done: string,
  { output, dryRun }: Printed,
): Promise<void> {
  const name = (): string => kubectlName(object.kind as KindName, object.metadata.name ?? "");
  if (output === "text") return void out.write(printableLine(`${name()} ${done}${dryRunTexts[dryRun]}`));
  if (output === "name") return void out.write(printableLine(name()));
  if (output === "json") return void out.write(`${print(object, 2)}\n`);
  const { stringify } = await import("yaml");
  out.write(`---\n${stringify(object, { aliasDuplicateObjects: false })}`);
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** The exit code. What went wrong is said on standard error, so that the output of -o json stays whole. */
export function reportWait(
  { out, error }: Pick<CommandContext, "out" | "error">,
  { kind, name }: Pick<Ref, "kind" | "name">,
  end: WaitEnd,
  { output, tookMs }: { readonly output: Output; readonly tookMs: number },
): number {
  if (end.kind === "done") {
    const line = `${kubectlName(kind, name)} ${end.detail} after ${seconds(tookMs)}`;
    if (output === "text") out.write(printableLine(line));
    return exitCodes.good.code;
  }
  error.write(printableLine(end.why));
  if (end.explanation !== "") error.write(`\n${printableLines(end.explanation)}`);
  return exitCodes[end.kind].code;
}
