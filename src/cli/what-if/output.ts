/** An effect in words, and as JSON. docs/guides/what-if.md describes the JSON. */
import { printable } from "../../base/printable.ts";
import { wrapped } from "../../runtime/help.ts";
import { refJson, textOf } from "../explain/finding.ts";
import type { Block } from "./blocks.ts";
import type { DriverCall } from "./driver.ts";
import type { Effect, Lost, Touched } from "./effect.ts";

export interface WhatIfAnswer {
  readonly asked: string;
  readonly refused: string | undefined;
  readonly effect: Effect;
  readonly blocks: readonly Block[];
  readonly isAtRest: boolean;
  readonly notRead: readonly string[];
}

const verbs: Readonly<Record<Touched["what"], string>> = {
  created: "is created",
  changed: "changes",
  deleted: "is deleted",
  terminating: "stays, being deleted",
};

export function answerText({ asked, refused, effect, blocks, isAtRest, notRead }: WhatIfAnswer, width: number): string {
  const { touched, calls, callsSaved, lost, unnamed } = effect;
  const nothing = touched.length + calls.length + callsSaved.length === 0;
  const section = (title: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : ["", title, ...lines.flatMap((line) => folded(line, width))];
  return [
    ...wrapped(
      printable(
        `${asked}: ${refused === undefined ? (nothing ? "nothing changes" : summary(effect, blocks)) : "the API server would refuse it"}`,
      ),
      width,
    ),
    ...(refused === undefined ? [] : folded(refused, width)),
    ...section("Data that nobody can get back", lost.map(lostText)),
    ...section(
      "In the way",
      blocks.map(({ object, code, says }) => `${textOf(object)}: ${code}: ${says}`),
    ),
    ...section(
      "Objects",
      touched.map(
        ({ object, what, fields }) =>
          `${textOf(object)} ${verbs[what]}${what === "changed" ? `: ${fields.join(", ")}` : ""}`,
      ),
    ),
    ...section("Calls to the driver", calls.map(callText)),
    ...section("Calls that are no longer sent", callsSaved.map(callText)),
    ...section(
      "Data that stays with the driver, and that no object names any more: note the handles",
      unnamed.map(lostText),
    ),
    ...(isAtRest ? [] : ["", "After an hour something still goes on; what is shown is how far it has come."]),
    ...section("Could not be read, so the answer may be incomplete", notRead),
  ]
    .map((line) => `${printable(line)}\n`)
    .join("");
}

const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
function summary({ touched, calls, lost }: Effect, blocks: readonly Block[]): string {
  const lostWords =
    lost.length === 0
      ? "no data is lost"
      : `${counted(lost.length, "piece")} of data ${lost.length === 1 ? "is" : "are"} lost`;
  return `${counted(touched.length, "object")}, ${counted(calls.length, "driver call")}, ${lostWords}${blocks.length === 0 ? "" : `, ${blocks.length} in the way`}`;
}

const folded = (line: string, width: number): readonly string[] =>
  wrapped(printable(line), width - 4).map((part, index) => `${index === 0 ? "  " : "    "}${part}`);
const lostText = ({ what, handle, driver, known }: Lost): string =>
  `${what} "${handle}" of driver ${driver}${known.length === 0 ? "" : ` (${known.map(textOf).join(", ")})`}`;
const callText = ({ driver, method, subject, source }: DriverCall): string =>
  `${method} "${subject}"${source === undefined ? "" : ` from "${source}"`} of driver ${driver}`;

/** The names and meanings of these members stay; others may be added. */
export const answerJson = ({ asked, refused, effect, blocks, isAtRest, notRead }: WhatIfAnswer) => ({
  apiVersion: "snapkeep.dev/v1",
  kind: "WhatIf",
  asked,
  refused,
  lost: effect.lost.map((lost) => ({ ...lost, known: lost.known.map(refJson) })),
  blocks: blocks.map(({ object, ...rest }) => ({ object: refJson(object), ...rest })),
  touched: effect.touched.map(({ object, ...rest }) => ({ object: refJson(object), ...rest })),
  calls: effect.calls,
  callsSaved: effect.callsSaved,
  unnamed: effect.unnamed.map((lost) => ({ ...lost, known: lost.known.map(refJson) })),
  isAtRest,
  notRead,
});
