/** What is in the way at the end: the objects whose deletion is asked and not done, and new ones that wait, as `explain` explains them. */
import { snapshotConfigurationName } from "../../api/manifests/webhook-configurations.ts";
import type { Ref } from "../../api/plan.ts";
import type { KubeObject } from "../../api/types.ts";
import { decideBy, readerOf } from "../explain/cluster-copy.ts";
import { explain, explainedKinds } from "../explain/explain.ts";
import { upLabels } from "../install/up-cluster.ts";
import type { Effect } from "./effect.ts";
import type { Rest } from "./predict.ts";

export interface Block {
  readonly object: Ref;
  readonly code: string;
  readonly says: string;
}

/** In the copy all components run in one process, as in `snapkeep up`. */
const oneProcess = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: snapshotConfigurationName, uid: "up", resourceVersion: "1", labels: upLabels },
} as KubeObject;

export async function blocksOf({ touched }: Effect, after: Rest, signal: AbortSignal): Promise<readonly Block[]> {
  const reader = readerOf([...after.objects, oneProcess]);
  const found: Block[] = [];
  for (const { object, what } of touched) {
    if (what === "deleted" || (what === "changed" && object.kind !== "PersistentVolumeClaim")) continue;
    const explained = explainedKinds.includes(object.kind)
      ? await decideBy(reader, (copy) => explain(copy, object, after.nowMs), signal)
      : undefined;
    if (explained !== undefined && explained.verdict !== "good")
      found.push({ object, code: explained.cause, says: explained.says });
    else if (what === "terminating") found.push({ object, code: "InUse", says: finalizersOf(object, after) });
  }
  return found;
}

function finalizersOf({ kind, namespace, name }: Ref, { objects }: Rest): string {
  const held = objects.find(
    (object) => object.kind === kind && object.metadata.name === name && object.metadata.namespace === namespace,
  );
  const finalizers = held?.metadata.finalizers ?? [];
  return finalizers.length === 0 ? "something in it is still there" : `its finalizers stay: ${finalizers.join(", ")}`;
}
