/** How the cluster differs from what would be applied: the answer of a dry run beside what is stored. */
import type { ManifestObject } from "../../api/manifests/component.ts";
import { equal, isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { servedObjects, unservedLines, withLivePolicy } from "./apply.ts";
import { judgeCrd } from "./crd-age.ts";
import type { Resources } from "./resources.ts";
import { describe, type InstallPlan } from "./selection.ts";

export interface Drift {
  readonly object: string;
  /** Absent: the object does not exist. */
  readonly changes?: readonly string[];
}

export async function findDrift(plan: InstallPlan, resources: Resources) {
  const drifts: Drift[] = [];
  const { served, unserved } = await servedObjects(plan.objects, resources);
  for (const object of [...plan.crds, ...plan.namespaces, ...served]) {
    const stored = await resources.read(object);
    if (stored === undefined) drifts.push({ object: describe(object) });
    else if (isJudged(object, stored)) {
      const wanted = await resources.apply(await withLivePolicy(object, resources), { dryRun: true });
      const changes = differences(comparable(stored), comparable(wanted));
      if (changes.length > 0) drifts.push({ object: describe(object), changes });
    }
  }
  // A custom kind that is not served yet, of a definition that would be applied, is no reason to leave its objects out.
  const groups = new Set(plan.crds.map(({ metadata }) => metadata.name.split(".").slice(1).join(".")));
  const waits = (object: ManifestObject): boolean => groups.has(object.apiVersion.split("/")[0] ?? "");
  for (const object of unserved.filter(waits)) drifts.push({ object: describe(object) });
  return { drifts, notes: unservedLines(unserved.filter((object) => !waits(object))) };
}

/** A namespace that exists, and a definition of somebody else, are left as they are. */
const isJudged = (object: ManifestObject, stored: JsonObject): boolean =>
  object.kind !== "Namespace" &&
  (object.kind !== "CustomResourceDefinition" || judgeCrd(stored, object).kind === "apply");

/** Without what the server writes itself. */
function comparable(object: JsonObject): JsonObject {
  const { status: _, metadata, ...rest } = object;
  const {
    managedFields: _fields,
    resourceVersion: _version,
    generation: _generation,
    ...kept
  } = isObject(metadata) ? metadata : {};
  return { ...rest, metadata: kept };
}

function differences(stored: JsonValue | undefined, wanted: JsonValue | undefined, path = ""): readonly string[] {
  if (equal(stored, wanted)) return [];
  if (isObject(stored) && isObject(wanted))
    return [...new Set([...Object.keys(stored), ...Object.keys(wanted)])].flatMap((key) =>
      differences(stored[key], wanted[key], path === "" ? key : `${path}.${key}`),
    );
  if (Array.isArray(stored) && Array.isArray(wanted) && stored.length === wanted.length)
    return stored.flatMap((item, index) => differences(item, wanted[index], `${path}[${index}]`));
  const text = (value: JsonValue | undefined): string => (value === undefined ? "absent" : JSON.stringify(value));
  return [`${path}: ${text(stored)} → ${text(wanted)}`];
}
