/**
 * Which shares may have a name with the reserved prefix. Two spellings: a ConfigMap per kind (key: name of the share, value:
 * "namespace:name" of what it refers to), and upstream's environment variables ("share:namespace:name;…").
 */
import { allowListSources, type ShareKind } from "../api/share-lists.ts";
import { isObject, type JsonObject } from "../base/json.ts";

/** How loud the alert about a broken share is. */
export const severities = ["info", "warning", "critical"] as const;
export type Severity = (typeof severities)[number];

export interface AllowedReference {
  readonly namespace: string;
  readonly name: string;
  readonly severity?: Severity | undefined;
}
/** The keys are the names of shares. */
export type AllowList = ReadonlyMap<string, AllowedReference>;
export type AllowLists = Readonly<Record<ShareKind, AllowList>>;

export interface ParsedAllowList {
  readonly list: AllowList;
  /** What cannot be read, each with the reason, for the log. */
  readonly skipped: readonly string[];
}

/** "openshift-x.severity: critical" beside the entry "openshift-x: namespace:name". */
const severitySuffix = ".severity";

/** The data of a ConfigMap, as far as it is text. */
export function dataOf({ data }: JsonObject): Readonly<Record<string, string>> {
  const entries = Object.entries(isObject(data) ? data : {});
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

/** From the data of a ConfigMap. */
export function allowListIn(data: Readonly<Record<string, string>>): ParsedAllowList {
  const list = new Map<string, AllowedReference>();
  const skipped: string[] = [];
  const entries = Object.entries(data).map(([key, value]) => [key.trim(), value.trim()] as const);
  const isSeverity = (key: string, value: string): boolean => key.endsWith(severitySuffix) && !value.includes(":");
  for (const [key, value] of entries) {
    if (isSeverity(key, value)) continue;
    const [namespace = "", name = "", ...more] = value.split(":").map((part) => part.trim());
    if (key === "" || namespace === "" || name === "" || more.length > 0)
      skipped.push(`${key}: expected "namespace:name", found ${JSON.stringify(value)}`);
    else list.set(key, { namespace, name });
  }
  for (const [key, value] of entries) {
    if (!isSeverity(key, value)) continue;
    const share = key.slice(0, -severitySuffix.length);
    const allowed = list.get(share);
    const severity = severities.find((known) => known === value);
    if (allowed === undefined) skipped.push(`${key}: there is no entry ${share}`);
    else if (severity === undefined)
      skipped.push(`${key}: expected ${severities.join(", ")}, found ${JSON.stringify(value)}`);
    else list.set(share, { ...allowed, severity });
  }
  return { list, skipped };
}

/** From upstream's environment variable. A later entry of the same share wins, as upstream's. */
export function allowListFrom(variable: string): ParsedAllowList {
  const list = new Map<string, AllowedReference>();
  const skipped: string[] = [];
  for (const entry of variable.split(";").map((text) => text.trim())) {
    if (entry === "") continue;
    const [share = "", namespace = "", name = "", ...more] = entry.split(":").map((part) => part.trim());
    if (share === "" || namespace === "" || name === "" || more.length > 0)
      skipped.push(`expected "share:namespace:name", found ${JSON.stringify(entry)}`);
    else list.set(share, { namespace, name });
  }
  return { list, skipped };
}

/** What lint knows without a cluster. */
export const platformAllowLists: AllowLists = {
  SharedSecret: allowListIn(allowListSources.SharedSecret.installed).list,
  SharedConfigMap: allowListIn(allowListSources.SharedConfigMap.installed).list,
};
