/**
 * Whether this process may still act, asked by the transports when the connection is there, just before the first byte. Between the
 * decision and that moment a process can be stopped for any time; when it continues, another replica may lead.
 */
import { createVolumeCallsSuffix } from "../api/names.ts";
import type { Fault } from "../base/fault.ts";
import type { HttpRequest } from "../base/http.ts";
import type { CsiCall } from "../csi/wire.ts";
import { notLeading } from "./action-handlers.ts";

export interface LeaderGuard {
  ofRequest(request: Pick<HttpRequest, "method" | "path">): Fault | undefined;
  ofCall(call: Pick<CsiCall, "method">): Fault | undefined;
}

export const createLeaderGuard = (leading: () => boolean): LeaderGuard => ({
  ofRequest: (request) => (isWrite(request) && !leading() ? notLeading() : undefined),
  ofCall: (call) => (isWork(call) && !leading() ? notLeading() : undefined),
});

/** What only the leader may send: neither what is read or asked, nor the election itself, nor events of what was done before. */
const isWrite = ({ method, path }: Pick<HttpRequest, "method" | "path">): boolean =>
  method !== "GET" &&
  !isElection(path) &&
  !path.startsWith("/apis/authorization.k8s.io/") &&
  !/^\/api\/v1\/namespaces\/[^/]+\/events([/?]|$)/.test(path);

/** Every Lease but that of the stored calls; one that is yet to be created has no name in the path. */
const isElection = (path: string): boolean =>
  path.startsWith("/apis/coordination.k8s.io/") && !path.endsWith(createVolumeCallsSuffix);

/** Who the driver is and what it can do may be asked by anybody, and is, before there is a leader. */
const isWork = ({ method }: Pick<CsiCall, "method">): boolean =>
  method.parent.name !== "Identity" && !method.name.endsWith("GetCapabilities");
