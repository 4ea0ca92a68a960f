/** The Helm chart and the kustomize overlays on a real cluster, judged by the real helm and kubectl. */
import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { parseAllDocuments } from "yaml";
import { componentRows } from "../../../src/api/manifests/rows.ts";
import { keyOf } from "../../../src/cli/install/chart-values.ts";
import { type Cluster, deleteLease, useCluster, version } from "../harness/cluster.ts";
import { run } from "../harness/run.ts";
import { newNamespace } from "../harness/shared.ts";
import { tool } from "../harness/tools.ts";
import { livesThroughSnapshot } from "../harness/volume-life.ts";

const helmProgram = await tool("helm");
const root = resolve(import.meta.dirname, "../../..");
const chart = join(root, "deploy/helm/snapkeep");
const overlays = join(root, "deploy/kustomize/overlays");
const main = join(root, "src/main.ts");

let cluster: Cluster;
const setUp = async () => {
  cluster = await useCluster();
};

const must = async (program: string, args: readonly string[], input?: string): Promise<string> => {
  const env = { KUBECONFIG: cluster.plane.kubeconfig };
  const { code, stdout, stderr } = await run(program, args, {
    env,
    msMax: 170_000,
    ...(input === undefined ? {} : { input }),
  });
  assert.equal(code, 0, `${args.join(" ")}: ${stderr}`);
  return stdout;
};
const kubectl = async (args: readonly string[], input?: string): Promise<string> => {
  const { code, stdout, stderr } = await cluster.kubectl(args, {
    msMax: 170_000,
    ...(input === undefined ? {} : { input }),
  });
  assert.equal(code, 0, `kubectl ${args.join(" ")}: ${stderr}`);
  return stdout;
};

describe("the Helm chart", () => {
  before(setUp);
  const helm = (...args: readonly string[]) => must(helmProgram, args);
  const values = () => ["--set", `directoryDriver.enabled=true,kubeletDir=${cluster.node.rootDir}`];
  const release = ["snapkeep", chart, "-n", "snapkeep"];
  /** The namespace stays for the overlays. */
  after(async () => {
    await run(helmProgram, ["uninstall", "snapkeep", "-n", "snapkeep"], {
      env: { KUBECONFIG: cluster.plane.kubeconfig },
    });
    await deleteLease(cluster);
  });

  test("passes lint, and refuses a value that does not exist", async () => {
    assert.match(await helm("lint", "--strict", "--kube-version", "1.36.4", chart), /0 chart\(s\) failed/);
    const wrong = await run(helmProgram, [
      "template",
      "x",
      chart,
      "--kube-version",
      "1.36.4",
      "--set",
      "webhok.enabled=true",
    ]);
    assert.match(wrong.stderr, /webhok/);
  });

  test("renders the objects that snapkeep install applies", async () => {
    const set = [...componentRows.map((row) => `${keyOf(row)}.enabled=true`), "monitoring.enabled=true"].join(",");
    const rendered = await helm("template", ...release, "--include-crds", "--kube-version", "1.36.4", "--set", set);
    const components = `--components=${componentRows.map(({ name }) => name).join(",")}`;
    const printed = await must(process.execPath, [main, "install", "--print", components]);
    const named = (text: string) =>
      parseAllDocuments(text).flatMap((document) => {
        const object = document.toJS() as { kind: string; metadata: { name: string; namespace?: string } } | null;
        return object === null ? [] : [`${object.kind} ${object.metadata.namespace ?? ""}/${object.metadata.name}`];
      });
    // helm creates the namespace of a release itself, and the chart makes the certificates.
    const expected = [
      ...named(printed).filter((name) => name !== "Namespace /snapkeep"),
      "Secret snapkeep/snapshot-validation-secret",
    ];
    assert.deepEqual(named(rendered).sort(), expected.sort());
  });

  test("installs in a restricted namespace; bytes come back from a snapshot", async () => {
    await kubectl(["create", "namespace", "snapkeep"]);
    await kubectl(["label", "namespace", "snapkeep", "pod-security.kubernetes.io/enforce=restricted"]);
    const notes = await helm("install", ...release, ...values(), "--wait", "--timeout", "150s");
    assert.match(notes, /directory-driver: A CSI driver/);
    await livesThroughSnapshot(cluster, await newNamespace(cluster.plane, "helm"));
  });

  test("upgrades, rolls back, and keeps the certificate", async () => {
    const certificate = () =>
      kubectl(["get", "secret", "snapshot-validation-secret", "-n", "snapkeep", "-o=jsonpath={.data.tls\\.crt}"]);
    const replicas = () =>
      kubectl(["get", "deployment", "snapshot-controller", "-n", "snapkeep", "-o=jsonpath={.spec.replicas}"]);
    const made = await certificate();
    await helm(
      "upgrade",
      ...release,
      "--reuse-values",
      "--set",
      "snapshotController.replicas=1",
      "--wait",
      "--timeout",
      "150s",
    );
    assert.deepEqual([await certificate(), await replicas()], [made, "1"]);
    await helm("rollback", "snapkeep", "1", "-n", "snapkeep", "--wait", "--timeout", "150s");
    assert.deepEqual([await certificate(), await replicas()], [made, "2"]);
  });

  test("uninstalls everything but the CRDs", async () => {
    await helm("uninstall", "snapkeep", "-n", "snapkeep", "--wait", "--timeout", "150s");
    const left = await kubectl([
      "get",
      "deploy,svc,sa,role,clusterrole,csidriver,validatingwebhookconfiguration",
      "-A",
      "-l",
      "app.kubernetes.io/name=snapkeep",
      "-o",
      "name",
    ]);
    assert.equal(left, "");
    assert.match(await kubectl(["get", "crd", "-o", "name"]), /volumesnapshots\.snapshot\.storage\.k8s\.io/);
  });
});

describe("the kustomize overlays", () => {
  before(setUp);
  after(async () => {
    const input = await kustomized();
    await cluster.kubectl(["delete", "--ignore-not-found", "--wait=false", "-f", "-"], { input });
  });

  /** As an overlay of the reader's own would: with the kubelet's folder of this node. */
  const kustomized = async (): Promise<string> =>
    (await kubectl(["kustomize", join(overlays, "all")])).replaceAll("/var/lib/kubelet", cluster.node.rootDir);

  test("install everything; bytes come back from a snapshot", async () => {
    await kubectl(["apply", "--server-side", "-k", join(root, "deploy/kustomize/base/crds")]);
    await kubectl(["wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"]);
    const text = await kustomized();
    assert.ok(text.includes(`image: snapkeep:${version}`));
    await kubectl(["apply", "--server-side", "-f", "-"], text);
    await must(process.execPath, [
      main,
      "certs",
      "--apply",
      "--namespace=snapkeep",
      `--kubeconfig=${cluster.plane.kubeconfig}`,
    ]);
    for (const place of ["snapkeep", "snapkeep-drivers"])
      await kubectl(["wait", "--for=condition=Available", "--timeout=150s", "deployment", "--all", "-n", place]);
    await livesThroughSnapshot(cluster, await newNamespace(cluster.plane, "kustomize"));
  });
});
