/**
 * What has gone wrong in the field when the API server was in trouble, or a leader was: one scenario each, under its known name,
 * on the real control plane. A proxy before each component gives the answers that a healthy server never gives.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { annotations } from "../../src/api/names.ts";
import type { FaultProxy, Refusing } from "../fault-proxy.ts";
import type { AuditEntry } from "./harness/audit.ts";
import { type Connection, connect } from "./harness/client.ts";
import { aBoundClaim, installSnapshotCrds, startComponent } from "./harness/components.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { proxyTo } from "./harness/fault-proxy.ts";
import type { Daemon } from "./harness/instance.ts";
import { type OddDriver, startOddDriver } from "./harness/odd-driver.ts";
import { isThere, leftovers } from "./harness/snapshots.ts";
import { type Stand, standFor } from "./harness/stands.ts";
import { until } from "./harness/until.ts";

const namespace = "default";
const retries = ["--retry-interval-start=200ms", "--retry-interval-max=1s"];
/** The two replicas of the last scenario, told apart in the audit log by their tokens. */
const replicas = ["first", "second"] as const;
type Replica = (typeof replicas)[number];
const tokens = replicas.map((user) => ({ token: `${user}-token`, user, groups: ["system:masters"] }));
/** The default of --worker-threads. */
const callsAtOnce = 10;
const contentRef = (name: string) => ({ kind: "VolumeSnapshotContent", name }) as const;

