import assert from "node:assert/strict";
import { test } from "node:test";
import { aVolume, driver } from "../../../../test/builders.ts";
import { createFakeKube, type Hook } from "../../../../test/fake-kube.ts";
import { createVirtualWorld } from "../../../../test/virtual-world.ts";
import { aCsiNode, aNode, aPendingClaim, aStorageClass } from "../../../../test/volume-plans.ts";
import { provisioning } from "../../../api/names.ts";
import type { PersistentVolume } from "../../../api/types.ts";
import { Fault } from "../../../base/fault.ts";
import { silent } from "../../../base/log.ts";
import type { CsiClient } from "../../../csi/client.ts";
import { createStores, watchStores } from "../../../kube/stores.ts";
import type { OwnNode } from "../driver/own-node.ts";
import { createCapacityPublisher } from "./index.ts";

const zone = "example.com/zone";
const pollMs = 60_000;
interface Request {
  readonly parameters: Readonly<Record<string, string>>;
  readonly accessibleTopology?: { readonly segments: Readonly<Record<string, string>> };
}
interface Reply {
  readonly availableCapacity: bigint;
  readonly maximumVolumeSize?: bigint;
}
interface Setting {
  capacity?(request: Request): Promise<Reply> | Reply;
  readonly ownNode?: OwnNode;
  readonly hook?: Hook;
  readonly forImmediateBinding?: boolean;
}

const late = aStorageClass({ volumeBindingMode: "WaitForFirstConsumer", parameters: { kind: "ssd" } });
const volumeIn = (place: string, name = "v-1"): PersistentVolume => {
  const volume = aVolume({ metadata: { name } });
  const term = { matchExpressions: [{ key: zone, operator: "In", values: [place] }] };
  return { ...volume, spec: { ...volume.spec, nodeAffinity: { required: { nodeSelectorTerms: [term] } } } } as never;
};

/** Two nodes in zone a, one in b, and one that does not have the driver. */
async function setUp({ capacity = () => ({ availableCapacity: 1_024n }), ownNode, hook, ...options }: Setting = {}) {
  const world = createVirtualWorld();
  const kube = createFakeKube(hook);
  for (const [name, place] of [
    ["n1", "a"],
    ["n2", "a"],
    ["n3", "b"],
    ["n4", "c"],
  ] as const) {
    await kube.create("Node", aNode(name, { [zone]: place }) as never);
    await kube.create("CSINode", aCsiNode(name, [zone], name === "n4" ? "other.example.com" : driver) as never);
  }
  await kube.create("StorageClass", late as never);
  const asked: string[] = [];
  const requests: Request[] = [];
  const getCapacity = async (request: Request): Promise<Reply> => {
    requests.push(request);
    asked.push(request.accessibleTopology?.segments[zone] ?? "");
    return capacity(request);
  };
  const table = { StorageClass: {}, PersistentVolume: {}, ...(ownNode === undefined ? { Node: {}, CSINode: {} } : {}) };
  const stores = createStores(table);
  const publisher = createCapacityPublisher({
    api: Object.assign(kube, { getPath: async () => ({}) }),
    csi: { controller: { getCapacity } } as unknown as CsiClient,
    driver,
    stores: stores as never,
    ownNode,
    options: {
      namespace: "drivers",
      podName: "",
      ownerLevel: -1,
      pollMs,
      forImmediateBinding: false,
      threads: 1,
      rate: { kubeApiQps: 1, kubeApiBurst: 5 },
      ...options,
    },
    world,
    log: silent,
    backoff: { startMs: 1_000, maxMs: 300_000 },
    leading: () => true,
  });
  const stop = new AbortController();
  const { signal } = stop;
  const running = Promise.all([
    watchStores(kube, table, stores as never, { world, log: silent, signal }),
    publisher.watch(signal),
    publisher.run(signal),
  ]);
  running.catch(() => undefined);
  await world.advance(100);
  /** Class, zone and room of each object. */
  const published = () =>
    kube
      .stored("CSIStorageCapacity")
      .map(
        ({ storageClassName, nodeTopology, capacity: room }) =>
          `${storageClassName} ${nodeTopology?.matchLabels?.[zone] ?? "everywhere"} ${room}`,
      )
      .toSorted();
  const writes = () =>
    kube.calls.flatMap(({ verb, kind }) =>
      kind === "CSIStorageCapacity" && !["list", "watch", "get"].includes(verb) ? [verb] : [],
    );
  return { world, kube, asked, requests, publisher, published, writes, stop: () => stop.abort() };
}

