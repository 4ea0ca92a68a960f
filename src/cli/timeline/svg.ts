/** A timeline as one picture that needs nothing else: no script, no font, no link. Pure. */
import type { Millis } from "../../base/brand.ts";
import { printable } from "../../base/printable.ts";
import { rfc3339 } from "../../base/time.ts";
import { textOf } from "../explain/finding.ts";
import { blockedText, lengthText } from "./output.ts";
import { lengthOf } from "./timeline.ts";
import type { Party, Timeline } from "./view.ts";

/** Dark enough for white text, and different in brightness as well. */
const colours: Readonly<Record<Party, string>> = {
  controller: "#1f5fa8",
  sidecar: "#6a3d9a",
  driver: "#9c4a00",
  "API server": "#3b6e22",
  user: "#7a1f3d",
};

const width = 960;
const left = 20;
const barTop = 70;
const barHeight = 28;
const rowTop = 130;
const rowHeight = 22;

export function timelineSvg(timeline: Timeline): string {
  const { object, moments, spans, totals, nowMs, blocked } = timeline;
  const firstMs = Math.min(nowMs, ...moments.map(({ atMs }) => atMs));
  const lastMs = spans.some(({ toMs }) => toMs === undefined) ? nowMs : Math.max(...moments.map(({ atMs }) => atMs));
  const span = Math.max(1, lengthOf(firstMs, lastMs));
  const x = (ms: Millis): number => left + (lengthOf(firstMs, ms) / span) * (width - 2 * left);
  const whose = totals.map(({ side, ms }) => `${side} ${lengthText(ms)}`).join(", ");
  const rows = [
    ...moments.map(({ atMs, says, from }) => `${rfc3339(atMs)}  ${says} (${from})`),
    ...(blocked === undefined ? [] : [`${rfc3339(nowMs)}  ${blockedText(blocked)}`]),
  ];
  const height = rowTop + rows.length * rowHeight + 10;
  const bars = spans.map(({ side, fromMs, toMs, says }) => {
    const [from, to] = [x(fromMs), x(toMs ?? nowMs)];
    const size = `x="${round(from)}" y="${barTop}" width="${round(Math.max(1, to - from))}" height="${barHeight}"`;
    const label = `${side}, ${lengthText(lengthOf(fromMs, toMs ?? nowMs))}: ${says}`;
    return `<rect ${size} fill="${colours[side]}"${toMs === undefined ? ' fill-opacity="0.6"' : ""}><title>${text(label)}</title></rect>`;
  });
  const ticks = moments.map(
    ({ atMs, says }) =>
      `<line x1="${round(x(atMs))}" x2="${round(x(atMs))}" y1="${barTop - 6}" y2="${barTop + barHeight + 6}" stroke="#222"><title>${text(says)}</title></line>`,
  );
  const lines = rows.map(
    (row, index) => `<text x="${left}" y="${rowTop + index * rowHeight}">${text(cutTo(row))}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="sans-serif" font-size="13">
<title>${text(textOf(object))}</title>
<desc>${text(whose)}</desc>
<rect width="${width}" height="${height}" fill="#fff"/>
<text x="${left}" y="28" font-size="17" font-weight="bold">${text(cutTo(textOf(object)))}</text>
<text x="${left}" y="50">${text(`Whose time: ${whose === "" ? "nobody's" : whose}`)}</text>
${[...bars, ...ticks, ...lines].join("\n")}
</svg>
`;
}

const round = (value: number): string => value.toFixed(1);
/** A line of the picture has room for this many. */
const charactersMax = 140;
const cutTo = (line: string): string => (line.length <= charactersMax ? line : `${line.slice(0, charactersMax - 1)}…`);

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const text = (value: string): string => printable(value).replace(/[&<>"]/g, (found) => escapes[found] ?? "");
