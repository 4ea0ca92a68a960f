/**
 *              list taken                  server ends it · connection breaks · silence: resume at the last version
 *  listing ───────────────────▶ watching ◀──────────────────────────────────────────────────────────┐
 *     ▲                            │  └─────────────────────────────────────────────────────────────┘
 *     └────────────────────────────┘  410 Gone · versions run backwards · resuming is fruitless again and again
 *
 * There is no state for giving up. Pure: the loop in watch.ts makes the requests and does the waiting.
 */
import type { Fault, FaultCode } from "../base/fault.ts";
import { limits } from "../base/limits.ts";

export type WatchState = { readonly kind: "listing" } | { readonly kind: "watching"; readonly version: string };

export interface WatchPosition {
  readonly state: WatchState;
  /** Requests in a row that failed without having brought anything. */
  readonly failures: number;
  /** Watches in a row that brought nothing and had to be given up for their silence. */
  readonly silences: number;
  /** Wait, as long as the failures command, before the next request. */
  readonly wait: boolean;
}

/** How a request ended. Lively: it brought news, or at least stayed open for a while. */
export type WatchEnd =
  | { readonly kind: "listed"; readonly version: string }
  | { readonly kind: "unlisted"; readonly fault: Fault }
  | { readonly kind: "closed"; readonly version: string; readonly lively: boolean; readonly heard: boolean }
  | { readonly kind: "silent"; readonly version: string; readonly heard: boolean }
  | { readonly kind: "broken"; readonly version: string; readonly lively: boolean; readonly fault: Fault };

export const atFirst: WatchPosition = { state: { kind: "listing" }, failures: 0, silences: 0, wait: false };

/** Answers after which resuming is pointless: the version is no longer kept, or the server does not understand the question. */
const relistAfter: readonly FaultCode[] = ["Expired", "InvalidArgument", "NotFound", "MethodNotAllowed"];
/** Nobody was there to answer: that says nothing against the version we hold, and a list would be no better off. */
const nobodyThere: readonly FaultCode[] = ["Unavailable", "ResourceExhausted", "Unauthenticated", "PermissionDenied"];

export function positionAfter({ failures, silences }: WatchPosition, end: WatchEnd): WatchPosition {
  switch (end.kind) {
    case "listed": // No reason to forget failures yet: a server that lists but refuses every watch must not be listed in a circle.
      return { state: watchingAt(end.version), failures, silences: 0, wait: false };
    case "unlisted":
      return { state: listing, failures: failures + 1, silences: 0, wait: true };
    case "closed": {
      const count = end.lively && !end.heard ? silences + 1 : 0;
      return {
        state: afterSilences(count, end.version),
        failures: end.lively ? 0 : failures + 1,
        silences: count,
        wait: !end.lively,
      };
    }
    case "silent": {
      const count = end.heard ? 0 : silences + 1;
      return { state: afterSilences(count, end.version), failures: 0, silences: count, wait: true };
    }
    case "broken": {
      const count = end.lively ? 0 : failures + 1;
      const state = mustRelist(end.fault.code, count) ? listing : watchingAt(end.version);
      return { state, failures: count, silences, wait: true };
    }
  }
}

const listing: WatchState = { kind: "listing" };
const watchingAt = (version: string): WatchState => ({ kind: "watching", version });

/**
 * kube-apiserver sends no bookmarks for a kind of which it has seen no event since it started, so silence is common. But it is also how a
 * server restored from a backup treats a version that it has yet to reach: now and then, look.
 */
const afterSilences = (count: number, version: string): WatchState =>
  count >= limits.watchSilencesMax ? listing : watchingAt(version);

const mustRelist = (code: FaultCode, failures: number): boolean =>
  relistAfter.includes(code) ||
  (failures > 0 && failures % limits.watchResumesMax === 0 && !nobodyThere.includes(code));
