/**
 * A client that speaks each kind in a version that the server has. The versions change while components run, when the CRDs are migrated
 * or rolled back: then the server has no route for a request, discovery is asked, and the request is sent again in the other version.
 * Nothing was done by a request without a route, so that is also safe for writes. One kind may be ahead of another.
 */
import { type KindName, kindRows } from "../api/kinds.ts";
import { isFault } from "../base/fault.ts";
import type { CallOptions, KubeApi, PathReader, VersionFinder } from "./api.ts";
import { servedVersionOf } from "./discovery.ts";

/** The version of each kind that is not spoken in its preferred one. The client reads it at each request. */
export type SpokenVersions = Map<KindName, string>;

export function followVersions<Api extends KubeApi & PathReader>(
  api: Api,
  spoken: SpokenVersions,
): Api & VersionFinder {
  const finding = new Map<KindName, Promise<string | undefined>>();
  const versionOf = (kind: KindName): string => spoken.get(kind) ?? kindRows[kind].versions[0];
  const findVersion = async (kind: KindName, options: CallOptions = {}): Promise<string | undefined> => {
    const version = await servedVersionOf(api, kind, options);
    if (version !== undefined) spoken.set(kind, version);
    return version;
  };
  /** Many requests fail at once when a version goes: they share one answer, which none of them may cancel. */
  const findOnce = (kind: KindName): Promise<string | undefined> => {
    const found = finding.get(kind) ?? findVersion(kind).finally(() => finding.delete(kind));
    finding.set(kind, found);
    return found;
  };
  /** The version to try after this one has no route; undefined: there is none, or nobody can say. */
  const otherThan = async (version: string, kind: KindName): Promise<string | undefined> => {
    if (kindRows[kind].versions.length === 1) return undefined;
    if (versionOf(kind) !== version) return versionOf(kind);
    const found = await findOnce(kind).catch(() => undefined);
    return found === version ? undefined : found;
  };
  const follow = async <T>(kind: KindName, send: () => Promise<T>, chosen?: string): Promise<T> => {
    const version = versionOf(kind);
    try {
      return await send();
    } catch (reason) {
      if (chosen !== undefined || !isFault(reason) || !reason.hasNoRoute) throw reason;
      if ((await otherThan(version, kind)) === undefined) throw reason;
      return send();
    }
  };
  return {
    ...api,
    findVersion,
    get: (ref, options) => follow(ref.kind, () => api.get(ref, options)),
    list: (kind, query) => follow(kind, () => api.list(kind, query), query?.version),
    create: (kind, object, options) => follow(kind, () => api.create(kind, object, options)),
    replace: (kind, object, options) => follow(kind, () => api.replace(kind, object, options)),
    patch: (ref, patch, options) => follow(ref.kind, () => api.patch(ref, patch, options), options?.version),
    delete: (ref, options) => follow(ref.kind, () => api.delete(ref, options)),
    watch: async (kind, query, take) => {
      // Whoever goes on in an older version while the newer one is served keeps the older one from being given up.
      if (query.version === undefined && versionOf(kind) !== kindRows[kind].versions[0])
        await findOnce(kind).catch(() => undefined);
      return follow(kind, () => api.watch(kind, query, take), query.version);
    },
  };
}
