/**
 * One request to the API server, with everything that every request has: a deadline, the rate limit, the server's wish to
 * be asked again later, a measurement, and Faults instead of error answers.
 */
import type { Millis } from "../base/brand.ts";
import { Fault } from "../base/fault.ts";
import type { Body, Handler, HttpRequest, HttpResponse } from "../base/http.ts";
import { isStream, readAll, textOf } from "../base/http.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import { cancelledBy, createGuard, type Guard } from "./guard.ts";
import type { Limiter } from "./limiter.ts";
import { faultOfResponse } from "./status.ts";
import { isUrgent } from "./urgent.ts";

/** A request with what the transport should know about it. A handler without a socket may ignore both. */
export interface Outgoing extends HttpRequest {
  /** Hand over the body as it comes: it has no end known in advance. */
  readonly stream?: boolean | undefined;
  /** Sending it twice does no more than sending it once. */
  readonly replayable?: boolean | undefined;
}

/** One attempt on the wire, for rest_client_requests_total and rest_client_request_duration_seconds. */
export interface Measurement {
  readonly method: string;
  /** The HTTP status, or "<error>" when there was no answer. */
  readonly code: string;
  readonly ms: Millis;
}
export type Measure = (measurement: Measurement) => void;

export interface CallDeps {
  readonly handler: Handler;
  readonly world: World;
  readonly limiter?: Limiter | undefined;
  readonly measure?: Measure | undefined;
}

export interface Caller {
  /** The whole body of a successful answer. */
  text(request: Outgoing): Promise<string>;
  /** The body of a successful answer as it comes. */
  stream(request: Outgoing): AsyncGenerator<Body>;
}

export function createCaller({ handler, world, limiter, measure }: CallDeps): Caller {
  const attempt = async (request: Outgoing, guard: Guard): Promise<HttpResponse> => {
    const startedAt = world.elapsed();
    let code = "<error>";
    try {
      const response = await guard.race(handler({ ...request, signal: guard.signal }));
      code = String(response.status);
      return response;
    } finally {
      measure?.({ method: request.method, code, ms: world.elapsed() - startedAt });
    }
  };

  /** Asks until the answer is a success, a refusal, or "later" once too often. A success is to be read under its guard. */
  const ask = async (request: Outgoing): Promise<Opened> => {
    for (let attempts = 1; ; attempts++) {
      if (limiter !== undefined && !isUrgent(request.path)) await limiter(request.signal).catch(giveUp);
      const guard = createGuard(world, request.signal, limits.requestMsMax, () => `${what(request)} got no answer`);
      try {
        const response = await attempt(request, guard);
        if (response.status < 300) return { body: response.body, guard };
        const body = await guard.race(readAll(response.body));
        const fault = faultOfResponse(response, body, what(request), world.now());
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
        return isStream(body) ? await guard.race(readAll(body)) : textOf(body);
      } catch (reason) {
        throw Fault.from(reason);
      } finally {
        guard.close();
      }
    },
    stream: (request) => streamed(request, () => ask({ ...request, stream: true })),
  };
}

/** The answer is a success, and the rest of it may still come. */
interface Opened {
  readonly body: HttpResponse["body"];
  readonly guard: Guard;
}

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

/**
 * The body as it comes. Ends when the guard does, also when the stream itself would stay silent for ever. Not inside of the
 * caller: a generator function made per client keeps that client alive for as long as its hidden class.
 */
async function* streamed(request: HttpRequest, open: () => Promise<Opened>): AsyncGenerator<Body> {
  const { body, guard } = await open();
  guard.lift();
  const iterator = isStream(body) ? body[Symbol.asyncIterator]() : undefined;
  let finished = iterator === undefined;
  try {
    if (iterator === undefined) yield body as Uint8Array | string;
    else
      for (let next = await guard.race(iterator.next()); next.done !== true; next = await guard.race(iterator.next()))
        yield next.value;
    finished = true;
  } catch (reason) {
    throw Fault.from(reason);
  } finally {
    // Not awaited: the return of a generator that waits for data is answered only when data comes.
    if (!finished) void Promise.resolve(iterator?.return?.()).catch(() => undefined);
    guard.stop(new Fault("Cancelled", `${what(request)} is not read any more`));
  }
}
