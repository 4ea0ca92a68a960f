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

/** The first version of our table in which the server has this very kind: a group may have others of its kinds only. */
export async function servedVersionOf(
  api: PathReader,
  kind: KindName,
  options: CallOptions = {},
): Promise<string | undefined> {
  const { group, plural, versions } = kindRows[kind];
  const served = await servedVersions(api, group, options);
  for (const version of versions.filter((item) => served.includes(item))) {
    const answer = await api.getPath(`/apis/${encodeURIComponent(group)}/${version}`, options);
    const resources = isObject(answer) ? answer.resources : undefined;
    if (Array.isArray(resources) && resources.some((row) => isObject(row) && row.name === plural)) return version;
  }
  return undefined;
}

/**
 * For each group of these kinds the first version of our table that the server has. Groups it does not know at all are
 * left out: their kinds are asked for in the preferred version and answer NotFound, which says what is missing.
 */
export async function chooseVersions(
  api: PathReader,
  kinds: readonly KindName[],
  options: CallOptions = {},
): Promise<Readonly<Record<string, string>>> {
  const rows = new Map(kinds.map((kind) => [kindRows[kind].group, kindRows[kind].versions]));
  const chosen = await Promise.all(
    [...rows].map(async ([group, ours]) => {
      const served = await servedVersions(api, group, options);
      return [group, ours.find((version) => served.includes(version))] as const;
    }),
  );
  return Object.fromEntries(chosen.filter((pair): pair is readonly [string, string] => pair[1] !== undefined));
}
