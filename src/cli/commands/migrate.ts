/** `snapkeep migrate`: the CRDs and the stored objects, from v1beta1 to v1 and back, phase by phase. */

import { hostname } from "node:os";
import { crdPhases, snapshotKinds } from "../../api/crds/index.ts";
import { Fault } from "../../base/fault.ts";
import { printableLine } from "../../base/printable.ts";
import { type CommandInput, defineCommand } from "../../runtime/command.ts";
import { kubeFlags } from "../../runtime/common-flags.ts";
import { exitCodes } from "../../runtime/exit-codes.ts";
import { bool, duration, oneOf } from "../../runtime/flag-kinds.ts";
import type { AuditApi } from "../audit/audit.ts";
import { connected } from "../connected.ts";
import { migrate, observe } from "../migrate/act.ts";
import type { Goal } from "../migrate/definition.ts";
import { describeStep } from "../migrate/describe.ts";
import { judgeStored } from "../migrate/judge-stored.ts";
import { planOf } from "../migrate/plan.ts";
import { type Installed, objectionsTo } from "../migrate/preflight.ts";
import { rollbackGoal, statusOf, statusText } from "../migrate/status.ts";
import { createProgress } from "../progress.ts";

const phases = crdPhases.map(String) as ("1" | "2" | "3")[];

const flags = {
  ...kubeFlags,
  toPhase: oneOf(["", ...phases], {
    default: "",
    example: "2",
    help: "The phase to go to: 1 is loose v1beta1, 2 is strict v1 with v1beta1 as storage version, 3 stores v1.",
  }),
  rollback: bool({
    default: false,
    help: "Go back one phase: from 3 to 2, or from 2 to 1. With --to-phase go back to that phase, and no further if it is run again.",
  }),
  status: bool({ default: false, help: "Show the phase of the CRDs, and what an interrupted run has left to do." }),
  serveV1beta1: bool({ default: false, help: "In phase 2: also serve v1beta1, for clients that do not know v1." }),
  dryRun: bool({ default: false, help: "Check everything and print the steps, but change nothing." }),
  forceConflicts: bool({ default: false, help: "Go on although another tool owns the CRDs." }),
  oldClientWindow: duration({
    default: 3_600_000,
    min: 0,
    help: "Before v1beta1 is no longer served: refuse if a client has written it within this time, although v1 was served. 0 means do not look.",
  }),
  settleDuration: duration({
    default: 5_000,
    min: 0,
    help: "Wait after changing the storage version, until every API server of the cluster has seen the change.",
  }),
  output: oneOf(["text", "json"], { short: "o", default: "text", help: "Output format of --status and --dry-run." }),
} as const;

type Input = CommandInput<typeof flags>;

export const command = defineCommand({
  flags,
  examples: [
    { does: "Show where the cluster is", line: "snapkeep migrate --status" },
    { does: "Print the steps to phase 2", line: "snapkeep migrate --to-phase=2 --dry-run" },
    { does: "Go to phase 2; run it again if it was interrupted", line: "snapkeep migrate --to-phase=2" },
    { does: "Go back one phase", line: "snapkeep migrate --rollback" },
    { does: "Go back to phase 2, in a script that may be repeated", line: "snapkeep migrate --rollback --to-phase=2" },
  ],
  check: ({ toPhase, rollback, status, serveV1beta1 }) => {
    if ((toPhase !== "" || rollback) === status)
      return "give --to-phase=N, --rollback, both of them, or --status; for example --to-phase=2";
    if (rollback && toPhase === "3") return "--rollback goes to phase 1 or 2; to go on to phase 3 leave it out";
    if (serveV1beta1 && (toPhase !== "2" || rollback))
      return "--serve-v1beta1 works only on the way to phase 2; use --to-phase=2";
    return undefined;
  },
  run: (input) => connected("snapkeep-migrate", input, { managedFields: "keep" }, (api) => run(api, input)),
});

async function run(api: AuditApi, input: Input): Promise<number> {
  const { options, out } = input;
  const installed = await observe({ api, signal: input.signal });
  if (options.status) {
    const status = statusOf(installed);
    out.write(options.output === "json" ? `${JSON.stringify(status, undefined, 2)}\n` : statusText(status));
    return exitCodes.good.code;
  }
  const goal = goalOf(input, installed);
  const objections = objectionsTo(installed, goal, options);
  if (objections.length > 0) return refuse(input, objections);
  const steps = planOf(
    installed.map(({ definition }) => definition),
    goal,
  );
  if (steps.length === 0) {
    out.write(`all snapshot CRDs are in phase ${goal.phase}; nothing to do\n`);
    return exitCodes.good.code;
  }
  if (!goal.back && goal.phase > 1) {
    const found = await judgeStored(api, input, installed, goal);
    if (found.length > 0) return refuse(input, found);
  }
  if (options.dryRun) return printSteps(input, steps.map(describeStep));
  return perform(api, input, goal, steps.length);
}

function goalOf({ options }: Input, installed: readonly Installed[]): Goal {
  const phase = crdPhases.find((candidate) => String(candidate) === options.toPhase);
  if (options.rollback) return rollbackGoal(installed, phase);
  return { phase: phase ?? 3, back: false, serveV1beta1: options.serveV1beta1 };
}

function refuse({ error }: Input, objections: readonly string[]): number {
  for (const objection of objections) error.write(printableLine(objection));
  error.write("snapkeep migrate: refused for what is listed above; nothing was changed\n");
  return exitCodes.failed.code;
}

function printSteps({ options, out }: Input, steps: readonly string[]): number {
  if (options.output === "json") out.write(`${JSON.stringify({ steps }, undefined, 2)}\n`);
  else out.write(steps.map((step, index) => printableLine(`${index + 1}. ${step}`)).join(""));
  return exitCodes.good.code;
}

async function perform(api: AuditApi, input: Input, goal: Goal, steps: number): Promise<number> {
  const { out, error, world, signal, options } = input;
  const suffix = Math.floor(world.random() * 2 ** 32).toString(16);
  let done = 0;
  await migrate(
    {
      api,
      world,
      signal,
      run: `${hostname()}-${suffix}`,
      settleMs: options.settleDuration,
      progress: createProgress(world, error),
      say: (line) => {
        done += 1;
        out.write(printableLine(`${done}/${Math.max(done, steps)} ${line}`));
      },
    },
    goal,
  ).catch((reason: unknown) => {
    // Unlike elsewhere, a stop in the middle is no success: something is left to do.
    if (!signal.aborted) throw reason;
    throw new Fault("FailedPrecondition", "stopped in the middle; run the same command again to continue");
  });
  out.write(
    `the ${snapshotKinds.length} snapshot CRDs are in phase ${goal.phase}; kubectl caches the versions of before for up to six hours: kubectl api-resources --cached=false reads them anew\n`,
  );
  return exitCodes.good.code;
}
