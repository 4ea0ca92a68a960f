/** The outcome of `npm run rbac` as text, and what a recorded text says. */
import { type SingleRight, textOf } from "./rights.ts";

export interface Outcome {
  readonly component: string;
  /** Absent: all rights were there. */
  readonly right?: SingleRight;
  /** The check that failed; absent: none did. */
  readonly check?: string;
  readonly denied?: string;
  /** Why a check failed although all rights were there. */
  readonly why?: string;
}

/** With all rights every check holds; without one of them, one does not. */
export const isProven = ({ right, check }: Outcome): boolean => (right === undefined) === (check === undefined);

export const lineOf = ({ component, right, check, denied, why }: Outcome): string => {
  const what = right === undefined ? `${component}: all rights` : textOf(right);
  const fails = check === undefined ? "every check holds" : `fails: ${check}`;
  return `${what} | ${fails}${denied === undefined ? "" : ` | denied: ${denied}`}${why === undefined ? "" : ` | ${why}`}`;
};

export function printed(outcomes: readonly Outcome[]): string {
  const rights = outcomes.filter(({ right }) => right !== undefined);
  const needed = rights.filter(isProven).length;
  return [...outcomes.map(lineOf), "", `${needed} of ${rights.length} rights are needed`].join("\n");
}

/** Right → the check that fails without it. */
export const recorded = (text: string): ReadonlyMap<string, string> =>
  new Map(
    [...text.matchAll(/^(\S+: .+?) \| fails: ([^|\n]+?)(?: \| denied: .*)?$/gm)].map(([, right = "", check = ""]) => [
      right,
      check,
    ]),
  );
