/** What `install --check` finds wrong with the installations of a cluster, from the lists that `status` has read anyway. */
import type { ManifestObject } from "../../api/manifests/component.ts";
import { installationLabel } from "../../api/manifests/component.ts";
import { componentRows } from "../../api/manifests/rows.ts";
import type { KubeObject } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import { Fault, isFault } from "../../base/fault.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Connection } from "../../runtime/connect.ts";
import { installationOf } from "../deploy.ts";
import type { ClusterCopy } from "../explain/cluster-copy.ts";
import { isSelected } from "../explain/cluster-copy.ts";
import { labelOf, nameOf, namespaceIn } from "../install/fields.ts";
import { findProblems } from "../install/health.ts";
import type { Health } from "../install/health-plan.ts";
import { createResources } from "../install/resources.ts";
import { isWorkload, planFor } from "../install/selection.ts";

export interface HealthInput {
  readonly api: Connection["api"];
  readonly copy: ClusterCopy;
  readonly version: string;
  readonly nowMs: Millis;
  readonly signal: AbortSignal;
}

const workloadKinds = ["Deployment", "DaemonSet"] as const;

/** Undefined installation: none of `snapkeep install` is there. */
export async function healthOf(input: HealthInput): Promise<Health> {
  const { api, copy, version, signal } = input;
  const { list } = createResources(api, signal);
  const workloads: JsonObject[] = [];
  const notes: string[] = [];
  for (const kind of workloadKinds) {
    const found = await list("apps/v1", kind).catch(unreadable);
    if (found === undefined)
      notes.push(`may not list ${kind}, so installations are not judged as install --check does`);
    else workloads.push(...found.map((object) => ({ ...object, apiVersion: "apps/v1", kind })));
  }
  const namespaces = new Set(workloads.flatMap((object) => labelOf(object, installationLabel) ?? []));
  const found: Health[] = [];
  for (const namespace of [...namespaces].toSorted()) {
    const installation = installationOf(version, { namespace });
    const names = componentRows
      .filter((row) =>
        planFor([row.name], installation).objects.some((one) => isWorkload(one) && storedIn(workloads, one)),
      )
      .map(({ name }) => name);
    const resources = readFrom(copy, workloads);
    found.push(await findProblems(planFor(names, installation), { ...input, api, resources }));
  }
  return {
    problems: found.flatMap(({ problems }) => problems),
    notes: [...notes, ...found.flatMap((health) => health.notes)],
  };
}

function unreadable(reason: unknown): undefined {
  if (isFault(reason, "PermissionDenied")) return undefined;
  throw reason;
}

const storedIn = (workloads: readonly JsonObject[], { kind, metadata }: ManifestObject): JsonObject | undefined =>
  workloads.find(
    (one) => one.kind === kind && nameOf(one) === metadata.name && namespaceIn(one) === metadata.namespace,
  );

/** No kind is listed a second time. */
const readFrom = (copy: ClusterCopy, workloads: readonly JsonObject[]) => ({
  read: async (object: ManifestObject): Promise<JsonObject | undefined> =>
    object.kind === "Lease"
      ? asJson(copy.get("Lease", object.metadata.namespace, object.metadata.name))
      : storedIn(workloads, object),
  list: async (
    _: string,
    kind: string,
    where: { readonly namespace?: string; readonly fieldSelector?: string } = {},
  ) => {
    const { namespace, fieldSelector } = where;
    if (kind !== "Pod" && kind !== "Event") throw new Fault("Internal", `status has not listed ${kind}`);
    const pods = copy.list(kind, { namespace });
    if (copy.gaps().some(({ want }) => want.kind === kind)) throw new Fault("PermissionDenied", `may not list ${kind}`);
    return pods
      .filter((object: KubeObject) => fieldSelector === undefined || isSelected(object, fieldSelector))
      .map((object) => asJson(object) as JsonObject);
  },
});

const asJson = (object: KubeObject | undefined): JsonObject | undefined => object as unknown as JsonObject | undefined;
