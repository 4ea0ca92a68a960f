import assert from "node:assert/strict";
import { test } from "node:test";
import { backoffMs } from "../base/backoff.ts";
import type { FaultCode } from "../base/fault.ts";
import { Fault } from "../base/fault.ts";
import { limits } from "../base/limits.ts";
import type { WatchEnd, WatchPosition } from "./watch-state.ts";
import { positionAfter } from "./watch-state.ts";

const at = (kind: "listing" | "watching", failures = 0): WatchPosition => ({
  state: kind === "listing" ? { kind } : { kind, version: "5" },
  failures,
  silences: 0,
  wait: false,
});
const silent = (silences: number): WatchPosition => ({ ...at("watching"), silences });
const broken = (code: FaultCode, lively = false): WatchEnd => ({
  kind: "broken",
  version: "7",
  lively,
  fault: new Fault(code, "broken"),
});

const cases: readonly { given: string; from: WatchPosition; end: WatchEnd; next: string }[] = [
  { given: "a list", from: at("listing"), end: { kind: "listed", version: "7" }, next: "watching 7, 0 failures" },
  {
    given: "a list after failures",
    from: at("listing", 3),
    end: { kind: "listed", version: "7" },
    next: "watching 7, 3 failures",
  },
  {
    given: "a list that failed",
    from: at("listing", 3),
    end: { kind: "unlisted", fault: new Fault("NotFound", "no such kind") },
    next: "wait, listing, 4 failures",
  },
  {
    given: "a watch that the server ended in time",
    from: at("watching", 2),
    end: { kind: "closed", version: "7", lively: true, heard: true },
    next: "watching 7, 0 failures",
  },
  {
    given: "the last of many short watches that the server ended without a word",
    from: { ...at("watching", 0), silences: limits.watchSilencesMax - 1 },
    end: { kind: "closed", version: "7", lively: true, heard: false },
    next: "listing, 0 failures",
  },
  {
    given: "a watch that the server ended at once",
    from: at("watching", 2),
    end: { kind: "closed", version: "7", lively: false, heard: false },
    next: "wait, watching 7, 3 failures",
  },
  {
    given: "a break after news",
    from: at("watching", 2),
    end: broken("UnknownOutcome", true),
    next: "wait, watching 7, 0 failures",
  },
  {
    given: "a break before any",
    from: at("watching", 2),
    end: broken("UnknownOutcome"),
    next: "wait, watching 7, 3 failures",
  },
  { given: "410 Gone", from: at("watching"), end: broken("Expired", true), next: "wait, listing, 0 failures" },
  { given: "410 Gone at once", from: at("watching"), end: broken("Expired"), next: "wait, listing, 1 failures" },
  { given: "a kind that is no more", from: at("watching"), end: broken("NotFound"), next: "wait, listing, 1 failures" },
  {
    given: "a version not understood",
    from: at("watching"),
    end: broken("InvalidArgument"),
    next: "wait, listing, 1 failures",
  },
  {
    given: "the fifth break in a row",
    from: at("watching", 4),
    end: broken("UnknownOutcome"),
    next: "wait, listing, 5 failures",
  },
  {
    given: "a silence after news",
    from: silent(limits.watchSilencesMax - 1),
    end: { kind: "silent", version: "7", heard: true },
    next: "wait, watching 7, 0 failures",
  },
  {
    given: "a silence from the beginning",
    from: silent(limits.watchSilencesMax - 2),
    end: { kind: "silent", version: "7", heard: false },
    next: "wait, watching 7, 0 failures",
  },
  {
    given: "half an hour of silence",
    from: silent(limits.watchSilencesMax - 1),
    end: { kind: "silent", version: "7", heard: false },
    next: "wait, listing, 0 failures",
  },
  {
    given: "a server that is away for long",
    from: at("watching", 40),
    end: broken("Unavailable"),
    next: "wait, watching 7, 41 failures",
  },
  {
    given: "an expired token",
    from: at("watching", 40),
    end: broken("Unauthenticated"),
    next: "wait, watching 7, 41 failures",
  },
];

for (const { given, from, end, next } of cases)
  test(`given ${given}, then ${next}`, () => {
    const { state, failures, wait } = positionAfter(from, end);
    const where = state.kind === "listing" ? state.kind : `${state.kind} ${state.version}`;
    assert.equal(`${wait ? "wait, " : ""}${where}, ${failures} failures`, next);
  });

test("the backoff doubles from 0.1 s to 10 s, and half of it is random", () => {
  const bounds = { startMs: limits.watchRetryMsMin, maxMs: limits.watchRetryMsMax };
  const ranges = [0, 1, 2, 7, 8, 1_000].map((failures) => [
    backoffMs(bounds, failures, 0),
    backoffMs(bounds, failures, 1),
  ]);
  assert.deepEqual(ranges, [
    [50, 100],
    [100, 200],
    [200, 400],
    [5_000, 10_000],
    [5_000, 10_000],
    [5_000, 10_000],
  ]);
});
