/** How a server says no, in the form Kubernetes' clients read; anybody else reads it as well. */
import type { IncomingMessage } from "node:http";
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type Fault, faults } from "../base/fault.ts";
import type { Body, HttpResponse } from "../base/http.ts";

const statusText = (http: number, reason: string, message: string): string =>
  `${JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", message, reason, code: http })}\n`;

export function errorResponse(fault: Fault): HttpResponse & { readonly body: Body } {
  const { http, reason } = faults[fault.code];
  return {
    status: http,
    headers: { "content-type": "application/json" },
    body: statusText(http, reason, fault.message),
  };
}

/** What node:http could not make a request of. */
interface Malformed {
  readonly http: number;
  readonly reason: string;
  readonly message: string;
}

const malformed: Readonly<Record<string, Malformed>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { http: 408, reason: "Timeout", message: "the request did not arrive whole in time" },
  HPE_HEADER_OVERFLOW: { http: 431, reason: "BadRequest", message: "the headers are too large" },
};
const unreadable: Malformed = { http: 400, reason: "BadRequest", message: "this is not a request of HTTP/1.1" };

/** Sends the reason for closing a connection, unless the client is gone or a response is in progress. */
export function createMalformedListener() {
  const answering = new WeakSet<Duplex>();
  return {
    /** From here to the end of its answer, nothing else may be written to the socket. */
    answers({ socket }: IncomingMessage): () => void {
      answering.add(socket);
      return () => void answering.delete(socket);
    },
    listener(error: NodeJS.ErrnoException, socket: Duplex): void {
      if (!socket.writable || error.code === "ECONNRESET" || answering.has(socket)) return void socket.destroy();
      const { http, reason, message } = malformed[error.code ?? ""] ?? unreadable;
      const body = statusText(http, reason, message);
      const head = [`HTTP/1.1 ${http} ${STATUS_CODES[http]}`, "content-type: application/json", "connection: close"];
      socket.end(`${[...head, `content-length: ${Buffer.byteLength(body)}`].join("\r\n")}\r\n\r\n${body}`);
    },
  };
}
