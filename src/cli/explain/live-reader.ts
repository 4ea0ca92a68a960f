/** Reads from an API server, with the caller's rights. What may not be read is an answer, not a failure. */
import type { KindName } from "../../api/kinds.ts";
import type { KubeObject } from "../../api/types.ts";
import { isFault } from "../../base/fault.ts";
import type { KubeApi, VersionFinder } from "../../kube/api.ts";
import type { Answer, ClusterReader, Want } from "./cluster-copy.ts";

export function liveReader(api: KubeApi & VersionFinder): ClusterReader {
  const served = new Map<KindName, Promise<boolean>>();
  const isServed = (kind: KindName, signal: AbortSignal): Promise<boolean> => {
    const known = served.get(kind) ?? api.findVersion(kind, { signal }).then((version) => version !== undefined);
    served.set(kind, known);
    return known;
  };
  return {
    read: async (want, signal): Promise<Answer> => {
      try {
        if (!(await isServed(want.kind, signal))) return { kind: "unserved" };
        return { kind: "objects", objects: await objectsOf(api, want, signal) };
      } catch (reason) {
        if (isFault(reason, "NotFound")) return { kind: "objects", objects: [] };
        if (isFault(reason, "PermissionDenied")) return { kind: "unreadable", why: reason.message };
        throw reason;
      }
    },
  };
}

async function objectsOf(
  api: KubeApi,
  { kind, namespace, name, fieldSelector }: Want,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  if (name !== undefined) return [await api.get({ kind, namespace, name }, { signal })];
  return (await api.list(kind, { namespace, fieldSelector, signal })).objects;
}
