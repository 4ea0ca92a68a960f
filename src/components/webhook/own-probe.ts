/**
 * The dry run by which the webhook learns whether the API server keeps the namespace of a data source. The API server asks the webhook about
 * it like about any claim, and the webhook must not answer from what it is about to learn. It recognises the dry run by the user that
 * sent it: username and uid come from the API server's authentication, and nobody else can set them. Pure.
 */
import type { JsonObject } from "../../base/json.ts";

export interface UserInfo {
  readonly username: string;
  /** Empty for users without one. */
  readonly uid: string;
}

export const probeName = "snapkeep-gate-probe";

interface ProbeRequest {
  readonly operation: string;
  readonly group: string;
  readonly resource: string;
  readonly dryRun: boolean;
  readonly user: UserInfo;
  readonly object: JsonObject;
}

/** The namespace is not compared: the user says enough. */
export function isOwnProbe(request: ProbeRequest, self: UserInfo | undefined): boolean {
  const { operation, group, resource, dryRun, user, object } = request;
  const isClaim = group === "" && resource === "persistentvolumeclaims";
  if (self === undefined || self.username === "" || !isClaim || operation !== "CREATE" || !dryRun) return false;
  return user.username === self.username && user.uid === self.uid && nameOf(object) === probeName;
}

const nameOf = ({ metadata }: JsonObject): unknown => (metadata as { name?: unknown } | undefined)?.name;

/** Where a service account may have a Role of its own; undefined for other users. */
export const serviceAccountNamespace = ({ username }: UserInfo): string | undefined =>
  /^system:serviceaccount:([^:]+):[^:]+$/.exec(username)?.[1];
