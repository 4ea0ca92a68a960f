/** What waits in a cluster, by cause: one alert and two panels over the gauges of all components. */
import { type Actor, reasonRows } from "../reasons.ts";
import type { AlertRow, PanelRow } from "./monitoring.ts";

/** Whoever can end a wait that does not end by itself. */
const actors: readonly Actor[] = ["user", "administrator", "driver"];

const codes = Object.entries(reasonRows)
  .filter(([, { waits, actor }]) => waits && actors.includes(actor))
  .map(([code]) => code);

export const waitingAlert: AlertRow = {
  name: "ObjectsWait",
  expression: `sum by (component, reason) (snapkeep_waiting_objects{reason=~"${codes.join("|")}"}) > 0 and max by (component, reason) (snapkeep_longest_wait_seconds) > 900`,
  for: "1m",
  severity: "warning",
  summary:
    "Objects have been waiting for a user, an administrator or a driver for more than 15 minutes: reason {{ $labels.reason }} of {{ $labels.component }}.",
  remedy:
    "docs/reference/reasons.md says what the reason means and who has to act. The status and the events of the objects name the cause; with --v=4 the component logs each object with its reason and what it waits for.",
};

export const waitingPanels: readonly PanelRow[] = [
  {
    title: "Objects that wait, by reason",
    unit: "short",
    queries: [
      { expression: "sum by (component, reason) (snapkeep_waiting_objects)", legend: "{{component}} {{reason}}" },
    ],
  },
  {
    title: "Longest wait, by reason",
    unit: "s",
    queries: [
      { expression: "max by (component, reason) (snapkeep_longest_wait_seconds)", legend: "{{component}} {{reason}}" },
    ],
  },
];
