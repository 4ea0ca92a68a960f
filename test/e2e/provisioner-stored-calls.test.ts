/**
 * Stored CreateVolume calls on the real control plane: what a provisioner that was killed leaves behind, and what somebody writes who may
 * update Leases in the driver's namespace.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, afterEach, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { createVolumeCallsSuffix } from "../../src/api/names.ts";
import type { Lease, PersistentVolume } from "../../src/api/types.ts";
import { type Claims, claimsOf, handleOf } from "./harness/claims.ts";
import { type Connection, connect } from "./harness/client.ts";
import { startComponent } from "./harness/components.ts";
import { type ControlPlane, startControlPlane, type Token } from "./harness/control-plane.ts";
import { type Proxied, proxyTo } from "./harness/fault-proxy.ts";
import type { Daemon } from "./harness/instance.ts";
import { type OddDriver, startOddDriver } from "./harness/odd-driver.ts";
import { shipped } from "./harness/shipped.ts";
import { until } from "./harness/until.ts";
import { applyManifest, startUpstream, unthrottled } from "./harness/upstream.ts";

const namespace = "default";
/** The namespace of the driver's sidecars. */
const drivers = shipped.driverNamespace;
const annotation = "snapkeep.dev/create-volume-calls";
/** As the Role of upstream's sidecars has it, which all of them get in their namespace. */
const stranger: Token = { token: "stranger", user: "stranger", groups: [] };
const leasesRole = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "Role",
  metadata: { name: "leases", namespace: drivers },
  rules: [{ apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "list", "update"] }],
};
const leasesBinding = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "RoleBinding",
  metadata: { name: "leases", namespace: drivers },
  subjects: [{ kind: "User", name: stranger.user, apiGroup: "rbac.authorization.k8s.io" }],
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "leases" },
};

/** A replica that was killed is followed sooner than by default. Both makers understand the flags. */
const election = [
  "--leader-election=true",
  `--leader-election-namespace=${drivers}`,
  "--leader-election-lease-duration=9s",
  "--leader-election-renew-deadline=7s",
  "--leader-election-retry-period=500ms",
];
/** A second, the write, and the pause between two looks. */
const removedMsMax = 2_000;

