/** What the API server said no with, as a Fault: its reason decides, then the HTTP code. */
import { Fault, type FaultCode, faults } from "../base/fault.ts";
import type { HttpResponse } from "../base/http.ts";
import { isObject, type JsonObject, type JsonValue, parse } from "../base/json.ts";

const rows = Object.entries(faults) as [FaultCode, (typeof faults)[FaultCode]][];

/** Where two rows share a reason or a code, the first is the one Kubernetes means. */
const byReason = new Map<string, FaultCode>([...rows].reverse().map(([code, { reason }]) => [reason, code]));
const byHttpCode = new Map<number, FaultCode>([...rows].reverse().map(([code, { http }]) => [http, code]));
byReason.set("Gone", "Expired");
byReason.set("ServerTimeout", "DeadlineExceeded");
byHttpCode.set(409, "Conflict");
// What a proxy says of a connection on which no request came in time, perhaps just as one did: nothing is wrong with that.
byHttpCode.set(408, "DeadlineExceeded");
// A 500 is often etcd out of breath in the middle of a write: unlike a driver's INTERNAL it proves nothing.
byReason.set("InternalError", "UnknownOutcome");
byHttpCode.set(500, "UnknownOutcome");

const codeOf = (reason: JsonValue | undefined, httpCode: number): FaultCode =>
  byReason.get(String(reason)) ??
  byHttpCode.get(httpCode) ??
  (httpCode >= 400 && httpCode < 500 ? "InvalidArgument" : "UnknownOutcome");

/** A metav1.Status, from the body of an answer or from an ERROR event of a watch. */
export function faultOfStatus(status: JsonObject, httpCode: number, retryAfterMs?: number): Fault {
  const details = isObject(status.details) ? status.details : undefined;
  const seconds = details?.retryAfterSeconds;
  const token = isObject(status.metadata) ? status.metadata.continue : undefined;
  return new Fault(codeOf(status.reason, httpCode), String(status.message ?? `HTTP ${httpCode}`), {
    retryAfterMs: retryAfterMs ?? (typeof seconds === "number" && seconds > 0 ? seconds * 1_000 : undefined),
    details,
    continueToken: typeof token === "string" && token !== "" ? token : undefined,
  });
}

export interface Asked {
  /** "GET /api/v1/nodes/a" */
  readonly what: string;
  /** For one object, by its name. */
  readonly isForObject: boolean;
}

export function faultOfResponse(response: HttpResponse, body: string, asked: Asked, nowMs: number): Fault {
  const retryAfterMs = retryAfterHeaderMs(response.headers["retry-after"], nowMs);
  const status = statusIn(body);
  if (status !== undefined) return faultOfStatus(status, response.status, retryAfterMs);
  const text = response.headers["content-type"]?.startsWith("text/plain") ? `: ${firstLine(body)}` : "";
  // That an object is gone the API server says in a Status, be it one that was cut off. Any other page is about the route, or of
  // a proxy in between: taken for the object's end, it would let go what is still there.
  const hasNoRoute = response.status === 404 && !/^\s*\{\s*"kind"\s*:\s*"Status"/.test(body);
  const code = hasNoRoute && asked.isForObject ? "UnknownOutcome" : codeOf(undefined, response.status);
  const message = `${asked.what} was answered with HTTP ${response.status}${text}`;
  return new Fault(code, message, { retryAfterMs, hasNoRoute });
}

function statusIn(body: string): JsonObject | undefined {
  if (!body.startsWith("{")) return undefined;
  try {
    const value = parse(body);
    return isObject(value) && value.kind === "Status" ? value : undefined;
  } catch {
    return undefined;
  }
}

const lineLengthMax = 200;
const firstLine = (text: string): string => (text.split("\n", 1)[0] ?? "").trim().slice(0, lineLengthMax);

/** Seconds, or a date. */
export function retryAfterHeaderMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1_000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
