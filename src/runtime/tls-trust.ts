/** Whether a server's certificate is one that a client with this authority trusts: a handshake, and not a byte more. */
import { isIP } from "node:net";
import { connect } from "node:tls";
import type { Millis } from "../base/brand.ts";
import { Fault } from "../base/fault.ts";
import { type World, withDeadline } from "../base/world.ts";

export interface TlsTarget {
  readonly host: string;
  readonly port: number;
  /** The name that the certificate must have. */
  readonly serverName: string;
  /** In PEM; undefined: the authorities of the system. */
  readonly authority: string | undefined;
}

/** Undefined: it is trusted. Throws when nobody answers, which says nothing about the certificate. */
export const trustProblem = (
  target: TlsTarget,
  {
    world,
    signal,
    msMax,
  }: { readonly world: Pick<World, "after">; readonly signal: AbortSignal; readonly msMax: Millis },
): Promise<string | undefined> =>
  withDeadline(world, signal, msMax, (deadline) => handshake(target, deadline), "the TLS handshake was not done");

const handshake = ({ host, port, serverName, authority }: TlsTarget, signal: AbortSignal) =>
  new Promise<string | undefined>((resolve, reject) => {
    const socket = connect({
      host,
      port,
      ...(authority === undefined ? {} : { ca: authority }),
      // An address is not sent as a name, and is checked all the same.
      ...(isIP(serverName) === 0 ? { servername: serverName } : {}),
      // Both are looked at below: what is wrong is to be said, not thrown.
      rejectUnauthorized: false,
    });
    const abort = (): void => void socket.destroy(Fault.from(signal.reason));
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    socket.once("secureConnect", () => {
      resolve(socket.authorized ? undefined : String(socket.authorizationError));
      socket.destroy();
    });
    socket.once("error", reject);
    socket.once("close", () => {
      signal.removeEventListener("abort", abort);
      reject(new Fault("Unavailable", `${host}:${port} closed the connection during the TLS handshake`));
    });
  });