test("each segment of the driver's nodes has one object for each class that waits for a pod", async () => {
  const { kube, asked, requests, published, publisher, stop, world } = await setUp();
  assert.deepEqual(published(), ["fast a 1Ki", "fast b 1Ki"]);
  assert.deepEqual(asked.toSorted(), ["a", "b"]);
  assert.deepEqual(requests[0]?.parameters, { kind: "ssd" });
  await kube.create(
    "StorageClass",
    aStorageClass({ metadata: { name: "now", uid: "", resourceVersion: "" } }) as never,
  );
  await world.advance(1_000);
  assert.deepEqual(published(), ["fast a 1Ki", "fast b 1Ki"]);
  assert.deepEqual(publisher.counts(), { goal: 2, current: 2, obsolete: 0 });
  stop();
});

test("with --capacity-for-immediate-binding other classes have objects as well", async () => {
  const { kube, published, stop, world } = await setUp({ forImmediateBinding: true });
  await kube.create(
    "StorageClass",
    aStorageClass({ metadata: { name: "now", uid: "", resourceVersion: "" } }) as never,
  );
  await world.advance(1_000);
  assert.deepEqual(published(), ["fast a 1Ki", "fast b 1Ki", "now a 1Ki", "now b 1Ki"]);
  stop();
});

test("a segment has its object as long as one node has it, whatever comes first of Node and CSINode", async () => {
  const { kube, published, stop, world } = await setUp();
  await kube.delete({ kind: "CSINode", name: "n1" });
  await world.advance(100);
  assert.deepEqual(published(), ["fast a 1Ki", "fast b 1Ki"]);
  await kube.delete({ kind: "Node", name: "n2" });
  await world.advance(100);
  assert.deepEqual(published(), ["fast b 1Ki"]);
  await kube.create("CSINode", aCsiNode("n9", [zone]) as never);
  await world.advance(100);
  await kube.create("Node", aNode("n9", {}) as never);
  await world.advance(100);
  assert.deepEqual(published(), ["fast b 1Ki"]);
  await kube.patch({ kind: "Node", name: "n9" }, { type: "merge", body: { metadata: { labels: { [zone]: "z" } } } });
  await world.advance(100);
  assert.deepEqual(published(), ["fast b 1Ki", "fast z 1Ki"]);
  stop();
});

test("a heartbeat of a node costs neither a call nor a write", async () => {
  const { kube, asked, writes, stop, world } = await setUp();
  const before = [asked.length, writes().length];
  for (let beat = 0; beat < 10; beat++) {
    await kube.patch({ kind: "Node", name: "n1" }, { type: "merge", body: { status: { phase: `${beat}` } } });
    await world.advance(1_000);
  }
  assert.deepEqual([asked.length, writes().length], before);
  stop();
});

test("objects go with their class, and one of the same name with other parameters is asked for at once", async () => {
  const { kube, requests, published, publisher, stop, world } = await setUp();
  await kube.delete({ kind: "StorageClass", name: "fast" });
  await world.advance(100);
  assert.deepEqual(published(), []);
  assert.deepEqual(publisher.counts(), { goal: 0, current: 0, obsolete: 0 });
  await kube.create("StorageClass", { ...late, parameters: { kind: "hdd" } } as never);
  await world.advance(100);
  assert.deepEqual(published(), ["fast a 1Ki", "fast b 1Ki"]);
  assert.deepEqual(requests.at(-1)?.parameters, { kind: "hdd" });
  stop();
});

