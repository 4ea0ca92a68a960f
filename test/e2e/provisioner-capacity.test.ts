/**
 * Storage capacity: kube-scheduler places pods by what our provisioner publishes, with exactly the rules of external-provisioner 5.3.0;
 * the objects are those that 5.3.0 publishes, field by field, and each finds the other's.
 */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import type { CSIStorageCapacity } from "../../src/api/types.ts";
import { Fault } from "../../src/base/fault.ts";
import { ControllerServiceCapability_RPC_Type as Can } from "../../src/csi/gen/csi_pb.js";
import { aStorageClass, type Claims, claimsOf } from "./harness/claims.ts";
import { type Connection, connect } from "./harness/client.ts";
import { startComponent } from "./harness/components.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { type Hostpath, startHostpath } from "./harness/hostpath.ts";
import type { Daemon } from "./harness/instance.ts";
import { numberOf, samplesOf, scrape } from "./harness/metrics.ts";
import { type OddDriver, startOddDriver } from "./harness/odd-driver.ts";
import { createOwners } from "./harness/owners.ts";
import { freePort } from "./harness/ports.ts";
import {
  installProvisionerRelease,
  provisionerNamespace as namespace,
  provisionerToken,
  provisionerUser,
} from "./harness/provisioner-release.ts";
import { podsOf, registerNode, startScheduler } from "./harness/scheduling.ts";
import { until } from "./harness/until.ts";
import { startUpstream, unthrottled } from "./harness/upstream.ts";

const topologyKey = "topology.hostpath.csi/node";
const zone = "odd.example.com/zone";
const total = 100;
const unthrottledCapacity = ["--kube-api-capacity-qps=1000", "--kube-api-capacity-burst=2000"];
type Maker = "ours" | "upstream";
const makers = ["ours", "upstream"] as const;

