/** Which versions of a group the server has, so that an older cluster is spoken to in its own version. */
import { type KindName, kindRows } from "../api/kinds.ts";
import { Fault, isFault } from "../base/fault.ts";
import { isObject } from "../base/json.ts";
import type { CallOptions, PathReader } from "./api.ts";

/** The versions the server offers, its preferred one first; none when it does not know the group. */
export async function servedVersions(
  api: PathReader,
  group: string,
  options: CallOptions = {},
): Promise<readonly string[]> {
  try {
    const answer = await api.getPath(group === "" ? "/api" : `/apis/${encodeURIComponent(group)}`, options);
    const versions = isObject(answer) ? answer.versions : undefined;
    if (!Array.isArray(versions))
      throw new Fault("UnknownOutcome", `the API server answered discovery of "${group}" with nothing of use`);
    // The core group is older than discovery and lists plain strings.
    return versions.map((row) => String(isObject(row) ? row.version : row));
  } catch (reason) {
    if (isFault(reason, "NotFound")) return [];
    throw reason;
  }
}

/**
 * The first version of our table in which the server has this very kind: a group may have others of its kinds only. What Kubernetes
 * itself brings is there.
 */
export async function servedVersionOf(
  api: PathReader,
  kind: KindName,
  options: CallOptions = {},
): Promise<string | undefined> {
  const { group, plural, versions, custom } = kindRows[kind];
  if (custom !== true) return versions[0];
  const served = await servedVersions(api, group, options);
  for (const version of versions.filter((item) => served.includes(item))) {
    const resources = await resourcesIn(api, `/apis/${encodeURIComponent(group)}/${version}`, options);
    if (resources.some((row) => isObject(row) && row.name === plural)) return version;
  }
  return undefined;
}

/** None in a version that has gone since the group was read. */
async function resourcesIn(api: PathReader, path: string, options: CallOptions): Promise<readonly unknown[]> {
  try {
    const answer = await api.getPath(path, options);
    return isObject(answer) && Array.isArray(answer.resources) ? answer.resources : [];
  } catch (reason) {
    if (isFault(reason, "NotFound")) return [];
    throw reason;
  }
}
