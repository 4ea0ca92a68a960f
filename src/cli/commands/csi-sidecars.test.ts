/** Both sidecars in one process, as a person starts them: what happens to one must not matter to the other. */
import assert from "node:assert/strict";
import { get } from "node:http";
import { test } from "node:test";
import { driver, type HarnessOptions, policy, startHarness } from "../../../test/command-harness.ts";
import { eventually } from "../../../test/csi-sockets.ts";
import { draftOf } from "../../api/builders.ts";
import { leaseNameFrom } from "../../api/names.ts";
import { ControllerServiceCapability_RPC_Type as Capability } from "../../csi/gen/csi_pb.js";

const snapshotterLease = leaseNameFrom(`external-snapshotter-leader-${driver}`);
const provisionerLease = leaseNameFrom(driver);
const both = [Capability.CREATE_DELETE_SNAPSHOT, Capability.CREATE_DELETE_VOLUME];
const election = [
  "--leader-election",
  "--leader-election-namespace=default",
  "--leader-election-lease-duration=3s",
  "--leader-election-renew-deadline=2s",
  "--leader-election-retry-period=50ms",
];

const pageOf = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    get(url, { agent: false }, (answer) => {
      let page = `${answer.statusCode} `;
      answer.setEncoding("utf8").on("data", (chunk: string) => {
        page += chunk;
      });
      answer.on("end", () => resolve(page));
    }).on("error", reject);
  });

async function startBoth(
  t: Parameters<typeof startHarness>[0],
  options: HarnessOptions = {},
  flags: readonly string[] = [],
) {
  const harness = await startHarness(t, { capabilities: both, ...options });
  const { client } = harness;
  await client.create("VolumeSnapshotClass", draftOf("VolumeSnapshotClass", { name: "fast" }, policy));
  const storage = { provisioner: driver, reclaimPolicy: "Delete", volumeBindingMode: "Immediate" } as const;
  await client.create("StorageClass", draftOf("StorageClass", { name: "fast" }, storage));
  const started = harness.start(
    "csi-sidecars",
    `--csi-address=${harness.socket}`,
    "--http-endpoint=127.0.0.1:0",
    ...flags,
  );
  await eventually("it serves its pages", () => started.said().includes("url="));
  const [, url = ""] = /url="([^"]+)"/.exec(started.said()) ?? [];
  const isReady = async (name: string): Promise<boolean> => {
    const content = await client.get({ kind: "VolumeSnapshotContent", name });
    return content.status?.readyToUse === true;
  };
  return {
    ...harness,
    ...started,
    page: (path: string) => pageOf(`${url}${path}`),
    snapshot: async (name: string) => {
      const volumeSnapshotRef = { namespace: "default", name, uid: `uid-of-${name}` };
      const spec = { ...policy, source: { volumeHandle: "v-1" }, volumeSnapshotRef, volumeSnapshotClassName: "fast" };
      await client.create("VolumeSnapshotContent", draftOf("VolumeSnapshotContent", { name }, { spec }));
      return () => isReady(name);
    },
    claim: async (name: string) => {
      const resources = { requests: { storage: "1Mi" } };
      const spec = { accessModes: ["ReadWriteOnce"], storageClassName: "fast", resources };
      await client.create(
        "PersistentVolumeClaim",
        draftOf("PersistentVolumeClaim", { namespace: "default", name }, { spec }),
      );
      const isFor = async (): Promise<boolean> => {
        const { objects } = await client.list("PersistentVolume");
        return objects.some((volume) => volume.spec?.claimRef?.name === name);
      };
      return isFor;
    },
  };
}

test("one process takes snapshots and creates volumes, with two leases and one page of metrics", async (t) => {
  const { client, page, snapshot, claim } = await startBoth(t, {}, election);
  await eventually("the snapshot is taken", await snapshot("one"));
  await eventually("the volume is created", await claim("one"));
  await eventually("it is ready", async () => (await page("/readyz")) === "200 ok");
  const holders = new Set<string>();
  for (const name of [snapshotterLease, provisionerLease]) {
    const { spec } = await client.get({ kind: "Lease", namespace: "default", name });
    assert.notEqual(spec?.holderIdentity ?? "", "");
    holders.add(spec?.holderIdentity ?? "");
  }
  assert.equal(holders.size, 2);
  const metrics = await page("/metrics");
  for (const name of [snapshotterLease, provisionerLease])
    assert.ok(metrics.includes(`leader_election_master_status{name="${name}"} 1`), name);
  for (const queue of ["csi-snapshotter-content", "csi-provisioner-claim"])
    assert.match(metrics, new RegExp(`workqueue_adds_total\\{name="${queue}"\\} [1-9]`));
  for (const method of ["CreateSnapshot", "CreateVolume"])
    assert.match(metrics, new RegExp(`csi_sidecar_operations_seconds_count\\{[^}]*method_name="[^"]*${method}"`));
});

