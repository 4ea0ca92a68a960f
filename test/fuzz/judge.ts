/** What every answer must be, whatever was asked: a status of HTTP, and for a refusal a Status of Kubernetes. */
import type { Handler, HttpRequest, HttpResponse } from "../../src/base/http.ts";
import { isStream } from "../../src/base/http.ts";
import { isObject, parse } from "../../src/base/json.ts";

/** Two mistakes the real server answers with 500 as well; every other 500 is one of ours. */
const knownInternal = [/^resourceVersion should not be set on objects to be created$/, /strconv\.ParseUint: parsing/];

/** Undefined when all is well. */
export async function complaintAbout(handler: Handler, request: HttpRequest): Promise<string | undefined> {
  let response: HttpResponse;
  try {
    response = await handler(request);
  } catch (reason) {
    return `threw ${reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)}`;
  }
  const { status, headers, body } = response;
  if (!Number.isInteger(status) || status < 200 || status > 599) return `answered with status ${status}`;
  if (isStream(body)) {
    await body[Symbol.asyncIterator]().return?.();
    return undefined;
  }
  const text = typeof body === "string" ? body : Buffer.from(body).toString("utf8");
  if (status < 400) return undefined;
  if (headers["content-type"]?.startsWith("text/plain") === true)
    return text === "404 page not found\n" ? undefined : `said in plain words: ${text.slice(0, 200)}`;
  return statusComplaint(status, text);
}

function statusComplaint(code: number, text: string): string | undefined {
  const value = readable(text);
  if (!isObject(value) || value.kind !== "Status" || value.code !== code || value.status !== "Failure")
    return `answered ${code} without a Status: ${text.slice(0, 200)}`;
  const message = String(value.message ?? "");
  if (code === 500 && !knownInternal.some((known) => known.test(message))) return `had an internal error: ${message}`;
  return undefined;
}

function readable(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
