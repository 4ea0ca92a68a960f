/** What this process may do, asked of the server before it is tried: a denied request would raise alarms in the audit log. And who it is. */
import { type KindName, kindRows } from "../api/kinds.ts";
import { Fault } from "../base/fault.ts";
import { isObject } from "../base/json.ts";
import type { CallOptions, PathAsker } from "./api.ts";

const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const identityPath = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/** Whether the verb is allowed on all objects of the kind, in all namespaces. Every authenticated user may ask. */
export async function mayDo(api: PathAsker, kind: KindName, verb: string, options: CallOptions = {}): Promise<boolean> {
  const { group, plural: resource } = kindRows[kind];
  const spec = { resourceAttributes: { verb, group, resource } };
  const review = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", metadata: {}, spec };
  const answer = await api.postPath(path, review, options);
  return isObject(answer) && isObject(answer.status) && answer.status.allowed === true;
}

/** Whether all objects of the kind may be listed and watched. */
export const mayRead = async (api: PathAsker, kind: KindName, options: CallOptions = {}): Promise<boolean> =>
  (await mayDo(api, kind, "list", options)) && (await mayDo(api, kind, "watch", options));

/** The user that the server takes this process for. Every authenticated user may ask. */
export async function whoAmI(
  api: PathAsker,
  options: CallOptions = {},
): Promise<{ readonly username: string; readonly uid: string }> {
  const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview", metadata: {} };
  const answer = await api.postPath(identityPath, review, options);
  const status = isObject(answer) && isObject(answer.status) ? answer.status : {};
  const { username, uid } = isObject(status.userInfo) ? status.userInfo : {};
  if (typeof username !== "string" || username === "")
    throw new Fault("Internal", "the API server answered a SelfSubjectReview without a username");
  return { username, uid: typeof uid === "string" ? uid : "" };
}
