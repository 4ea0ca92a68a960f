/** What an API server answers on a bad day. */
import type { BoundaryKind } from "../verdict.ts";
import type { FaultRow } from "./fault.ts";

interface Row {
  readonly status: number;
  readonly reason: string;
  readonly on: readonly BoundaryKind[];
  readonly retryAfterS?: number;
  /** 500 and 504 may be said of a write that was done. */
  readonly effect?: true;
}

const all: readonly BoundaryKind[] = ["write", "get", "list", "watch"];
const rows: readonly Row[] = [
  { status: 409, reason: "Conflict", on: ["write"] },
  { status: 410, reason: "Expired", on: ["list", "watch"] },
  { status: 422, reason: "Invalid", on: ["write"] },
  { status: 429, reason: "TooManyRequests", on: all, retryAfterS: 2 },
  { status: 500, reason: "InternalError", on: all },
  { status: 503, reason: "ServiceUnavailable", on: all, retryAfterS: 1 },
  { status: 504, reason: "Timeout", on: all },
  { status: 500, reason: "InternalError", on: ["write"], effect: true },
  { status: 504, reason: "Timeout", on: ["write"], effect: true },
];

export const answers: readonly FaultRow[] = rows.map(({ status, reason, on, retryAfterS, effect = false }) => ({
  name: `http-${status}${effect ? "-after-effect" : ""}`,
  family: "http",
  on,
  strike: () => ({
    effect,
    answer: { kind: "http", status, reason, ...(retryAfterS === undefined ? {} : { retryAfterS }) },
  }),
}));
