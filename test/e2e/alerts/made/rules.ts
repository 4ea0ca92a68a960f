/** The alerting rules with every duration divided by 60: minutes become seconds. */
import type { AlertRow } from "../../../../src/api/manifests/monitoring.ts";
import { alertingRule } from "../../../../src/api/manifests/monitoring.ts";
import { componentRows } from "../../../../src/api/manifests/rows.ts";

const shorter = (duration: string): string => {
  const [, minutes = ""] = /^(\d+)m$/.exec(duration) ?? [];
  if (minutes === "") throw new Error(`${duration} is not in minutes`);
  return `${minutes}s`;
};

/** Ranges, and ages in seconds. How long a certificate is still valid is no duration that anybody waits. */
const shorterIn = (expression: string): string =>
  expression
    .replaceAll(/\[(\w+)\]/g, (_, range: string) => `[${shorter(range)}]`)
    .replaceAll(/(_seconds\)? > )(\d+)$/g, (_, before: string, seconds: string) => `${before}${Number(seconds) / 60}`);

export const alerts: readonly AlertRow[] = componentRows.flatMap((row) => row.alerts);
/** Rules of one name differ in their severity. */
export const nameOf = ({ name, severity }: Pick<AlertRow, "name" | "severity">): string => `${name} (${severity})`;

export const shortRules = () => ({
  groups: [
    {
      name: "made",
      rules: alerts.map((alert) => ({
        ...alertingRule({ ...alert, for: shorter(alert.for), expression: shorterIn(alert.expression) }),
      })),
    },
  ],
});
