/**
 * The upstream Go components, unmodified, on the embedded API server: a claim is provisioned, snapshotted, restored and
 * deleted, with the data to prove it. They speak protobuf for built-in kinds, elect leaders with leases, stream their
 * lists and apply the CRDs of their own release.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import type { JsonObject } from "../../src/base/json.ts";
import { startEmbeddedServer } from "./harness/embedded.ts";
import { type Hostpath, startHostpath } from "./harness/hostpath.ts";
import type { Daemon, Instance } from "./harness/instance.ts";
import { createKubectl } from "./harness/kubectl.ts";
import { moduleFolder, tools } from "./harness/tools.ts";
import { until } from "./harness/until.ts";

const programs = await tools("snapshot-controller", "csi-snapshotter", "csi-provisioner");
let instance: Instance;
let kubectl: ReturnType<typeof createKubectl>;
let hostpath: Hostpath;
const daemons: Daemon[] = [];

async function crdFolder(): Promise<string> {
  const list = ["list", "-m", "-f", "{{.Dir}}", "github.com/kubernetes-csi/external-snapshotter/client/v8"];
  const { stdout } = await promisify(execFile)("go", list, { cwd: moduleFolder("snapshotter") });
  return join(stdout.trim(), "config/crd");
}

describe("the Go components on the embedded server", () => {
  before(async () => {
    const server = await startEmbeddedServer();
    const { kubeconfig } = server;
    instance = server.instance;
    kubectl = createKubectl(kubeconfig);
    hostpath = await startHostpath(instance);
    const applied = await kubectl(["apply", "--server-side", "-k", await crdFolder()]);
    assert.equal(applied.code, 0, applied.stderr);
    const common = [
      `--kubeconfig=${kubeconfig}`,
      "--kube-api-qps=500",
      "--kube-api-burst=500",
      "--leader-election",
      "--v=5",
    ];
    const sidecar = [...common, `--csi-address=${hostpath.socket}`, "--leader-election-namespace=default"];
    daemons.push(
      instance.start("snapshot-controller", programs["snapshot-controller"], [
        ...common,
        "--leader-election-namespace=default",
      ]),
      instance.start("csi-snapshotter", programs["csi-snapshotter"], sidecar),
      instance.start("csi-provisioner", programs["csi-provisioner"], sidecar),
    );
  });
  after(() => instance?.stop());

  async function apply(...objects: readonly JsonObject[]): Promise<void> {
    const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
    const { code, stderr } = await kubectl(["apply", "-f", "-"], { input });
    assert.equal(code, 0, stderr);
  }

  const wordsOfAll = (): string => daemons.map((daemon) => daemon.lastWords()).join("\n---\n");

  async function untilField(what: string, path: string, wanted: string): Promise<void> {
    await until({ what: `${what} has ${path} ${wanted}` }, async () => {
      for (const daemon of daemons) assert.ok(daemon.running(), daemon.lastWords());
      const { stdout } = await kubectl(["get", what, "-o", `jsonpath={${path}}`]);
      return stdout === wanted ? true : undefined;
    }).catch((reason: Error) => {
      throw new Error(`${reason.message}\n${wordsOfAll()}`);
    });
  }

  const untilGone = (what: string): Promise<true> =>
    until({ what: `${what} is gone` }, async () => {
      const { stderr } = await kubectl(["get", what]);
      return /not found/i.test(stderr) ? (true as const) : undefined;
    });

  const field = async (what: string, path: string): Promise<string> =>
    (await kubectl(["get", what, "-o", `jsonpath={${path}}`])).stdout;

  const claim = (name: string, dataSource?: JsonObject): JsonObject => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace: "default" },
    spec: {
      storageClassName: "fast",
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Mi" } },
      ...(dataSource === undefined ? {} : { dataSource }),
    },
  });

  /** Where the driver keeps the files of a claim's volume. */
  async function folderOf(name: string): Promise<string> {
    const volume = await field(`pvc/${name}`, ".spec.volumeName");
    return join(hostpath.socket, "../data", await field(`pv/${volume}`, ".spec.csi.volumeHandle"));
  }

  test("a claim is provisioned by the Go provisioner and bound", async () => {
    await apply(
      {
        apiVersion: "storage.k8s.io/v1",
        kind: "StorageClass",
        metadata: { name: "fast" },
        provisioner: hostpath.driver,
      },
      {
        apiVersion: "snapshot.storage.k8s.io/v1",
        kind: "VolumeSnapshotClass",
        metadata: { name: "fast" },
        driver: hostpath.driver,
        deletionPolicy: "Delete",
      },
      claim("data"),
    );
    await untilField("pvc/data", ".status.phase", "Bound");
    const folder = await folderOf("data");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "poem"), "first");
  });

  test("a snapshot of it becomes ready", async () => {
    await apply({
      apiVersion: "snapshot.storage.k8s.io/v1",
      kind: "VolumeSnapshot",
      metadata: { name: "cut", namespace: "default" },
      spec: { source: { persistentVolumeClaimName: "data" }, volumeSnapshotClassName: "fast" },
    });
    await untilField("volumesnapshot/cut", ".status.readyToUse", "true");
    const content = await field("volumesnapshot/cut", ".status.boundVolumeSnapshotContentName");
    assert.match(content, /^snapcontent-/);
    const created = await kubectl(["get", `volumesnapshotcontent/${content}`, "-o", "jsonpath={.status.creationTime}"]);
    assert.match(created.stdout, /^\d{19}$/, "nanoseconds, digit for digit");
  });

  test("the source is overwritten, and the snapshot restores the first data into another claim", async () => {
    writeFileSync(join(await folderOf("data"), "poem"), "spoiled");
    await apply(claim("back", { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "cut" }));
    await untilField("pvc/back", ".status.phase", "Bound");
    assert.equal(readFileSync(join(await folderOf("back"), "poem"), "utf8"), "first");
  });

  test("leaders are elected with leases, and events are sent", async () => {
    const { stdout: leases } = await kubectl(["get", "leases", "-o", "name"]);
    for (const name of [
      "snapshot-controller-leader",
      "external-snapshotter-leader-hostpath-csi-k8s-io",
      "hostpath-csi-k8s-io",
    ])
      assert.ok(leases.includes(name), leases);
    const { stdout: events } = await kubectl(["get", "events", "-o", "jsonpath={.items[*].reason}"]);
    for (const reason of ["ProvisioningSucceeded", "CreatingSnapshot", "SnapshotReady"])
      assert.ok(events.split(" ").includes(reason), events);
  });

  test("everything is deleted, in the cluster and on the storage", async () => {
    const folders = [await folderOf("data"), await folderOf("back")];
    const content = await field("volumesnapshot/cut", ".status.boundVolumeSnapshotContentName");
    const volumes = await Promise.all(["data", "back"].map((name) => field(`pvc/${name}`, ".spec.volumeName")));
    await kubectl(["delete", "pvc/back", "volumesnapshot/cut", "pvc/data", "--wait=false"]);
    for (const gone of ["pvc/back", "volumesnapshot/cut", `volumesnapshotcontent/${content}`, "pvc/data"])
      await untilGone(gone);
    for (const volume of volumes) await untilGone(`pv/${volume}`);
    for (const folder of folders) assert.ok(!existsSync(folder), folder);
  });
});
