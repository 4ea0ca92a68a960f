/** From moments to spans: whose time it was. What goes on now is decided by `explain`. Pure. */
import type { Ref } from "../../api/plan.ts";
import type { Actor } from "../../api/reasons.ts";
import type { Millis } from "../../base/brand.ts";
import { ageOf } from "../explain/age.ts";
import type { ClusterCopy } from "../explain/cluster-copy.ts";
import { type Explanation, explain } from "../explain/explain.ts";
import { momentsOf } from "./moments.ts";
import { type Moment, type Party, type Span, sides, type Timeline } from "./view.ts";

/** Undefined: there is no such object. */
export function timelineOf(copy: ClusterCopy, ref: Ref, nowMs: Millis): Timeline | undefined {
  const explained = explain(copy, ref, nowMs);
  const moments = momentsOf(copy, ref);
  if (explained === undefined || moments === undefined || moments.length === 0) return undefined;
  const open = explained.verdict === "good" ? undefined : explained;
  const spans = spansOf(moments, open);
  const totals = sides
    .map((side) => ({
      side,
      ms: spans
        .filter((span) => span.side === side)
        .reduce((sum, { fromMs, toMs = nowMs }) => sum + lengthOf(fromMs, toMs), 0),
    }))
    .filter(({ side }) => spans.some((span) => span.side === side));
  const last = open?.chain.at(-1);
  const blocked = open && {
    code: open.cause === "NothingWrong" ? (last?.cause ?? open.cause) : open.cause,
    says: open.cause === "NothingWrong" ? (last?.says ?? open.says) : open.says,
    isStuck: open.verdict === "stuck",
    by: open.chain.slice(1).map(({ object }) => object),
  };
  return { object: ref, nowMs, moments, spans, totals, blocked, notRead: explained.gaps };
}

/** Clocks differ, and most dates are of whole seconds. */
export const lengthOf = (fromMs: Millis, toMs: Millis): Millis => Math.max(0, ageOf(fromMs, toMs));

/** A moment that ends nothing, and what came out of order because clocks differ, begins nothing. */
function spansOf(moments: readonly Moment[], open: Explanation | undefined): readonly Span[] {
  const spans: Span[] = [];
  let fromMs: Millis | undefined;
  for (const { code, atMs, side, says } of moments) {
    if (side !== undefined && fromMs !== undefined) spans.push({ side, fromMs, toMs: atMs, says });
    if (side !== undefined || code === "requested" || code === "deletionAsked") fromMs = atMs;
  }
  if (open !== undefined && fromMs !== undefined)
    spans.push({ side: sideOf(open), fromMs, toMs: undefined, says: open.says });
  return spans;
}

const ofActors: Readonly<Record<Actor, Party>> = {
  nobody: "API server",
  component: "controller",
  driver: "driver",
  user: "user",
  administrator: "user",
};

/** Who has to act now. */
function sideOf({ actor, cause, chain }: Explanation): Party {
  if (cause === "WebhookDown" || cause === "ServerUnreachable") return "API server";
  const component = chain.at(-1)?.component;
  const isProcess = actor === "component" || cause === "ComponentDown" || cause === "KnownDefect";
  if (isProcess && component?.driver !== undefined) return "sidecar";
  return isProcess ? "controller" : ofActors[actor];
}
