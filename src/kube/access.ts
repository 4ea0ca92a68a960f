/** What this process may do, asked of the server before it is tried: a denied request would raise alarms in the audit log. */
import { type KindName, kindRows } from "../api/kinds.ts";
import { isObject } from "../base/json.ts";
import type { CallOptions, PathAsker } from "./api.ts";

const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

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
