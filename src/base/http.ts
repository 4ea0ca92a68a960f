/**
 * Request → Response as plain objects. The Kubernetes client calls a `Handler`, the embedded API server and the webhook
 * are one: between them a socket is optional. (The platform's own Request and Response cost 8 MB of memory.)
 */
export type Body = string | Uint8Array;

export interface HttpRequest {
  readonly method: string;
  /** Path and query, still percent-encoded: "/api/v1/pods?limit=1". */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Body | undefined;
  /** Aborts when the caller is gone or gives up. */
  readonly signal?: AbortSignal | undefined;
}

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is a watch or another answer without an end known in advance. */
  readonly body: Body | AsyncIterable<Body>;
}

export type Handler = (request: HttpRequest) => Promise<HttpResponse>;

const decoder = new TextDecoder();

export const isStream = (body: HttpResponse["body"]): body is AsyncIterable<Body> =>
  typeof body === "object" && Symbol.asyncIterator in body;

export const bodyText = (body: Body): string => (typeof body === "string" ? body : decoder.decode(body));

export async function readAll(body: HttpResponse["body"]): Promise<string> {
  if (!isStream(body)) return bodyText(body);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  return Buffer.concat(chunks).toString("utf8");
}
