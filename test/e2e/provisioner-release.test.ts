/** Our provisioner with exactly the rights that external-provisioner's own RBAC file gives, and with the rules that help it. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { finalizers, provisioning } from "../../src/api/names.ts";
import type { PersistentVolume } from "../../src/api/types.ts";
import { guideRights } from "../guide-rights.ts";
import { type Connection, connect } from "./harness/client.ts";
import { startComponent } from "./harness/components.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { startDirectoryDriver } from "./harness/directory-driver.ts";
import type { Daemon } from "./harness/instance.ts";
import { installProvisionerRelease, provisionerToken, provisionerUser } from "./harness/provisioner-release.ts";
import { installRelease, releaseTokens } from "./harness/release.ts";
import { grantTo } from "./harness/shipped-accounts.ts";
import { type SnapshotSuite, snapshotSuiteFor } from "./harness/snapshot-suites.ts";
import { until } from "./harness/until.ts";

const namespace = "default";
const user = provisionerUser;
describe("with the RBAC file of external-provisioner 5.3.0", () => {
  let plane: ControlPlane;
  let connection: Connection;
  let suite: SnapshotSuite;
  let provisioner: Daemon;
  let start: () => Promise<Daemon>;

  before(async () => {
    plane = await startControlPlane({ tokens: [...releaseTokens, provisionerToken] });
    connection = await connect(plane.kubeconfig);
    await installRelease(plane, connection.client, "as shipped");
    await installProvisionerRelease(plane);
    await startComponent(plane, "snapshot-controller");
    const driver = await startDirectoryDriver(plane.instance);
    suite = await snapshotSuiteFor(plane, connection, { ...driver, dataOf: () => "" });
    const more = { provisioner: driver.driver, reclaimPolicy: "Delete", volumeBindingMode: "Immediate" };
    await connection.client.create("StorageClass", draftOf("StorageClass", { name: "plain" }, more as never));
    const place = { ...plane, kubeconfig: plane.kubeconfigFor(user, provisionerToken.token) };
    const flags = [`--csi-address=${driver.socket}`, "--leader-election", `--leader-election-namespace=${namespace}`];
    // A call that is late on a busy machine would be reported, and that is not what is counted here.
    start = () => startComponent(place, "csi-provisioner", [...flags, "--timeout=2m", "--v=4"], { as: "release" });
    provisioner = await start();
  });
  after(() => {
    suite?.fixtures.csi.close();
    connection?.close();
    plane?.stop();
  });

  const claimRef = (name: string) => ({ kind: "PersistentVolumeClaim", namespace, name }) as const;
  const create = (name: string, dataSource?: object) =>
    connection.client.create(
      "PersistentVolumeClaim",
      draftOf("PersistentVolumeClaim", claimRef(name), {
        spec: {
          accessModes: ["ReadWriteOnce"],
          storageClassName: "plain",
          resources: { requests: { storage: "1Mi" } },
          ...(dataSource === undefined ? {} : { dataSource: dataSource as never }),
        },
      }),
    );
  const untilBound = (name: string): Promise<PersistentVolume> =>
    until({ what: `claim ${name} is bound` }, async () => {
      const { spec, status } = await connection.client.get(claimRef(name));
      return status?.phase === "Bound"
        ? connection.client.get({ kind: "PersistentVolume", name: spec?.volumeName ?? "" })
        : undefined;
    });
  const remove = async (name: string): Promise<void> => {
    const { spec } = await connection.client.get(claimRef(name));
    await connection.client.delete(claimRef(name));
    await suite.untilGone({ kind: "PersistentVolume", name: spec?.volumeName ?? "" });
  };
  const restoring = (name: string) => ({ apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name });
  const ofProvisioner = (from = 0) => plane.auditLog(from).filter((entry) => entry.user.username === user);
  const denied = (): readonly string[] =>
    ofProvisioner()
      .filter(({ responseStatus }) => responseStatus?.code === 403)
      .map(({ verb, requestURI }) => `${verb} ${requestURI}`);
  const writesTo = (resource: string, from: number): readonly string[] =>
    ofProvisioner(from)
      .filter(({ objectRef, verb }) => objectRef?.resource === resource && !["get", "list", "watch"].includes(verb))
      .map(({ verb }) => verb);

  /** All but events, questions and the election. */
  const objectWrites = (from: number): readonly string[] =>
    ofProvisioner(from)
      .filter(
        ({ verb, objectRef, requestURI }) =>
          ["create", "update", "patch", "delete"].includes(verb) &&
          !["events", "selfsubjectaccessreviews"].includes(objectRef?.resource ?? "") &&
          (objectRef?.resource !== "leases" || requestURI.includes("create-volume-calls")),
      )
      .map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}`);

  test("claims are provisioned, restored, cloned and deleted without one denied request", async () => {
    const from = plane.auditPosition();
    await create("data");
    await untilBound("data");
    await create("early", restoring("monday"));
    await suite.take("monday", "data", suite.classes.delete);
    await suite.untilReady("monday");
    await untilBound("early");
    await create("copy", { kind: "PersistentVolumeClaim", name: "data" });
    await untilBound("copy");
    await until({ what: "the source of the clone is free again" }, async () =>
      (await connection.client.get(claimRef("data"))).metadata.finalizers?.includes(provisioning.claimCloningFinalizer)
        ? undefined
        : true,
    );
    for (const name of ["early", "copy"]) await remove(name);
    await suite.remove("monday");
    await remove("data");
    assert.deepEqual(denied(), []);
    assert.deepEqual(writesTo("volumesnapshots", from), []);
    const watched = new Set(
      ofProvisioner().flatMap(({ verb, objectRef }) => (verb === "watch" ? [objectRef?.resource] : [])),
    );
    assert.deepEqual([...watched].toSorted(), ["persistentvolumeclaims", "persistentvolumes", "storageclasses"]);
  });

  test("a provisioner that is stopped leaves no call of a stored volume behind, for whoever takes over", async () => {
    await create("brief");
    await untilBound("brief");
    const leases = async () => (await connection.client.list("Lease", { namespace })).objects;
    const calls = async (): Promise<string | undefined> =>
      (await leases()).find(({ metadata }) => metadata.name.endsWith("-create-volume-calls"))?.metadata.annotations?.[
        "snapkeep.dev/create-volume-calls"
      ];
    await provisioner.stop("SIGTERM");
    const { term, ...left } = JSON.parse((await calls()) ?? "{}");
    assert.deepEqual(left, { notes: true, shapes: [], calls: {} });
    const elected = (await leases()).find(({ metadata }) => metadata.uid === term[0]);
    assert.equal(elected?.spec?.leaseTransitions, term[1], "the turn of the election that it had");
    provisioner = await start();
    await remove("brief");
  });

  test("a role that may watch and update VolumeSnapshots protects them, with six writes for one restore alone", async () => {
    await provisioner.stop("SIGTERM");
    const account = { user, namespace, name: "csi-provisioner" };
    await grantTo(plane, account, "rules that help", guideRights["rules that help"]);
    provisioner = await start();
    await create("data");
    await untilBound("data");
    // By then its call has left the Lease.
    await suite.take("tuesday", "data", suite.classes.delete);
    await suite.untilReady("tuesday");
    const from = plane.auditPosition();
    await create("restored", restoring("tuesday"));
    await untilBound("restored");
    await until({ what: "the snapshot is free again" }, async () =>
      (
        await connection.client.get({ kind: "VolumeSnapshot", namespace, name: "tuesday" })
      ).metadata.finalizers?.includes(finalizers.snapshotRestoring)
        ? undefined
        : writesTo("volumesnapshots", from).length === 2 || undefined,
    );
    assert.deepEqual(objectWrites(from), [
      "update volumesnapshots",
      // The call, the note that its PersistentVolume may be stored, and its removal.
      "update leases",
      "update leases",
      "create persistentvolumes",
      "update leases",
      "update volumesnapshots",
    ]);
    await remove("restored");
    assert.deepEqual(denied(), []);
  });

  test("fifty restores of one snapshot cost at most two writes and one event each, and no reads", async () => {
    const names = Array.from({ length: 50 }, (_, index) => `restored-${index}`);
    const from = plane.auditPosition();
    await Promise.all(names.map((name) => create(name, restoring("tuesday"))));
    for (const name of names) await untilBound(name);
    const writes = objectWrites(from);
    assert.ok(writes.length <= 100, `${writes.length} writes`);
    const reads = ofProvisioner(from).filter(
      ({ verb, objectRef }) => verb === "get" && objectRef?.resource !== undefined && objectRef.resource !== "leases",
    );
    assert.deepEqual(
      reads.map(({ requestURI }) => requestURI),
      [],
    );
    const ours = async () =>
      (await connection.client.list("Event", { namespace })).objects.filter(
        ({ source, involvedObject }) =>
          source?.component?.startsWith("csi-provisioner") === true && names.includes(involvedObject?.name ?? ""),
      );
    const events = await until({ what: "all events are sent", msMax: 120_000, everyMs: 500 }, async () => {
      const sent = await ours();
      return new Set(sent.map(({ involvedObject }) => involvedObject?.name)).size === names.length ? sent : undefined;
    });
    assert.deepEqual(
      events.map(({ reason, count }) => `${count} × ${reason}`),
      names.map(() => "1 × ProvisioningSucceeded"),
    );
    await Promise.all(names.map(remove));
    await suite.remove("tuesday");
    await remove("data");
    assert.deepEqual(denied(), []);
  });
});
