/**
 * What --apply writes, and in which order: definitions, namespaces, what pods need, certificates, and the pods. Whatever refuses it is
 * found before anything is written. Pure.
 */
import type { ManifestObject } from "../../api/manifests/component.ts";
import { leaseNamespace } from "../../api/manifests/snapshot-controller.ts";
import type { CodedMessage } from "../../api/plan.ts";
import type { JsonObject } from "../../base/json.ts";
import { withCode } from "../../errors/codes.ts";
import { type CrdVerdict, judgeCrd } from "./crd-age.ts";
import { existingOf } from "./existing.ts";
import { at } from "./fields.ts";
import { type Found, foreignProblem, judgeParts } from "./judge.ts";
import { labelled, ownershipOf } from "./ownership.ts";
import { describe, type InstallPlan, isWorkload, refusesUntilReady } from "./selection.ts";

/** Whose pods may do the same work as ours. */
export const rivalKinds = [
  ["apps/v1", "Deployment"],
  ["apps/v1", "StatefulSet"],
  ["apps/v1", "DaemonSet"],
] as const;

export interface ApplyRead {
  readonly installation: InstallPlan["installation"];
  readonly rows: readonly { readonly name: string }[];
  /** Keyed by component. */
  readonly parts: readonly (readonly Found[])[];
  readonly crds: readonly Found[];
  readonly namespaces: readonly Found[];
  /** These are of the whole cluster. */
  readonly workloads: readonly JsonObject[];
  readonly leases: readonly JsonObject[];
  readonly nowMs: number;
}

export interface ApplyOptions {
  /** Takes objects of another installation over. */
  readonly adopts?: boolean | undefined;
  /** Installs beside the stored CRDs, in whatever phase they are. */
  readonly keepsCrds?: boolean | undefined;
}

export interface Application {
  /** What is in the cluster already, for whoever reads on. */
  readonly existing: readonly string[];
  /** Then nothing is written. */
  readonly refusal?: CodedMessage;
  readonly crds: readonly Found[];
  /** Definitions that stay, and why. */
  readonly kept: readonly string[];
  /** Namespaces of an uninstallation that has not ended: nothing can be created in them. */
  readonly ending: readonly ManifestObject[];
  /** Namespaces of a release that did not write the label of the installation, with it; nothing else of them changes. */
  readonly marked: readonly JsonObject[];
  /** Those that do not exist, or end. One that exists keeps its labels: "restricted" could stop other pods in it. */
  readonly namespaces: readonly ManifestObject[];
}

export function applyPlan(read: ApplyRead, options: ApplyOptions): Application {
  const { workloads, leases, rivals } = existingOf(read.workloads, read.leases, { leaseNamespace, nowMs: read.nowMs });
  const verdicts = read.crds.map((found) => ({ ...found, verdict: verdictOf(found, options) }));
  const refusal =
    rivalProblem(read, rivals) ??
    (options.adopts === true
      ? undefined
      : foreignProblem(judgeParts(read.parts, read.installation), namespaceOf(read))) ??
    verdicts.map(({ object, verdict }) => crdProblem(object, verdict)).find((problem) => problem !== undefined);
  return {
    existing: [...workloads, ...leases],
    ...(refusal === undefined ? {} : { refusal }),
    crds: verdicts.filter(({ verdict }) => verdict.kind === "apply").map(({ object, stored }) => ({ object, stored })),
    kept: verdicts.flatMap(({ object, verdict }) =>
      verdict.kind === "keep" ? [`${describe(object)} stays as it is: ${verdict.why}`] : [],
    ),
    marked: read.namespaces.filter((found) => !isEnding(found)).flatMap((found) => marked(found, read)),
    ending: read.namespaces.filter(isEnding).map(({ object }) => object),
    namespaces: read.namespaces
      .filter((found) => found.stored === undefined || isEnding(found))
      .map(({ object }) => object),
  };
}

function marked({ stored }: Found, { installation }: ApplyRead): readonly JsonObject[] {
  return stored !== undefined && ownershipOf(stored, installation, new Set()).kind === "unlabelled"
    ? [labelled(stored as unknown as ManifestObject, installation) as unknown as JsonObject]
    : [];
}

const isEnding = ({ stored }: Found): boolean => at(stored, "metadata", "deletionTimestamp") !== undefined;

const namespaceOf = ({ installation }: ApplyRead): string => installation.namespace;

/** Two controllers at work would create two contents for one snapshot. */
const rivalProblem = ({ rows }: ApplyRead, rivals: readonly string[]): CodedMessage | undefined =>
  rivals.length === 0 || !rows.some(({ name }) => name === "snapshot-controller")
    ? undefined
    : withCode(
        `another snapshot-controller is at work: ${rivals.join("; ")}; ours would wait for a lease in ${leaseNamespace} and both would work at once; scale the other one to 0 replicas first`,
        "SNAP-801",
      );

/** With --keep-crds every stored definition stays. */
export const verdictOf = ({ object, stored }: Found, { keepsCrds = false }: ApplyOptions): CrdVerdict =>
  keepsCrds && stored !== undefined ? { kind: "keep", why: "--keep-crds" } : judgeCrd(stored, object);

export function crdProblem(
  crd: ManifestObject,
  verdict: CrdVerdict,
  changed = "nothing was changed",
): CodedMessage | undefined {
  if (verdict.kind === "migrate")
    return withCode(
      `${describe(crd)} is not replaced: ${verdict.why}, and install never changes a phase; ${changed}; run ${verdict.next} first (snapkeep migrate --status shows where the CRDs are), or install beside the CRDs as they are with --keep-crds`,
      "SNAP-806",
    );
  if (verdict.kind === "refuse")
    return withCode(
      `${describe(crd)} is not replaced: ${verdict.why}; install that release or a later one; ${changed}`,
      "SNAP-802",
    );
  return undefined;
}

export interface ServedObjects {
  /** Before any pod starts: its rights, its services and what it mounts. */
  readonly before: readonly ManifestObject[];
  readonly workloads: readonly ManifestObject[];
  /** Once the pods are ready. */
  readonly after: readonly ManifestObject[];
  /** One line per kind that the cluster does not serve. */
  readonly unserved: readonly string[];
}

/** Once the definitions are there: what the cluster serves. */
export function servedPlan(
  objects: readonly ManifestObject[],
  serves: (object: ManifestObject) => boolean,
): ServedObjects {
  const served = objects.filter(serves);
  return {
    before: served.filter((object) => !isWorkload(object) && !refusesUntilReady(object)),
    workloads: served.filter(isWorkload),
    after: served.filter(refusesUntilReady),
    unserved: unservedLines(objects.filter((object) => !serves(object))),
  };
}

export const unservedLines = (unserved: readonly ManifestObject[]): readonly string[] =>
  [...Map.groupBy(unserved, ({ apiVersion, kind }) => `${kind} (${apiVersion})`)].map(
    ([kind, objects]) =>
      `left out, because the cluster does not serve ${kind}: ${objects.map(({ metadata }) => metadata.name).join(", ")}`,
  );
