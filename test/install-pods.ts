/** Stands in for kubelets and the controllers of workloads, which run on none of the servers: pods exist, and are ready. */
import { isFault } from "../src/base/fault.ts";
import type { JsonObject } from "../src/base/json.ts";
import { at, listAt, nameOf } from "../src/cli/install/fields.ts";
import { createResources } from "../src/cli/install/resources.ts";
import type { createClient } from "../src/kube/client.ts";

type Client = ReturnType<typeof createClient>;

const ready = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };

/** One look at namespaces that begin with this word. What somebody else changes or deletes meanwhile is seen at the next. */
async function makePodsReady(client: Client, prefix: string): Promise<void> {
  const resources = createResources(client, new AbortController().signal);
  const listed = async (apiVersion: string, kind: string): Promise<readonly JsonObject[]> =>
    (await resources.list(apiVersion, kind))
      .filter((found) => String(at(found, "metadata", "namespace")).startsWith(prefix))
      .filter((found) => at(found, "metadata", "deletionTimestamp") === undefined)
      .map((found) => ({ ...found, apiVersion, kind }));
  const changing = (work: Promise<unknown>): Promise<unknown> =>
    work.catch((reason: unknown) => {
      if (!isFault(reason, "Conflict", "NotFound", "AlreadyExists", "PermissionDenied")) throw reason;
    });
  const withStatus = (plural: string, found: JsonObject, status: JsonObject): Promise<unknown> =>
    changing(
      client.replacePath(
        `${found.apiVersion === "v1" ? "/api/v1" : `/apis/${String(found.apiVersion)}`}/namespaces/${String(at(found, "metadata", "namespace"))}/${plural}/${nameOf(found)}/status`,
        { ...found, status },
      ),
    );
  const pods = await listed("v1", "Pod");
  for (const pod of pods)
    if (listAt(pod, "status", "conditions").every(({ type }) => type !== "Ready")) await withStatus("pods", pod, ready);
  for (const [kind, plural] of [
    ["Deployment", "deployments"],
    ["DaemonSet", "daemonsets"],
  ] as const)
    for (const workload of await listed("apps/v1", kind)) {
      if (at(workload, "status", "observedGeneration") !== at(workload, "metadata", "generation"))
        await withStatus(plural, workload, statusOf(workload));
      const name = `${nameOf(workload)}-0`;
      const isThere = (pod: JsonObject): boolean =>
        nameOf(pod) === name && at(pod, "metadata", "namespace") === at(workload, "metadata", "namespace");
      if (!pods.some(isThere)) await changing(client.create("Pod", podOf(workload, name) as never));
    }
}

function statusOf(workload: JsonObject): JsonObject {
  const observedGeneration = at(workload, "metadata", "generation") ?? 0;
  const replicas = at(workload, "spec", "replicas") ?? 0;
  return workload.kind === "DaemonSet"
    ? { observedGeneration, desiredNumberScheduled: 1, updatedNumberScheduled: 1, numberAvailable: 1 }
    : { observedGeneration, replicas, updatedReplicas: replicas, availableReplicas: replicas, readyReplicas: replicas };
}

function podOf(workload: JsonObject, name: string): JsonObject {
  const template = at(workload, "spec", "template") as JsonObject;
  const { apiVersion = "", kind = "" } = workload;
  const owner = { apiVersion, kind, name: nameOf(workload), uid: at(workload, "metadata", "uid") ?? "" };
  return {
    metadata: {
      name,
      namespace: at(workload, "metadata", "namespace") ?? "",
      labels: at(template, "metadata", "labels") ?? {},
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    spec: at(template, "spec") ?? {},
  };
}

/** Looks again and again while something works. */
export async function whilePodsAreReady<T>(client: Client, prefix: string, work: () => Promise<T>): Promise<T> {
  let isDone = false;
  const looks = (async () => {
    while (!isDone) {
      await makePodsReady(client, prefix);
      await new Promise((done) => setTimeout(done, 50));
    }
  })();
  try {
    return await work();
  } finally {
    isDone = true;
    await looks;
  }
}
