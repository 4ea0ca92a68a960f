/**
 * Ours in place of the release's images, with nothing else of its deploy folder changed: the arguments of its manifests, its
 * CRDs, and tokens that may do exactly what its RBAC files allow.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { type Connection, connect } from "./harness/client.ts";
import {
  aBoundClaim,
  aClassFor,
  csiClientTo,
  type Furniture,
  snapshotKindsServed,
  startComponent,
} from "./harness/components.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { startDirectoryDriver } from "./harness/directory-driver.ts";
import { leftovers, type Snapshots, snapshotsOf } from "./harness/snapshots.ts";
import { applyManifest, type Manifest, releaseFile } from "./harness/upstream.ts";

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
const crds = ["volumesnapshots", "volumesnapshotcontents", "volumesnapshotclasses"];
const accounts = {
  "snapshot-controller": { namespace: "kube-system", token: "controller-token" },
  "csi-snapshotter": { namespace: "default", token: "sidecar-token" },
} as const;
type Component = keyof typeof accounts;

const userOf = (name: Component): string => `system:serviceaccount:${accounts[name].namespace}:${name}`;
const tokens = (Object.keys(accounts) as Component[]).map((name) => ({
  token: accounts[name].token,
  user: userOf(name),
  groups: ["system:serviceaccounts", `system:serviceaccounts:${accounts[name].namespace}`],
}));

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

describe("with the release's own manifests, CRDs and RBAC", () => {
  const namespace = "default";
  let plane: ControlPlane;
  let connection: Connection;
  let furniture: Furniture;
  let snapshots: Snapshots;

  before(async () => {
    plane = await startControlPlane({ tokens });
    connection = await connect(plane.kubeconfig);
    for (const crd of crds)
      for (const object of await releaseFile(`config/crd/snapshot.storage.k8s.io_${crd}.yaml`))
        await applyManifest(plane, object);
    for (const component of Object.keys(accounts))
      for (const object of await releaseFile(`${deploy}/${component}/rbac-${component}.yaml`))
        await applyManifest(plane, object);
    await snapshotKindsServed(connection.client);
    const driver = await startDirectoryDriver(plane.instance);
    furniture = { client: connection.client, csi: csiClientTo(driver.socket), driver: driver.driver, namespace };
    snapshots = snapshotsOf(furniture);
    await start("snapshot-controller", {});
    await start("csi-snapshotter", { ADDRESS: driver.socket });
    await aClassFor(furniture, "delete", "Delete");
    await aClassFor(furniture, "retain", "Retain");
  });
  after(() => {
    furniture?.csi.close();
    connection?.close();
    plane?.stop();
  });

  /** Outside of a pod there is no mounted token and no namespace: those two are all that is added. */
  async function start(component: Component, given: Readonly<Record<string, string>>): Promise<void> {
    const { args, replicas } = await argumentsOf(component, given);
    const kubeconfig = plane.kubeconfigFor(userOf(component), accounts[component].token);
    const place = { instance: plane.instance, kubeconfig };
    const inPod = [`--leader-election-namespace=${accounts[component].namespace}`];
    for (let replica = 0; replica < replicas; replica += 1) startComponent(place, component, [...args, ...inPod]);
  }

  test("the tokens may do no more than the files say", async () => {
    const claim = `/api/v1/namespaces/${namespace}/persistentvolumeclaims/any`;
    for (const component of Object.keys(accounts) as Component[]) {
      const { token } = accounts[component];
      assert.equal((await plane.request("DELETE", claim, undefined, token)).status, 403, component);
    }
  });

  test("the whole life of a snapshot passes, and not one call is refused", async () => {
    const from = plane.auditMark();
    await aBoundClaim(furniture, "data");
    await snapshots.take("gone", "data", "delete");
    await snapshots.take("kept", "data", "retain");
    await snapshots.untilReady("gone");
    await snapshots.untilReady("kept");
    const kept = await snapshots.contentOf("kept");
    await snapshots.remove("gone");
    await snapshots.remove("kept");
    await furniture.client.delete({ kind: "VolumeSnapshotContent", name: kept.metadata.name });
    await snapshots.untilGone({ kind: "VolumeSnapshotContent", name: kept.metadata.name });
    await adoptAndRemove(kept.status?.snapshotHandle ?? "");
    await snapshots.take("wrong", "missing", "delete");
    await snapshots.untilTold("wrong", /missing/);
    await snapshots.remove("wrong");
    await snapshots.untilUnprotected("data");
    assert.deepEqual(await leftovers(furniture), []);

    const users = new Set(tokens.map(({ user }) => user));
    const calls = plane.auditLog().filter(({ user }) => users.has(user.username));
    const refused = calls.filter(
      ({ requestURI, responseStatus }) => responseStatus?.code === 403 && !requestURI.endsWith("/any"),
    );
    assert.deepEqual(
      refused.map(({ user, verb, requestURI }) => `${user.username} may not ${verb} ${requestURI}`),
      [],
    );
    const events = plane
      .auditLog(from)
      .filter(
        ({ user, objectRef, verb }) =>
          users.has(user.username) && objectRef?.resource === "events" && verb === "create",
      );
    assert.ok(events.length > 0, "no event was written with these tokens");
  });

  async function adoptAndRemove(snapshotHandle: string): Promise<void> {
    const spec = {
      deletionPolicy: "Delete" as const,
      driver: furniture.driver,
      source: { snapshotHandle },
      volumeSnapshotRef: { namespace, name: "adopted" },
    };
    const content = draftOf("VolumeSnapshotContent", { name: "adopted" }, { spec });
    await furniture.client.create("VolumeSnapshotContent", content);
    const source = { volumeSnapshotContentName: "adopted" };
    const snapshot = draftOf("VolumeSnapshot", { namespace, name: "adopted" }, { spec: { source } });
    await furniture.client.create("VolumeSnapshot", snapshot);
    await snapshots.untilReady("adopted");
    await snapshots.remove("adopted");
  }

  test("the lease has the name and place that upstream's replicas look for", async () => {
    const name = "snapshot-controller-leader";
    const lease = await furniture.client.get({ kind: "Lease", namespace: "kube-system", name });
    assert.ok(lease.spec?.holderIdentity);
  });
});