describe("scenario with a server or a leader in trouble", () => {
  let plane: ControlPlane;
  let connection: Connection;
  let driver: OddDriver;
  let stand: Stand;
  let controller: Daemon;
  let toController: FaultProxy;
  let toSidecar: FaultProxy;
  before(async () => {
    plane = await startControlPlane({ tokens });
    connection = await connect(plane.kubeconfig);
    await installSnapshotCrds(connection.client);
    driver = await startOddDriver(plane.folder);
    const places = [await proxyTo(plane), await proxyTo(plane)] as const;
    [toController, toSidecar] = [places[0].proxy, places[1].proxy];
    controller = startComponent({ ...plane, ...places[0] }, "snapshot-controller", retries);
    stand = await standFor({ ...plane, ...places[1] }, connection, driver, retries);
    await aBoundClaim(stand.furniture, "data");
  });
  after(async () => {
    stand?.furniture.csi.close();
    await driver?.close();
    await toController?.close();
    await toSidecar?.close();
    connection?.close();
    plane?.stop();
  });

  const take = (name: string) => stand.take(name, "data", stand.classes.delete);
  /** Takes one and waits until nothing more is to be written about it; returns its content. */
  async function taken(name: string) {
    await take(name);
    await stand.untilReady(name);
    return until({ what: "the mark of the cut is gone" }, async () => {
      const content = await stand.contentOf(name);
      return content.metadata.annotations?.[annotations.beingCreated] === undefined ? content : undefined;
    });
  }
  const refusedOften = ({ count }: Refusing) =>
    until({ what: "it was refused three times" }, () => (count() >= 3 ? true : undefined));

  async function assertNothingLeft(): Promise<void> {
    let left: readonly string[] = [];
    await until({ what: "nothing is left" }, async () => {
      left = await leftovers(stand.furniture);
      return left.length === 0 ? true : undefined;
    }).catch((reason: Error) => assert.fail(`${reason.message}: ${left.join(", ")}`));
    driver.asked.length = 0;
    driver.askedToDelete.length = 0;
  }

  test("delete-annotation-delayed: until the mark that confirms a deletion gets through, nothing is deleted, and then all of it", async () => {
    const { metadata } = await taken("marked-late");
    const refusing = toController.answer(503, (request) => /^PATCH .*\/volumesnapshotcontents\//.test(request));
    // The content is already on its way out, as far as anybody can see.
    await stand.furniture.client.delete(contentRef(metadata.name));
    await stand.furniture.client.delete(stand.ref("marked-late"));
    await refusedOften(refusing);
    assert.equal(driver.askedToDelete.length, 0);
    assert.equal((await stand.handles()).length, 1);
    assert.ok(await isThere(stand.furniture, stand.ref("marked-late")), "the snapshot went before its data");
    refusing.end();
    await stand.untilGone(stand.ref("marked-late"));
    assert.equal(driver.askedToDelete.length, 1);
    await assertNothingLeft();
  });

  test("delete-annotation-delayed: a content that is retained gets its mark before its snapshot goes, or could never be deleted", async () => {
    await stand.take("kept", "data", stand.classes.retain);
    await stand.untilReady("kept");
    const { metadata } = await stand.contentOf("kept");
    const refusing = toController.answer(500, (request) => /^PATCH .*\/volumesnapshotcontents\//.test(request));
    await stand.furniture.client.delete(stand.ref("kept"));
    await refusedOften(refusing);
    assert.ok(await isThere(stand.furniture, stand.ref("kept")), "the snapshot went without marking its content");
    refusing.end();
    await stand.untilGone(stand.ref("kept"));
    const content = await stand.furniture.client.get(contentRef(metadata.name));
    assert.equal(content.metadata.annotations?.[annotations.beingDeleted], "yes");
    await stand.furniture.client.delete(contentRef(metadata.name));
    await stand.untilGone(contentRef(metadata.name));
    driver.snapshots.clear();
    await assertNothingLeft();
  });

  test("finalizer-patch-500: finalizers that cannot be written are tried again until they can, on claim, content and snapshot", async () => {
    await stand.untilUnprotected("data");
    const onClaim = toController.answer(500, (request) => /^PUT .*\/persistentvolumeclaims\/data/.test(request));
    await take("stubborn");
    await refusedOften(onClaim);
    assert.equal(driver.asked.length, 0);
    assert.equal(
      (await stand.get("stubborn")).status?.error,
      undefined,
      "the server's trouble is no fault of the snapshot",
    );
    onClaim.end();
    await stand.untilReady("stubborn");
    const { metadata } = await stand.contentOf("stubborn");
    await stand.untilUnprotected("data");

    const onContent = toSidecar.answer(500, (request) => /^PATCH .*\/volumesnapshotcontents\//.test(request));
    const onSnapshot = toController.answer(500, (request) => /^PATCH .*\/volumesnapshots\//.test(request));
    await stand.furniture.client.delete(stand.ref("stubborn"));
    await refusedOften(onContent);
    assert.deepEqual(await stand.handles(), []);
    onContent.end();
    await stand.untilGone(contentRef(metadata.name));
    await refusedOften(onSnapshot);
    onSnapshot.end();
    await stand.untilGone(stand.ref("stubborn"));
    assert.equal(driver.askedToDelete.length, 1, "what was deleted already was deleted again");
    await assertNothingLeft();
  });

  test("already-exists-other-uid: a content of our name that belongs to another snapshot is not taken for ours, seen or unseen", async () => {
    // The controller hears nothing of contents any more: only the answer to its own create tells it.
    const isContents = (request: string): boolean => /^GET .*\/volumesnapshotcontents\?/.test(request);
    const deaf = toController.answer(503, isContents);
    toController.cut(isContents);
    process.kill(controller.pid, "SIGSTOP");
    const { metadata } = await take("late");
    const name = `snapcontent-${metadata.uid}`;
    const spec = {
      deletionPolicy: "Delete" as const,
      driver: "other.example.com",
      source: { volumeHandle: "theirs" },
      volumeSnapshotRef: { namespace, name: "late", uid: "0d1f4c52-5b6e-4f0c-9f0e-1f2d3c4b5a69" },
    };
    const content = draftOf("VolumeSnapshotContent", { name }, { spec });
    await stand.furniture.client.create("VolumeSnapshotContent", content);
    process.kill(controller.pid, "SIGCONT");
    await stand.untilTold("late", /is bound to a different snapshot: .*uid 0d1f4c52-.*; name a content of your own/);
    deaf.end();
    assert.equal(driver.asked.length, 0);
    await stand.furniture.client.delete(contentRef(name));
    assert.equal((await stand.untilReady("late")).status?.error, undefined);
    await stand.remove("late");
    await assertNothingLeft();
  });

  /** A claim that waits for a volume from the snapshot, and for a class that nobody serves. */
  async function aWaitingClaim(name: string, space: string, snapshot: string) {
    const ref = { kind: "PersistentVolumeClaim", namespace: space, name } as const;
    const source = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: snapshot };
    const spec = {
      accessModes: ["ReadWriteOnce"],
      storageClassName: "nobody-serves-this",
      resources: { requests: { storage: "1Mi" } },
      ...(space === namespace ? { dataSource: source } : { dataSourceRef: { ...source, namespace } }),
    };
    const { client } = stand.furniture;
    await client.create("PersistentVolumeClaim", draftOf("PersistentVolumeClaim", ref, { spec }));
    await until({ what: `claim ${name} is pending` }, async () =>
      (await client.get(ref)).status?.phase === "Pending" ? true : undefined,
    );
    return ref;
  }
  const untilWaitingFor = (claim: string) =>
    until({ what: `the user is told of ${claim}` }, async () =>
      (await stand.furniture.client.list("Event", { namespace })).objects.some(
        ({ reason, message }) => reason === "SnapshotDeletePending" && message?.endsWith(`restore a PVC: ${claim}`),
      )
        ? true
        : undefined,
    );

  test("cross-ns-source-delete-mid-restore: a claim of another namespace that waits for the snapshot holds it like any other", async () => {
    await stand.furniture.client.create("Namespace", draftOf("Namespace", { name: "abroad" }, {} as never));
    await taken("lent");
    const claim = await aWaitingClaim("copy", "abroad", "lent");
    await stand.furniture.client.delete(stand.ref("lent"));
    await untilWaitingFor("abroad/copy");
    assert.equal((await stand.handles()).length, 1);
    await stand.furniture.client.delete(claim);
    await stand.untilGone(stand.ref("lent"));
    await assertNothingLeft();
  });

  test("pvc-from-terminating-vs: a claim made after the snapshot was deleted waits in vain, and the snapshot not for it", async () => {
    await taken("leaving");
    const early = await aWaitingClaim("early", namespace, "leaving");
    await stand.furniture.client.delete(stand.ref("leaving"));
    await untilWaitingFor(`${namespace}/early`);
    const { deletionTimestamp = "" } = (await stand.get("leaving")).metadata;
    // The server's times are whole seconds: only what is at least one later is later for certain.
    const late = await until({ what: "a claim is later than the deletion" }, async () => {
      const ref = await aWaitingClaim("late", namespace, "leaving");
      const { creationTimestamp = "" } = (await stand.furniture.client.get(ref)).metadata;
      if (creationTimestamp > deletionTimestamp) return ref;
      await stand.furniture.client.delete(ref);
      await stand.untilGone(ref);
      return undefined;
    });
    assert.equal((await stand.handles()).length, 1);
    await stand.furniture.client.delete(early);
    await stand.untilGone(stand.ref("leaving"));
    await stand.furniture.client.delete(late);
    await assertNothingLeft();
  });

  /** Takes the snapshot away against all finalizers, behind the controller's back. */
  async function removeByForce(name: string): Promise<void> {
    process.kill(controller.pid, "SIGSTOP");
    await stand.furniture.client.patch(stand.ref(name), { type: "merge", body: { metadata: { finalizers: null } } });
    await stand.furniture.client.delete(stand.ref(name));
    await stand.untilGone(stand.ref(name));
    process.kill(controller.pid, "SIGCONT");
  }
  /** Whatever was to happen of what came before has happened: another one went the whole way. */
  async function lifeGoesOn(): Promise<void> {
    await taken("another");
    await stand.remove("another");
  }

  for (const deletionPolicy of ["Delete", "Retain"] as const)
    test(`orphan-vsc-no-vs: a content whose snapshot is gone stays until somebody deletes it, and then goes, ${deletionPolicy === "Delete" ? "with" : "without"} its data`, async () => {
      const { metadata, status } = await taken("parent");
      const ref = contentRef(metadata.name);
      await stand.furniture.client.patch(ref, { type: "merge", body: { spec: { deletionPolicy } } });
      await removeByForce("parent");
      await lifeGoesOn();
      const left = await stand.furniture.client.get(ref);
      assert.equal(
        left.metadata.deletionTimestamp,
        undefined,
        "a missing snapshot is no proof that nobody wants the data",
      );
      assert.deepEqual(await stand.handles(), [status?.snapshotHandle]);
      await stand.furniture.client.delete(ref);
      await stand.untilGone(ref);
      assert.equal((await stand.handles()).length, deletionPolicy === "Delete" ? 0 : 1);
      driver.snapshots.clear();
      await assertNothingLeft();
    });

  test("a ready snapshot whose content was taken away by force is reported lost, and never quietly cut again", async () => {
    const { metadata } = await taken("robbed");
    const { creationTime } = (await stand.get("robbed")).status ?? {};
    await stand.furniture.client.delete(contentRef(metadata.name));
    await stand.furniture.client.patch(contentRef(metadata.name), {
      type: "merge",
      body: { metadata: { finalizers: null } },
    });
    await stand.untilTold(
      "robbed",
      /VolumeSnapshotContent is missing: .*delete this VolumeSnapshot and take a new one/,
    );
    const asked = driver.asked.length;
    await lifeGoesOn();
    assert.equal(driver.asked.length, asked + 1);
    const { status } = await stand.get("robbed");
    assert.equal(status?.readyToUse, false);
    assert.equal(status?.creationTime, creationTime);
    await stand.remove("robbed");
    driver.snapshots.clear();
    await assertNothingLeft();
  });

  test("leader-paused-60s-resumes: leaders that sleep through their lease send nothing at all when they wake", async () => {
    await controller.stop();
    await stand.sidecar.stop();
    const election = [
      "--leader-election",
      "--leader-election-lease-duration=14s",
      "--leader-election-renew-deadline=12s",
      "--leader-election-retry-period=1s",
    ];
    const start = (user: Replica): readonly Daemon[] => {
      const place = { instance: plane.instance, kubeconfig: plane.kubeconfigFor(user, `${user}-token`) };
      const address = `--csi-address=${driver.socket}`;
      return [
        startComponent(place, "snapshot-controller", [...retries, ...election]),
        startComponent(place, "csi-snapshotter", [address, ...retries, ...election]),
      ];
    };
    const leaders = start("first");
    await until({ what: "both leases are held" }, async () =>
      (await stand.furniture.client.list("Lease", { namespace })).objects.length === 2 ? true : undefined,
    );
    const standbys = start("second");
    // The driver lets the first leader wait, so that there is always something to do, and nothing just being sent when it is stopped.
    const held = Promise.withResolvers<object>();
    let answer: () => object | Promise<object> = () => held.promise;
    driver.oddities.set(`${namespace}-data`, () => answer());
    const askedBefore = driver.asked.length;
    const names = Array.from({ length: 20 }, (_, index) => `many-${index}`);
    for (const name of names) await take(name);
    for (const name of names)
      await until(
        { what: `${name} is bound` },
        async () => (await stand.get(name)).status?.boundVolumeSnapshotContentName,
      );
    await until({ what: "all are marked" }, async () =>
      (await stand.furniture.client.list("VolumeSnapshotContent")).objects.every(
        ({ metadata }) => metadata.annotations?.[annotations.beingCreated] === "yes",
      )
        ? true
        : undefined,
    );
    await until({ what: "the driver was asked for as many as are asked for at once" }, () =>
      driver.asked.length >= askedBefore + callsAtOnce ? true : undefined,
    );
    for (const leader of leaders) assert.ok(leader.running(), leader.lastWords());
    for (const { pid } of leaders) process.kill(pid, "SIGSTOP");
    // What the first leader asked for is answered while it sleeps: ten replies to write down, and the turn of ten more calls.
    answer = () => ({});
    held.resolve({});
    for (const name of names) await stand.untilReady(name, 60_000);
    assert.ok(writesBy("second").length >= names.length, "the others have not taken over");

    const [awake, asked] = [plane.auditMark(), driver.asked.length];
    for (const { pid } of leaders) process.kill(pid, "SIGCONT");
    for (const leader of leaders) await leader.ended;
    assert.deepEqual(writesBy("first", awake), []);
    assert.deepEqual(driver.asked.slice(asked), []);
    assert.equal(new Set(driver.asked.slice(askedBefore).map(({ name }) => name)).size, names.length);
    assert.deepEqual(
      (await stand.handles()).toSorted(),
      (await Promise.all(names.map(stand.contentOf))).map(({ status }) => status?.snapshotHandle ?? "").toSorted(),
    );
    driver.oddities.clear();
    await Promise.all(names.map((name) => stand.furniture.client.delete(stand.ref(name))));
    for (const name of names) await stand.untilGone(stand.ref(name));
    await assertNothingLeft();
    await stand.untilUnprotected("data");
    for (const standby of standbys) await standby.stop();
  });

  /** Also those that were refused. Leases and events aside: losing the one and telling of the other is what such a leader is left with. */
  function writesBy(user: Replica, from = 0): readonly string[] {
    const isWrite = ({ verb, objectRef }: AuditEntry): boolean =>
      !["get", "list", "watch"].includes(verb) && !["leases", "events"].includes(objectRef?.resource ?? "");
    return plane
      .auditLog(from)
      .filter((entry) => entry.user.username === user && isWrite(entry))
      .map(({ verb, requestURI, responseStatus }) => `${verb} ${requestURI}: ${responseStatus?.code}`);
  }
});
