/** Ours beside the Go pair: where one of them ended as it must and the other did not. */
import { isDeepStrictEqual } from "node:util";
import { type Ending, type Outcome, type Row, rightOf } from "./row.ts";

const parts = ["ready", "gone", "left", "claim"] as const satisfies readonly (keyof Ending)[];
type Part = (typeof parts)[number];

export interface Verdict {
  readonly row: Row;
  /** What did not end as it must. */
  readonly ours: readonly string[];
  readonly theirs: readonly string[];
  /** Parts in which the Go pair ended as it must, and ours did not. */
  readonly worse: readonly Part[];
}

export function judged(row: Row, ours: Outcome, theirs: Outcome): Verdict {
  const right = rightOf(row);
  const wrong = (outcome: Outcome): readonly Part[] =>
    parts.filter((part) => !isDeepStrictEqual(outcome[part], right[part]));
  return {
    row,
    ours: reported(row, ours, wrong(ours)),
    theirs: reported(row, theirs, wrong(theirs)),
    worse: wrong(ours).filter((part) => !wrong(theirs).includes(part)),
  };
}

const reported = (row: Row, outcome: Outcome, wrong: readonly Part[]): readonly string[] => [
  ...wrong.map((part) => words[part](outcome)),
  ...complaint(row, outcome),
  ...(outcome.note === "" ? [] : [outcome.note]),
];

const words: Readonly<Record<Part, (outcome: Outcome) => string>> = {
  ready: ({ ready, error }) => (ready ? "ready" : `not ready${error === undefined ? ", and no error says why" : ""}`),
  gone: () => "cannot be deleted",
  left: ({ left }) => (left.length === 0 ? "deletes what it should not" : `leaves ${left.join(", ")} in the storage`),
  claim: ({ gone }) => (gone ? "the claim goes too early or too late" : "the claim cannot be deleted"),
};

/** What else a row wants to see. */
function complaint(row: Row, outcome: Outcome): readonly string[] {
  try {
    row.shows?.(outcome);
    return [];
  } catch (reason) {
    return [(reason as Error).message.split("\n", 1)[0] ?? ""];
  }
}

export function printed(verdicts: readonly Verdict[]): string {
  const worse = verdicts.filter((verdict) => verdict.worse.length > 0);
  const better = verdicts.filter(({ ours, theirs }) => ours.length === 0 && theirs.length > 0);
  return [
    ...verdicts.flatMap(({ row, ours, theirs, worse: in_ }) => [
      `${in_.length > 0 ? `WORSE in ${in_.join(", ")}: ` : ""}a driver that ${row.driver}`,
      `    must be   ${endingOf(rightOf(row))}`,
      `    ours      ${ours.join("; ") || "as it must be"}`,
      `    Go pair   ${theirs.join("; ") || "as it must be"}`,
    ]),
    "",
    `${verdicts.length} behaviours; ours is as it must be in ${verdicts.filter(({ ours }) => ours.length === 0).length}, the Go pair in ${verdicts.filter(({ theirs }) => theirs.length === 0).length}`,
    `ours alone is as it must be in ${better.length}, and worse than the Go pair in ${worse.length}`,
  ].join("\n");
}

const endingOf = ({ ready, gone, left, claim }: Ending): string =>
  [
    ready ? "ready" : "not ready",
    gone ? "gone when deleted" : "not gone",
    left.length === 0 ? "nothing left in the storage" : `${left.join(", ")} left in the storage`,
    claim ? "the claim goes" : "the claim stays",
  ].join(", ");
