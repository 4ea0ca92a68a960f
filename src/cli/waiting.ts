/** Waits until an object is as it is wanted. Meanwhile, and when the time is over, `explain` says what it waits for. */
import type { CodedMessage, Ref } from "../api/plan.ts";
import type { Millis } from "../base/brand.ts";
import { Fault } from "../base/fault.ts";
import type { World } from "../base/world.ts";
import { fix, withCode } from "../errors/codes.ts";
import type { KubeApi, VersionFinder } from "../kube/api.ts";
import { decideBy } from "./explain/cluster-copy.ts";
import { type Explanation, explain } from "./explain/explain.ts";
import { liveReader } from "./explain/live-reader.ts";
import { explanationText } from "./explain/output.ts";

export type Look =
  /** `detail`: what came of it, for the report. */
  | { readonly kind: "done"; readonly detail: string }
  | { readonly kind: "waiting"; readonly for: string }
  /** Waiting longer does not help. */
  | { readonly kind: "blocked" | "failed"; readonly why: CodedMessage };

export interface Wait {
  look(): Promise<Look>;
  /** What explains the wait. */
  readonly about: Ref;
  readonly msMax: Millis;
  /** Ends the wait as blocked when only a person can help, and not only when the time is over. */
  readonly endsWhenStuck?: boolean;
}

export type WaitEnd =
  | Extract<Look, { readonly kind: "done" }>
  /** `explanation`: in several lines, for a person. */
  | { readonly kind: "blocked" | "failed" | "timeout"; readonly why: CodedMessage; readonly explanation: string };

export interface WaitContext {
  readonly api: KubeApi & VersionFinder;
  readonly world: World;
  readonly signal: AbortSignal;
  progress(text: () => string): void;
}

const lookEveryMs = 250;
/** Reads several objects, so less often. */
const explainEveryMs = 2_000;
/** A controller that has just started, or an object that was created in the wrong order, mends itself within that. */
const stuckMs = 4_000;

export async function waitFor(wait: Wait, context: WaitContext): Promise<WaitEnd> {
  const { world, signal, progress } = context;
  const startedMs = world.elapsed();
  let explainedMs = startedMs;
  let stuckSinceMs: Millis | undefined;
  let says: string | undefined;
  for (;;) {
    const look = await wait.look();
    if (look.kind === "done") return look;
    if (look.kind !== "waiting") return { ...look, explanation: "" };
    const elapsedMs = world.elapsed();
    if (elapsedMs > startedMs + wait.msMax) return timeout(look.for, wait, context);
    if (elapsedMs - explainedMs >= explainEveryMs) {
      explainedMs = elapsedMs;
      const found = await explained(wait.about, context);
      says = typeof found === "string" ? undefined : found?.says;
      stuckSinceMs = needsPerson(found) ? (stuckSinceMs ?? elapsedMs) : undefined;
      if (wait.endsWhenStuck && stuckSinceMs !== undefined && elapsedMs - stuckSinceMs >= stuckMs)
        return stuck(look.for, wait, context);
    }
    progress(() => `waiting: ${says ?? look.for}`);
    await world.sleep(lookEveryMs, signal);
  }
}

type Found = Explanation | undefined | string;

const needsPerson = (found: Found): boolean =>
  typeof found === "object" && found.verdict === "stuck" && (found.actor === "user" || found.actor === "administrator");

/** A text: why it cannot be explained. */
async function explained(about: Ref, { api, world, signal }: WaitContext): Promise<Found> {
  try {
    const nowMs = world.now();
    return await decideBy(liveReader(api), (copy) => explain(copy, about, nowMs), signal);
  } catch (reason) {
    if (signal.aborted) throw reason;
    return `${about.kind} ${about.name} could not be explained: ${Fault.from(reason).message}\n`;
  }
}

async function explanationOf(about: Ref, context: WaitContext): Promise<string> {
  const found = await explained(about, context);
  if (found === undefined || typeof found === "string") return found ?? "";
  return found.verdict === "good" ? "" : explanationText(found, context.world.now());
}

async function timeout(what: string, { about, msMax }: Wait, context: WaitContext): Promise<WaitEnd> {
  const explanation = await explanationOf(about, context);
  const late = `${what} after ${Math.round(msMax / 1_000)} s`;
  return { kind: "timeout", why: withCode(`${late}; ${fix("SNAP-861", explanation)}`, "SNAP-861"), explanation };
}

async function stuck(what: string, { about }: Wait, context: WaitContext): Promise<WaitEnd> {
  const explanation = await explanationOf(about, context);
  return { kind: "blocked", why: withCode(`${what}; ${fix("SNAP-871")}`, "SNAP-871"), explanation };
}
