/** Which process has to act, and whether it runs: by its lease, and by the pod that holds it. */
import type { KindName } from "../../api/kinds.ts";
import { snapshotConfigurationName } from "../../api/manifests/webhook-configurations.ts";
import { leaseNameFrom } from "../../api/names.ts";
import type { Ref } from "../../api/plan.ts";
import type { KubeObject, Lease } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { memberAt } from "../../rules/pod-specs.ts";
import { isOfUp } from "../install/up-cluster.ts";
import { type ClusterCopy, unread } from "./cluster-copy.ts";

export type ComponentName = "snapshot-controller" | "csi-snapshotter" | "csi-provisioner" | "shared-resource";

/** A component, and the driver it runs beside. */
export interface Component {
  readonly name: ComponentName;
  readonly driver?: string | undefined;
}

export interface RunningComponent {
  readonly component: Component;
  /** leads: its lease is held. idle: nobody holds it. unknown: leases or pods cannot be read. */
  readonly state: "leads" | "runs without lease" | "idle" | "absent" | "unknown";
  readonly lease?: Ref | undefined;
  readonly renewedMs?: Millis | undefined;
  readonly pod?: Ref | undefined;
  /** Who holds the lease, up to the first "_": the name of a pod or of a machine. */
  readonly holder?: string | undefined;
  /** Pods cannot be read. */
  readonly isPodUnknown?: boolean | undefined;
  /** Its container in the pod, and the image, as far as they are known. */
  readonly container?: string | undefined;
  readonly image?: string | undefined;
  /** Who it is to the API server, as "namespace:name". */
  readonly serviceAccount?: string | undefined;
  /** The container's own words when it does not run. */
  readonly problem?: string | undefined;
}

const leaseNames: Readonly<Record<ComponentName, (driver: string) => string>> = {
  "snapshot-controller": () => "snapshot-controller-leader",
  "csi-snapshotter": (driver) => leaseNameFrom(`external-snapshotter-leader-${driver}`),
  "csi-provisioner": (driver) => leaseNameFrom(driver),
  "shared-resource": () => "shared-resource-controller-leader",
};

/** Where each lease is found is not known: its name is, and is part of the contract with the replaced components. */
export function runningOf(copy: ClusterCopy, component: Component, nowMs: Millis): RunningComponent {
  const name = leaseNames[component.name](component.driver ?? "");
  const leases = copy.list("Lease", { fieldSelector: `metadata.name=${name}` });
  if (leases === unread) return { component, state: "unknown" };
  const lease = leases.toSorted((a, b) => renewedAt(b) - renewedAt(a))[0];
  if (lease === undefined) return withoutLease(copy, component);
  const { namespace } = lease.metadata;
  const holder = holderOf(lease);
  const ref: Ref = { kind: "Lease", namespace, name };
  const found = containerOf(copy, component, namespace, holder);
  const isHeld = holder !== "" && renewedAt(lease) + durationMs(lease) >= nowMs;
  return {
    component,
    state: isHeld ? "leads" : "idle",
    lease: ref,
    renewedMs: renewedAt(lease),
    ...(isHeld ? { holder } : {}),
    ...found,
  };
}

function withoutLease(copy: ClusterCopy, component: Component): RunningComponent {
  if (isUnreadable(copy, "Lease")) return { component, state: "unknown" };
  const { driver } = component;
  if (driver !== undefined && copy.get("CSIDriver", undefined, driver) === undefined)
    return { component, state: isUnreadable(copy, "CSIDriver") ? "unknown" : "absent" };
  // A single replica needs no lease. Only then are all pods listed.
  const [pod] = podsOf(copy, component.name);
  if (pod === undefined) return { component, state: isUnreadable(copy, "Pod") ? "unknown" : "absent" };
  // Which driver a sidecar stands beside is not written in its pod.
  if (driver !== undefined) return { component, state: "unknown" };
  const found = describeContainer(pod, component);
  return { component, state: found.problem === undefined ? "runs without lease" : "idle", ...found };
}

/** `snapkeep up` runs all components in its own process. */
export const runsInUp = (copy: ClusterCopy): boolean => {
  const found = copy.get("ValidatingWebhookConfiguration", undefined, snapshotConfigurationName);
  return isOfUp(found === undefined ? undefined : json(found));
};

