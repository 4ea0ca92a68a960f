/** What this process may do, asked of the server before it is tried: a denied request would raise alarms in the audit log. */
import { type KindName, kindRows } from "../api/kinds.ts";
import { isObject } from "../base/json.ts";
import type { CallOptions, PathAsker } from "./api.ts";

const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/** Whether all objects of the kind, in all namespaces, may be listed and watched. Every authenticated user may ask. */
export async function mayRead(api: PathAsker, kind: KindName, options: CallOptions = {}): Promise<boolean> {
  const { group, plural: resource } = kindRows[kind];
  for (const verb of ["list", "watch"]) {
    const spec = { resourceAttributes: { verb, group, resource } };
    const review = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", metadata: {}, spec };
    const answer = await api.postPath(path, review, options);
    if (!(isObject(answer) && isObject(answer.status) && answer.status.allowed === true)) return false;
  }
  return true;
}
