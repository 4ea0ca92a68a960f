/**
 * The wire to one API server: HTTP/1.1 over kept-alive connections, TLS as the target says, credentials as they are now.
 * It keeps no deadlines: the caller's signal does.
 */
import type { Handler, HttpResponse } from "../base/http.ts";
import { limits } from "../base/limits.ts";
import type { Outgoing } from "./call.ts";
import { type Credential, isSameCredential, type Target } from "./target.ts";
import { faultOfFailure, unauthenticated } from "./transport-fault.ts";
import { createPool, isSameTrust, type Pool, type Trust } from "./transport-pool.ts";
import { attempt, mayReplay, type Refusal, type Wire } from "./transport-send.ts";

export interface Transport {
  readonly handler: Handler;
  /** The same connections, for requests that this guard may refuse. */
  guarded(refusal: Refusal): Handler;
  /** Closes every connection, also those in use. */
  close(): void;
}

export interface TransportOptions {
  readonly socketIdleMsMax?: number | undefined;
  readonly responseBytesMax?: number | undefined;
  readonly refusal?: Refusal | undefined;
}

export function createTransport(target: Target, options: TransportOptions = {}): Transport {
  const { socketIdleMsMax = limits.socketIdleMsMax, responseBytesMax = limits.responseBytesMax } = options;
  let pools: readonly Pool[] = [];

  /** The connections for what is trusted and shown now. After a rotation the old ones finish what they do, and close. */
  const poolFor = async (credential: Credential): Promise<Pool> => {
    const { certificate, key } = credential;
    const trust: Trust = { authority: await target.authority(), certificate, key };
    const newest = pools[0];
    if (newest !== undefined && isSameTrust(newest.trust, trust)) return newest;
    const pool = createPool(target, trust, socketIdleMsMax); // Throws at what cannot be shown: then the old one stays in use.
    newest?.retire();
    pools = [pool, ...pools.filter((older) => !older.isEmpty())];
    return pool;
  };

  const exchange = async (request: Outgoing, credential: Credential, refusal?: Refusal): Promise<HttpResponse> => {
    const wire: Wire = { target, pool: await poolFor(credential), responseBytesMax, refusal };
    const first = await attempt(wire, request, credential.headers);
    if (first.kind === "answer") return first.response;
    if (!mayReplay(request, first)) throw faultOfFailure(first.reason, target, first.reached);
    // The other idle connections are as old and most likely dead too: the second attempt gets a new one.
    wire.pool.dropIdle();
    const second = await attempt(wire, request, credential.headers);
    if (second.kind === "answer") return second.response;
    throw faultOfFailure(second.reason, target, second.reached);
  };

  const guarded =
    (refusal: Refusal | undefined): Handler =>
    async (request: Outgoing) => {
      request.onProgress?.("waiting"); // A plugin that brings credentials may take its time, too.
      const credential = await target.credentials.current();
      const response = await exchange(request, credential, refusal);
      if (response.status !== 401) return response;
      // A request rejected with 401 had no effect and may be repeated once, with new credentials.
      target.credentials.refused(credential);
      request.onProgress?.("waiting");
      const renewed = await target.credentials.current();
      if (isSameCredential(renewed, credential)) throw unauthenticated(target);
      const again = await exchange(request, renewed, refusal);
      if (again.status === 401) throw unauthenticated(target);
      return again;
    };

  return {
    handler: guarded(options.refusal),
    guarded,
    close: () => {
      for (const pool of pools) pool.destroy();
      pools = [];
    },
  };
}