test("the driver is asked again after the poll interval, and only what has changed is written", async () => {
  let room = 1_024n;
  const { asked, writes, published, stop, world } = await setUp({
    capacity: ({ accessibleTopology }) => ({
      availableCapacity: accessibleTopology?.segments[zone] === "a" ? room : 1_024n,
    }),
  });
  room = 2_048n;
  await world.advance(pollMs - 1_000);
  assert.equal(asked.length, 2);
  await world.advance(2_000);
  assert.equal(asked.length, 4);
  assert.deepEqual(published(), ["fast a 2Ki", "fast b 1Ki"]);
  assert.deepEqual(writes(), ["create", "create", "replace"]);
  stop();
});

test("a volume that comes or goes has the driver asked about its segment, at most once a second however many they are", async () => {
  let room = 1_024n;
  const { kube, asked, published, stop, world } = await setUp({ capacity: () => ({ availableCapacity: room }) });
  await world.advance(5_000);
  room = 512n;
  for (let index = 0; index < 100; index++) await kube.create("PersistentVolume", volumeIn("a", `v-${index}`) as never);
  await world.advance(100);
  assert.deepEqual(published(), ["fast a 512", "fast b 1Ki"]);
  await world.advance(5_000);
  assert.ok(asked.length <= 4, `asked ${asked.length} times`);
  assert.deepEqual([...new Set(asked.slice(2))], ["a"]);
  room = 1_024n;
  await kube.delete({ kind: "PersistentVolume", name: "v-0" });
  await world.advance(1_100);
  assert.deepEqual(published(), ["fast a 1Ki", "fast b 1Ki"]);
  stop();
});

test("a volume that comes while the driver is asked has it asked once more", async () => {
  let room = 1_024n;
  const replies: (() => void)[] = [];
  const { kube, asked, published, stop, world } = await setUp({
    capacity: async () => {
      const before = room;
      if (asked.length > 2) await new Promise<void>((resolve) => void replies.push(resolve));
      return { availableCapacity: before };
    },
  });
  await world.advance(5_000);
  await kube.create("PersistentVolume", volumeIn("a") as never);
  await world.advance(100);
  assert.equal(replies.length, 1);
  room = 256n;
  await kube.create("PersistentVolume", volumeIn("a", "v-2") as never);
  await world.advance(100);
  replies.shift()?.();
  await world.advance(2_000);
  replies.shift()?.();
  await world.advance(100);
  assert.deepEqual(published(), ["fast a 256", "fast b 1Ki"]);
  stop();
});

test("a volume without a segment has all segments of its class asked for, one of another driver none", async () => {
  const { kube, asked, stop, world } = await setUp();
  await world.advance(5_000);
  const volume = aVolume({ metadata: { name: "anywhere" } });
  const foreign = { ...volume, metadata: { ...volume.metadata, name: "foreign" } };
  const csi = { driver: "other.example.com", volumeHandle: "h" };
  await kube.create("PersistentVolume", {
    ...foreign,
    spec: { ...volume.spec, storageClassName: "fast", csi },
  } as never);
  await world.advance(2_000);
  assert.equal(asked.length, 2);
  await kube.create("PersistentVolume", { ...volume, spec: { ...volume.spec, storageClassName: "fast" } } as never);
  await world.advance(2_000);
  assert.deepEqual(asked.slice(2).toSorted(), ["a", "b"]);
  stop();
});

test("a failed CreateVolume has the selected node's segment asked for, else all of the class", async () => {
  const { publisher, asked, stop, world } = await setUp();
  await world.advance(5_000);
  publisher.failed(aPendingClaim({ metadata: { annotations: { [provisioning.selectedNode]: "n3" } } }));
  await world.advance(2_000);
  assert.deepEqual(asked.slice(2), ["b"]);
  publisher.failed(aPendingClaim());
  publisher.failed(undefined);
  await world.advance(2_000);
  assert.deepEqual(asked.slice(3).toSorted(), ["a", "b"]);
  stop();
});

