/** Answers compressed for those who ask: large ones only, as kube-apiserver does, and never a stream. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type HttpRequest, type HttpResponse, isStream } from "../../base/http.ts";

const compressedBytesMin = 128 * 1024;
const compress = promisify(gzip);

export async function gzipped({ headers }: HttpRequest, response: HttpResponse): Promise<HttpResponse> {
  if (isStream(response.body) || response.body.length < compressedBytesMin) return response;
  if (!/\bgzip\b/.test(headers["accept-encoding"] ?? "")) return response;
  const body = await compress(response.body, { level: 1 });
  return { ...response, headers: { ...response.headers, "content-encoding": "gzip", vary: "Accept-Encoding" }, body };
}
