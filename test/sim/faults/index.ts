/** All faults, by name. */
import type { BoundaryKind } from "../verdict.ts";
import { clockFaults } from "./clock.ts";
import { crashes } from "./crash.ts";
import { driverCodes } from "./csi.ts";
import type { Family, FaultRow } from "./fault.ts";
import { answers } from "./http.ts";
import { invalidFaults } from "./invalid.ts";
import { leaderFaults } from "./leader.ts";
import { oddAnswers } from "./odd.ts";
import { replies } from "./reply.ts";
import { staleness } from "./stale.ts";
import { storageFaults } from "./storage.ts";
import { userEdits } from "./user.ts";
import { watchFaults } from "./watch.ts";

export { type Family, type FaultContext, type FaultRow, families } from "./fault.ts";

export const faultRows: readonly FaultRow[] = [
  ...crashes,
  ...replies,
  ...answers,
  ...driverCodes,
  ...watchFaults,
  ...staleness,
  ...storageFaults,
  ...oddAnswers,
  ...clockFaults,
  ...userEdits,
  ...leaderFaults,
  ...invalidFaults,
];

/** One fault of a schedule: it strikes at the first call from the `at`-th on where it can. */
export interface PlannedFault {
  readonly at: number;
  readonly name: string;
  /** Fixes everything else that chance decides about it. */
  readonly pick: number;
}

const byName = new Map(faultRows.map((row) => [row.name, row]));

export function faultNamed(name: string): FaultRow {
  const row = byName.get(name);
  if (row === undefined) throw new Error(`there is no fault "${name}"; there are ${[...byName.keys()].join(", ")}`);
  return row;
}

/** A schedule with fewer proves little. */
export const countMin = 3;
const countMax = 20;

/**
 * Between 3 and 20 faults, more often few than many, somewhere in the life of the scenario. The first three strike where there is
 * a call for them when nothing else goes wrong; the others may come too late.
 */
export function drawFaults(
  dice: () => number,
  callsExpected: readonly BoundaryKind[],
  allowed: (row: FaultRow) => boolean,
): readonly PlannedFault[] {
  const byFamily = new Map<Family, FaultRow[]>();
  for (const row of faultRows.filter(allowed)) byFamily.set(row.family, [...(byFamily.get(row.family) ?? []), row]);
  const familyRows = [...byFamily.values()];
  const anywhere = (): number => Math.floor(dice() * callsExpected.length * 1.5);
  const placeFor = (row: FaultRow | undefined): number => {
    const places = [...callsExpected.keys()].filter((n) => row?.on.includes(callsExpected[n] as BoundaryKind));
    return places[Math.floor(dice() * places.length)] ?? anywhere();
  };
  const count = countMin + Math.floor(dice() ** 2 * (countMax - countMin + 1));
  return Array.from({ length: familyRows.length === 0 ? 0 : count }, (_, index) => {
    const family = familyRows[Math.floor(dice() * familyRows.length)] ?? [];
    const row = family[Math.floor(dice() * family.length)];
    const at = index < countMin ? placeFor(row) : anywhere();
    return { at, name: row?.name ?? "", pick: Math.floor(dice() * 2 ** 31) };
  });
}

export const printFaults = (faults: readonly PlannedFault[]): string =>
  faults.map(({ at, name, pick }) => `${at}:${name}:${pick}`).join(",");
export const parseFaults = (text: string): readonly PlannedFault[] =>
  text
    .split(",")
    .filter((part) => part !== "")
    .map((part) => {
      const [at = "0", name = "", pick = "1"] = part.split(":");
      return { at: Number(at), name: faultNamed(name).name, pick: Number(pick) };
    });
