/** Why there was no answer, in one line with a remedy. */
import { Fault } from "../base/fault.ts";
import type { Target } from "./target.ts";

/** What is known about a request that failed: whether any of it can have reached the server. */
export type Reach = "unsent" | "sent";

type Explain = (target: Target, address: string) => string;

const resolve: Explain = ({ server, origin }) =>
  `the host name ${server.hostname} (${origin.server}) cannot be resolved; correct it or the name server`;
const reach: Explain = ({ origin }, address) =>
  `${address} (${origin.server}) cannot be reached; correct the address, or look at the network and firewall between`;
const trust: Explain = ({ origin }, address) =>
  `${address} shows a certificate that the authority (${origin.authority}) has not signed; give the authority of this cluster`;

const explanations: Readonly<Record<string, Explain>> = {
  ECONNREFUSED: ({ origin }, address) =>
    `nothing answers at ${address} (${origin.server}); start the API server or correct the address`,
  ENOTFOUND: resolve,
  EAI_AGAIN: resolve,
  EHOSTUNREACH: reach,
  ENETUNREACH: reach,
  ETIMEDOUT: reach,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: trust,
  UNABLE_TO_GET_ISSUER_CERT: trust,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: trust,
  SELF_SIGNED_CERT_IN_CHAIN: trust,
  DEPTH_ZERO_SELF_SIGNED_CERT: trust,
  CERT_SIGNATURE_FAILURE: trust,
  CERT_UNTRUSTED: trust,
  CERT_HAS_EXPIRED: (_, address) =>
    `the certificate of ${address} has expired; renew it on the server, or set the clock of this machine`,
  CERT_NOT_YET_VALID: (_, address) => `the certificate of ${address} is not valid yet; set the clock of this machine`,
  ERR_TLS_CERT_ALTNAME_INVALID: ({ server, serverName, origin }, address) =>
    `the certificate of ${address} is for other names than ${serverName ?? server.hostname}; correct ${origin.server}, or set tls-server-name`,
  ERR_SSL_WRONG_VERSION_NUMBER: ({ origin }, address) =>
    `${address} does not speak TLS; correct ${origin.server} to http:// or to the right port`,
};

export function faultOfFailure(reason: unknown, target: Target, reached: Reach): Fault {
  if (reason instanceof Fault) return reason;
  const code = codeOf(reason);
  const address = target.server.origin;
  const explain = explanations[code];
  // A connection that was open may end with the same codes, and then the outcome is unknown. No cause: it adds only a stack.
  if (explain !== undefined && reached === "unsent") return new Fault("Unavailable", explain(target, address));
  if (code === "EPROTO" || code.startsWith("ERR_SSL_"))
    return new Fault(
      "Unavailable",
      `${address} refused the TLS handshake (${code}); ${target.credentials.origin} may be no valid client certificate`,
    );
  if (code.startsWith("HPE_"))
    return new Fault(
      "UnknownOutcome",
      `${address} answered something that is no HTTP/1.1 (${code}); is something else in between?`,
    );
  return reached === "unsent"
    ? new Fault(
        "Unavailable",
        `the connection to ${address} failed (${code}); the API server may be starting or stopping`,
      )
    : new Fault("UnknownOutcome", `the connection to ${address} was cut before the answer was complete (${code})`);
}

/** Several addresses of one host fail together as an AggregateError: the first speaks for all. */
function codeOf(reason: unknown): string {
  if (reason instanceof AggregateError && reason.errors.length > 0) return codeOf(reason.errors[0]);
  const { code, message } = reason as NodeJS.ErrnoException;
  // Node has one code for all that OpenSSL dislikes; what is not TLS at all is told apart by the words.
  if (code === "EPROTO" && message.includes("wrong version number")) return "ERR_SSL_WRONG_VERSION_NUMBER";
  return code ?? "unknown error";
}

/** As the kernel would say it: the other side has closed the connection in the middle. */
export const hungUp = (): Error => Object.assign(new Error("the server hung up"), { code: "ECONNRESET" });

export const unauthenticated = ({ server, credentials }: Target): Fault =>
  new Fault(
    "Unauthenticated",
    `${server.origin} does not accept the credentials (${credentials.origin}): they are wrong or have expired; renew them`,
  );
