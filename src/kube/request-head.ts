/** The head of a request, as it goes over the wire. */
import { Fault } from "../base/fault.ts";
import type { HttpRequest } from "../base/http.ts";
import type { Credential } from "./target.ts";

/** Throws a Fault for what would end a line or the head early: the server would read something else than was meant. */
export function requestHead(server: URL, request: HttpRequest, identity: Credential["headers"]): string {
  const { method, path, headers, body } = request;
  const target = `${server.pathname === "/" ? "" : server.pathname.replace(/\/$/, "")}${path}`;
  if (!word.test(method) || !word.test(target))
    throw new Fault("InvalidArgument", `${method} ${JSON.stringify(target)}: the path must be percent-encoded`);
  let head = `${method} ${target} HTTP/1.1\r\nhost: ${server.host}\r\n`;
  for (const name in headers) head += line(name, headers[name] ?? "");
  for (const name in identity) {
    const values = identity[name] ?? "";
    for (const value of typeof values === "string" ? [values] : values) head += line(name, value);
  }
  if (body !== undefined) head += `content-length: ${Buffer.byteLength(body)}\r\n`;
  else if (method !== "GET" && method !== "HEAD") head += "content-length: 0\r\n";
  return `${head}\r\n`;
}

/** The value is never quoted: it may be a token. */
function line(name: string, value: string): string {
  if (!text.test(value))
    throw new Fault(
      "InvalidArgument",
      `the header ${name} has characters that no header may have, a line break perhaps`,
    );
  return `${name}: ${value}\r\n`;
}
const word = /^[\x21-\x7e]+$/;
const text = /^[\t\x20-\x7e]*$/;