test("each kind is listed once and watched once, whichever controllers read it", async (t) => {
  const asked = { lists: new Map<string, number>(), watches: new Map<string, number>() };
  const count = (kinds: Map<string, number>, path: string): void => {
    const [, plural = ""] = /\/([a-z]+)\?/.exec(path) ?? [];
    kinds.set(plural, (kinds.get(plural) ?? 0) + 1);
  };
  const { page, snapshot, claim } = await startBoth(t, {
    beforeRequest: ({ method, path }) => {
      if (method === "GET" && path.includes("?limit=500")) count(asked.lists, path);
      if (method === "GET" && path.includes("watch=")) count(asked.watches, path);
      return undefined;
    },
  });
  await eventually("the snapshot is taken", await snapshot("one"));
  await eventually("the volume is created", await claim("one"));
  await eventually("it is ready", async () => (await page("/readyz")) === "200 ok");
  const kinds = [
    "persistentvolumeclaims",
    "persistentvolumes",
    "storageclasses",
    "volumesnapshotclasses",
    "volumesnapshotcontents",
    "volumesnapshots",
  ];
  const once = Object.fromEntries(kinds.map((plural) => [plural, 1]));
  await eventually("all are watched", () => asked.watches.size === kinds.length);
  assert.deepEqual(Object.fromEntries([...asked.lists].toSorted()), once);
  assert.deepEqual(Object.fromEntries([...asked.watches].toSorted()), once);
});

test("a lost lease stops one controller, the other goes on, and the first competes again", async (t) => {
  const { client, said, page, snapshot, claim } = await startBoth(t, {}, election);
  await eventually("the snapshot is taken", await snapshot("before"));
  await eventually("the volume is created", await claim("before"));
  const lease = { kind: "Lease", namespace: "default", name: snapshotterLease } as const;
  const steal = async (holderIdentity: string): Promise<void> => {
    const spec = {
      holderIdentity,
      renewTime: new Date().toISOString().replace("Z", "000Z"),
      leaseDurationSeconds: 600,
    };
    await client.patch(lease, { type: "merge", body: { spec } });
  };
  await steal("another");
  await eventually("the loss is noticed", () => said().includes("lost the lease"));
  const isReady = await snapshot("while-lost");
  await eventually("the other controller goes on", await claim("while-lost"));
  await eventually("the lease is looked at again", () => said().includes("another replica leads"));
  await eventually("a standby is ready", async () => (await page("/readyz")) === "200 ok");
  assert.equal(await page("/healthz"), "200 ok");
  assert.equal(await isReady(), false);
  await steal("");
  await eventually("the snapshot is taken by the next turn", isReady);
  const metrics = await page("/metrics");
  assert.ok(metrics.includes(`leader_election_master_status{name="${snapshotterLease}"} 1`));
});

test("a right that one controller lacks does not stop the other, and the page of readiness names it", async (t) => {
  let isGranted = false;
  const forbidden = {
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    reason: "Forbidden",
    code: 403,
    message: "no right",
  };
  const { page, snapshot, claim, said } = await startBoth(t, {
    answer: ({ path }) =>
      isGranted || !path.includes("/volumesnapshotclasses")
        ? undefined
        : { status: 403, headers: { "content-type": "application/json" }, body: JSON.stringify(forbidden) },
  });
  const isReady = await snapshot("one");
  await eventually("the volume is created", await claim("one"));
  assert.match(await page("/readyz"), /^500 ready: snapshotter: /);
  assert.equal(await page("/healthz"), "200 ok");
  assert.match(said(), /component="?csi-snapshotter"?.*no right/);
  isGranted = true;
  await eventually("the snapshot is taken when the right is there", isReady);
  await eventually("it is ready", async () => (await page("/readyz")) === "200 ok");
});

test("a driver without snapshots keeps its volumes, and the page of readiness says what is missing", async (t) => {
  const { page, claim } = await startBoth(t, { capabilities: [Capability.CREATE_DELETE_VOLUME] });
  await eventually("the volume is created", await claim("one"));
  await eventually("the page says it", async () =>
    /^500 ready: snapshotter: .*does not take snapshots/.test(await page("/readyz")),
  );
});

test("only the controllers that are named run", async (t) => {
  const { page, claim } = await startBoth(t, {}, ["--controllers=provisioner"]);
  await eventually("the volume is created", await claim("one"));
  const metrics = await page("/metrics");
  assert.ok(metrics.includes("csi-provisioner-claim"));
  assert.equal(metrics.includes("csi-snapshotter-content"), false);
});

test("a stop ends both with exit code 0", async (t) => {
  const { code, snapshot, claim, stop, client } = await startBoth(t, {}, election);
  await eventually("the snapshot is taken", await snapshot("one"));
  await eventually("the volume is created", await claim("one"));
  stop();
  assert.equal(await code, 0);
  for (const name of [snapshotterLease, provisionerLease]) {
    const { spec } = await client.get({ kind: "Lease", namespace: "default", name });
    assert.equal(spec?.holderIdentity, "", `${name} is released`);
  }
});

for (const { argv, says } of [
  { argv: "--controllers=snapshoter", says: /there is no "snapshoter"; did you mean snapshotter\?/ },
  { argv: "--controllers=", says: /--controllers is empty/ },
  { argv: "--timeout=1m", says: /did you mean --snapshotter-timeout or --provisioner-timeout\?/ },
  { argv: "--snapshotter-timeout=0s", says: /--snapshotter-timeout: "0s" is not valid/ },
  { argv: "--volume-name-uuid-length=0", says: /one name/ },
])
  test(`${argv} is a mistake of usage that names the remedy`, async (t) => {
    const { start } = await startHarness(t);
    const { code, said } = start("csi-sidecars", argv);
    assert.equal(await code, 2);
    assert.match(said(), says);
  });
