/** The result of a run as one page of text. */
import { quantile } from "../../quantile.ts";
import type { Result } from "./campaign.ts";
import { gaps } from "./strikes.ts";
import { checks } from "./verdict.ts";

export function printed(result: Result): string {
  const { options, seconds, inflicted, recoveries, load, ends, left, violations } = result;
  const faults = Object.entries(inflicted).map(([name, { asked, done, kinds }]) => [
    name,
    `${done} of ${asked}`,
    listed(kinds),
  ]);
  const kinds = [...new Set(recoveries.map(({ after }) => after))].sort();
  const times = kinds.map((after) => {
    const sorted = recoveries.filter((one) => one.after === after).map(({ ms }) => ms);
    return [after, String(sorted.length), ...["median", "p99", "max"].map((what) => secondsOf(sorted, what))];
  });
  const judged = checks.map(({ kind }) => [kind, String(violations.filter((one) => one.kind === kind).length)]);
  return [
    `seed ${options.seed}, ${options.users} users: ${seconds.faults} s of faults, quiet ${seconds.untilQuiet} s later, ${seconds.total} s in all`,
    section("fault", table([["", "inflicted", ""], ...faults])),
    section("gaps of a restore in which csi-provisioner was killed", table(gapRows(result))),
    section(
      "recovery in seconds: from the fault until a snapshot asked for after it is ready",
      table([["after", "times", "median", "p99", "max"], ...times]),
    ),
    section("load", listed(load)),
    section("lives of the components that ended", listed(ends)),
    section("left when all was quiet", listed(left)),
    section("violations", table(judged)),
    ...violations.map(({ kind, text }) => `${kind}: ${text}`),
    `${violations.length} violations${isComplete(result) ? "" : "; not all faults were inflicted in the time given"}`,
  ].join("\n");
}

/** Also every gap was hit, if there were enough of them to be. */
export const isComplete = ({ inflicted }: Pick<Result, "inflicted">): boolean =>
  Object.values(inflicted).every(({ asked, done }) => done >= asked) &&
  (inflicted.gap.asked < gaps.length || gapRows({ inflicted }).every(([, times]) => times !== "0"));

const gapRows = ({ inflicted }: Pick<Result, "inflicted">): readonly (readonly string[])[] =>
  gaps.map(({ name }) => [name, String(inflicted.gap.kinds[name] ?? 0)]);

const shares: Readonly<Record<string, number>> = { median: 0.5, p99: 0.99, max: 1 };
const secondsOf = (ms: readonly number[], what: string): string => (quantile(ms, shares[what] ?? 1) / 1_000).toFixed(2);

const section = (title: string, text: string): string => `\n${title}\n${text}`;

const listed = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([what, count]) => `${what} ${count}`)
    .join(", ");

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const padded = (cell: string, column: number): string =>
    /^\d/.test(cell) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0);
  return rows.map((row) => `  ${row.map(padded).join("  ").trimEnd()}`).join("\n");
}
