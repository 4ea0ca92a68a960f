/** Topology: two nodes that are registered only, the real kube-scheduler, and one provisioner for the cluster or one on each node. */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { provisioning } from "../../src/api/names.ts";
import type { PersistentVolume } from "../../src/api/types.ts";
import { Fault } from "../../src/base/fault.ts";
import { aStorageClass, type Claims, claimsOf } from "./harness/claims.ts";
import { type Connection, connect } from "./harness/client.ts";
import { startComponent } from "./harness/components.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import type { Daemon } from "./harness/instance.ts";
import { type OddDriver, startOddDriver } from "./harness/odd-driver.ts";
import { podsOf, registerNode, startScheduler } from "./harness/scheduling.ts";
import { until } from "./harness/until.ts";

const namespace = "default";
const zone = "odd.example.com/zone";
const zones = ["a", "b"] as const;
const localDriver = "local.example.com";

const affinityTo = (...values: readonly string[]) =>
  values.map((value) => ({ matchExpressions: [{ key: zone, operator: "In", values: [value] }] }));
const affinityOf = ({ spec }: PersistentVolume) => spec?.nodeAffinity?.required?.nodeSelectorTerms;

describe("two nodes and kube-scheduler", () => {
  let plane: ControlPlane;
  let connection: Connection;
  let driver: OddDriver;
  let late: Claims;
  let immediate: Claims;

  before(async () => {
    plane = await startControlPlane({});
    connection = await connect(plane.kubeconfig);
    driver = await startOddDriver(plane.instance.folder, { hasTopology: true });
    for (const name of zones)
      await registerNode(connection.client, name, { [zone]: name }, [driver.driver, localDriver]);
    startScheduler(plane);
    const waits = { volumeBindingMode: "WaitForFirstConsumer" };
    await aStorageClass(connection.client, "late", driver.driver, waits);
    await aStorageClass(connection.client, "immediate", driver.driver);
    await aStorageClass(connection.client, "only-b", driver.driver, {
      allowedTopologies: [{ matchLabelExpressions: [{ key: zone, values: ["b"] }] }],
    });
    await aStorageClass(connection.client, "local-late", localDriver, waits);
    await aStorageClass(connection.client, "local", localDriver);
    late = claimsOf(connection.client, "late");
    immediate = claimsOf(connection.client, "immediate");
  });
  after(async () => {
    connection?.close();
    await driver?.close();
    plane?.stop();
  });

  const createPod = (name: string, inZone: string) => podsOf(plane).create(name, { [zone]: inZone });
  const removePod = (name: string) => podsOf(plane).remove(name);
  const withProvisioner = async (flags: readonly string[], work: () => Promise<void>): Promise<void> => {
    const daemon = await startComponent(plane, "csi-provisioner", [
      `--csi-address=${driver.socket}`,
      "--v=4",
      ...flags,
    ]);
    try {
      await work();
    } finally {
      await daemon.stop();
    }
  };
  const topologyAsked = () => {
    const { requisite = [], preferred = [] } = driver.askedForVolumes.at(-1)?.accessibilityRequirements ?? {};
    return [requisite, preferred].map((all) => all.map(({ segments }) => segments[zone] ?? ""));
  };

  for (const [flags, inZone, requisite] of [
    [[], "b", ["a", "b"]],
    [["--strict-topology"], "a", ["a"]],
  ] as const)
    test(`${flags.join(" ") || "by default"}, a claim waits for its pod, and gets its volume in zone ${inZone}, where the pod runs; zones ${requisite.join(" and ")} are asked for`, async () => {
      await withProvisioner(flags, async () => {
        const name = `data-${inZone}`;
        await late.create(name);
        await until({ what: "the claim waits for its first consumer" }, async () =>
          (await late.messages(name, "WaitForFirstConsumer")).length > 0 ? true : undefined,
        );
        assert.equal(driver.volumes.size, 0);
        await createPod(name, inZone);
        assert.deepEqual(affinityOf(await late.untilBound(name)), affinityTo(inZone));
        const [asked, preferred] = topologyAsked();
        assert.deepEqual(asked?.toSorted(), requisite);
        assert.equal(preferred?.[0], inZone);
        await removePod(name);
        await late.remove(name);
      });
    });

  test("with immediate binding all zones are asked for, or those that the class allows, or none with --immediate-topology=false", async () => {
    const onlyB = claimsOf(connection.client, "only-b");
    await withProvisioner([], async () => {
      await immediate.create("anywhere");
      const [term] = affinityOf(await immediate.untilBound("anywhere")) ?? [];
      assert.deepEqual(topologyAsked()[0]?.toSorted(), ["a", "b"]);
      assert.deepEqual([term], affinityTo(topologyAsked()[1]?.[0] ?? ""));
      await onlyB.create("in-b");
      assert.deepEqual(affinityOf(await onlyB.untilBound("in-b")), affinityTo("b"));
      assert.deepEqual(topologyAsked(), [["b"], ["b"]]);
    });
    await withProvisioner(["--immediate-topology=false"], async () => {
      await immediate.create("unasked");
      assert.equal(affinityOf(await immediate.untilBound("unasked")), undefined);
      assert.deepEqual(topologyAsked(), [[], []]);
      for (const name of ["anywhere", "in-b", "unasked"]) await immediate.remove(name);
    });
  });

  test("a claim whose selected node is gone says so, and kube-scheduler selects another one", async () => {
    await withProvisioner([], async () => {
      await connection.client.create(
        "PersistentVolumeClaim",
        draftOf(
          "PersistentVolumeClaim",
          { namespace, name: "lost", annotations: { [provisioning.selectedNode]: "gone" } },
          {
            spec: {
              accessModes: ["ReadWriteOnce"],
              storageClassName: "late",
              resources: { requests: { storage: "1Mi" } },
            },
          },
        ),
      );
      await late.untilSaid("lost", /node gone or its CSINode is gone: the scheduler chooses another node.*SNAP-337/);
      await createPod("lost", "a");
      assert.deepEqual(affinityOf(await late.untilBound("lost")), affinityTo("a"));
      await removePod("lost");
      await late.remove("lost");
    });
    assert.deepEqual([...driver.volumes], []);
  });

  for (const [when, gate] of [
    ["before the driver has made the volume", "beforeVolume"],
    ["when the driver has made the volume, and its reply is lost", "beforeReply"],
  ] as const)
    test(`a CSINode that is deleted ${when} neither leaks the volume nor moves the claim`, async () => {
      const { client } = connection;
      const csiNode = await client.get({ kind: "CSINode", name: "a" });
      driver.forget();
      await withProvisioner(["--retry-interval-start=100ms"], async () => {
        let isFirst = true;
        driver.gates[gate] = async () => {
          if (!isFirst) return;
          isFirst = false;
          await client.delete({ kind: "CSINode", name: "a" });
          throw new Fault("Unavailable", "the connection is lost");
        };
        const name = `lost-${gate.toLowerCase()}`;
        await late.create(name);
        await createPod(name, "a");
        assert.deepEqual(affinityOf(await late.untilBound(name)), affinityTo("a"));
        const { metadata } = await client.get(late.ref(name));
        assert.equal(metadata.annotations?.[provisioning.selectedNode], "a");
        assert.equal(driver.volumes.size, 1);
        const [first, ...others] = driver.askedForVolumes;
        for (const other of others) assert.deepEqual(other, first);
        await removePod(name);
        await late.remove(name);
      });
      driver.mend();
      assert.deepEqual([...driver.volumes], []);
      await client.create("CSINode", draftOf("CSINode", { name: "a" }, { spec: csiNode.spec }));
    });

  describe("one provisioner on each node", () => {
    const locals = new Map<string, OddDriver>();
    const daemons: Daemon[] = [];
    before(async () => {
      for (const name of zones) {
        const folder = join(plane.instance.folder, `node-${name}`);
        mkdirSync(folder);
        const local = await startOddDriver(folder, {
          driver: localDriver,
          hasTopology: true,
          node: { id: name, segments: { [zone]: name } },
        });
        locals.set(name, local);
        daemons.push(
          await startComponent(
            plane,
            "csi-provisioner",
            [
              `--csi-address=${local.socket}`,
              "--node-deployment",
              "--leader-election=false",
              "--node-deployment-base-delay=200ms",
              "--node-deployment-max-delay=1s",
              "--v=4",
            ],
            { environment: { NODE_NAME: name } },
          ),
        );
      }
    });
    after(async () => {
      for (const daemon of daemons) await daemon.stop();
      for (const local of locals.values()) await local.close();
    });
    const volumesAt = (name: string): number => locals.get(name)?.volumes.size ?? -1;
    const askedAt = (name: string): number => locals.get(name)?.askedForVolumes.length ?? -1;

    test("a claim gets its volume from the driver on the node of its pod, and loses it there", async () => {
      const claims = claimsOf(connection.client, "local-late");
      for (const name of zones) {
        await claims.create(`on-${name}`);
        await createPod(`on-${name}`, name);
        assert.deepEqual(affinityOf(await claims.untilBound(`on-${name}`)), affinityTo(name));
      }
      assert.deepEqual([volumesAt("a"), volumesAt("b"), askedAt("a"), askedAt("b")], [1, 1, 1, 1]);
      for (const name of zones) {
        await removePod(`on-${name}`);
        await claims.remove(`on-${name}`);
      }
      assert.deepEqual([volumesAt("a"), volumesAt("b")], [0, 0]);
      for (const [name, local] of locals)
        assert.deepEqual(
          local.askedToDeleteVolumes.map(({ volumeId }) => volumeId),
          local.askedForVolumes.map(({ name: asked }) => asked),
          name,
        );
    });

    test("ten claims with immediate binding are taken by one node each", async () => {
      const claims = claimsOf(connection.client, "local");
      const names = Array.from({ length: 10 }, (_, index) => `any-${index}`);
      await Promise.all(names.map((name) => claims.create(name)));
      for (const name of names) {
        const [term] = affinityOf(await claims.untilBound(name)) ?? [];
        const { metadata } = await connection.client.get(claims.ref(name));
        assert.deepEqual([term], affinityTo(metadata.annotations?.[provisioning.selectedNode] ?? ""));
      }
      assert.equal(volumesAt("a") + volumesAt("b"), names.length);
      await Promise.all(names.map((name) => claims.remove(name)));
      assert.equal(volumesAt("a") + volumesAt("b"), 0);
      const calls = (await connection.client.list("Lease")).objects
        .map(({ metadata }) => metadata.name)
        .filter((name) => name.endsWith("-create-volume-calls") && name.startsWith("local"));
      assert.deepEqual(calls, ["local-example-com-a-create-volume-calls", "local-example-com-b-create-volume-calls"]);
    });
  });
});
