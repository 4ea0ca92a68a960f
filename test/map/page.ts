/** The walks as Markdown: what decides first, then what acts, and the transport as one step. */
import { isDeciding, reachedFrom, sources } from "../sources.ts";
import type { Called } from "./coverage.ts";
import type { Walk } from "./trace.ts";

type Part = "decide" | "act" | "transport" | "vocabulary";

const deciding = new Set(
  reachedFrom(sources.filter(({ path }) => isDeciding(path)))
    .map(({ path }) => path)
    .filter((path) => /^src\/(components|rules)\/|^src\/kube\/fence\.ts$/.test(path)),
);

function partOf(file: string): Part | undefined {
  if (deciding.has(file) || file.startsWith("src/rules/")) return "decide";
  if (/^src\/(components|runtime|node)\//.test(file)) return "act";
  if (/^src\/(kube|csi)\//.test(file)) return "transport";
  if (/^src\/(api|base|errors)\//.test(file)) return "vocabulary";
  // The embedded API server stands for the cluster: the walk ends at its door.
  return undefined;
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
const filesOf = (called: readonly Called[]): readonly string[] => [...new Set(called.map(({ file }) => file))];
const size = (called: readonly Called[]): string =>
  `${plural(filesOf(called).length, "file")}, ${plural(called.length, "function")}`;

/** "`src/api/plan.ts`: because, waiting, and 2 without a name" */
function lineOf(file: string, called: readonly Called[]): string {
  const own = called.filter((one) => one.file === file);
  const names = [...new Set(own.map(({ name }) => name).filter((name) => /^\w/.test(name)))];
  const nameless = own.filter(({ name }) => !/^\w/.test(name)).length;
  const rest = nameless === 0 ? [] : [`${nameless} without a name`];
  return `\`${file}\`: ${[...names, ...rest].join(", ")}`;
}

/** As a decision is read; what it asks for afterwards, and the rules, come last. */
const order = ["triggers", "observe", "phase", "plan"];
function rankOf(file: string): number {
  const place = order.findIndex((word) => new RegExp(`/${word}[^/]*$`).test(file));
  if (place !== -1) return place;
  return file.startsWith("src/rules/") ? order.length + 1 : order.length;
}
const asRead = (called: readonly Called[]): readonly Called[] =>
  called.toSorted((a, b) => rankOf(a.file) - rankOf(b.file));

const bullets = (called: readonly Called[], indent: string): readonly string[] =>
  filesOf(called).map((file) => `${indent}- ${lineOf(file, called)}`);

function walkText({ title, about, steps }: Walk): string {
  const first = steps.flatMap((step) => step.first).filter(({ file }) => partOf(file) !== undefined);
  const of = (part: Part): readonly Called[] => first.filter(({ file }) => partOf(file) === part);
  const leaving = steps.filter(({ before }) => before !== undefined).length;
  const decisions = steps.map(({ first: all, before }, index) => {
    const decided = bullets(asRead(all.filter(({ file }) => partOf(file) === "decide")), "    ");
    return [`${index + 1}. ${before === undefined ? "the end" : `before \`${before}\``}`, ...decided].join("\n");
  });
  return [
    `### ${title}`,
    `${about} ${size(first)}; ${plural(leaving, "outgoing request")}.`,
    `Decided (${size(of("decide"))}), each function where it first runs:`,
    decisions.join("\n"),
    `Carried out (${size(of("act"))}):`,
    bullets(of("act"), "").join("\n") || "- nothing",
    `Transport, one step: \`src/kube\` and \`src/csi\` (${size(of("transport"))}). Vocabulary: \`src/api\`, \`src/errors\` and \`src/base\` (${size(of("vocabulary"))}).`,
  ].join("\n\n");
}

const [opening, closing] = ["<!-- npm run map -->", "<!-- end of npm run map -->"];

/** The page with its generated block replaced. */
export function withWalks(page: string, walks: readonly Walk[]): string {
  const [from, to] = [page.indexOf(opening), page.indexOf(closing)];
  if (from === -1 || to < from) throw new Error(`docs/architecture.md has no block between ${opening} and ${closing}`);
  return `${page.slice(0, from + opening.length)}\n\n${walks.map(walkText).join("\n\n")}\n\n${page.slice(to)}`;
}
