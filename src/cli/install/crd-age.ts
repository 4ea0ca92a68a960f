/** Whether a stored CustomResourceDefinition may be replaced by ours. */

import type { ManifestObject } from "../../api/manifests/component.ts";
import { versionAnnotation } from "../../api/manifests/objects.ts";
import type { JsonObject } from "../../base/json.ts";
import { kindOfCrd, phaseProblem } from "./crd-phase.ts";
import { at } from "./fields.ts";

export type CrdVerdict =
  | { readonly kind: "apply" }
  /** It is of another maker: it stays, because both makers' components work with it. */
  | { readonly kind: "keep"; readonly why: string }
  | { readonly kind: "refuse"; readonly why: string }
  /** Its phase is not the one that would be applied. */
  | { readonly kind: "migrate"; readonly why: string; readonly next: string };

export function judgeCrd(stored: JsonObject | undefined, wanted: ManifestObject): CrdVerdict {
  if (stored === undefined) return { kind: "apply" };
  const kind = kindOfCrd(wanted.metadata.name);
  const problem = kind && phaseProblem(kind, stored);
  if (problem !== undefined) return { kind: "migrate", ...problem };
  const version = at(stored, "metadata", "annotations", versionAnnotation);
  const own = at(wanted as unknown as JsonObject, "metadata", "annotations", versionAnnotation);
  const unknown = versionsOf(stored).find((name) => !versionsOf(wanted as unknown as JsonObject).includes(name));
  if (unknown !== undefined)
    return { kind: "refuse", why: `it has version ${unknown}, which this release does not know` };
  if (version === undefined) return { kind: "keep", why: "it was installed by somebody else, and works as it is" };
  return isLater(String(version), String(own))
    ? { kind: "refuse", why: `it was installed by snapkeep ${String(version)}, which is newer than ${String(own)}` }
    : { kind: "apply" };
}

function versionsOf(crd: JsonObject): readonly string[] {
  const versions = at(crd, "spec", "versions");
  return Array.isArray(versions) ? versions.map((version) => String(at(version, "name"))) : [];
}

/** The three numbers decide; a release is later than its own candidates. */
export function isLater(one: string, other: string): boolean {
  const [numbers, others] = [one, other].map((text) => text.split("-")[0]?.split(".").map(Number) ?? []);
  for (let index = 0; index < 3; index++) {
    const difference = (numbers?.[index] ?? 0) - (others?.[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return !one.includes("-") && other.includes("-");
}