for (const [what, answered, expected] of [
  ["a negative capacity", { availableCapacity: -5n }, ["0", undefined]],
  ["the largest capacity there is", { availableCapacity: 2n ** 63n - 1n }, ["9223372036854775807", undefined]],
  ["a largest volume", { availableCapacity: 2n ** 62n, maximumVolumeSize: 1n }, ["4Ei", "1"]],
  ["a largest volume of nothing", { availableCapacity: 5n, maximumVolumeSize: 0n }, ["5", "0"]],
  ["a negative largest volume", { availableCapacity: 5n, maximumVolumeSize: -1n }, ["5", undefined]],
] as const)
  test(`a driver that answers ${what} has ${expected.join(" and ")} published`, async () => {
    const { kube, stop } = await setUp({ capacity: () => answered });
    for (const { capacity, maximumVolumeSize } of kube.stored("CSIStorageCapacity"))
      assert.deepEqual([capacity, maximumVolumeSize], expected);
    assert.equal(kube.stored("CSIStorageCapacity").length, 2);
    stop();
  });

test("what was published stays while the driver does not answer, about one segment or all, and is asked for ever more seldom", async () => {
  let isBroken = false;
  const { asked, published, stop, world } = await setUp({
    capacity: ({ accessibleTopology }) => {
      if (isBroken && accessibleTopology?.segments[zone] === "a") throw new Fault("Unimplemented", "no GetCapacity");
      return { availableCapacity: isBroken ? 2_048n : 1_024n };
    },
  });
  isBroken = true;
  await world.advance(10 * pollMs);
  assert.deepEqual(published(), ["fast a 1Ki", "fast b 2Ki"]);
  const asksOfA = asked.filter((place) => place === "a").length;
  assert.ok(asksOfA > 3 && asksOfA < 20, `asked ${asksOfA} times`);
  stop();
});

test("an object that somebody changes or deletes is as before a moment later, without a call", async () => {
  const { kube, asked, published, stop, world } = await setUp();
  const [first, second] = kube.stored("CSIStorageCapacity");
  assert.ok(first !== undefined && second !== undefined);
  await kube.replace("CSIStorageCapacity", { ...first, capacity: "9Gi" });
  await kube.delete({ kind: "CSIStorageCapacity", namespace: "drivers", name: second.metadata.name });
  await world.advance(100);
  assert.deepEqual(published(), ["fast a 1Ki", "fast b 1Ki"]);
  assert.equal(asked.length, 2);
  stop();
});

test("an object that was created although its reply was lost is not created twice for long", async () => {
  let isLost = true;
  const hook: Hook = ({ verb, kind }, when) => {
    if (verb !== "create" || kind !== "CSIStorageCapacity" || when === "before" || !isLost) return;
    isLost = false;
    throw new Fault("Unavailable", "connection reset");
  };
  const { published, stop, world } = await setUp({ hook });
  await world.advance(30_000);
  assert.equal(isLost, false);
  assert.deepEqual(published(), ["fast a 1Ki", "fast b 1Ki"]);
  stop();
});

test("on a node there is one segment, that of the node", async () => {
  const ownNode = { name: "n3", segments: { [zone]: "b" }, takesImmediate: true };
  const { kube, published, stop } = await setUp({ ownNode });
  assert.deepEqual(published(), ["fast b 1Ki"]);
  const [object] = kube.stored("CSIStorageCapacity");
  assert.equal(object?.metadata.labels?.["csi.storage.k8s.io/managed-by"], "external-provisioner-n3");
  assert.ok(kube.calls.every(({ kind, verb }) => kind !== "Node" || verb === "create"));
  stop();
});