describe("storage capacity", () => {
  let plane: ControlPlane;
  let connection: Connection;
  let hostpath: Hostpath;
  let odd: OddDriver;
  let claims: Claims;
  let auditFrom: number;

  before(async () => {
    plane = await startControlPlane({ tokens: [provisionerToken] });
    connection = await connect(plane.kubeconfig);
    const { client } = connection;
    await installProvisionerRelease(plane);
    const flags = ["--enable-topology=true", `--capacity=fast=${total}Mi`];
    hostpath = await startHostpath(plane.instance, { nodeId: "a", flags });
    odd = await startOddDriver(plane.instance.folder, { hasTopology: true, more: [Can.GET_CAPACITY] });
    for (const driver of [hostpath.driver, odd.driver])
      await client.create("CSIDriver", draftOf("CSIDriver", { name: driver }, { spec: { storageCapacity: true } }));
    await registerNode(client, "a", { [topologyKey]: "a" }, [hostpath.driver]);
    await registerNode(client, "b", { [zone]: "b" }, [odd.driver]);
    await createOwners(plane, namespace);
    startScheduler(plane);
    const waits = { volumeBindingMode: "WaitForFirstConsumer" };
    await aStorageClass(client, "late", hostpath.driver, { ...waits, parameters: { kind: "fast" } });
    await aStorageClass(client, "none-left", hostpath.driver, { ...waits, parameters: { kind: "slow" } });
    await aStorageClass(client, "immediate", hostpath.driver, { parameters: { kind: "fast" } });
    await aStorageClass(client, "odd", odd.driver, waits);
    claims = claimsOf(client, "late");
  });
  after(async () => {
    connection?.close();
    await odd?.close();
    plane?.stop();
  });
  beforeEach(async () => {
    await removePublished();
    auditFrom = plane.auditPosition();
  });

  const start = async (
    maker: Maker,
    flags: readonly string[],
    more: Readonly<Record<string, string>> = {},
  ): Promise<Daemon> => {
    const place = {
      ...plane,
      kubeconfig: plane.kubeconfigFor(provisionerUser, provisionerToken.token),
    };
    const environment = { NAMESPACE: namespace, POD_NAME: "driver-0", ...more };
    const given = ["--capacity-poll-interval=1h", "--retry-interval-max=2s", ...unthrottledCapacity, ...flags];
    return maker === "ours"
      ? startComponent(place, "csi-provisioner", [...given, `--leader-election-namespace=${namespace}`], {
          as: "release",
          environment,
        })
      : startUpstream(place, "csi-provisioner", [...given, ...unthrottled], environment);
  };
  const toHostpath = (...flags: readonly string[]) => [`--csi-address=${hostpath.socket}`, ...flags];
  const toOdd = (...flags: readonly string[]) => [
    `--csi-address=${odd.socket}`,
    "--capacity-ownerref-level=-1",
    ...flags,
  ];
  const enabled = "--enable-capacity";

  const published = async (): Promise<readonly CSIStorageCapacity[]> =>
    (await connection.client.list("CSIStorageCapacity", { namespace })).objects.toSorted((a, b) =>
      sortKey(a) < sortKey(b) ? -1 : 1,
    );
  const sortKey = ({ storageClassName, nodeTopology }: CSIStorageCapacity): string =>
    JSON.stringify([storageClassName, nodeTopology]);
  const untilPublished = (count: number) =>
    until({ what: `${count} objects are published` }, async () => {
      const all = await published();
      return all.length === count ? all : undefined;
    });
  /** Without what the server makes. */
  const written = ({ metadata, ...object }: CSIStorageCapacity) => {
    const { namespace: at, labels, annotations, ownerReferences, finalizers } = metadata;
    const generateName = metadata.name.slice(0, "csisc-".length);
    return { ...object, metadata: { generateName, at, labels, annotations, ownerReferences, finalizers } };
  };
  const removePublished = async (): Promise<void> => {
    for (const { metadata } of await published())
      await connection.client.delete({ kind: "CSIStorageCapacity", namespace, name: metadata.name });
  };
  const assertNothingDenied = (): void =>
    assert.deepEqual(
      plane
        .auditLog(auditFrom)
        .filter(({ user, responseStatus }) => user.username === provisionerUser && responseStatus?.code === 403)
        // Kinds of snapshots are not installed here, and whether they may be read is asked beforehand.
        .map(({ verb, requestURI }) => `${verb} ${requestURI}`),
      [],
    );
  const roomOf = async (className: string): Promise<unknown> =>
    (await published()).find(({ storageClassName }) => storageClassName === className)?.capacity;
  const untilRoom = (className: string, room: string) =>
    until({ what: `${room} are published for ${className}` }, async () =>
      (await roomOf(className)) === room ? true : undefined,
    );

  test("a pod waits while nothing is published, is placed when it is, and its volume is counted before the next poll", async () => {
    const pods = podsOf(plane);
    const silent = await start("ours", toHostpath());
    await claims.create("data", {}, "60Mi");
    await pods.create("data");
    await pods.untilUnplaced("data", /did not have enough free storage/);
    await silent.stop();
    const daemon = await start("ours", toHostpath(enabled));
    try {
      await claims.untilBound("data");
      await until({ what: "the pod has a node" }, () => pods.nodeOf("data"));
      assert.equal(await pods.nodeOf("data"), "a");
      await untilRoom("late", "40Mi");
      await claims.create("second", {}, "60Mi");
      await pods.create("second");
      await pods.untilUnplaced("second", /did not have enough free storage/);
      await pods.remove("data");
      await claims.remove("data");
      await claims.untilBound("second");
      await pods.remove("second");
      await claims.remove("second");
      await untilRoom("late", `${total}Mi`);
      assertNothingDenied();
    } finally {
      await daemon.stop();
    }
  });

  for (const [what, flags, environment, count] of [
    ["with the StatefulSet as the owner, by default", [], {}, 2],
    ["with the Deployment as the owner", ["--capacity-ownerref-level=2"], { POD_NAME: "deployed-1-x" }, 2],
    ["with the pod as the owner", ["--capacity-ownerref-level=0"], {}, 2],
    ["without an owner, for all classes", ["--capacity-ownerref-level=-1", "--capacity-for-immediate-binding"], {}, 3],
    ["on a node", ["--node-deployment"], { NODE_NAME: "a" }, 2],
    ["on a node whose name is long", ["--node-deployment"], { NODE_NAME: `n.${"a".repeat(60)}` }, 2],
  ] as const)
    test(`${what}, the objects are those of external-provisioner, field by field`, async () => {
      const all: Partial<Record<Maker, readonly object[]>> = {};
      for (const maker of makers) {
        const daemon = await start(
          maker,
          toHostpath(enabled, ...flags),
          environment as Readonly<Record<string, string>>,
        );
        all[maker] = (await untilPublished(count)).map(written);
        await daemon.stop();
        await removePublished();
      }
      assert.deepEqual(all.ours, all.upstream);
      assertNothingDenied();
    });

  test("a swap to ours and back keeps every object that is wanted, and removes what became stale meanwhile", async () => {
    const { client } = connection;
    const uids = async () => (await published()).map(({ metadata }) => metadata.uid);
    const first = await start("upstream", toHostpath(enabled));
    await aStorageClass(client, "stale", hostpath.driver, { volumeBindingMode: "WaitForFirstConsumer" });
    const kept = (await untilPublished(3)).filter(({ storageClassName }) => storageClassName !== "stale");
    await first.stop();
    await client.delete({ kind: "StorageClass", name: "stale" });
    const port = await freePort();
    const second = await start("ours", toHostpath(enabled, `--http-endpoint=127.0.0.1:${port}`));
    await untilPublished(2);
    assert.deepEqual(
      await uids(),
      kept?.map(({ metadata }) => metadata.uid),
    );
    const counts = async () => {
      const text = await scrape(port);
      return ["desired_goal", "desired_current", "obsolete"].map((name) =>
        numberOf(samplesOf(text, `csistoragecapacities_${name}`)[0]),
      );
    };
    assert.deepEqual(await counts(), [2, 2, 0]);
    await aStorageClass(client, "stale", hostpath.driver, { volumeBindingMode: "WaitForFirstConsumer" });
    await untilPublished(3);
    const all = await uids();
    await second.stop();
    const third = await start("upstream", toHostpath(enabled));
    await client.delete({ kind: "StorageClass", name: "stale" });
    await untilPublished(2);
    assert.ok((await uids()).every((uid) => all.includes(uid)));
    await third.stop();
  });

  test("objects that another owner controls are taken over, and do not go with it", async () => {
    const first = await start("ours", toHostpath(enabled, "--capacity-ownerref-level=2"), { POD_NAME: "deployed-1-x" });
    await untilPublished(2);
    await first.stop();
    const second = await start("ours", toHostpath(enabled));
    try {
      await until({ what: "the StatefulSet owns all" }, async () =>
        (await published()).every(({ metadata }) =>
          metadata.ownerReferences?.every(({ kind }) => kind === "StatefulSet"),
        )
          ? true
          : undefined,
      );
      assert.equal((await published()).length, 2);
    } finally {
      await second.stop();
    }
  });

  describe("what external-provisioner 5.3.0 does otherwise", () => {
    test("it keeps the last positive capacity of a driver that answers a negative one", async () => {
      odd.capacity.answer = () => ({ availableCapacity: 5n });
      const first = await start("upstream", toOdd(enabled));
      await untilPublished(1);
      await first.stop();
      let asked = 0;
      odd.capacity.answer = () => {
        asked += 1;
        return { availableCapacity: -5n };
      };
      const second = await start("upstream", toOdd(enabled));
      await until({ what: "it has tried twice" }, () => (asked > 1 ? true : undefined));
      assert.equal(await roomOf("odd"), "5");
      await second.stop();
      const ours = await start("ours", toOdd(enabled));
      await untilRoom("odd", "0");
      await ours.stop();
      odd.mend();
    });

    test("it cannot take an object over that another owner controls", async () => {
      const first = await start("upstream", toHostpath(enabled, "--capacity-ownerref-level=2"), {
        POD_NAME: "deployed-1-x",
      });
      await untilPublished(2);
      await first.stop();
      const from = plane.auditPosition();
      const second = await start("upstream", toHostpath(enabled));
      await until({ what: "its write is refused" }, () =>
        plane
          .auditLog(from)
          .find(
            ({ verb, objectRef, responseStatus }) =>
              verb === "update" && objectRef?.resource === "csistoragecapacities" && responseStatus?.code === 422,
          ),
      );
      await second.stop();
    });

    test("it takes the object of a driver without topology for a stale one; ours stays", async () => {
      const flat = await startOddDriver(plane.instance.folder, {
        driver: "flat.example.com",
        more: [Can.GET_CAPACITY],
      });
      flat.capacity.answer = () => ({ availableCapacity: 5n });
      const { client } = connection;
      await registerNode(client, "f", {}, [flat.driver]);
      await aStorageClass(client, "flat", flat.driver, { volumeBindingMode: "WaitForFirstConsumer" });
      const flags = [`--csi-address=${flat.socket}`, "--capacity-ownerref-level=-1", enabled];
      const writesOf = async (maker: Maker): Promise<readonly string[]> => {
        const from = plane.auditPosition();
        const writes = () =>
          plane
            .auditLog(from)
            .filter(
              ({ verb, objectRef }) => objectRef?.resource === "csistoragecapacities" && /create|delete/.test(verb),
            )
            .filter(({ responseStatus }) => (responseStatus?.code ?? 500) < 300)
            .map(({ verb }) => verb);
        const daemon = await start(maker, [...flags, "--capacity-poll-interval=1s"]);
        let asked = 0;
        flat.capacity.answer = () => {
          asked += 1;
          return { availableCapacity: 5n };
        };
        await until({ what: "the driver is asked three times" }, () => (asked > 2 ? true : undefined));
        await daemon.stop();
        return writes();
      };
      assert.ok((await writesOf("upstream")).includes("delete"));
      await removePublished();
      assert.deepEqual(await writesOf("ours"), ["create"]);
      await client.delete({ kind: "StorageClass", name: "flat" });
      await flat.close();
    });
  });

  test("objects follow nodes, labels and CSINodes", async () => {
    const { client } = connection;
    const daemon = await start("ours", toHostpath(enabled));
    try {
      await untilPublished(2);
      await registerNode(client, "c", { [topologyKey]: "c" }, [hostpath.driver]);
      await untilPublished(4);
      await client.patch(
        { kind: "Node", name: "c" },
        { type: "merge", body: { metadata: { labels: { [topologyKey]: "d" } } } },
      );
      await until({ what: "the segment is that of the label" }, async () =>
        (await published()).filter(({ nodeTopology }) => nodeTopology?.matchLabels?.[topologyKey] === "d").length ===
          2 && (await published()).length === 4
          ? true
          : undefined,
      );
      await client.delete({ kind: "CSINode", name: "c" });
      await untilPublished(2);
    } finally {
      await daemon.stop();
      await client.delete({ kind: "Node", name: "c" });
    }
  });

  for (const [what, answer, expected] of [
    ["a negative capacity, and no largest volume", { availableCapacity: -1n }, ["0", undefined]],
    ["the largest capacity there is", { availableCapacity: 2n ** 63n - 1n }, ["9223372036854775807", undefined]],
    ["a largest volume", { availableCapacity: 2n ** 40n, maximumVolumeSize: 2n ** 20n }, ["1Ti", "1Mi"]],
    ["a negative largest volume", { availableCapacity: 1n, maximumVolumeSize: -1n }, ["1", undefined]],
  ] as const)
    test(`a driver that answers ${what} has ${expected.join(" and ")} published`, async () => {
      odd.capacity.answer = () => answer;
      const daemon = await start("ours", toOdd(enabled));
      try {
        const [object] = await untilPublished(1);
        assert.deepEqual([object?.capacity, object?.maximumVolumeSize], expected);
      } finally {
        await daemon.stop();
        odd.mend();
      }
    });

  test("a driver that does not serve GetCapacity, or hangs in it, creates volumes all the same, and what was published stays", async () => {
    odd.capacity.answer = () => ({ availableCapacity: 2n ** 30n });
    const daemon = await start("ours", toOdd(enabled, "--capacity-poll-interval=1s", "--timeout=1s"));
    const asked: string[] = [];
    try {
      const [before] = await untilPublished(1);
      const pods = podsOf(plane);
      const oddClaims = claimsOf(connection.client, "odd");
      for (const how of ["unserved", "hanging"] as const) {
        const given = asked.length;
        odd.capacity.answer = () => {
          asked.push(how);
          if (how === "hanging") return new Promise<never>(() => undefined);
          throw new Fault("Unimplemented", "GetCapacity is not served");
        };
        await until({ what: `the driver is ${how}` }, () => (asked.length > given ? true : undefined));
        await oddClaims.create(how);
        await pods.create(how);
        await oddClaims.untilBound(how);
        await pods.remove(how);
        await oddClaims.remove(how);
      }
      assert.deepEqual(await published(), [before]);
      odd.capacity.answer = () => ({ availableCapacity: 5n });
      await untilRoom("odd", "5");
    } finally {
      await daemon.stop();
      odd.mend();
    }
  });
});
