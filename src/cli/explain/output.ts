/** An explanation in words for a person, and as JSON for a program. docs/reference/explanation.schema.json describes the JSON. */
import { stringify } from "yaml";
import type { Millis } from "../../base/brand.ts";
import { printableLine } from "../../base/printable.ts";
import { rfc3339 } from "../../base/time.ts";
import { helpWidth, wrapped } from "../../runtime/help.ts";
import { ageText } from "./age.ts";
import { causeRowOf } from "./causes.ts";
import type { Explanation } from "./explain.ts";
import { refJson, textOf } from "./finding.ts";
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
  waits: "waits, for no longer than usual",
  stuck: "is stuck",
  unknown: "cannot be judged",
} as const;

export interface Form {
  /** One object was named, and not a kind. */
  readonly isOne: boolean;
  readonly output: "text" | "wide" | "json" | "yaml";
  readonly nowMs: Millis;
  readonly columns?: number | undefined;
}

export function answerPrinted(found: readonly Explanation[], { isOne, output, nowMs, columns }: Form): string {
  const items = found.map((each) => explanationJson(each, nowMs));
  const json = isOne ? items[0] : { apiVersion: "snapkeep.dev/v1", kind: "ExplanationList", items };
  if (output === "json") return `${JSON.stringify(json, undefined, 2)}\n`;
  if (output === "yaml") return stringify(json);
  if (found.length === 0) return "There are none.\n";
  const print = isOne || output === "wide" ? explanationText : headline;
  return found.map((each) => print(each, nowMs, columns)).join(print === headline ? "" : "\n");
}

const proseOf =
  (columns: number | undefined): Prose =>
  (text, indent, hang = indent) =>
    wrapped(text, helpWidth(columns) - hang).map((line, index) => " ".repeat(index === 0 ? indent : hang) + line);

const sinceText = ({ sinceMs, verdict }: Explanation, nowMs: Millis): string =>
  sinceMs === undefined || verdict === "good" || verdict === "waits" ? "" : ` (since ${ageText(sinceMs, nowMs)})`;
const titleOf = ({ object, verdict, cause, at }: Explanation): string =>
  `${textOf(object)} ${verdicts[verdict]}${cause === "NothingWrong" ? "" : `: ${cause} at ${textOf(at)}`}`;

/** One of several. */
const headline = (found: Explanation, nowMs: Millis, columns?: number): string =>
  proseOf(columns)(`${titleOf(found)}${sinceText(found, nowMs)}`, 0, 2)
    .map(printableLine)
    .join("");

/** Prose fits the terminal. Commands stay on their lines, whatever their length: people copy them. */
export function explanationText(found: Explanation, nowMs: Millis, columns?: number): string {
  const prose = proseOf(columns);
  const { verdict, says, running, gaps } = found;
  const isGood = verdict === "good";
  return [
    ...prose(titleOf(found), 0, 2),
    ...prose(`${says}${sinceText(found, nowMs)}`, 2),
    ...chainLines(found, prose),
    ...listed("Seen", evidenceIn(found), prose),
    ...(isGood
      ? []
      : listed(
          "Runs",
          running.map((each) => runningText(each, nowMs)),
          prose,
        )),
    ...(isGood ? [] : nextLines(found, prose)),
    ...listed("Could not be read, so the answer may be incomplete", gaps, prose),
  ]
    .map(printableLine)
    .join("");
}

type Prose = (text: string, indent: number, hang?: number) => readonly string[];

const listed = (title: string, texts: readonly string[], prose: Prose): readonly string[] =>
  texts.length === 0 ? [] : ["", ...prose(`${title}:`, 0), ...texts.flatMap((text) => prose(text, 2, 4))];

/** A link whose sentence is that of the cause, or leads up to it, need not say it again. */
function chainLines({ chain, says }: Explanation, prose: Prose): readonly string[] {
  if (chain.length < 2) return [];
  const links = chain.flatMap((link, index) => {
    const { object, phase } = link;
    const isLast = index === chain.length - 1;
    const name = `${textOf(object)}${phase === undefined ? "" : ` [${phase}]`}`;
    const isSaid = isLast || link.says.includes(says) || says.includes(link.says);
    return prose(`${index === 0 ? "" : "→ "}${name}${isSaid ? "" : `: ${link.says}`}`, 2, index === 0 ? 4 : 6);
  });
  return ["", "It waits along this chain, and the cause is at its end:", ...links];
}

/** What is quoted in the sentence already is not quoted again. */
const evidenceIn = ({ chain, says }: Explanation): readonly string[] =>
  chain.flatMap(({ evidence }) => evidence.filter((text) => !says.includes(text.replace(/^[^:]*: /, ""))));

const nextLines = ({ verdict, actor, next, says }: Explanation, prose: Prose): readonly string[] => [
  "",
  verdict === "unknown" ? "Next:" : `Next: ${actors[actor]}`,
  ...next.flatMap((step) => [
    ...prose(step.says === says ? "- do what is said above" : `- ${step.says.replace(says, "see above")}`, 2, 4),
    ...(step.command === undefined ? [] : [`      ${step.command}`]),
  ]),
];

const states = {
  leads: "leads",
  "runs without lease": "runs, without a lease",
  idle: "does not run",
  absent: "is not there",
  unknown: "is not known, because leases or pods cannot be read",
} as const;

/** "csi-snapshotter of driver d leads, external-snapshotter 8.4.0 in Pod x/y". Where no pod tells more, the lease does. */
function runningText(running: RunningComponent, nowMs: Millis): string {
  const { component, state, pod, lease, renewedMs, holder, isPodUnknown } = running;
  const maker = makerOf(running);
  const program =
    maker === undefined ? "" : `${maker.program}${maker.release === undefined ? "" : ` ${maker.release}`}`;
  const place = pod === undefined ? "" : `in ${textOf(pod)}`;
  const held = lease === undefined || !renewedMs ? "" : `${textOf(lease)} renewed ${ageText(renewedMs, nowMs)} ago`;
  const by = holder === undefined ? "" : ` by ${holder}${isPodUnknown ? "" : ", which is no pod"}`;
  return [
    `${component.name}${component.driver === undefined ? "" : ` of driver ${component.driver}`} ${states[state]}`,
    [program, place].filter((text) => text !== "").join(" "),
    state === "leads" && pod !== undefined ? "" : `${held}${held === "" ? "" : by}`,
  ]
    .filter((text) => text !== "")
    .join(", ");
}

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
  const { component, state, lease, renewedMs, holder, pod, image, problem } = running;
  const maker = makerOf(running);
  return {
    component: component.name,
    ...(component.driver === undefined ? {} : { driver: component.driver }),
    state,
    ...(maker === undefined ? {} : maker),
    ...(image === undefined ? {} : { image }),
    ...(lease === undefined ? {} : { lease: refJson(lease) }),
    ...(renewedMs ? { renewed: rfc3339(renewedMs) } : {}),
    ...(holder === undefined ? {} : { holder }),
    ...(pod === undefined ? {} : { pod: refJson(pod) }),
    ...(problem === undefined ? {} : { problem }),
  };
}
