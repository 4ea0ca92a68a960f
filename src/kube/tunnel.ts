/** A connection to the server through a proxy that knows no more of it than host and port. */
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import { rootCertificates } from "node:tls";
import type { Millis } from "../base/brand.ts";
import { Fault } from "../base/fault.ts";
import type { HttpProxy } from "./target.ts";

export interface TunnelOptions {
  readonly proxy: HttpProxy;
  /** "kube.example.com:6443" */
  readonly server: string;
  /** The cluster's authority. It may have signed a proxy that speaks TLS, as for Go's clients; so may one that Node trusts. */
  readonly authority: string | undefined;
  readonly insecure: boolean;
  /** How long the proxy may say nothing. */
  readonly silentMsMax: Millis;
  readonly signal: AbortSignal;
}

export type TunnelDone = (...outcome: [failure: Fault, socket: undefined] | [failure: null, socket: Socket]) => void;

export function openTunnel(
  { proxy, server, authority, insecure, silentMsMax, signal }: TunnelOptions,
  done: TunnelDone,
): void {
  const { url, authorization } = proxy;
  const isTls = url.protocol === "https:";
  const call = (isTls ? httpsRequest : httpRequest)({
    method: "CONNECT",
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(url.port) || (isTls ? 443 : 80),
    path: server,
    headers: { host: server, ...(authorization === undefined ? {} : { "proxy-authorization": authorization }) },
    agent: false,
    timeout: silentMsMax,
    signal,
    ...(isTls ? { ca: authority === undefined ? undefined : [...rootCertificates, authority] } : {}),
    ...(isTls ? { rejectUnauthorized: !insecure } : {}),
  });
  const fail = (why: string): void =>
    done(
      new Fault("Unavailable", `the proxy ${url.host} (${proxy.origin}) ${why}; correct it, or name none`),
      undefined,
    );
  const refusedUser =
    authorization === undefined ? "wants a user and a password" : "does not accept its user and password";
  call.once("timeout", () => call.destroy(Object.assign(new Error("too late"), { code: "ETIMEDOUT" })));
  call.on("error", (reason: NodeJS.ErrnoException) => fail(`cannot be spoken to (${reason.code ?? "unknown error"})`));
  call.once("connect", ({ statusCode = 0 }, socket, head) => {
    // A server waits for us to speak first: what comes before is the proxy's.
    if (statusCode === 200 && head.length === 0) return done(null, socket as Socket);
    socket.destroy();
    fail(statusCode === 407 ? refusedUser : `does not connect to ${server} (HTTP status ${statusCode})`);
  });
  call.end();
}
