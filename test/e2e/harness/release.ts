/**
 * Ours in place of the release's images, with nothing else of its deploy folder changed: the arguments of its manifests, its
 * CRDs, and tokens that may do exactly what its RBAC files allow.
 */
import assert from "node:assert/strict";
import type { Client } from "./client.ts";
import type { Place } from "./component-users.ts";
import { snapshotKindsServed, startComponent } from "./components.ts";
import type { ControlPlane, Token } from "./control-plane.ts";
import { installCrds } from "./crds.ts";
import type { Daemon } from "./instance.ts";
import { applyManifest, type Manifest, releaseFile, upstreamCrds } from "./upstream.ts";

interface Workload extends Manifest {
  readonly spec: {
    readonly replicas: number;
    readonly template: { readonly spec: { readonly containers: readonly Container[] } };
  };
}
interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
}

const deploy = "deploy/kubernetes";

export const accounts = {
  "snapshot-controller": { namespace: "kube-system", token: "controller-token" },
  "csi-snapshotter": { namespace: "default", token: "sidecar-token" },
} as const;
export type Component = keyof typeof accounts;
export const components = Object.keys(accounts) as readonly Component[];

const userOf = (name: Component): string => `system:serviceaccount:${accounts[name].namespace}:${name}`;

/** For the control plane that the release is installed on. */
export const releaseTokens: readonly Token[] = components.map((name) => ({
  token: accounts[name].token,
  user: userOf(name),
  groups: ["system:serviceaccounts", `system:serviceaccounts:${accounts[name].namespace}`],
}));

/** "as shipped", or with the rules that the files hold in comments, for those who need secrets and nodes. */
export type Rules = "as shipped" | "optional ones too";

export async function installRelease(plane: ControlPlane, client: Client, rules: Rules): Promise<void> {
  await installCrds(client, await upstreamCrds());
  const edit = rules === "as shipped" ? undefined : uncommented;
  for (const component of components)
    for (const object of await releaseFile(`${deploy}/${component}/rbac-${component}.yaml`, edit))
      await applyManifest(plane, object);
  await snapshotKindsServed(client);
}

const optionalRule = /^ *# *- apiGroups: (.*)\n *# *resources: (.*)\n *# *verbs: (.*)$/m;
function uncommented(text: string): string {
  const edited = text.replace(optionalRule, "  - apiGroups: $1\n    resources: $2\n    verbs: $3");
  assert.notEqual(edited, text, "this file has no rule in comments");
  return edited;
}

/** Where a component with exactly the rights of its account runs. */
export const placeOf = (plane: ControlPlane, component: Component): Place => ({
  instance: plane.instance,
  kubeconfig: plane.kubeconfigFor(userOf(component), accounts[component].token),
  plane,
});

/** As many replicas as the manifest says, with its arguments. */
export async function startAsReleased(
  plane: ControlPlane,
  component: Component,
  given: Readonly<Record<string, string>> = {},
): Promise<readonly Daemon[]> {
  const { args, replicas } = await argumentsOf(component, given);
  // Outside of a pod there is no mounted token and no namespace: those two are all that is added.
  const inPod = [`--leader-election-namespace=${accounts[component].namespace}`];
  return Promise.all(
    Array.from({ length: replicas }, () =>
      startComponent(placeOf(plane, component), component, [...args, ...inPod], { as: "release" }),
    ),
  );
}

/** The arguments of a container of the release, as a kubelet would pass them. */
async function argumentsOf(component: Component, given: Readonly<Record<string, string>>) {
  const file = `${deploy}/${component}/setup-${component}.yaml`;
  const workloads = (await releaseFile(file)) as readonly Workload[];
  const workload = workloads.find(({ kind }) => kind === "Deployment" || kind === "StatefulSet");
  const container = workload?.spec.template.spec.containers.find(({ name }) => name === component);
  assert.ok(workload !== undefined && container !== undefined, `${file} has no container ${component}`);
  const values = new Map(container.env?.map(({ name, value = "" }) => [name, given[name] ?? value]));
  const args = container.args.map((arg) => arg.replace(/\$\((\w+)\)/g, (whole, name) => values.get(name) ?? whole));
  return { args, replicas: workload.spec.replicas };
}

/** What the components asked for and were not allowed to. */
export function deniedCalls(plane: ControlPlane, from = 0): readonly string[] {
  const users = new Set(releaseTokens.map(({ user }) => user));
  return plane
    .auditLog(from)
    .filter(({ user, responseStatus }) => users.has(user.username) && responseStatus?.code === 403)
    .map(({ user, verb, requestURI }) => `${user.username} may not ${verb} ${requestURI}`);
}

/** How many events they have written. */
export const eventsWritten = (plane: ControlPlane, from = 0): number =>
  plane
    .auditLog(from)
    .filter(
      ({ user, objectRef, verb }) =>
        user.username.startsWith("system:serviceaccount:") && objectRef?.resource === "events" && verb === "create",
    ).length;
