/** An explanation in words for a person, and as JSON for a program. docs/guides/explain.md describes the JSON. */
import type { Ref } from "../../api/plan.ts";
import type { Millis } from "../../base/brand.ts";
import { printableLine } from "../../base/printable.ts";
import { rfc3339 } from "../../base/time.ts";
import { ageText } from "./age.ts";
import { causeRowOf } from "./causes.ts";
import type { Explanation } from "./explain.ts";
import { type Finding, textOf } from "./finding.ts";

const actors = {
  nobody: "nobody has to do anything",
  component: "the component acts next",
  driver: "the CSI driver acts next",
  user: "whoever owns the object has to act",
  administrator: "an administrator has to act",
} as const;

const verdicts = { good: "is as it should be", waits: "waits", stuck: "is stuck" } as const;

export function explanationText(found: Explanation, nowMs: Millis): string {
  const { object, verdict, cause, at, says, sinceMs, actor } = found;
  const since = sinceMs === undefined || verdict === "good" ? "" : ` (since ${ageText(sinceMs, nowMs)})`;
  const place = verdict === "good" ? "" : `: ${cause} at ${textOf(at)}`;
  return [
    `${textOf(object)} ${verdicts[verdict]}${place}`,
    `  ${says}${since}`,
    ...(found.chain.length > 1 ? ["", "From there to the cause:", ...found.chain.map(chainLine)] : []),
    ...section(
      "Seen",
      found.chain.flatMap(({ evidence }) => evidence),
    ),
    ...(verdict === "good"
      ? []
      : ["", `Next: ${actors[actor]}`, ...found.next.flatMap((step) => stepLines(step, says))]),
    ...section("Could not be read, so the answer may be incomplete", found.gaps),
  ]
    .map(printableLine)
    .join("");
}

const chainLine = ({ object, phase, says }: Finding, index: number): string =>
  `  ${"  ".repeat(index)}${textOf(object)}${phase === undefined ? "" : ` [${phase}]`}: ${says}`;

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ["", `${title}:`, ...lines.map((line) => `  ${line}`)];

/** A step that is the sentence itself is not said twice. */
const stepLines = ({ says, command }: Explanation["next"][number], said: string): readonly string[] => [
  says === said ? "  - do what is said above" : `  - ${says}`,
  ...(command === undefined ? [] : [`      ${command}`]),
];

const refJson = ({ kind, namespace, name }: Ref) => ({ kind, ...(namespace === undefined ? {} : { namespace }), name });
const dateJson = (ms: Millis | undefined) => (ms === undefined ? {} : { since: rfc3339(ms) });

/** The names and meanings of these members stay; others may be added. */
export const explanationJson = (found: Explanation) => ({
  apiVersion: "snapkeep.dev/v1",
  kind: "Explanation",
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
  notRead: found.gaps,
});
