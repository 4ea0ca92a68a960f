/**
 * Where it is played: a real control plane, two replicas each of the snapshot-controller, the csi-snapshotter and the
 * csi-provisioner, each with a way of its own to the API server through a fault proxy (and the last to the driver, too), and a driver that keeps what it has over a kill.
 */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { draftOf } from "../../../src/api/builders.ts";
import { leaseNamespace } from "../../../src/api/manifests/snapshot-controller.ts";
import { createVolumeCallsSuffix, leaseNameFrom, parameters } from "../../../src/api/names.ts";
import { leaseNameFor } from "../../../src/components/csi-snapshotter/lease-name.ts";
import { createCsiRelay } from "../../csi-relay.ts";
import { guideRights } from "../../guide-rights.ts";
import { type Connection, connect } from "../harness/client.ts";
import { described as describedDriver } from "../harness/component-users.ts";
import { aClassFor, csiClientTo, type Fixtures, installSnapshotCrds } from "../harness/components.ts";
import { type ControlPlane, startControlPlane } from "../harness/control-plane.ts";
import { type DirectoryDriverProcess, startDirectoryDriver } from "../harness/directory-driver.ts";
import { shipped } from "../harness/shipped.ts";
import { bindShipped, grantTo } from "../harness/shipped-accounts.ts";
import { until } from "../harness/until.ts";
import { type ComponentName, type Replica, startReplica } from "./replica.ts";

export interface ChaosHarness {
  readonly plane: ControlPlane;
  /** The user's way to the API server and to the driver: no proxy on it. */
  readonly furniture: Fixtures;
  readonly driver: DirectoryDriverProcess;
  readonly replicas: readonly Replica[];
  /** What must never be seen outside of its Secret. */
  readonly secret: string;
  readonly classes: { readonly delete: string; readonly retain: string; readonly storage: string };
  /** The identity of the component's leader; undefined without one. */
  holderOf(component: ComponentName): Promise<string | undefined>;
  /** Waits until a running replica holds the lease. */
  leaderOf(component: ComponentName): Promise<Replica>;
  stop(): Promise<void>;
}

export const components: readonly ComponentName[] = ["snapshot-controller", "csi-snapshotter", "csi-provisioner"];
export const secretName = "storage-password";
const namespace = "default";
const patienceMs = 180_000;

/**
 * Short, so that a handover takes seconds, and far enough apart that a request of the old leader which is on its way arrives
 * before the new one begins, also on a busy machine. Every other flag that bears on behaviour has its default.
 */
const election = [
  "--leader-election",
  "--leader-election-lease-duration=6s",
  "--leader-election-renew-deadline=4s",
  "--leader-election-retry-period=500ms",
];
const leasePlaceOf = (component: ComponentName): string =>
  component === "snapshot-controller" ? leaseNamespace : shipped.driverNamespace;

export async function startHarness(): Promise<ChaosHarness> {
  const secret = randomBytes(18).toString("hex");
  const users = components.flatMap((component) =>
    [1, 2].map((number) => ({ component, user: `${component}-${number}` })),
  );
  const tokens = users.map(({ user }) => ({ user, token: randomBytes(16).toString("hex") }));
  const plane = await startControlPlane({ tokens });
  const connection = await connect(plane.kubeconfig, { userAgent: "user" });
  await installSnapshotCrds(connection.client);
  const secretFile = join(plane.instance.folder, "snapshot-secret");
  writeFileSync(secretFile, secret, { mode: 0o600 });
  const flags = [`--snapshot-secret-file=${secretFile}`, "--snapshot-delay=100ms"];
  const driver = await startDirectoryDriver(plane.instance, { flags });
  const furniture: Fixtures = {
    client: connection.client,
    csi: csiClientTo(driver.socket),
    driver: driver.driver,
    namespace,
  };
  const classes = await furnish(furniture, secret);
  const described = { ...(await describedDriver(driver.socket)), capacity: false };
  for (const { component, user } of users) {
    const isSidecar = component !== "snapshot-controller";
    await bindShipped(plane, component, user, isSidecar ? described : undefined);
    if (isSidecar) await grantTo(plane, { user }, "secrets", guideRights.secrets);
  }
  const replicas = await Promise.all(
    users.map(async ({ component, user }, index) => {
      const relay =
        component === "csi-provisioner"
          ? await createCsiRelay(driver.socket, join(plane.instance.folder, `${user}.sock`))
          : undefined;
      const flags = flagsOf(component, relay ?? driver);
      return startReplica({ plane, component, user, token: tokens[index]?.token ?? "", relay, flags });
    }),
  );
  const holderOf: ChaosHarness["holderOf"] = (component) =>
    holder(connection, component, leaseNames(driver)[component]);
  const leaderOf: ChaosHarness["leaderOf"] = (component) =>
    until({ what: `a ${component} leads`, msMax: patienceMs }, async () => {
      const identity = await holderOf(component).catch(() => undefined);
      return replicas.find((replica) => identity !== undefined && replica.identity() === identity);
    });
  return {
    plane,
    furniture,
    driver,
    replicas,
    secret,
    classes,
    holderOf,
    leaderOf,
    stop: async () => {
      await Promise.all(replicas.map((replica) => replica.close()));
      furniture.csi.close();
      connection.close();
      plane.stop();
    },
  };
}

const flagsOf = (component: ComponentName, { socket }: Pick<DirectoryDriverProcess, "socket">): readonly string[] => [
  "-v=5",
  ...election,
  `--leader-election-namespace=${leasePlaceOf(component)}`,
  ...(component === "snapshot-controller" ? [] : [`--csi-address=${socket}`]),
];

/** A driver that wants a password, and two classes that name the Secret it is in. */
async function furnish(furniture: Fixtures, secret: string): Promise<ChaosHarness["classes"]> {
  const stringData = { token: secret };
  await furniture.client.create("Secret", draftOf("Secret", { namespace, name: secretName }, { stringData }));
  const named = {
    [parameters.snapshotterSecretName]: secretName,
    [parameters.snapshotterSecretNamespace]: namespace,
  };
  await aClassFor(furniture, "delete", "Delete", named);
  await aClassFor(furniture, "retain", "Retain", named);
  const provisioned = { provisioner: furniture.driver, reclaimPolicy: "Delete", volumeBindingMode: "Immediate" };
  await furniture.client.create("StorageClass", draftOf("StorageClass", { name: "disk" }, provisioned));
  return { delete: "delete", retain: "retain", storage: "disk" };
}

export const leaseNames = ({ driver }: Pick<DirectoryDriverProcess, "driver">) => ({
  "snapshot-controller": "snapshot-controller-leader",
  "csi-snapshotter": leaseNameFor(driver),
  "csi-provisioner": leaseNameFrom(driver),
});
/** Where the provisioner stores its CreateVolume calls. */
export const storedCallsRef = (driver: Pick<DirectoryDriverProcess, "driver">) => ({
  kind: "Lease" as const,
  namespace: leasePlaceOf("csi-provisioner"),
  name: `${leaseNames(driver)["csi-provisioner"]}${createVolumeCallsSuffix}`.toLowerCase(),
});

async function holder({ client }: Connection, component: ComponentName, name: string): Promise<string | undefined> {
  const { spec } = await client.get({ kind: "Lease", namespace: leasePlaceOf(component), name });
  return spec?.holderIdentity === "" ? undefined : spec?.holderIdentity;
}
