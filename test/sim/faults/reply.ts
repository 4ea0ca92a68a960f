/** The effect is there, the answer is not: or it comes too late. */
import type { FaultRow } from "./fault.ts";
import { makesContent, oneOf } from "./fault.ts";

export const replies: readonly FaultRow[] = [
  {
    name: "reply-lost",
    family: "reply",
    on: ["write", "get", "list", "csi"],
    strike: () => ({ effect: true, answer: { kind: "reset" } }),
  },
  {
    name: "answer-truncated",
    family: "reply",
    on: ["write", "get", "list"],
    strike: () => ({ effect: true, answer: { kind: "truncated" } }),
  },
  {
    name: "request-lost",
    family: "reply",
    on: ["write", "get", "list", "watch", "csi"],
    strike: () => ({ effect: false, answer: { kind: "reset" } }),
  },
  {
    name: "never-answered",
    family: "reply",
    on: ["write", "get", "list", "csi"],
    strike: ({ draw }) => ({ effect: draw() < 0.5, silent: true }),
  },
  {
    // The caller has given up when it takes effect.
    name: "effect-after-the-deadline",
    family: "reply",
    on: ["write", "csi"],
    strike: ({ boundary }) => ({
      effect: true,
      delayMs: boundary.kind === "csi" ? 65_000 : 33_000,
      endsOtherwise: makesContent(boundary),
    }),
  },
  {
    name: "slow",
    family: "reply",
    on: ["write", "get", "list", "csi"],
    strike: ({ draw, boundary }) => ({
      effect: true,
      delayMs: oneOf(draw, [100, 3_000, 20_000]),
      replyMs: oneOf(draw, [0, 100, 5_000]),
      endsOtherwise: makesContent(boundary),
    }),
  },
];
