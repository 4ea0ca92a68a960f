/**
 * From Ignore to Fail, once the webhook is known to answer and to refuse as it should; with `demote` back again. While the policy is
 * Ignore, an unreachable webhook is not noticed: its certificate may be wrong, or its Service without endpoints.
 */
import { draftOf } from "../../api/builders.ts";
import { snapshotConfigurationName } from "../../api/manifests/webhook-configurations.ts";
import { Fault, isFault } from "../../base/fault.ts";
import type { KubeApi } from "../../kube/api.ts";

const configuration = { kind: "ValidatingWebhookConfiguration", name: snapshotConfigurationName } as const;
type Policy = "Ignore" | "Fail";

/** A claim name that the CRDs accept and the webhook does not: so it is the webhook that refuses. */
const onlyWebhookRefuses = "";

export async function setFailurePolicy(
  api: KubeApi,
  policy: Policy,
  { namespace, signal }: { readonly namespace: string; readonly signal: AbortSignal },
): Promise<string> {
  const found = await api.get(configuration, { signal }).catch((reason: unknown) => {
    throw isFault(reason, "NotFound")
      ? new Fault(
          "FailedPrecondition",
          `there is no ValidatingWebhookConfiguration ${configuration.name}; install the webhook first`,
        )
      : reason;
  });
  const webhooks = found.webhooks ?? [];
  const judged = policy === "Fail" ? ": the webhook answers, and refuses as it should" : "";
  // Also where it is set already: a webhook that does not answer then refuses every snapshot.
  if (policy === "Fail") await mustJudge(api, namespace, signal);
  if (webhooks.every(({ failurePolicy }) => failurePolicy === policy))
    return `${configuration.name} has failurePolicy ${policy} already${judged}`;
  const body = webhooks.map((_, index) => ({
    op: "replace" as const,
    path: `/webhooks/${index}/failurePolicy`,
    value: policy,
  }));
  const test = { op: "test" as const, path: "/metadata/resourceVersion", value: found.metadata.resourceVersion };
  await api.patch(configuration, { type: "json", body: [test, ...body] }, { signal });
  return `${configuration.name} has failurePolicy ${policy} now${judged}`;
}

/** Asks by dry run, so that nothing is stored whatever the answer. */
async function mustJudge(api: KubeApi, namespace: string, signal: AbortSignal): Promise<void> {
  const attempt = (claim: string) =>
    api.create(
      "VolumeSnapshot",
      draftOf(
        "VolumeSnapshot",
        { namespace, name: "snapkeep-promote" },
        { spec: { source: { persistentVolumeClaimName: claim } } },
      ),
      {
        signal,
        dryRun: true,
      },
    );
  await attempt("any").catch((reason: unknown) => {
    throw new Fault(
      "FailedPrecondition",
      `a valid VolumeSnapshot is refused (${Fault.from(reason).message}); the policy stays as it is; where it is Fail, snapkeep webhook promote --demote allows snapshots until the webhook answers`,
    );
  });
  const refusal = await attempt(onlyWebhookRefuses).then(
    () => undefined,
    (reason: unknown) => Fault.from(reason).message,
  );
  if (refusal?.includes("[SNAP-101]") === true) return;
  throw new Fault(
    "FailedPrecondition",
    `${refusal === undefined ? "an invalid VolumeSnapshot is allowed" : `an invalid VolumeSnapshot is refused by something else (${refusal})`}: the API server does not reach the webhook; look at its pods, its Service and the caBundle of ${configuration.name}; the policy stays as it is`,
  );
}
