/** The line between one component and the API server: takes time, and is where faults strike. */
import { Fault } from "../../src/base/fault.ts";
import { type Handler, type HttpRequest, type HttpResponse, isStream } from "../../src/base/http.ts";
import { isObject, parse } from "../../src/base/json.ts";
import type { World } from "../../src/base/world.ts";
import type { ReadText } from "../../src/kube/objects.ts";
import type { LeaderGuard } from "../../src/runtime/leader-guard.ts";
import type { Incarnation } from "./incarnation.ts";
import type { Knowledge } from "./knowledge.ts";
import { createTap } from "./tap.ts";
import type { Answer, Boundary, BoundaryKind, Verdict } from "./verdict.ts";

export interface Stage {
  readonly world: World;
  latencyMs(): number;
  /** Asked once for every call that is about to leave. */
  strike(incarnation: Incarnation, kind: BoundaryKind, text: string): { boundary: Boundary; verdict: Verdict };
  /** A call that was held back leaves after all. */
  left(incarnation: Incarnation, text: string): void;
  crash(incarnation: Incarnation, downMs: number): void;
  /** Tells the server who writes, for as long as the request is in it. */
  serve(incarnation: Incarnation, request: HttpRequest, decidedMs: number): Promise<HttpResponse>;
  /** The list as it was so many changes ago. */
  olderList(request: HttpRequest, changes: number): Promise<HttpResponse>;
  readonly knowledge: Knowledge;
  /** Reads an answer, for all processes. */
  readonly read: ReadText;
}

const never = <T>(): Promise<T> => new Promise(() => undefined);

export const createWire =
  (harness: Stage, incarnation: Incarnation, refusal: LeaderGuard["ofRequest"]): Handler =>
  async (request) => {
    const asleep = incarnation.awake();
    if (asleep !== undefined) await asleep;
    obey(refusal(request));
    const place = placeIn(request);
    const kind = kindOf(request, place);
    const text = `${request.method} ${place}`;
    const { world, knowledge } = harness;
    const decidedMs = world.elapsed();
    const { verdict } = harness.strike(incarnation, kind, text);
    if (verdict.heldBack === true)
      await leaveLate(harness, incarnation, { text, signal: request.signal, refusal: () => refusal(request) });
    /** The response has no receiver: its sender has decided again in the meantime. */
    const isGivenUp = (): boolean => request.signal?.aborted === true;
    try {
      const response = await carry(harness, incarnation, verdict, {
        perform: () => perform(harness, incarnation, { request, kind, decidedMs }, verdict),
        answer: responseOf,
      });
      const isTrue = verdict.answer === undefined && !isGivenUp();
      if (isTrue && typeof response.body === "string")
        for (const { name } of incarnation.mates())
          knowledge.reported(name, world.elapsed(), response.body, place.includes("/namespaces/"));
      return response;
    } finally {
      const waitsS = verdict.answer?.kind === "http" ? (verdict.answer.retryAfterS ?? 0) : 0;
      if (!isGivenUp()) knowledge.answered(incarnation.name, decidedMs, world.elapsed() + 1_000 * waitsS);
    }
  };

/** A request that is refused before it leaves is not a call: nothing is sent. */
export const obey = (refused: Fault | undefined): void => {
  if (refused !== undefined) throw refused;
};

interface Leaving {
  readonly text: string;
  readonly signal: AbortSignal | undefined;
  refusal(): Fault | undefined;
}

/** The transport has its connection long after the call was handed to it, and asks a last time whether it may send. */
export async function leaveLate(
  context: Stage,
  incarnation: Incarnation,
  { text, signal, refusal }: Leaving,
): Promise<void> {
  await context.world.sleep(1); // By then it is frozen.
  await incarnation.awake();
  if (signal?.aborted) throw new Fault("Cancelled", "given up before it was sent");
  obey(refusal());
  context.left(incarnation, text);
}

export interface Carried<T> {
  perform(): Promise<T>;
  /** What is answered instead of what was done. */
  answer(answer: Answer, done: T | undefined): T;
}

