/** The same kubectl commands against two servers, and what their outputs have in common once names of the day are gone. */
import type { Ran } from "../harness/run.ts";

export interface Step {
  /** The command line after "kubectl"; single quotes hold words together. */
  readonly run: string;
  readonly input?: string;
  /** An editor for `edit`: a sed expression applied to the file. */
  readonly edit?: string;
  /** Only the structure is compared: descriptions of Kubernetes' own fields are in our own words, or missing. */
  readonly structure?: true;
  /** Done for its effect: what it prints is not compared. */
  readonly quiet?: true;
}

export interface Script {
  readonly name: string;
  readonly steps: readonly (string | Step)[];
}

export type Kubectl = (
  args: readonly string[],
  options: { readonly input?: string; readonly env?: Record<string, string> },
) => Promise<Ran>;

export const stepOf = (step: string | Step): Step => (typeof step === "string" ? { run: step } : step);

export function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([word]) => word.replaceAll("'", ""));
}

/** What differs between any two runs, on one server as on two. */
const volatile: readonly (readonly [pattern: RegExp, stands: string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UID"],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "TIME"],
  [/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, "TIME"],
  [/(resourceVersion"?: ?"?)\d+/g, "$1N"],
  [/(Resource Version: *)\d+/g, "$1N"],
  [/https:\/\/(127\.0\.0\.1|localhost):\d+/g, "https://SERVER"],
  [/\b(\d+[smhd])+\b/g, "AGE"],
  [/(TIME|AGE|UID) +/g, "$1 "],
  [/\/tmp\/[\w./-]+/g, "FILE"],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}/g, "TIME"],
  [/\bgen-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, "GENERATED"],
];

export function normalised(text: string, structure = false): string {
  const plain = volatile.reduce((result, [pattern, stands]) => result.replaceAll(pattern, stands), text);
  const lines = plain.split("\n").map((line) => line.replace(/ +$/, ""));
  return lines.filter((line) => !structure || (line !== "" && !line.startsWith("    "))).join("\n");
}

export interface Outcome {
  readonly step: string;
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script to its end; every step's outcome in comparable form. */
export async function runScript(kubectl: Kubectl, { steps }: Script): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const step of steps.map(stepOf)) {
    const env = step.edit === undefined ? {} : { EDITOR: `sed -i ${step.edit}` };
    const ran = await kubectl(wordsOf(step.run), { ...(step.input === undefined ? {} : { input: step.input }), env });
    if (step.quiet === true) continue;
    outcomes.push({
      step: step.run,
      code: ran.code,
      stdout: normalised(ran.stdout, step.structure),
      stderr: normalised(ran.stderr, step.structure),
    });
  }
  return outcomes;
}
