/** Names of the objects that the commands create. Pure. */
import type { KindName } from "../../api/kinds.ts";
import { kindRows } from "../../api/kinds.ts";
import type { Millis } from "../../base/brand.ts";
import { limits } from "../../base/limits.ts";
import { rfc3339 } from "../../base/time.ts";

/** The end of a long name gives way, so that what tells two names apart stays. */
export const nameWith = (prefix: string, suffix: string): string => {
  const kept = prefix.slice(0, limits.nameCharsMax - suffix.length - 1).replace(/[^a-z0-9]+$/, "");
  return `${kept}-${suffix}`;
};

/** "data-20261119-201500": what a person would name a snapshot of the claim `data`. */
export const snapshotNameAt = (claim: string, nowMs: Millis): string =>
  nameWith(claim, rfc3339(nowMs).slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-"));

/** As kubectl names an object: "persistentvolumeclaim/data", "volumesnapshot.snapshot.storage.k8s.io/monday". */
export const kubectlName = (kind: KindName, name: string): string => {
  const { singular, group } = kindRows[kind];
  return `${singular}${group === "" ? "" : `.${group}`}/${name}`;
};

/** "team/data" names both; "data" is in the namespace that is given. */
export const placeOf = (word: string, namespace: string): { readonly namespace: string; readonly name: string } => {
  const slash = word.indexOf("/");
  return slash === -1 ? { namespace, name: word } : { namespace: word.slice(0, slash), name: word.slice(slash + 1) };
};
