/** Flags that bound the work of the two programs, as seen from the driver and from the API server. */
import assert from "node:assert/strict";
import { get } from "node:http";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createClaim, createSnapshot, policy, startHarness } from "../../../test/command-harness.ts";
import { eventually, inTime } from "../../../test/csi-sockets.ts";
import { draftOf } from "../../api/builders.ts";
import { labels } from "../../api/names.ts";
import { Fault } from "../../base/fault.ts";

/** Calls that come together stay until `expected` of them are there, and a little longer, so that one too many would be seen. */
function createMeeting(expected: number) {
  let here = 0;
  let most = 0;
  return {
    most: () => most,
    attend: async () => {
      here += 1;
      most = Math.max(most, here);
      await eventually(`${expected} calls are under way at once`, () => most >= expected);
      await sleep(lingerMs);
      here -= 1;
    },
  };
}
const lingerMs = 100;
const names = ["a", "b", "c", "d"] as const;

test("--worker-threads of the sidecar is the number of concurrent calls to the driver", async (t) => {
  const meeting = createMeeting(2);
  const { client, socket, start } = await startHarness(t, { beforeCreateSnapshot: meeting.attend });
  await client.create("VolumeSnapshotClass", draftOf("VolumeSnapshotClass", { name: "fast" }, policy));
  for (const name of names) {
    const volumeSnapshotRef = { namespace: "default", name, uid: `uid-of-${name}` };
    const source = { volumeHandle: `v-${name}` };
    const spec = { ...policy, source, volumeSnapshotRef, volumeSnapshotClassName: "fast" };
    await client.create("VolumeSnapshotContent", draftOf("VolumeSnapshotContent", { name }, { spec }));
  }
  start("csi-snapshotter", `--csi-address=${socket}`, "--worker-threads=2");
  await eventually("all contents are ready", async () => {
    const { objects } = await client.list("VolumeSnapshotContent", {});
    return objects.every(({ status }) => status?.readyToUse === true);
  });
  assert.equal(meeting.most(), 2);
});

test("--worker-threads of the controller is the number of concurrent reconciles", async (t) => {
  const meeting = createMeeting(2);
  const { client, start } = await startHarness(t, {
    beforeRequest: ({ method, path }) =>
      method === "POST" && path.includes("/volumesnapshotcontents") ? meeting.attend() : undefined,
  });
  await createClaim(client);
  for (const name of names) await createSnapshot(client, name);
  start("snapshot-controller", "--worker-threads=2");
  await eventually(
    "every snapshot has a content",
    async () => (await client.list("VolumeSnapshotContent", {})).objects.length === names.length,
  );
  assert.equal(meeting.most(), 2);
});

test("--timeout is the time after which the sidecar repeats a call", async (t) => {
  const asked: string[] = [];
  const { client, socket, start } = await startHarness(t, {
    beforeCreateSnapshot: async (name, signal) => {
      asked.push(name);
      if (asked.length === 1) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  });
  await createClaim(client);
  const snapshot = await createSnapshot(client, "monday");
  start("snapshot-controller");
  start("csi-snapshotter", `--csi-address=${socket}`, "--timeout=1s", "--retry-interval-start=10ms");
  await eventually(
    "a call without an answer has been given up and made again",
    async () => (await client.get(snapshot)).status?.readyToUse === true,
  );
  assert.equal(new Set(asked).size, 1, "it is asked again for another snapshot");
});

test("--retry-interval-start and --retry-interval-max limit the delay after failures", async (t) => {
  let refusals = 20; // By the default pauses they would take a good hour.
  const { client, socket, start } = await startHarness(t, {
    beforeCreateSnapshot: async () => {
      refusals -= 1;
      if (refusals >= 0) throw new Fault("ResourceExhausted", "not now");
    },
  });
  await createClaim(client);
  const snapshot = await createSnapshot(client, "monday");
  start("snapshot-controller");
  start("csi-snapshotter", `--csi-address=${socket}`, "--retry-interval-start=1ms", "--retry-interval-max=10ms");
  await eventually(
    "the last of many tries, each soon after the other, has succeeded",
    async () => (await client.get(snapshot)).status?.readyToUse === true,
  );
});

test("--resync-period is the time between reconciles of unchanged objects", async (t) => {
  const { client, start } = await startHarness(t);
  await createClaim(client);
  await createSnapshot(client, "monday");
  const { said } = start("snapshot-controller", "--resync-period=50ms", "--http-endpoint=127.0.0.1:0");
  const looks = async (): Promise<number> => {
    const [, url] = /url="(\S+)"/.exec(said()) ?? [];
    if (url === undefined) return 0;
    const page = await readPage(`${url}/metrics`);
    return Number(/^workqueue_adds_total\{name="snapshot-controller-snapshot"\} (\d+)$/m.exec(page)?.[1] ?? 0);
  };
  await eventually("the snapshot has been looked at often", async () => (await looks()) > 50);
});

const readPage = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    get(url, (response) => {
      text(response).then(resolve, reject);
    }).on("error", reject);
  });