describe("stored CreateVolume calls", () => {
  let plane: ControlPlane;
  let connection: Connection;
  let foreign: Connection;
  let driver: OddDriver;
  let proxied: Proxied;
  let provisioner: Daemon;
  let claims: Claims;
  let kept: Claims;

  before(async () => {
    plane = await startControlPlane({ tokens: [stranger] });
    connection = await connect(plane.kubeconfig);
    foreign = await connect(plane.kubeconfigFor(stranger.user, stranger.token));
    driver = await startOddDriver(plane.instance.folder);
    proxied = await proxyTo(plane);
    for (const [name, reclaimPolicy] of [
      ["plain", "Delete"],
      ["kept", "Retain"],
    ] as const) {
      const more = { provisioner: driver.driver, reclaimPolicy, volumeBindingMode: "Immediate" };
      await connection.client.create("StorageClass", draftOf("StorageClass", { name }, more as never));
    }
    claims = claimsOf(connection.client, "plain");
    kept = claimsOf(connection.client, "kept");
    await start();
    for (const object of [leasesRole, leasesBinding]) await applyManifest(plane, object);
  });
  after(async () => {
    foreign?.close();
    connection?.close();
    await driver?.close();
    await proxied?.proxy.close();
    plane?.stop();
  });
  afterEach(() => {
    for (const gate of ["beforeVolume", "beforeReply"] as const) delete driver.gates[gate];
    driver.askedToDeleteVolumes.length = 0;
    driver.askedForVolumes.length = 0;
  });

  const start = async (): Promise<void> => {
    const place = { ...plane, kubeconfig: proxied.kubeconfig };
    provisioner = await startComponent(place, "csi-provisioner", [
      `--csi-address=${driver.socket}`,
      ...election,
      "--retry-interval-start=100ms",
      "--timeout=2m",
      "--v=4",
    ]);
  };
  const kill = (): Promise<void> => provisioner.stop("SIGKILL");
  const leaseIn = async ({ client }: Connection): Promise<Lease | undefined> =>
    (await client.list("Lease", { namespace: drivers })).objects.find(({ metadata }) =>
      metadata.name.endsWith(createVolumeCallsSuffix),
    );
  const callsIn = async (): Promise<Readonly<Record<string, readonly unknown[]>>> =>
    JSON.parse((await leaseIn(connection))?.metadata.annotations?.[annotation] ?? '{"calls":{}}').calls;
  const untilNoCall = (): Promise<true> =>
    until({ what: "no call is stored", msMax: 60_000 }, async () =>
      Object.keys(await callsIn()).length === 0 ? true : undefined,
    );
  /** When this claim is bound, the provisioner has looked at all that it found. */
  const untilAtWork = async (name: string): Promise<void> => {
    await claims.create(name);
    await claims.untilBound(name);
    await claims.remove(name);
    await untilNoCall();
  };
  /** What an owner does to keep the data, and somebody who strips finalizers. */
  const retain = async (claim: string, volumeName: string): Promise<void> => {
    const ref = { kind: "PersistentVolume", name: volumeName } as const;
    await connection.client.delete(claims.ref(claim));
    await connection.client.delete(ref);
    await until({ what: `PersistentVolume ${volumeName} is gone` }, async () => {
      const found: PersistentVolume | undefined = await connection.client.get(ref).catch(() => undefined);
      if (found === undefined) return true;
      const spec = { ...found.spec, persistentVolumeReclaimPolicy: "Retain" };
      const freed = { ...found, spec, metadata: { ...found.metadata, finalizers: [] } };
      await connection.client.replace("PersistentVolume", freed).catch(() => undefined);
      return undefined;
    });
  };

  test("a finished call leaves the Lease a second later, and a volume that is retained while the provisioner is down stays", async () => {
    await claims.create("first");
    const volume = await claims.untilBound("first");
    const boundAt = Date.now();
    await untilNoCall();
    const tookMs = Date.now() - boundAt;
    assert.ok(tookMs < removedMsMax, `the call was stored for ${tookMs} ms`);
    await kill();
    await retain("first", volume.metadata.name);
    await start();
    await untilAtWork("after-first");
    assert.ok(driver.volumes.has(handleOf(volume)), "its owner has retained it");
    assert.ok(driver.askedToDeleteVolumes.every(({ volumeId }) => volumeId !== handleOf(volume)));
  });

  test("a provisioner that is killed when the PersistentVolume is stored leaves a note: the retained volume is reported with its handle and a command that deletes it", async () => {
    const stored = proxied.proxy.loseReply((request) => request.startsWith("POST /api/v1/persistentvolumes"));
    await claims.create("second");
    await stored;
    await kill();
    const volume = await claims.untilBound("second");
    const name = volume.metadata.name;
    assert.equal((await callsIn())[name]?.[4], handleOf(volume));
    await retain("second", name);
    await start();
    await untilAtWork("after-second");
    assert.ok(driver.volumes.has(handleOf(volume)), "its owner has retained it");
    // Events wait while volumes are being stored.
    const said = await until({ what: "the volume is reported", msMax: 60_000 }, async () => {
      const found = await claims.messages("second", "VolumeLeftAtDriver");
      return found.length > 0 ? found : undefined;
    });
    assert.equal(said.length, 1);
    assert.ok(said[0]?.includes(`"${handleOf(volume)}"`), said[0]);
    assert.match(readFileSync(provisioner.log, "utf8"), /VolumeLeftAtDriver/);
    const [, command = ""] = /echo '(.*)' \| kubectl create -f -/.exec(said[0] ?? "") ?? [];
    await connection.client.create("PersistentVolume", JSON.parse(command));
    await until({ what: "the command has deleted the volume" }, () =>
      driver.volumes.has(handleOf(volume)) ? undefined : true,
    );
  });

  test("ten calls in flight at a kill -9, whose claims are deleted, leave no volume", async () => {
    const before = driver.volumes.size;
    const waiting = Promise.withResolvers<void>();
    driver.gates.beforeReply = () => waiting.promise;
    const names = Array.from({ length: 10 }, (_, index) => `flying-${index}`);
    await Promise.all(names.map((name) => claims.create(name)));
    await until({ what: "the driver has made some volumes" }, () =>
      driver.volumes.size > before + 3 ? true : undefined,
    );
    await kill();
    for (const name of names) await connection.client.delete(claims.ref(name));
    delete driver.gates.beforeReply;
    waiting.resolve();
    await start();
    await untilAtWork("after-flying");
    await until({ what: "no volume is left" }, () => (driver.volumes.size === before ? true : undefined));
  });

  test("a volume that external-provisioner stores meanwhile, and that its owner retains, is reported: the election tells that another has led", async () => {
    const held = Promise.withResolvers<void>();
    driver.gates.beforeReply = () => held.promise;
    const { metadata } = await claims.create("lent");
    const volumeName = `pvc-${metadata.uid}`;
    await until({ what: "the driver has made the volume" }, () => (driver.volumes.has(volumeName) ? true : undefined));
    await kill();
    delete driver.gates.beforeReply;
    held.resolve();
    const other = startUpstream(plane, "csi-provisioner", [
      `--csi-address=${driver.socket}`,
      ...election,
      ...unthrottled,
    ]);
    const volume = await claims.untilBound("lent");
    assert.equal(volume.metadata.name, volumeName);
    await other.stop("SIGTERM");
    assert.ok(Object.hasOwn(await callsIn(), volumeName), "our call is still stored");
    await retain("lent", volumeName);
    await start();
    await untilAtWork("after-lent");
    assert.ok(driver.volumes.has(handleOf(volume)), "its owner has retained it");
    assert.ok(driver.askedToDeleteVolumes.every(({ volumeId }) => volumeId !== handleOf(volume)));
    const [said = ""] = await until({ what: "the volume is reported", msMax: 60_000 }, async () => {
      const found = await claims.messages("lent", "VolumeLeftAtDriver");
      return found.length > 0 ? found : undefined;
    });
    assert.ok(said.includes(volumeName), said);
  });

  /** A call as a stranger writes it, for a claim of its own that waits. */
  const forge = async (volumeName: string, claim: object, shape: object): Promise<void> => {
    const { namespace: space = namespace, name, uid } = claim as { namespace?: string; name: string; uid: string };
    const call = {
      method: "create",
      name: "",
      bytes: "1048576",
      capabilities: [{ mode: "SINGLE_NODE_WRITER", mount: { fsType: "", flags: [] } }],
      parameters: {},
      ...(shape as { call?: object }).call,
    };
    const shapes = [{ secrets: {}, reclaimPolicy: "Delete", ...shape, call }];
    const lease = await leaseIn(foreign);
    assert.ok(lease !== undefined);
    // Whoever can write the calls can leave the term as it stands.
    const { term } = JSON.parse(lease.metadata.annotations?.[annotation] ?? "{}") as { term?: unknown };
    assert.ok(Array.isArray(term), "the calls say in which turn of the election they were written");
    const text = JSON.stringify({ notes: true, term, shapes, calls: { [volumeName]: [0, space, name, uid] } });
    const annotations = { ...lease.metadata.annotations, [annotation]: text };
    await foreign.client.replace("Lease", { ...lease, metadata: { ...lease.metadata, annotations } });
  };
  /** The claim comes while nobody provisions, and the stranger's call is there when the provisioner starts. */
  const served = async (name: string, shape: object): Promise<PersistentVolume> => {
    await kill();
    const { metadata } = await claims.create(name);
    await forge(`pvc-${metadata.uid}`, metadata, shape);
    driver.askedForVolumes.length = 0;
    await start();
    return claims.untilBound(name);
  };
  const reported = async (name: string): Promise<string> => {
    const message = await until({ what: `claim ${name} has an event`, msMax: 60_000 }, async () =>
      (await claims.messages(name, "StoredCallDiffers")).at(0),
    );
    assert.match(readFileSync(provisioner.log, "utf8"), /StoredCallDiffers/);
    return message;
  };

  test("a stranger's call cannot name another tenant's volume as the source", async () => {
    await kept.create("treasure");
    const treasure = handleOf(await kept.untilBound("treasure"));
    await served("thief", { call: { source: { kind: "volume", handle: treasure } }, claimKey: "tenant/treasure" });
    const asked = driver.askedForVolumes.map(({ volumeContentSource }) => volumeContentSource?.type.case);
    assert.deepEqual([...new Set(asked)], [undefined]);
    assert.match(await reported("thief"), /\(source\).*SNAP-350/);
    await claims.remove("thief");
  });

  test("a stranger's call cannot name a Secret for the node", async () => {
    const admin = { namespace: "kube-system", name: "admin" };
    const { spec } = await served("reader", { secrets: { "node-publish": admin, "node-stage": admin } });
    assert.deepEqual([spec?.csi?.nodePublishSecretRef, spec?.csi?.nodeStageSecretRef], [undefined, undefined]);
    assert.match(await reported("reader"), /\(secrets\)/);
    await claims.remove("reader");
  });

  test("a stranger's call cannot set mount options", async () => {
    const flags = ["suid", "dev"];
    const { spec } = await served("root", {
      mountOptions: flags,
      call: { capabilities: [{ mode: "SINGLE_NODE_WRITER", mount: { fsType: "", flags } }] },
    });
    assert.equal(spec?.mountOptions, undefined);
    const asked = driver.askedForVolumes.flatMap(({ volumeCapabilities }) =>
      volumeCapabilities.map(({ accessType }) => (accessType.case === "mount" ? accessType.value.mountFlags : [])),
    );
    assert.deepEqual([...new Set(asked.flat())], []);
    await reported("root");
    await claims.remove("root");
  });

  test("a stranger's call cannot have a retained volume deleted by its handle", async () => {
    await kept.create("estate");
    const volume = await kept.untilBound("estate");
    const handle = handleOf(volume);
    await untilNoCall();
    await connection.client.delete(claims.ref("estate"));
    await connection.client.delete({ kind: "PersistentVolume", name: volume.metadata.name });
    await kill();
    const uid = "99999999-9999-4999-8999-999999999999";
    await forge(`pvc-${uid}`, { name: "nobody", uid }, { undoes: handle });
    await start();
    await untilAtWork("after-estate");
    assert.ok(driver.volumes.has(handle), "its owner has retained it");
    assert.ok(driver.askedToDeleteVolumes.every(({ volumeId }) => volumeId !== handle));
  });

  test("a stranger's call under the name of another volume is not used, and is said to be", async () => {
    await kill();
    driver.askedForVolumes.length = 0;
    await forge("pvc-of-another", { name: "nobody", uid: "88888888-8888-4888-8888-888888888888" }, {});
    await start();
    await untilAtWork("after-another");
    assert.ok(driver.askedForVolumes.every(({ name }) => name !== "pvc-of-another"));
    assert.match(readFileSync(provisioner.log, "utf8"), /pvc-of-another/);
  });
});
