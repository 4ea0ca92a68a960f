/** An explanation in words for a person, and as JSON for a program. docs/reference/explanation.schema.json describes the JSON. */
import type { Ref } from "../../api/plan.ts";
import type { Millis } from "../../base/brand.ts";
import { printableLine } from "../../base/printable.ts";
import { rfc3339 } from "../../base/time.ts";
import { helpWidth, wrapped } from "../../runtime/help.ts";
import { ageText } from "./age.ts";
import { causeRowOf } from "./causes.ts";
import type { Explanation } from "./explain.ts";
import { type Finding, textOf } from "./finding.ts";
import { makerOf, type RunningComponent } from "./running.ts";

const actors = {
  nobody: "nobody has to do anything",
  component: "the component acts next",
  driver: "the CSI driver acts next",
  user: "whoever owns the object has to act",
  administrator: "an administrator has to act",
} as const;

const verdicts = {
  good: "is as it should be",
  waits: "waits",
  stuck: "is stuck",
  unknown: "cannot be judged",
} as const;

/** Prose fits the terminal. Commands stay on their lines, whatever their length: people copy them. */
export function explanationText(found: Explanation, nowMs: Millis, columns?: number): string {
  const width = helpWidth(columns);
  const prose = (text: string, indent: number, hang = indent): readonly string[] =>
    wrapped(text, width - hang).map((line, index) => " ".repeat(index === 0 ? indent : hang) + line);
  const listed = (title: string, texts: readonly string[]): readonly string[] =>
    texts.length === 0 ? [] : ["", ...prose(`${title}:`, 0), ...texts.flatMap((text) => prose(text, 2, 4))];
  const { object, verdict, cause, at, says, sinceMs, chain, next } = found;
  const since = sinceMs === undefined || verdict === "good" ? "" : ` (since ${ageText(sinceMs, nowMs)})`;
  const place = verdict === "good" ? "" : `: ${cause} at ${textOf(at)}`;
  return [
    ...prose(`${textOf(object)} ${verdicts[verdict]}${place}`, 0, 2),
    ...prose(`${says}${since}`, 2),
    ...(chain.length > 1
      ? [
          "",
          "From there to the cause:",
          ...chain.flatMap((link, index) => prose(chainLine(link), 2 + 2 * index, 4 + 2 * index)),
        ]
      : []),
    ...listed(
      "Seen",
      chain.flatMap(({ evidence }) => evidence.filter((text) => !text.endsWith(`: ${says}`))),
    ),
    ...(verdict === "good"
      ? []
      : listed(
          "Runs",
          found.running.map((each) => runningText(each, nowMs)),
        )),
    ...(verdict === "good"
      ? []
      : [
          "",
          verdict === "unknown" ? "Next:" : `Next: ${actors[found.actor]}`,
          ...next.flatMap((step) => [
            ...prose(step.says === says ? "- do what is said above" : `- ${step.says}`, 2, 4),
            ...(step.command === undefined ? [] : [`      ${step.command}`]),
          ]),
        ]),
    ...listed("Could not be read, so the answer may be incomplete", found.gaps),
  ]
    .map(printableLine)
    .join("");
}

const chainLine = ({ object, phase, says }: Finding): string =>
  `${textOf(object)}${phase === undefined ? "" : ` [${phase}]`}: ${says}`;

const states = {
  leads: "leads",
  "runs without lease": "runs, without a lease",
  idle: "does not run",
  absent: "is not there",
  unknown: "is not known, because leases or pods cannot be read",
} as const;

/** "csi-snapshotter of driver d: leads, external-snapshotter 8.4.0, in Pod x/y (lease renewed 2s ago)". */
function runningText(running: RunningComponent, nowMs: Millis): string {
  const { component, state, pod, lease, renewedMs } = running;
  const maker = makerOf(running);
  return [
    `${component.name}${component.driver === undefined ? "" : ` of driver ${component.driver}`} ${states[state]}`,
    ...(maker === undefined ? [] : [`it is ${maker.program}${maker.release === undefined ? "" : ` ${maker.release}`}`]),
    ...(pod === undefined ? [] : [`in ${textOf(pod)}`]),
    ...(lease === undefined || !renewedMs ? [] : [`${textOf(lease)} renewed ${ageText(renewedMs, nowMs)} ago`]),
  ].join(", ");
}

const refJson = ({ kind, namespace, name }: Ref) => ({ kind, ...(namespace === undefined ? {} : { namespace }), name });
const dateJson = (ms: Millis | undefined) => (ms === undefined ? {} : { since: rfc3339(ms) });

/** The names and meanings of these members stay; others may be added. The schema stands in schema.ts. */
export const explanationJson = (found: Explanation, nowMs: Millis) => ({
  apiVersion: "snapkeep.dev/v1",
  kind: "Explanation",
  time: rfc3339(nowMs),
  object: refJson(found.object),
  verdict: found.verdict,
  cause: {
    code: found.cause,
    means: causeRowOf(found.cause).means,
    says: found.says,
    at: refJson(found.at),
    actor: found.actor,
    ...dateJson(found.sinceMs),
  },
  chain: found.chain.map(({ object, phase, cause, says, sinceMs, evidence }) => ({
    object: refJson(object),
    ...(phase === undefined ? {} : { phase }),
    code: cause,
    says,
    ...dateJson(sinceMs),
    evidence,
  })),
  next: found.next.map(({ says, command }) => ({ says, ...(command === undefined ? {} : { command }) })),
  runs: found.running.map(runningJson),
  notRead: found.gaps,
});

function runningJson(running: RunningComponent) {
  const { component, state, lease, renewedMs, pod, image, problem } = running;
  const maker = makerOf(running);
  return {
    component: component.name,
    ...(component.driver === undefined ? {} : { driver: component.driver }),
    state,
    ...(maker === undefined ? {} : maker),
    ...(image === undefined ? {} : { image }),
    ...(lease === undefined ? {} : { lease: refJson(lease) }),
    ...(renewedMs ? { renewed: rfc3339(renewedMs) } : {}),
    ...(pod === undefined ? {} : { pod: refJson(pod) }),
    ...(problem === undefined ? {} : { problem }),
  };
}
