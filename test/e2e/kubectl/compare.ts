/** The same kubectl commands against two servers, and what their outputs have in common once names of the day are gone. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Ran } from "../harness/run.ts";

export interface Step {
  /** The command line after "kubectl"; single quotes hold words together. */
  readonly run: string;
  readonly input?: string;
  /** An editor for `edit`: a sed expression applied to the file. */
  readonly edit?: string;
  /** Only the structure is compared: what Kubernetes' own fields mean is not in our documents. */
  readonly structure?: true;
  /** Done for its effect: what it prints is not compared. */
  readonly quiet?: true;
  /** The command does not end by itself: these run while it does, one after the other, and then it is ended. */
  readonly meanwhile?: readonly string[];
  /** Only the first line of what it says is compared; why is written beside the step. */
  readonly firstLine?: true;
}

export interface Script {
  readonly name: string;
  readonly steps: readonly (string | Step)[];
}

export type Kubectl = (
  args: readonly string[],
  options: { readonly input?: string; readonly env?: Record<string, string>; readonly msMax?: number },
) => Promise<Ran>;

/** Long enough for a watch to begin, and for each command beside it to be seen by it. */
const watchStartMs = 1_500;
const stepMs = 700;

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
  // How often a controller has said so by now, and the columns that this makes wider.
  [/AGE \(x\d+ over AGE\)/g, "AGE"],
  [/(Type +Reason +Age) +From/g, "$1  From"],
  [/(---- +------ +----) +----/g, "$1  ----"],
  [/(TIME|AGE|UID) +/g, "$1 "],
  [/\/tmp\/[\w./-]+/g, "FILE"],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}/g, "TIME"],
  [/\b10\.96\.\d+\.\d+\b/g, "ADDRESS"],
  [/(nodePort"?: ?)3\d{4}\b/g, "$1PORT"],
  [/\bgen-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, "GENERATED"],
];

export function normalised(text: string, structure = false): string {
  const plain = volatile.reduce((result, [pattern, stands]) => result.replaceAll(pattern, stands), text);
  const lines = plain.split("\n").map((line) => line.replace(/ +$/, ""));
  return lines.filter((line) => !isNoise(line) && (!structure || isStructure(line))).join("\n");
}

/** kubectl's own log of how its cache ends: a race inside of it, with the real server as with ours. */
const isNoise = (line: string): boolean => /^[IWE]\d{4} .*reflector\.go/.test(line);
const isStructure = (line: string): boolean => line !== "" && !line.startsWith("    ");

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
    const ran = await (step.meanwhile === undefined
      ? runStep(kubectl, step)
      : runBeside(kubectl, step, step.meanwhile));
    if (step.quiet !== true) outcomes.push(outcomeOf(step, ran));
  }
  return outcomes;
}

function runStep(kubectl: Kubectl, step: Step): Promise<Ran> {
  const env = step.edit === undefined ? {} : { EDITOR: `sed -i ${step.edit}` };
  return kubectl(wordsOf(step.run), { ...(step.input === undefined ? {} : { input: step.input }), env });
}

async function runBeside(kubectl: Kubectl, step: Step, meanwhile: readonly string[]): Promise<Ran> {
  const msMax = watchStartMs + (meanwhile.length + 1) * stepMs;
  const watching = kubectl(wordsOf(step.run), { msMax });
  await sleep(watchStartMs);
  for (const line of meanwhile) {
    const [ran] = await Promise.all([kubectl(wordsOf(line), {}), sleep(stepMs)]);
    if (ran.code !== 0) throw new Error(`kubectl ${line}: ${ran.stderr}`);
  }
  return watching;
}

function outcomeOf(step: Step, { code, stdout, stderr }: Ran): Outcome {
  const shown = (text: string): string => {
    const plain = normalised(text, step.structure);
    return step.firstLine === true ? (plain.split("\n")[0] ?? "") : plain;
  };
  return { step: step.run, code, stdout: shown(stdout), stderr: shown(stderr) };
}
