/** A timeline in words, and as JSON. docs/guides/timeline.md describes the JSON. */
import type { Millis } from "../../base/brand.ts";
import { printable } from "../../base/printable.ts";
import { rfc3339 } from "../../base/time.ts";
import { wrapped } from "../../runtime/help.ts";
import { ageText } from "../explain/age.ts";
import { refJson, textOf } from "../explain/finding.ts";
import { lengthOf } from "./timeline.ts";
import type { Blocked, Moment, Timeline } from "./view.ts";

export const lengthText = (ms: Millis): string => (ms < 1_000 ? "<1s" : ageText(0, ms));

export function timelineText(timeline: Timeline, width: number): string {
  const { object, moments, spans, totals, blocked, nowMs, notRead } = timeline;
  const first = moments[0]?.atMs ?? nowMs;
  const open = spans.find(({ toMs }) => toMs === undefined);
  return [
    `${textOf(object)}, from ${rfc3339(first)}`,
    "",
    ...moments.flatMap((moment) => folded(momentStart(moment, timeline, first), moment.says, width)),
    ...(blocked === undefined
      ? []
      : folded(
          `  now       ${open === undefined ? "" : `${open.side} for ${lengthText(lengthOf(open.fromMs, nowMs))}`}`.padEnd(
            column,
          ),
          blockedText(blocked),
          width,
        )),
    ...(totals.length === 0
      ? []
      : ["", `Whose time: ${totals.map(({ side, ms }) => `${side} ${lengthText(ms)}`).join(", ")}`]),
    ...(notRead.length === 0
      ? []
      : ["", "Could not be read, so something may be missing:", ...notRead.map((line) => `  ${line}`)]),
  ]
    .map((line) => `${printable(line)}\n`)
    .join("");
}

export const blockedText = ({ code, says, isStuck, by }: Blocked): string =>
  `${isStuck ? "stuck" : "waits"}${by.length === 0 ? "" : ` for ${by.map(textOf).join(", ")}`}: ${code}: ${says}`;

/** When it happened, and who was at work until then for how long. */
const column = 30;
function momentStart(moment: Moment, { spans }: Timeline, first: Millis): string {
  const span = spans.find(({ toMs, says }) => toMs === moment.atMs && says === moment.says);
  const laterMs = lengthOf(first, moment.atMs);
  const side = span === undefined ? "" : `${span.side} ${lengthText(lengthOf(span.fromMs, moment.atMs))}`;
  return `  ${(laterMs < 1_000 ? "0s" : `+${lengthText(laterMs)}`).padEnd(8)}  ${side}`.padEnd(column);
}

function folded(start: string, says: string, width: number): readonly string[] {
  const [line = "", ...others] = wrapped(printable(says), width - start.length);
  return [start + line, ...others.map((other) => " ".repeat(start.length) + other)];
}

/** The names and meanings of these members stay; others may be added. */
export const timelineJson = ({ object, nowMs, moments, spans, totals, blocked, notRead }: Timeline) => ({
  apiVersion: "snapkeep.dev/v1",
  kind: "Timeline",
  time: rfc3339(nowMs),
  object: refJson(object),
  moments: moments.map(({ atMs, object: about, ...rest }) => ({
    ...rest,
    at: new Date(atMs).toISOString(),
    object: refJson(about),
  })),
  spans: spans.map(({ side, says, fromMs, toMs }) => ({
    side,
    says,
    from: new Date(fromMs).toISOString(),
    ...(toMs === undefined ? {} : { to: new Date(toMs).toISOString() }),
    seconds: lengthOf(fromMs, toMs ?? nowMs) / 1_000,
  })),
  totals: totals.map(({ side, ms }) => ({ side, seconds: ms / 1_000 })),
  blocked: blocked && { ...blocked, by: blocked.by.map(refJson) },
  notRead,
});