/** One call with everything a verdict can do to it; the same for both lines. */
export async function carry<T>(
  { world, latencyMs, crash }: Stage,
  incarnation: Incarnation,
  verdict: Verdict,
  { perform, answer }: Carried<T>,
): Promise<T> {
  const downMs = verdict.downMs ?? 0;
  if (verdict.crash === "before") {
    crash(incarnation, downMs);
    return never();
  }
  await world.sleep(verdict.delayMs ?? latencyMs());
  let result: Settled<T> | undefined;
  try {
    if (verdict.effect) result = { value: await perform() };
  } catch (fault) {
    result = { fault };
  }
  if (verdict.crash === "after-effect") {
    crash(incarnation, downMs);
    return never();
  }
  if (verdict.silent) return never();
  if (verdict.answer !== undefined) {
    const done = result !== undefined && "value" in result ? result.value : undefined;
    result = settledOf(() => answer(verdict.answer as Answer, done));
  }
  await world.sleep(verdict.replyMs ?? latencyMs());
  const asleep = incarnation.awake();
  if (asleep !== undefined) await asleep;
  // The reply is taken in, and everything that follows from it without waiting is done; then the end comes.
  if (verdict.crash === "after-reply") void world.sleep(0).then(() => crash(incarnation, downMs));
  if (result === undefined) return never();
  if ("fault" in result) throw result.fault;
  return result.value;
}

type Settled<T> = { readonly value: T } | { readonly fault: unknown };
function settledOf<T>(work: () => T): Settled<T> {
  try {
    return { value: work() };
  } catch (fault) {
    return { fault };
  }
}

/** The path without its query. */
function placeIn({ path }: HttpRequest): string {
  const end = path.indexOf("?");
  return end === -1 ? path : path.slice(0, end);
}

function kindOf({ method, path }: HttpRequest, place: string): BoundaryKind {
  if (method !== "GET") return "write";
  if (path.includes("watch=1", place.length)) return "watch";
  return listed.test(place) ? "list" : "get";
}
const listed =
  /\/(volumesnapshots|volumesnapshotcontents|volumesnapshotclasses|persistentvolumeclaims|persistentvolumes|storageclasses)$/;

function perform(
  stage: Stage,
  incarnation: Incarnation,
  {
    request,
    kind,
    decidedMs,
  }: { readonly request: HttpRequest; readonly kind: BoundaryKind; readonly decidedMs: number },
  { staleBy }: Verdict,
): Promise<HttpResponse> {
  if (staleBy !== undefined) return stage.olderList(request, staleBy);
  const { method, path, headers, body } = request;
  // Only a watch is ever closed from here: whatever else is under way at the server comes to its end there.
  const closing = kind === "watch" ? new AbortController() : undefined;
  const answered = stage.serve(incarnation, { method, path, headers, body, signal: closing?.signal }, decidedMs);
  if (closing === undefined) return answered;
  const close = (): void => closing.abort("closed");
  return answered.then((response) => tapped(stage, incarnation, { response, signal: request.signal, close }));
}

function tapped(
  { world, latencyMs, knowledge }: Stage,
  { mates, awake, taps }: Incarnation,
  {
    response,
    signal,
    close,
  }: { readonly response: HttpResponse; readonly signal: AbortSignal | undefined; close(): void },
): HttpResponse {
  if (!isStream(response.body)) return response;
  const tap = createTap(response.body, {
    world,
    latencyMs,
    awake,
    close,
    onEnd: (ended) => void taps.delete(ended),
    onTaken: (text) => {
      for (const { name } of mates()) knowledge.reported(name, world.elapsed(), text);
    },
  });
  taps.add(tap);
  signal?.addEventListener("abort", tap.disconnect, { once: true });
  return { ...response, body: tap };
}

function responseOf(answer: Answer, done: HttpResponse | undefined): HttpResponse {
  if (answer.kind === "truncated" && typeof done?.body === "string")
    return { ...done, body: done.body.slice(0, Math.floor(done.body.length / 2)) };
  if (answer.kind !== "http")
    throw new Fault("UnknownOutcome", "the connection was cut before the answer was complete");
  const { status: code, reason, retryAfterS } = answer;
  const status = { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message: `injected ${code}` };
  return {
    status: code,
    headers: {
      "content-type": "application/json",
      ...(retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) }),
    },
    body: JSON.stringify(status),
  };
}

/** How nearly every patch of ours begins. */
const guardFirst = '{"metadata":{"resourceVersion":"';

/** Whether the request says for which version or incarnation it was decided. */
export function isGuarded({ method, body }: HttpRequest): boolean {
  if (method === "POST") return true;
  if (method === "PATCH" && typeof body === "string" && body.startsWith(guardFirst)) return true;
  const value = typeof body === "string" ? parse(body) : undefined;
  if (Array.isArray(value)) return value.some((operation) => isObject(operation) && operation.op === "test");
  if (!isObject(value)) return false;
  const { metadata, preconditions } = value;
  const naming = method === "DELETE" ? preconditions : metadata;
  return isObject(naming) && naming.resourceVersion !== undefined;
}
