/** A status on one screen of 80 columns, and as JSON or YAML for a program. docs/guides/status.md describes the members. */
import { stringify } from "yaml";
import { type KindName, kindRows } from "../../api/kinds.ts";
import type { Ref } from "../../api/plan.ts";
import type { Millis } from "../../base/brand.ts";
import { keyIn } from "../../base/brand.ts";
import { printable } from "../../base/printable.ts";
import { rfc3339 } from "../../base/time.ts";
import { wrapped } from "../../runtime/help.ts";
import { ageOf, ageText } from "../explain/age.ts";
import { refJson, textOf } from "../explain/finding.ts";
import type { ComponentView, StatusView, WaitingView } from "./view.ts";

export interface Screen {
  /** Undefined: as wide as it is. */
  readonly width: number | undefined;
  /** Every object that waits, and what else is known. */
  readonly isWide: boolean;
}

export function screenText(view: StatusView, shape: Screen): string {
  const { nowMs } = view;
  return [
    ...titleLines(view, shape),
    ...table("Components", ["", "VERSION", "PODS", "LEADER"], componentRows(view.components, nowMs, shape), shape),
    ...table(
      "Webhooks",
      ["", "ON FAILURE", "TRUSTED FOR", "AT"],
      view.webhooks.map(({ configuration, failurePolicy, trustedUntilMs, at }) => [
        configuration,
        failurePolicy,
        trustedUntilMs === undefined ? "-" : leftText(ageOf(nowMs, trustedUntilMs)),
        at,
      ]),
      shape,
    ),
    ...definitionLines(view, shape),
    ...table(
      "Drivers",
      ["", "NODES", "CAPABILITIES", "SNAPSHOT CLASSES"],
      view.drivers.map(({ name, nodes, capabilities, snapshotClasses }) => [
        name,
        String(nodes),
        listed(capabilities),
        listed(snapshotClasses),
      ]),
      shape,
    ),
    ...table(
      "Objects",
      ["", "COUNT", "PHASES"],
      view.objects.map(({ kind, count, phases }) => [pluralOf(kind), String(count), phasesText(phases)]),
      shape,
    ),
    ...sections.flatMap(([verdict, title]) =>
      waitingLines(
        title,
        view.waiting.filter((group) => group.verdict === verdict),
        nowMs,
        shape,
      ),
    ),
    ...sentences(
      "Does not work",
      view.problems.map(({ object, says }) => `${object}: ${says}`),
      shape,
    ),
    ...sentences("Could not be read, so it is not judged", view.notRead, shape),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

const sections: readonly (readonly [WaitingView["verdict"], string])[] = [
  ["stuck", "Needs a person"],
  ["unknown", "Cannot be judged"],
  ["waits", "Waits"],
];

function titleLines(
  { verdict, needsPerson, waiting, namespace, server }: StatusView,
  shape: Screen,
): readonly string[] {
  const where = namespace === undefined ? "" : `, objects of namespace ${namespace}`;
  const count = waiting.reduce((sum, { count: own }) => sum + own, 0);
  const says = {
    good: "everything is as it should be",
    waits: `nothing is wrong; ${count} ${count === 1 ? "object waits" : "objects wait"}`,
    unknown: "some objects cannot be judged, and nothing is wrong with the others",
    stuck: `${needsPerson} ${needsPerson === 1 ? "thing needs" : "things need"} a person`,
  }[verdict];
  return folded(`${server}${where}: ${says}`, "", shape);
}

/** Sidecars stand below their driver. */
const componentRows = (
  all: readonly ComponentView[],
  nowMs: Millis,
  { isWide }: Screen,
): readonly (readonly string[])[] =>
  all.flatMap((one, index) => {
    const { name, driver, versions, pods } = one;
    const cells = [
      listed(versions),
      pods === undefined ? "-" : `${pods.ready}/${pods.all}`,
      leaderText(one, nowMs, isWide),
    ];
    if (driver === undefined) return [[name, ...cells]];
    const isFirst = all[index - 1]?.driver !== driver;
    return [...(isFirst ? [[driver]] : []), [`  ${name}`, ...cells]];
  });

function leaderText(
  { process, leader, state, renewedMs, problem }: ComponentView,
  nowMs: Millis,
  isWide: boolean,
): string {
  if (process !== undefined) return `runs in ${process}`;
  const renewed = renewedMs === undefined ? "" : `lease renewed ${ageText(renewedMs, nowMs)} ago`;
  if (state === "leads") return isWide ? `${leader} (${renewed})` : `${leader}`;
  if (state === "runs") return "runs without a lease";
  const why = [renewed, problem ?? ""].filter((part) => part !== "");
  return `${state === "unknown" ? "not known" : state}${why.length === 0 ? "" : ` (${why.join(", ")})`}`;
}

/** The same for all is said once. */
function definitionLines({ definitions }: StatusView, shape: Screen): readonly string[] {
  const groups = Map.groupBy(definitions, ({ name, served, stored }) =>
    [name.slice(name.indexOf(".") + 1), listed(served), listed(stored)].join("\n"),
  );
  const rows = [...groups].map(([id, members]) => {
    const [group = "", served = "", stored = ""] = id.split("\n");
    return [group, String(members.length), served, stored];
  });
  return table("CustomResourceDefinitions", ["", "KINDS", "SERVED", "STORED"], rows, shape);
}

const listed = (words: readonly string[]): string => (words.length === 0 ? "-" : words.join(","));
const pluralOf = (kind: KindName): string => kindRows[kind].plural;
const phasesText = (phases: Readonly<Record<string, number>>): string =>
  Object.entries(phases)
    .toSorted(([, a], [, b]) => b - a)
    .map(([phase, count]) => `${count} ${phase}`)
    .join(", ");
const leftText = (ms: Millis): string => (ms <= 0 ? "expired" : ageText(0, ms));

const shownMax = 5;

function waitingLines(title: string, groups: readonly WaitingView[], nowMs: Millis, shape: Screen): readonly string[] {
  if (groups.length === 0) return [];
  return [
    "",
    title,
    ...groups.flatMap(({ code, count, objects, says, next }) => {
      const [oldest, ...others] = objects;
      const since = oldest?.sinceMs === undefined ? "" : `, since ${ageText(oldest.sinceMs, nowMs)}`;
      const more = shape.isWide ? others.slice(0, 100) : others.slice(0, Math.min(others.length, shownMax - 1));
      return [
        cut(`  ${code}  ${count} ${count === 1 ? "object" : "objects"}${since}`, shape),
        ...folded(`${oldest === undefined ? "" : `${textOf(oldest.object)}: `}${says}`, "    ", shape),
        ...(more.length === 0
          ? []
          : folded(
              `also ${namesOf(
                more.map(({ object }) => object),
                others.length,
              )}`,
              "    ",
              shape,
            )),
        ...(next?.command === undefined ? [] : [`    > ${printable(next.command)}`]),
      ];
    }),
  ];
}

const namesOf = (shown: readonly Ref[], all: number): string => {
  const names = shown.map(
    ({ kind, namespace, name }) =>
      `${kindRows[kind].shortNames?.[0] ?? kindRows[kind].singular}/${keyIn(namespace, name)}`,
  );
  return [...names, ...(all > shown.length ? [`${all - shown.length} more`] : [])].join(", ");
};

const sentences = (title: string, lines: readonly string[], shape: Screen): readonly string[] =>
  lines.length === 0 ? [] : ["", title, ...lines.flatMap((line) => folded(line, "  ", shape))];

/** Names of others are in all of it. */
const folded = (text: string, indent: string, { width }: Screen): readonly string[] =>
  (width === undefined ? [printable(text)] : wrapped(printable(text), width - indent.length)).map(
    (line) => indent + line,
  );

/** Columns in which nobody has anything are left out; the last one takes as many lines as it needs. */
function table(
  title: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
  shape: Screen,
): readonly string[] {
  if (rows.length === 0) return [];
  const used = head.map((_, index) => rows.some((cells) => (cells[index] ?? "-") !== "-"));
  const lines = [[title, ...head.slice(1)], ...rows.map(([first = "", ...rest]) => [`  ${first}`, ...rest])].map(
    (cells) => cells.filter((_, index) => used[index]).map(printable),
  );
  const full = lines.filter((cells) => cells.length > 1);
  const widths = (lines[0] ?? []).map((_, index) => Math.max(...full.map((cells) => cells[index]?.length ?? 0)));
  return ["", ...lines.flatMap((cells) => rowLines(cells, widths, shape))];
}

/** Less room than this, and the last cell stands below. */
const lastWidthMin = 16;

function rowLines(cells: readonly string[], widths: readonly number[], { width }: Screen): readonly string[] {
  const front = cells.slice(0, -1).map((cell, index) => cell.padEnd(widths[index] ?? 0));
  const start = front.map((cell) => `${cell}  `).join("");
  const last = cells.at(-1) ?? "";
  if (width === undefined || start.length + last.length <= width) return [`${start}${last}`.trimEnd()];
  const room = width - start.length;
  const isBelow = room < lastWidthMin || last.split(" ").some((word) => word.length > room);
  const indent = " ".repeat(isBelow ? 6 : start.length);
  const [first = "", ...others] = wrapped(last, width - indent.length);
  return isBelow
    ? [start.trimEnd(), indent + first, ...others.map((line) => indent + line)]
    : [`${start}${first}`, ...others.map((line) => indent + line)];
}

const cut = (line: string, { width }: Screen): string =>
  width === undefined || line.length <= width ? line : `${line.slice(0, width - 1)}…`;

const dated = (ms: Millis | undefined): string | undefined => (ms === undefined ? undefined : rfc3339(ms));

/** The names and meanings of these members stay; others may be added. */
export const statusJson = (view: StatusView) => ({
  apiVersion: "snapkeep.dev/v1",
  kind: "Status",
  time: dated(view.nowMs),
  server: view.server,
  namespace: view.namespace,
  verdict: view.verdict,
  needsPerson: view.needsPerson,
  components: view.components.map(({ lease, renewedMs, ...rest }) => ({
    ...rest,
    lease: lease && refJson(lease),
    renewed: dated(renewedMs),
  })),
  webhooks: view.webhooks.map(({ trustedUntilMs, ...rest }) => ({ ...rest, trustedUntil: dated(trustedUntilMs) })),
  definitions: view.definitions,
  drivers: view.drivers,
  objects: view.objects,
  waiting: view.waiting.map(({ objects, next, ...rest }) => ({
    ...rest,
    next: next && { ...next },
    objects: objects.map(({ object, sinceMs }) => ({ ...refJson(object), since: dated(sinceMs) })),
  })),
  problems: view.problems,
  notRead: view.notRead,
});

export const printedAs = (output: "json" | "yaml", view: StatusView): string => {
  const json = JSON.stringify(statusJson(view), undefined, 2);
  return output === "json" ? `${json}\n` : stringify(JSON.parse(json));
};
