/** The last link of a chain, judged by what no controller sees: whether its component runs, what defects it has, how long is usual. */
import type { Ref } from "../../api/plan.ts";
import type { Actor } from "../../api/reasons.ts";
import type { Millis } from "../../base/brand.ts";
import { stepsFor } from "./advice.ts";
import { ageText } from "./age.ts";
import { type Cause, causeRowOf, isOuterCause } from "./causes.ts";
import type { ClusterCopy } from "./cluster-copy.ts";
import type { Verdict } from "./explain.ts";
import { type Finding, type Step, textOf } from "./finding.ts";
import { knownDefectOf } from "./known-defects.ts";
import { deniedFinding, webhookSteps } from "./outer.ts";
import { denialIn } from "./rights.ts";
import type { RunningComponent } from "./running.ts";

export interface Judgement {
  readonly verdict: Verdict;
  readonly cause: Cause;
  readonly at: Ref;
  readonly says: string;
  readonly actor?: Actor | undefined;
  readonly next: readonly Step[];
}

/** How long a step usually takes: what waits for longer is stuck. A driver may copy much data. */
const usualMs: Readonly<Partial<Record<Actor, Millis>>> = { component: 30_000, driver: 300_000 };

export function judged(
  copy: ClusterCopy,
  last: Finding,
  runningComponents: readonly RunningComponent[],
  nowMs: Millis,
): Judgement {
  const at = last.waitsFor[0] ?? last.object;
  const running = runningComponents.find(
    ({ component }) => component.name === last.component?.name && component.driver === last.component.driver,
  );
  const as = (cause: Cause, verdict: Verdict, says: string, place: Ref, actor?: Actor): Judgement => ({
    verdict,
    cause,
    at: place,
    says,
    actor,
    next: [...(last.next ?? stepsFor({ cause, at: place, finding: last, running })), ...(last.more ?? [])],
  });
  if (last.cause === "NothingWrong") return as(last.cause, "good", last.says, last.object, "nobody");
  if (isOuterCause(last.cause)) return as(last.cause, verdictOf(last.cause), last.says, at, last.actor);
  // In the words of the API server, whoever has passed them on.
  const denial = [last.says, ...last.evidence].find((text) => denialIn(text) !== undefined);
  if (denial !== undefined) {
    const { says, next = [] } = deniedFinding(last.object, denial, last.sinceMs);
    return { ...as("NotPermitted", "stuck", says, last.object, "administrator"), next };
  }
  const actor = last.actor ?? causeRowOf(last.cause).actor;
  const usual = usualMs[actor];
  if (running !== undefined && usual !== undefined) {
    const stopped = stoppedIn(running, nowMs);
    if (stopped !== undefined) return as("ComponentDown", "stuck", stopped, running.lease ?? last.object);
  }
  const defect = running === undefined ? undefined : knownDefectOf(copy, last, running, nowMs);
  if (defect !== undefined) return { ...as("KnownDefect", "stuck", defect.says, defect.at), next: defect.next };
  if (usual !== undefined && last.sinceMs !== undefined && last.sinceMs + usual > nowMs && isQuiet(last.cause))
    return as(
      "NothingWrong",
      "waits",
      `${last.says}, since ${ageText(last.sinceMs, nowMs)}: nothing is wrong`,
      last.object,
      actor,
    );
  const found = as(last.cause, "stuck", last.says, at, last.actor);
  return actor === "component" ? { ...found, next: [...found.next, ...webhookSteps(copy)] } : found;
}

const verdictOf = (cause: Cause): Verdict =>
  cause === "NotReadable" || cause === "NewerThanProgram" ? "unknown" : "stuck";

/** An error is worth telling however young it is. */
const isQuiet = (cause: Cause): boolean => cause !== "DriverFailed";

function stoppedIn(
  { component, state, lease, renewedMs, pod, problem }: RunningComponent,
  nowMs: Millis,
): string | undefined {
  const { name, driver } = component;
  const what = driver === undefined ? name : `${name} of driver ${driver}`;
  if (state === "absent") return `no ${what} runs: there is neither a lease nor a pod of it`;
  if (state !== "idle") return undefined;
  const why = problem === undefined || pod === undefined ? "" : `; its container in ${textOf(pod)} is in ${problem}`;
  return lease === undefined
    ? `${what} does not run${why}`
    : `nobody holds ${textOf(lease)} of ${what}${renewedMs ? `, which was renewed last ${ageText(renewedMs, nowMs)} ago` : ""}${why}`;
}
