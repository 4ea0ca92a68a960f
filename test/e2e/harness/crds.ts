/** CRDs on an API server of the harness. */
import type { CrdDraft } from "../../../src/api/crds/index.ts";
import type { Ref } from "../../../src/api/plan.ts";
import { isFault } from "../../../src/base/fault.ts";
import { type Client, connect } from "./client.ts";
import type { ControlPlane } from "./control-plane.ts";
import { until } from "./until.ts";

const longAgo = "2020-01-01T00:00:00Z";

/** Returns when they are established, and objects of them can be created without delay. Those of another suite stay as they are. */
export async function installCrds(client: Client, crds: readonly CrdDraft[]): Promise<void> {
  for (const crd of crds)
    await client.create("CustomResourceDefinition", crd).catch((reason: unknown) => {
      if (!isFault(reason, "AlreadyExists")) throw reason;
    });
  await withoutCreateDelay(
    client,
    crds.map(({ metadata }) => metadata.name ?? ""),
  );
}

/** The same for suites that have no client of ours. */
export async function installCrdsOn(
  { kubeconfig }: Pick<ControlPlane, "kubeconfig">,
  crds: readonly CrdDraft[],
): Promise<void> {
  const { client, close } = await connect(kubeconfig);
  await installCrds(client, crds).finally(close);
}

/**
 * For clusters with several API servers, kube-apiserver waits 2 s before it creates an object whose CRD was established less than 2 s
 * ago. Here there is one, so the time of the condition is changed.
 */
export async function withoutCreateDelay(client: Client, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const ref = { kind: "CustomResourceDefinition", name } as const;
    const found = await until({ what: `the CRD ${name} is established`, everyMs: 10 }, async () => {
      const conditions = (await client.get(ref)).status?.conditions ?? [];
      const index = conditions.findIndex(({ type, status }) => type === "Established" && status === "True");
      return index === -1 ? undefined : { index, since: conditions[index]?.lastTransitionTime };
    });
    if (found.since === longAgo) continue;
    const path = `/status/conditions/${found.index}`;
    const body = [
      { op: "test" as const, path: `${path}/type`, value: "Established" },
      { op: "replace" as const, path: `${path}/lastTransitionTime`, value: longAgo },
    ];
    await client.patch(ref, { type: "json", body }, { subresource: "status" });
  }
}

/** With all their objects; returns when they are gone. */
export async function deleteCrds(client: Client, names: readonly string[]): Promise<void> {
  const refs = names.map((name) => ({ kind: "CustomResourceDefinition", name }) as const);
  for (const ref of refs)
    await client.delete(ref).catch((reason: unknown) => {
      if (!isFault(reason, "NotFound")) throw reason;
    });
  for (const ref of refs) await until({ what: `the CRD ${ref.name} is gone` }, () => isCrdGone(client, ref));
}

/**
 * kube-apiserver may refuse to list the objects of a CRD that was changed a moment ago. Its CRD finalizer tries again, can conflict with
 * its own status update, and then waits for a change of the CRD by somebody else: up to five minutes.
 */
async function isCrdGone(client: Client, ref: Ref<"CustomResourceDefinition">): Promise<true | undefined> {
  try {
    const { status } = await client.get(ref);
    if (status?.conditions?.some(({ reason }) => reason === "InstanceDeletionFailed"))
      await client.patch(ref, { type: "merge", body: { metadata: { annotations: { looked: String(Date.now()) } } } });
    return undefined;
  } catch (reason) {
    if (isFault(reason, "NotFound")) return true;
    throw reason;
  }
}
