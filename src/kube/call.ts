/**
 * One request to the API server, with everything that every request has: a deadline, the rate limit, the server's wish to
 * be asked again later, a measurement, and Faults instead of error answers.
 */
import type { Millis } from "../base/brand.ts";
import { Fault } from "../base/fault.ts";
import type { Body, Handler, HttpRequest, HttpResponse } from "../base/http.ts";
import { bodyText, isStream, readAll } from "../base/http.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import { type Bound, cancelledBy, createGuard, type Guard } from "./guard.ts";
import type { Limiter } from "./limiter.ts";
import { type Asked, faultOfResponse } from "./status.ts";

/** Where a request stands: without a connection yet, or on its way since now. */
export type Progress = "waiting" | "sent";

/** A request with what the transport should know about it. A handler without a socket may ignore all of it. */
export interface Outgoing extends HttpRequest {
  /** Hand over the body as it comes: it has no end known in advance. */
  readonly stream?: boolean | undefined;
  /** Sending it twice does no more than sending it once. */
  readonly replayable?: boolean | undefined;
  /** Told by the transport, at the beginning and at each change: the time for an answer begins when the request is sent. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** It is for one object, by its name. */
  readonly isForObject?: boolean | undefined;
  /** Has connections of its own, and no rate limit: behind a hundred writes a busy leader would lose its lease. */
  readonly isUrgent?: boolean | undefined;
}

/** One attempt on the wire, for rest_client_requests_total and rest_client_request_duration_seconds. */
export interface Measurement {
  readonly method: string;
  readonly path: string;
  /** The HTTP status, or "<error>" when there was no answer. */
  readonly code: string;
  readonly ms: Millis;
}
export type Measure = (measurement: Measurement) => void;

export type TakePiece = (piece: Body) => void;

export interface CallDeps {
  readonly handler: Handler;
  readonly world: World;
  readonly limiter?: Limiter | undefined;
  readonly measure?: Measure | undefined;
}

export interface Caller {
  /** The whole body of a successful answer. */
  text(request: Outgoing): Promise<string>;
  /** Hands over the body of a successful answer as it comes, until it ends. What `take` throws ends it, too, and goes through. */
  stream(request: Outgoing, take: TakePiece): Promise<void>;
}

export function createCaller({ handler, world, limiter, measure }: CallDeps): Caller {
  const attempt = (request: Outgoing, guard: Guard): Promise<HttpResponse> => {
    const startedAt = world.elapsed();
    const onProgress = (progress: Progress): void => guard.restart(boundOf(request, progress));
    const answered = guard.race(handler({ ...request, signal: guard.signal, onProgress } as Outgoing));
    if (measure === undefined) return answered;
    const log = (code: string): void =>
      measure({ method: request.method, path: request.path, code, ms: world.elapsed() - startedAt });
    return measured(answered, log);
  };

  /** Asks until the answer is a success, a refusal, or "later" once too often. A success is to be read under its guard. */
  const ask = async (request: Outgoing): Promise<Opened> => {
    for (let attempts = 1; ; attempts++) {
      if (limiter !== undefined && request.isUrgent !== true) await limiter(request.signal).catch(giveUp);
      const guard = createGuard(world, request.signal, boundOf(request, "sent"));
      try {
        const response = await attempt(request, guard);
        if (response.status < 300) return { body: response.body, guard };
        const body = await guard.race(readAll(response.body));
        const fault = faultOfResponse(response, body, askedIn(request), world.now());
        const waitMs = laterMs(response.status, fault);
        if (waitMs === undefined || attempts >= limits.retryAfterAttemptsMax) throw fault;
        guard.close();
        const againAt = world.elapsed() + waitMs;
        await world.sleep(waitMs, request.signal).catch(giveUp);
        // A process that was stopped meanwhile would send what it had decided long ago, perhaps as a leader who is none any more.
        if (world.elapsed() - againAt > limits.retryLateMsMax) throw fault;
      } catch (reason) {
        guard.close();
        throw Fault.from(reason);
      }
    }
  };

  return {
    text: async (request) => {
      const { body, guard } = await ask(request);
      try {
        return isStream(body) ? await guard.race(readAll(body)) : bodyText(body);
      } finally {
        guard.close();
      }
    },
    stream: async (request, take) => handOn(await ask({ ...request, stream: true }), request, take),
  };
}

async function measured(answered: Promise<HttpResponse>, report: (code: string) => void): Promise<HttpResponse> {
  let code = "<error>";
  try {
    const response = await answered;
    code = String(response.status);
    return response;
  } finally {
    report(code);
  }
}

/** The answer is a success, and the rest of it may still come. */
interface Opened {
  readonly body: HttpResponse["body"];
  readonly guard: Guard;
}

/** A request that was not sent has had no effect; a sent one may have. */
const boundOf = (request: HttpRequest, progress: Progress): Bound =>
  progress === "sent"
    ? {
        msMax: limits.requestMsMax,
        late: () =>
          new Fault("DeadlineExceeded", `${what(request)} got no answer within ${limits.requestMsMax / 1_000} s`),
      }
    : {
        msMax: limits.connectionMsMax,
        late: () =>
          new Fault(
            "Unavailable",
            `${what(request)} was not sent: no connection to the API server was free or could be made within ${limits.connectionMsMax / 1_000} s`,
          ),
      };

const askedIn = (request: Outgoing): Asked => ({
  what: what(request),
  isForObject: request.isForObject === true,
});
const what = ({ method, path }: HttpRequest): string => `${method} ${path.split("?", 1)[0]}`;

/** 429 and 503 with a date say that nothing was done yet. A date too far away is for the caller's own patience. */
function laterMs(status: number, fault: Fault): Millis | undefined {
  if (status !== 429 && status !== 503) return undefined;
  const askedMs = fault.retryAfterMs ?? (status === 429 ? defaultRetryMs : undefined);
  return askedMs !== undefined && askedMs <= limits.retryAfterMsMax ? askedMs : undefined;
}
const defaultRetryMs = 1_000;

const giveUp = (reason: unknown): never => {
  throw cancelledBy(reason);
};

/** Ends when the guard does, also when the stream itself would stay silent for ever. */
async function handOn({ body, guard }: Opened, request: HttpRequest, take: TakePiece): Promise<void> {
  guard.lift();
  const iterator = isStream(body) ? body[Symbol.asyncIterator]() : undefined;
  let finished = iterator === undefined;
  try {
    if (iterator === undefined) take(body as Uint8Array | string);
    else
      for (let next = await guard.race(iterator.next()); next.done !== true; next = await guard.race(iterator.next()))
        take(next.value);
    finished = true;
  } finally {
    // Not awaited: the return of a generator that waits for data is answered only when data comes.
    if (!finished) void Promise.resolve(iterator?.return?.()).catch(() => undefined);
    guard.stop(new Fault("Cancelled", `${what(request)} is not read any more`));
  }
}
