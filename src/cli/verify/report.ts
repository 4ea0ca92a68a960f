/** A round in lines for a person, as it goes, and as JSON for a program, at its end. */
import { printableLine, printableLines } from "../../base/printable.ts";
import { exitCodes } from "../../runtime/exit-codes.ts";
import type { Chosen } from "./classes.ts";
import type { StepEnd, StepName, Trouble } from "./round.ts";

const titles: Readonly<Record<StepName, string>> = {
  claim: "a claim has a volume",
  write: "a pod writes to it",
  snapshot: "a snapshot is ready",
  restore: "a claim restored from it has a volume",
  read: "a pod reads what was written",
  removal: "everything is removed",
};
const widest = Math.max(...Object.values(titles).map(({ length }) => length));

export type Result = "passed" | "failed" | "blocked" | "timeout" | "interrupted";

export interface Verification {
  readonly result: Result;
  readonly chosen: Chosen | undefined;
  readonly namespace: string | undefined;
  readonly steps: readonly StepEnd[];
  readonly tookMs: number;
  readonly trouble: { readonly step?: StepName; readonly why: string; readonly explanation?: string } | undefined;
  /** What a round could not remove. */
  readonly left: readonly string[];
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

export const beginLine = ({ storageClass, snapshotClass, driver }: Chosen, namespace: string): string =>
  printableLine(
    `StorageClass ${storageClass} and VolumeSnapshotClass ${snapshotClass} of driver ${driver}, in namespace ${namespace}`,
  );

export const stepLine = ({ step, tookMs, detail }: StepEnd): string =>
  printableLine(`  ✓ ${titles[step].padEnd(widest)}  ${seconds(tookMs).padStart(7)}  ${detail}`.trimEnd());

export const troubleLines = ({ step, why, explanation }: Trouble): string =>
  `${printableLine(`  ✗ ${titles[step]}`)}${printableLine(`    ${why}`)}${explanation === "" ? "" : `\n${printableLines(explanation)}`}`;

export function endLine({ result, steps, tookMs }: Verification): string {
  const total = seconds(tookMs);
  const hasPods = steps.some(({ step }) => step === "read");
  const passed = hasPods ? "snapshots work" : "snapshots work, as far as can be seen without pods";
  return `\n${result === "passed" ? `${passed}: ${total}` : `${result} after ${total}`}\n`;
}

const inSeconds = (ms: number): number => Math.round(ms) / 1_000;

export const verificationJson = ({ result, chosen, namespace, steps, tookMs, trouble, left }: Verification) => ({
  apiVersion: "snapkeep.dev/v1",
  kind: "Verification",
  result,
  ...(chosen ?? {}),
  ...(namespace === undefined ? {} : { namespace }),
  seconds: inSeconds(tookMs),
  steps: steps.map(({ step, tookMs: stepMs, detail }) => ({
    name: step,
    seconds: inSeconds(stepMs),
    ...(detail === "" ? {} : { detail }),
  })),
  ...(trouble === undefined ? {} : { trouble }),
  left,
});

export const exitCodeOf: Readonly<Record<Result, number>> = {
  passed: exitCodes.good.code,
  failed: exitCodes.failed.code,
  interrupted: exitCodes.failed.code,
  blocked: exitCodes.blocked.code,
  timeout: exitCodes.timeout.code,
};
