/** How the cluster differs from what would be applied: what is stored, beside the answers of dry runs. Pure. */
import type { ManifestObject } from "../../api/manifests/component.ts";
import { equal, isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { unservedLines } from "./apply-plan.ts";
import { judgeCrd } from "./crd-age.ts";
import { listAt } from "./fields.ts";
import { type Found, type Judged, judgeParts, ownerOf } from "./judge.ts";
import { describe, type InstallPlan, refusesUntilReady } from "./selection.ts";
import { asksService, effectOf, type ServiceName } from "./webhook-references.ts";

export interface DriftRead {
  readonly installation: InstallPlan["installation"];
  /** Keyed by component. */
  readonly parts: readonly (readonly Found[])[];
  readonly crds: readonly Found[];
  readonly namespaces: readonly Found[];
  isServed(object: ManifestObject): boolean;
  /** All of the cluster. */
  readonly configurations: readonly JsonObject[];
  /** Services of webhooks that do not exist. */
  readonly missingServices: readonly ServiceName[];
}

export interface Drift {
  readonly object: string;
  /** Absent: the object does not exist, or belongs to somebody else. */
  readonly changes?: readonly string[];
  /** Who has it, where it is not this installation. */
  readonly owner?: string;
  /** What is wrong with an object that an installation does not make, or does not replace. */
  readonly problem?: string;
}

export interface DriftPlan {
  readonly drifts: readonly Drift[];
  readonly notes: readonly string[];
}

/** What a dry run tells more of: a namespace that exists, and a definition of somebody else, are left as they are. */
export const comparedIn = (read: DriftRead): readonly (Found & { readonly stored: JsonObject })[] => [
  ...read.crds.flatMap((found) =>
    judgeCrd(found.stored, found.object).kind === "apply" && found.stored !== undefined ? [withStored(found)] : [],
  ),
  ...judgeParts(read.parts, read.installation).flatMap((found) =>
    found.stored !== undefined && ownerOf(found) === undefined && read.isServed(found.object)
      ? [withStored(found)]
      : [],
  ),
];

const withStored = ({ object, stored = {} }: Found) => ({ object, stored });

export function driftPlan(read: DriftRead, answers: ReadonlyMap<ManifestObject, JsonObject>): DriftPlan {
  const judged = judgeParts(read.parts, read.installation);
  const unserved = judged.map(({ object }) => object).filter((object) => !read.isServed(object));
  // A custom kind that is not served yet, of a definition that would be applied, is no reason to leave its objects out.
  const groups = new Set(read.crds.map(({ object }) => object.metadata.name.split(".").slice(1).join(".")));
  const waits = (object: ManifestObject): boolean => groups.has(object.apiVersion.split("/")[0] ?? "");
  const driftOf = (found: Found | Judged): readonly Drift[] => {
    const object = describe(found.object);
    if (found.stored === undefined) return [{ object }];
    const owner = "ownership" in found ? ownerOf(found) : undefined;
    const problem = crdProblemOf(found);
    if (problem !== undefined) return [{ object, problem }];
    if (owner !== undefined) return [{ object, owner }];
    const answer = answers.get(found.object);
    const changes = answer === undefined ? [] : differences(comparable(found.stored), comparable(answer));
    return changes.length === 0 ? [] : [{ object, changes }];
  };
  return {
    drifts: [
      ...[...read.crds, ...read.namespaces, ...judged.filter(({ object }) => read.isServed(object))].flatMap(driftOf),
      ...unansweredIn(read),
      ...unserved.filter(waits).map((object) => ({ object: describe(object) })),
    ],
    notes: [
      ...read.crds.flatMap(phaseNote),
      ...judged.flatMap(policyNote),
      ...unservedLines(unserved.filter((object) => !waits(object))),
    ],
  };
}

/** This release would not replace it, and may not know all that is stored by it. */
function crdProblemOf({ object, stored }: Found): string | undefined {
  if (object.kind !== "CustomResourceDefinition") return undefined;
  const verdict = judgeCrd(stored, object);
  return verdict.kind === "refuse" ? `${verdict.why}; install that release or a later one` : undefined;
}

/** It is no drift: an administrator has set it, and --apply keeps it. */
function policyNote({ object, stored }: Found): readonly string[] {
  if (!refusesUntilReady(object)) return [];
  return listAt(stored, "webhooks").some(({ failurePolicy }) => failurePolicy === "Ignore")
    ? [
        `${describe(object)} has failurePolicy Ignore: while the webhook is down, a claim with an unsupported data source gets an empty volume`,
      ]
    : [];
}

function phaseNote({ object, stored }: Found): readonly string[] {
  const verdict = judgeCrd(stored, object);
  return verdict.kind === "migrate"
    ? [`${describe(object)} is left to snapkeep migrate: ${verdict.why}; next: ${verdict.next}`]
    : [];
}

/** Webhooks whose Service is not there, in this namespace or another: an uninstallation of an older release left them. */
const unansweredIn = ({ configurations, missingServices }: DriftRead): readonly Drift[] =>
  configurations
    .filter((configuration) => asksService(configuration, missingServices))
    .map((configuration) => {
      const names = missingServices.filter((service) => asksService(configuration, [service]));
      const services = names.map(({ namespace, name }) => `Service ${namespace}/${name}`).join(" and ");
      return {
        object: describe(configuration as unknown as ManifestObject),
        problem: `it asks ${services}, which does not exist: ${effectOf(configuration, missingServices)}; delete the configuration, or install the webhook`,
      };
    });

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

export function differences(
  stored: JsonValue | undefined,
  wanted: JsonValue | undefined,
  path = "",
): readonly string[] {
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
