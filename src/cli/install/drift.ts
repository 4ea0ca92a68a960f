/** How the cluster differs from what would be applied: the answer of a dry run beside what is stored. */
import type { ManifestObject } from "../../api/manifests/component.ts";
import { equal, isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { servedObjects, unservedLines, withLivePolicy } from "./apply.ts";
import { judgeCrd } from "./crd-age.ts";
import { askingConfigurations, judgeObjects, ownerOf, servicesOf } from "./judge.ts";
import type { Resources } from "./resources.ts";
import { describe, type InstallPlan } from "./selection.ts";
import { effectOf, type ServiceName } from "./webhook-references.ts";

export interface Drift {
  readonly object: string;
  /** Absent: the object does not exist, or belongs to somebody else. */
  readonly changes?: readonly string[];
  /** Who has it, where it is not this installation. */
  readonly owner?: string;
  /** What is wrong with an object that an installation does not make. */
  readonly problem?: string;
}

export async function findDrift(plan: InstallPlan, resources: Resources) {
  const drifts: Drift[] = [];
  const { served, unserved } = await servedObjects(plan.objects, resources);
  const owners = new Map((await judgeObjects(plan, resources)).map((one) => [one.object, ownerOf(one)]));
  for (const object of [...plan.crds, ...plan.namespaces, ...served]) {
    const stored = await resources.read(object);
    const owner = owners.get(object);
    if (stored === undefined) drifts.push({ object: describe(object) });
    else if (owner !== undefined) drifts.push({ object: describe(object), owner });
    else if (isJudged(object, stored)) {
      const wanted = await resources.apply(await withLivePolicy(object, resources), { dryRun: true });
      const changes = differences(comparable(stored), comparable(wanted));
      if (changes.length > 0) drifts.push({ object: describe(object), changes });
    }
  }
  drifts.push(...(await unansweredWebhooks(plan, resources)));
  // A custom kind that is not served yet, of a definition that would be applied, is no reason to leave its objects out.
  const groups = new Set(plan.crds.map(({ metadata }) => metadata.name.split(".").slice(1).join(".")));
  const waits = (object: ManifestObject): boolean => groups.has(object.apiVersion.split("/")[0] ?? "");
  for (const object of unserved.filter(waits)) drifts.push({ object: describe(object) });
  const notes = [...(await phaseNotes(plan, resources)), ...unservedLines(unserved.filter((object) => !waits(object)))];
  return { drifts, notes };
}

async function phaseNotes({ crds }: InstallPlan, resources: Resources): Promise<readonly string[]> {
  const notes: string[] = [];
  for (const crd of crds) {
    const verdict = judgeCrd(await resources.read(crd), crd);
    if (verdict.kind === "migrate")
      notes.push(`${describe(crd)} is left to snapkeep migrate: ${verdict.why}; next: ${verdict.next}`);
  }
  return notes;
}

/** Configurations that ask a Service of this installation which is not there: an uninstallation of an older release left them. */
async function unansweredWebhooks(plan: InstallPlan, resources: Resources): Promise<readonly Drift[]> {
  const missing: ServiceName[] = [];
  for (const metadata of servicesOf(plan.objects))
    if ((await resources.read({ apiVersion: "v1", kind: "Service", metadata })) === undefined) missing.push(metadata);
  return (await askingConfigurations(missing, resources)).map((configuration) => ({
    object: describe(configuration as unknown as ManifestObject),
    problem: `it asks a Service that does not exist: ${effectOf(configuration, missing)}; delete it, or install the webhook`,
  }));
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
