/** Every command of docs/guides/upgrading.md, run as printed against a real server that holds what it is to find. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { snapshotCrds } from "../../src/api/crds/index.ts";
import type { ControlPlane } from "./harness/control-plane.ts";
import { installCrdsOn } from "./harness/crds.ts";
import { type GuideShell, guideCommands, guideShell } from "./harness/guides.ts";
import { createKubectl } from "./harness/kubectl.ts";
import { newNamespace, useControlPlane } from "./harness/shared.ts";
import { until } from "./harness/until.ts";

const commands = guideCommands("upgrading.md");
const commandWith = (word: string): string => commands.find((text) => text.includes(word)) ?? assert.fail(word);

describe("the commands of the upgrade guide", () => {
  let plane: ControlPlane;
  let namespace: string;
  let shell: GuideShell;
  const apply = async (object: object) => {
    const { code, stderr } = await createKubectl(plane.kubeconfig)(["apply", "-n", namespace, "-f", "-"], {
      input: JSON.stringify(object),
    });
    assert.equal(code, 0, stderr);
  };
  const custom = { apiGroup: "example.com", kind: "Tarball", name: "t" };
  const claimSpec = (dataSource: object) => ({
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: "1Mi" } },
    storageClassName: "none",
    dataSource,
  });
  const aClaim = (name: string, dataSource: object) => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name },
    spec: claimSpec(dataSource),
  });

  before(async () => {
    plane = await useControlPlane();
    shell = guideShell(plane.kubeconfig);
    namespace = await newNamespace(plane, "guide");
    await installCrdsOn(plane, snapshotCrds(3));
    await until({ what: "snapshots are served" }, async () =>
      (await plane.request("GET", "/apis/snapshot.storage.k8s.io/v1/volumesnapshots")).status === 200
        ? true
        : undefined,
    );
  });
  after(async () => {
    shell?.remove();
    // Other suites share this server, and count what is invalid.
    await plane?.request("DELETE", `/api/v1/namespaces/${namespace}`);
  });

  test("the guide has commands for claims, workloads and snapshots", () => assert.equal(commands.length, 4));

  test("claims that lost their source are found, however they were written, and no other", async () => {
    await apply(aClaim("applied", { kind: "ConfigMap", name: "m" }));
    const posted = aClaim("posted", custom);
    const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
    assert.equal((await plane.request("POST", path, posted)).status, 201);
    await apply(aClaim("valid", { kind: "PersistentVolumeClaim", name: "applied" }));
    const { stdout, stderr } = await shell(commandWith("get pvc"));
    const found = stdout.split("\n").filter((line) => line.includes(`${namespace}/`));
    assert.deepEqual(
      found.map((line) => /PersistentVolumeClaim \S+\/(\S+): .*(\[\S+\])$/.exec(line)?.slice(1).join(" ")),
      ["applied [SNAP-138]", "posted [SNAP-138]"],
      `${stdout}${stderr}`,
    );
    assert.match(found[0] ?? "", /was a "ConfigMap" when this claim was written/);
  });

  test("workloads that create claims with a custom source are found", async () => {
    const labels = { app: "db" };
    const container = { name: "a", image: "b" };
    await apply({
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: { name: "db" },
      spec: {
        selector: { matchLabels: labels },
        serviceName: "db",
        replicas: 0,
        template: { metadata: { labels }, spec: { containers: [container] } },
        volumeClaimTemplates: [{ metadata: { name: "data" }, spec: claimSpec(custom) }],
      },
    });
    const volume = {
      name: "v",
      ephemeral: { volumeClaimTemplate: { spec: claimSpec(custom) } },
    };
    await apply({
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "once" },
      spec: {
        suspend: true,
        template: { spec: { restartPolicy: "Never", containers: [container], volumes: [volume] } },
      },
    });
    const { stdout, code } = await shell(commandWith("get statefulsets"));
    assert.match(stdout, /spec\.volumeClaimTemplates\[0\]\.spec\.dataSource: .*\[SNAP-132\]/);
    assert.match(
      stdout,
      /spec\.template\.spec\.volumes\[0\]\.ephemeral\.volumeClaimTemplate\.spec\.dataSource: .*\[SNAP-132\]/,
    );
    assert.equal(code, 1);
  });

  test("stored snapshots that break the rules are found", async () => {
    await apply({
      apiVersion: "snapshot.storage.k8s.io/v1",
      kind: "VolumeSnapshot",
      metadata: { name: "sourceless" },
      spec: { source: { persistentVolumeClaimName: "" } },
    });
    const { stdout, code } = await shell(commandWith("get volumesnapshots"));
    assert.match(stdout, new RegExp(`VolumeSnapshot ${namespace}/sourceless: \\S*spec\\.source: .*\\[SNAP-101\\]`));
    assert.equal(code, 1);
  });

  test("going back works also where nothing was turned on", async () => {
    const { code, stderr } = await shell(commandWith("delete validatingwebhookconfiguration"));
    assert.equal(code, 0, stderr);
  });
});