/** Which pods run a component, once for each list of pods. */
const podsBy = new WeakMap<readonly KubeObject[], Map<string, readonly KubeObject[]>>();

export function podsOf(copy: ClusterCopy, name: string): readonly KubeObject[] {
  const pods = copy.list("Pod");
  const known = podsBy.get(pods) ?? new Map<string, readonly KubeObject[]>();
  podsBy.set(pods, known);
  const found = known.get(name) ?? pods.filter((pod) => containerIn(pod, name) !== undefined);
  known.set(name, found);
  return found;
}

const isUnreadable = (copy: ClusterCopy, kind: KindName): boolean =>
  copy.gaps().some(({ want, answer }) => want.kind === kind && answer.kind === "unreadable");

const renewedAt = ({ spec }: Lease): Millis => Date.parse(String(spec?.renewTime ?? "")) || 0;
const durationMs = ({ spec }: Lease): Millis => (spec?.leaseDurationSeconds ?? 15) * 1_000;
/** Some write more than the pod's name, after a "_" or a "/". */
const holderOf = ({ spec }: Lease): string => /^[^_/]*/.exec(spec?.holderIdentity ?? "")?.[0] ?? "";

function containerOf(copy: ClusterCopy, component: Component, namespace: string | undefined, holder: string) {
  const pod = holder === "" ? undefined : copy.get("Pod", namespace, holder);
  return pod === undefined ? {} : describeContainer(pod, component);
}

function describeContainer(pod: KubeObject, component: Component) {
  const { namespace, name } = pod.metadata;
  const container = containerIn(pod, component.name);
  const status = listAt(json(pod), ["status", "containerStatuses"]).find(
    (each) => memberAt(each, ["name"]) === container?.name,
  );
  const waiting = memberAt(status, ["state", "waiting", "reason"]);
  return {
    pod: { kind: "Pod", namespace, name } as Ref,
    container: text(container?.name),
    image: text(container?.image),
    serviceAccount: `${namespace ?? ""}:${text(memberAt(json(pod), ["spec", "serviceAccountName"])) ?? "default"}`,
    problem: typeof waiting === "string" ? waiting : undefined,
  };
}

const listAt = (value: JsonValue, path: readonly string[]): readonly JsonValue[] => {
  const found = memberAt(value, path);
  return Array.isArray(found) ? found : [];
};
const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
const json = (object: KubeObject): JsonObject => object as unknown as JsonObject;

/** The container that runs the component, known by its name, its image, or the word of its command. */
export function containerIn(
  pod: KubeObject,
  name: string,
): { readonly name: unknown; readonly image: unknown } | undefined {
  const containers = listAt(json(pod), ["spec", "containers"]) as readonly JsonObject[];
  const found = containers.find(
    (each) =>
      each.name === name ||
      String(each.image ?? "").includes(`/${name}:`) ||
      [...listAt(each, ["command"]), ...listAt(each, ["args"])].some(
        (word) => word === name || String(word).endsWith(`/${name}`),
      ),
  );
  return found === undefined ? undefined : { name: found.name, image: found.image };
}

export interface Maker {
  readonly program: "snapkeep" | "external-snapshotter" | "external-provisioner";
  readonly release?: string | undefined;
}

const goPrograms: Partial<Readonly<Record<ComponentName, Maker["program"]>>> = {
  "snapshot-controller": "external-snapshotter",
  "csi-snapshotter": "external-snapshotter",
  "csi-provisioner": "external-provisioner",
};

/** Whose program runs, by its image: ours is one for all components, the Go components have one each. */
export function makerOf({ component, image = "" }: RunningComponent): Maker | undefined {
  const [, name, , release] = /(?:^|\/)([\w.-]+)(:v?(\d+\.\d+\.\d+)[^@]*)?(?:[:@].*)?$/.exec(image) ?? [];
  const program = name === "snapkeep" ? "snapkeep" : name === component.name ? goPrograms[component.name] : undefined;
  return program === undefined ? undefined : { program, ...(release === undefined ? {} : { release }) };
}

/** The release of the Go component that runs, if it is one: "8.2.0". */
export function goReleaseOf(running: RunningComponent): string | undefined {
  const maker = makerOf(running);
  return maker === undefined || maker.program === "snapkeep" ? undefined : maker.release;
}
