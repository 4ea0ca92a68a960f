/** Connections and bodies that a server refuses, by reason: for its log, where each reason is said once a minute, and for a metric. */
import type { Server as HttpServer } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { TLSSocket } from "node:tls";
import type { Log } from "../base/log.ts";
import type { World } from "../base/world.ts";
import { createLogThrottle, type LogThrottle } from "./log-throttle.ts";

const reasons = {
  "client-certificate": "the client has no certificate of the authority in use",
  certificate:
    "the client does not accept the certificate; an API server does not if its caBundle is another authority's",
  timeout: "the TLS handshake was not complete in time",
  disconnected: "the client went before the TLS handshake was complete",
  protocol: "the client does not speak TLS, or no version or cipher in common",
  connections: "too many connections: the one that had waited longest was closed",
  bodies: "too many bytes of bodies that are still arriving: the body that began first was refused",
} as const;

export type RefusalReason = keyof typeof reasons;

export interface Refusal {
  readonly reason: RefusalReason;
  /** The client's address, while it is known. */
  readonly from?: string | undefined;
  /** What the TLS library says. */
  readonly detail?: string | undefined;
}

export type OnRefusal = (refusal: Refusal) => void;

const logEveryMs = 60_000;

/** Counts each, and logs each reason once a minute with how many were not logged. */
export function createRefusalLog(
  world: Pick<World, "elapsed">,
  log: Log,
  also: OnRefusal = () => undefined,
): OnRefusal {
  const throttles = new Map<RefusalReason, LogThrottle>();
  return (refusal) => {
    also(refusal);
    const { reason, ...more } = refusal;
    const throttle = throttles.get(reason) ?? createLogThrottle(world, logEveryMs);
    throttles.set(reason, throttle);
    // Load balancers open and close connections to see that a server listens.
    const level = reason === "disconnected" ? "debug" : "warn";
    throttle((unsaid) => log[level]("connection refused", { reason, means: reasons[reason], ...more, unsaid }));
  };
}

/** Node neither reports a handshake that failed nor, once somebody listens for it, closes its connection. */
export function reportHandshakes(server: HttpServer | HttpsServer, refused: OnRefusal): void {
  // First, so that nothing is written to a socket without TLS.
  server.prependListener("tlsClientError", (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    const { remoteAddress: from, authorizationError } = socket;
    const reason = reasonOf(error.code ?? "", authorizationError);
    socket.destroy();
    refused({ reason, from, detail: authorizationError ? String(authorizationError) : error.code });
  });
}

function reasonOf(code: string, authorizationError: unknown): RefusalReason {
  if (authorizationError || code === "ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE") return "client-certificate";
  if (code === "ERR_TLS_HANDSHAKE_TIMEOUT") return "timeout";
  if (code === "ECONNRESET") return "disconnected";
  return /^ERR_SSL_.*(CERTIFICATE|UNKNOWN_CA)/.test(code) ? "certificate" : "protocol";
}
