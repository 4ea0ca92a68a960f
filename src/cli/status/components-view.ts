/** The processes of the snapshot stack: which run, in which version, and who leads. Pure. */
import type { KubeObject } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import type { JsonObject } from "../../base/json.ts";
import type { ClusterCopy } from "../explain/cluster-copy.ts";
import { textOf } from "../explain/finding.ts";
import { type Component, containerIn, podsOf, type RunningComponent, runningOf, runsInUp } from "../explain/running.ts";
import type { Problem } from "../install/health-plan.ts";
import { isReady } from "../install/pods.ts";
import type { ComponentState, ComponentView, WaitingView } from "./view.ts";

/** The webhook has no lease: each of its pods answers. */
const webhookNames = ["webhook", "snapshot-validation-webhook"] as const;

export function componentsView(
  copy: ClusterCopy,
  drivers: ReadonlySet<string>,
  nowMs: Millis,
): readonly ComponentView[] {
  const view = (component: Component) => viewOf(copy, component, nowMs);
  const found = (component: Component): readonly ComponentView[] => {
    const one = view(component);
    return one.state === "does not run" && one.lease === undefined ? [] : [one];
  };
  const takesSnapshots = new Set(copy.list("VolumeSnapshotClass").map(({ driver }) => driver));
  const isServed = copy.list("SharedSecret").length + copy.list("SharedConfigMap").length > 0;
  return [
    view({ name: "snapshot-controller" }),
    ...webhooks(copy),
    ...[...drivers]
      .toSorted()
      .flatMap((driver) => [
        ...(takesSnapshots.has(driver)
          ? [view({ name: "csi-snapshotter", driver })]
          : found({ name: "csi-snapshotter", driver })),
        ...found({ name: "csi-provisioner", driver }),
      ]),
    ...(isServed ? [view({ name: "shared-resource" })] : runsInUp(copy) ? [] : found({ name: "shared-resource" })),
  ];
}

/** Those that the next snapshot will wait for. Where something waits already, that says it. */
export const stoppedComponents = (
  components: readonly ComponentView[],
  waiting: readonly WaitingView[],
): readonly Problem[] =>
  waiting.some(({ code }) => code === "ComponentDown")
    ? []
    : components
        .filter(({ state }) => state === "does not run")
        .map(({ name, driver, lease }) => ({
          object: driver === undefined ? name : `${name} of driver ${driver}`,
          says:
            lease === undefined
              ? "does not run: there is neither a lease nor a pod of it"
              : `does not run: nobody holds ${textOf(lease)}`,
        }));

const states: Readonly<Record<RunningComponent["state"], ComponentState>> = {
  leads: "leads",
  "runs without lease": "runs",
  idle: "does not run",
  absent: "does not run",
  unknown: "unknown",
};

function viewOf(copy: ClusterCopy, component: Component, nowMs: Millis): ComponentView {
  const running = runningOf(copy, component, nowMs);
  const { name, driver } = component;
  const namespace = running.lease?.namespace ?? running.pod?.namespace;
  // Which driver a sidecar stands beside is known of the pod that leads only.
  const pods =
    driver === undefined
      ? podsOf(copy, name).filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
      : podsOf(copy, name).filter(({ metadata }) => metadata.name === running.pod?.name);
  const isUp = running.state === "runs without lease" && running.pod === undefined && runsInUp(copy);
  return {
    name,
    driver,
    state: states[running.state],
    process: isUp ? "snapkeep up" : undefined,
    namespace,
    ...containersOf(pods, name),
    lease: running.lease,
    leader: leaderOf(copy, running),
    renewedMs: running.renewedMs,
    problem: running.problem,
  };
}

const leaderOf = (copy: ClusterCopy, { state, lease }: RunningComponent): string | undefined =>
  lease === undefined || state !== "leads"
    ? undefined
    : (copy.get("Lease", lease.namespace, lease.name)?.spec?.holderIdentity ?? undefined);

function webhooks(copy: ClusterCopy): readonly ComponentView[] {
  if (runsInUp(copy)) return [{ name: "webhook", state: "runs", process: "snapkeep up", versions: [] }];
  return webhookNames.flatMap((name) => {
    const pods = podsOf(copy, name);
    if (pods.length === 0) return [];
    const running = containersOf(pods, name);
    const state = (running.pods?.ready ?? 0) > 0 ? "runs" : "does not run";
    return [{ name, state, namespace: pods[0]?.metadata.namespace, ...running } as const];
  });
}

function containersOf(pods: readonly KubeObject[], name: string): Pick<ComponentView, "versions" | "pods"> {
  const images = pods.flatMap((pod) => containerIn(pod, name)?.image ?? []).map(String);
  const ready = pods.filter((pod) => isReady(pod as unknown as JsonObject)).length;
  return {
    versions: [...new Set(images.map(versionOf))].toSorted(),
    pods: pods.length === 0 ? undefined : { ready, all: pods.length },
  };
}

/** The tag, or the beginning of the digest. */
function versionOf(image: string): string {
  const [name = "", digest] = image.split("@");
  const tag = /:([^/:]+)$/.exec(name)?.[1];
  return tag?.replace(/^v(?=\d)/, "") ?? digest?.slice(0, 19) ?? "latest";
}