const hostname = "kubernetes.io/hostname";
const nodeSelectorTerms = [{ matchExpressions: [{ key: hostname, operator: "In", values: ["far"] }] }];
const isNodeList = (path: string): boolean =>
  path.startsWith("/api/v1/nodes") && !path.includes("watch") && !path.endsWith("?limit=1");

test("with distributed snapshotting nothing is reconciled before nodes are listed", async (t) => {
  const nodesMayBeKnown = Promise.withResolvers<void>();
  const seen: string[] = [];
  const { client, start } = await startHarness(t, {
    beforeRequest: ({ path }) => {
      seen.push(path);
      return isNodeList(path) ? nodesMayBeKnown.promise : undefined;
    },
  });
  await createClaim(client, { nodeAffinity: { required: { nodeSelectorTerms } } });
  await client.create("Node", draftOf("Node", { name: "far-away", labels: { [hostname]: "far" } }, {} as never));
  const snapshot = await createSnapshot(client, "monday");
  start("snapshot-controller", "--enable-distributed-snapshotting");
  await eventually("all but the nodes is known", () => seen.filter((path) => path.includes("watch=")).length === 5);
  await sleep(lingerMs);
  assert.deepEqual((await client.get(snapshot)).status, { readyToUse: false }, "it was decided without the nodes");
  nodesMayBeKnown.resolve();
  await eventually("a content is there", async () => {
    const { objects } = await client.list("VolumeSnapshotContent", {});
    return objects[0]?.metadata.labels?.[labels.managedBy] === "far-away";
  });
  const { objects: reported } = await client.list("Event", {});
  assert.deepEqual(
    reported.filter(({ type }) => type === "Warning"),
    [],
  );
});

test("with distributed snapshotting a snapshot that no node could serve is served as soon as one can", async (t) => {
  const { client, start } = await startHarness(t);
  await createClaim(client, { nodeAffinity: { required: { nodeSelectorTerms } } });
  const snapshot = await createSnapshot(client, "monday");
  start("snapshot-controller", "--enable-distributed-snapshotting");
  await eventually("the lack of a node is told", async () =>
    /no node matches/.test((await client.get(snapshot)).status?.error?.message ?? ""),
  );
  await client.create("Node", draftOf("Node", { name: "far-away", labels: { [hostname]: "far" } }, {} as never));
  await eventually(
    "the node is used",
    async () => (await client.list("VolumeSnapshotContent", {})).objects.length === 1,
  );
});

test("with --node-deployment a sidecar serves the contents of its own node and no others", async (t) => {
  const { client, socket, start } = await startHarness(t, { environment: { NODE_NAME: "here" } });
  const aContentOn = (node: string) => {
    const spec = {
      ...policy,
      source: { snapshotHandle: "s" },
      volumeSnapshotRef: { namespace: "default", name: node },
    };
    const metadata = { name: node, labels: { [labels.managedBy]: node } };
    return client.create("VolumeSnapshotContent", draftOf("VolumeSnapshotContent", metadata, { spec }));
  };
  for (const node of ["elsewhere", "here"]) await aContentOn(node);
  start("csi-snapshotter", `--csi-address=${socket}`, "--node-deployment");
  const statusOn = async (name: string) => (await client.get({ kind: "VolumeSnapshotContent", name })).status;
  await eventually("that of its node is served", async () => (await statusOn("here"))?.readyToUse === true);
  await sleep(lingerMs);
  assert.equal(await statusOn("elsewhere"), undefined);
});

test("calls before GetPluginInfo are measured with an unknown driver name", async (t) => {
  const { socket, start } = await startHarness(t);
  const { said } = start("csi-snapshotter", `--csi-address=${socket}`, "--http-endpoint=127.0.0.1:0");
  await eventually("the sidecar has started", () => said().includes(" started version="));
  const page = await readPage(`${/url="(\S+)"/.exec(said())?.[1]}/metrics`);
  const counts = [...page.matchAll(/^csi_sidecar_operations_seconds_count\{(.*)\} 1$/gm)].map(([, found]) => found);
  assert.deepEqual(counts, [
    'driver_name="unknown-driver",method_name="/csi.v1.Identity/Probe",grpc_status_code="OK"',
    'driver_name="unknown-driver",method_name="/csi.v1.Identity/GetPluginInfo",grpc_status_code="OK"',
    'driver_name="plain.example.com",method_name="/csi.v1.Controller/ControllerGetCapabilities",grpc_status_code="OK"',
  ]);
});

test("a controller that is stopped before nodes are listed exits", async (t) => {
  const asked = Promise.withResolvers<void>();
  const { start, stop } = await startHarness(t, {
    beforeRequest: ({ path }) => {
      if (!isNodeList(path)) return undefined;
      asked.resolve();
      return new Promise(() => undefined);
    },
  });
  const { code, said } = start("snapshot-controller", "--enable-distributed-snapshotting");
  await inTime("the nodes are asked for", asked.promise);
  stop();
  assert.equal(await inTime("the controller has stopped", code), 0, said());
});
