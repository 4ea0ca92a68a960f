/** `snapkeep install` on a real cluster: every component is a pod of our image. */
import assert from "node:assert/strict";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { type Cluster, untilRemoved, useCluster, version } from "../harness/cluster.ts";
import { run } from "../harness/run.ts";
import { newNamespace } from "../harness/shared.ts";
import { until } from "../harness/until.ts";
import { livesThroughSnapshot } from "../harness/volume-life.ts";
import { testRollingUpgrade } from "./rolling-upgrade.ts";

const main = resolve(import.meta.dirname, "../../../src/main.ts");
const components = "--components=snapshot-controller,webhook,directory-driver";

describe("snapkeep install", () => {
  let cluster: Cluster;
  const snapkeep = async (...args: readonly string[]) => {
    const command = [main, ...args, `--kubeconfig=${cluster.plane.kubeconfig}`];
    const { code, stdout, stderr } = await run(process.execPath, command, { msMax: 150_000 });
    return { code, out: stdout, text: `${stdout}${stderr}` };
  };
  const install = (...args: readonly string[]) =>
    snapkeep("install", ...args, components, `--kubelet-dir=${cluster.node.rootDir}`, "--timeout=100s");
  const names = async (resource: string): Promise<readonly string[]> =>
    (await cluster.kubectl(["get", resource, "-A", "-o", "name"])).stdout.trim().split("\n").filter(Boolean);
  /** What an installation may leave. */
  const inventory = async (): Promise<readonly string[]> => {
    const kinds =
      "ns,deploy,ds,sa,svc,role,rolebinding,netpol,pdb,secret,lease,clusterrole,clusterrolebinding,csidriver,sc,crd,validatingwebhookconfiguration,mutatingwebhookconfiguration";
    return names(kinds);
  };
  let empty: readonly string[];
  let startedAt = 0;

  before(async () => {
    cluster = await useCluster();
    await untilRemoved(cluster);
    startedAt = cluster.plane.auditPosition();
    empty = await inventory();
  });
  after(async () => {
    await install("--uninstall");
  });

  test("--apply installs on an empty cluster, names what it leaves out, and waits until all is ready", async () => {
    const { code, out, text } = await install("--apply");
    assert.equal(code, 0, text);
    assert.match(
      out,
      /left out, because the cluster does not serve ServiceMonitor \(monitoring\.coreos\.com\/v1\): snapshot-controller/,
    );
    assert.match(out, /left out, because the cluster does not serve PrometheusRule/);
    assert.match(out, /everything is ready\n$/);
    const { stdout } = await cluster.kubectl([
      "get",
      "pods",
      "-A",
      "-l",
      "app.kubernetes.io/name=snapkeep",
      "-o",
      "json",
    ]);
    const pods = JSON.parse(stdout).items as readonly {
      metadata: { namespace: string; labels: Record<string, string> };
    }[];
    const counts = Map.groupBy(
      pods,
      ({ metadata }) => `${metadata.namespace} ${metadata.labels["app.kubernetes.io/component"]}`,
    );
    assert.deepEqual([...counts].map(([name, { length }]) => `${name} ${length}`).sort(), [
      "snapkeep snapshot-controller 2",
      "snapkeep webhook 3",
      "snapkeep-drivers directory-driver 1",
    ]);
  });

  test("restricted pod security is enforced for all but the pods of drivers", async () => {
    const { stdout } = await cluster.kubectl(["get", "ns", "snapkeep", "snapkeep-drivers", "-o", "json"]);
    const levels = JSON.parse(stdout).items.map(
      ({ metadata }: { metadata: { labels: Record<string, string> } }) =>
        metadata.labels["pod-security.kubernetes.io/enforce"],
    );
    assert.deepEqual(levels, ["restricted", "privileged"]);
  });

  test("a second --apply changes nothing, and --check finds no drift until somebody makes one", async () => {
    assert.equal((await install("--apply")).code, 0);
    const same = await install("--check");
    assert.equal(same.code, 0, same.text);
    await cluster.kubectl(["scale", "deployment", "snapshot-controller", "-n", "snapkeep", "--replicas=1"]);
    const drifted = await install("--check");
    assert.equal(drifted.code, 1, drifted.text);
    assert.match(drifted.out, /~ Deployment snapkeep\/snapshot-controller\n {4}spec\.replicas: 1 → 2\n/);
    assert.equal((await install("--apply")).code, 0);
  });

  test("bytes of a pod come back from a snapshot, with every component as a pod and without one denied request", async () => {
    const namespace = await newNamespace(cluster.plane, "life");
    const from = cluster.plane.auditPosition();
    await livesThroughSnapshot(cluster, namespace);
    const denied = cluster.plane
      .auditLog(startedAt)
      .filter(
        ({ user, responseStatus }) =>
          /^system:serviceaccount:snapkeep/.test(user.username) && responseStatus?.code === 403,
      )
      .map(({ user, verb, requestURI }) => `${user.username} may not ${verb} ${requestURI}`);
    assert.deepEqual([...new Set(denied)], []);
    const asked = new Set(cluster.plane.auditLog(from).map(({ user }) => user.username));
    for (const account of ["snapkeep:snapshot-controller", "snapkeep-drivers:directory-driver"])
      assert.ok(asked.has(`system:serviceaccount:${account}`), account);
  });

  test("R11: snapkeep gather collects log and metrics of every component from its pod, and no value of a Secret", async (t) => {
    const folder = join(mkdtempSync(join(tmpdir(), "snapkeep-gather-")), "bundle");
    t.after(() => rmSync(join(folder, ".."), { recursive: true, force: true }));
    const pods = await until({ what: "no pod is ending" }, async () => {
      const own = ["get", "pods", "-A", "-l", "app.kubernetes.io/name=snapkeep", "-o", "json"];
      const { items } = JSON.parse((await cluster.kubectl(own)).stdout) as {
        items: readonly { metadata: { name: string; deletionTimestamp?: string } }[];
      };
      if (items.some(({ metadata }) => metadata.deletionTimestamp !== undefined)) return undefined;
      return items.map(({ metadata }) => metadata.name).sort();
    });
    const gather = ["gather", `--kubeconfig=${cluster.plane.kubeconfig}`, `--out=${folder}`, "-o", "json"];
    const { code, stdout, stderr } = await run(process.execPath, [main, ...gather]);
    assert.equal(code, 0, stderr);
    const { components: found } = JSON.parse(stdout) as {
      components: readonly { namespace: string; pod: string; container: string; statusPort?: string }[];
    };
    assert.deepEqual([...new Set(found.map(({ pod }) => pod))].sort(), pods);
    const read = (file: string): string => readFileSync(join(folder, file), "utf8");
    for (const { namespace, pod, container, statusPort } of found) {
      const place = `components/${namespace}/${pod}/${container}`;
      assert.match(read(`${place}/current.log`), /^\d{4}-\d\d-\d\dT/, place);
      assert.ok(statusPort !== undefined, place);
      assert.match(read(`${place}/metrics.txt`), /^# TYPE \w+ /m, place);
    }
    const { items } = JSON.parse((await cluster.kubectl(["get", "secrets", "-A", "-o", "json"])).stdout) as {
      items: readonly { metadata: { name: string }; data?: Readonly<Record<string, string>> }[];
    };
    const keys = items.flatMap(({ data = {} }) => data["tls.key"] ?? []);
    assert.ok(keys.length > 0);
    const bundle = globSync("**/*.*", { cwd: folder }).map((file) => [file, read(file)] as const);
    for (const [file, text] of bundle)
      for (const key of keys)
        for (const value of [key, Buffer.from(key, "base64").toString().split("\n")[1] ?? key])
          assert.ok(!text.includes(value), file);
  });

  test("the webhook judges in its pods: a VolumeSnapshot that breaks a rule is rejected", async () => {
    await untilJudged();
  });

  const untilJudged = () => {
    const invalid = {
      apiVersion: "snapshot.storage.k8s.io/v1",
      kind: "VolumeSnapshot",
      metadata: { name: "invalid" },
      spec: { source: { persistentVolumeClaimName: "" } },
    };
    const path = "/apis/snapshot.storage.k8s.io/v1/namespaces/default/volumesnapshots?dryRun=All";
    return until({ what: "the API server asks the webhook", msMax: 60_000 }, async () =>
      (await cluster.plane.request("POST", path, invalid)).text.includes("[SNAP-101]") ? true : undefined,
    );
  };

  testRollingUpgrade(() => ({ cluster, snapkeep, install, untilJudged }));

  const serveV1beta1 = async (served: boolean): Promise<void> => {
    const path = "/spec/versions/1";
    const change = [
      { op: "test", path: `${path}/name`, value: "v1beta1" },
      { op: "replace", path: `${path}/served`, value: served },
    ];
    const crd = "volumesnapshots.snapshot.storage.k8s.io";
    const { code, stderr } = await cluster.kubectl([
      "patch",
      "crd",
      crd,
      "--type=json",
      `--patch=${JSON.stringify(change)}`,
    ]);
    assert.equal(code, 0, stderr);
  };

  test("the requirement document's manifests, changed only in image and caBundle, judge a VolumeSnapshot", async () => {
    const { kubectl, plane } = cluster;
    const certs = ["certs", "--apply", "--namespace=default", `--kubeconfig=${plane.kubeconfig}`];
    const fixture = (name: string): string =>
      readFileSync(join(import.meta.dirname, "../fixtures/requirement-000", `${name}.yaml`), "utf8");
    const apply = async (text: string) => {
      const { code, stderr } = await kubectl(
        ["apply", "--server-side", "--force-conflicts", "-n", "default", "-f", "-"],
        { input: text },
      );
      assert.equal(code, 0, stderr);
    };
    // The name is that of our own configuration, which is in the way of the document's.
    await kubectl(["delete", "validatingwebhookconfiguration", "webhook-validation.storage.sigs.k8s.io"]);
    assert.equal((await run(process.execPath, [main, ...certs])).code, 0);
    const { data } = JSON.parse(
      (await kubectl(["get", "secret", "snapshot-validation-secret", "-n", "default", "-o", "json"])).stdout,
    );
    await apply(fixture("deployment").replace(/image: image:xxx/, `image: snapkeep:${version}`));
    await apply(fixture("service"));
    await apply(fixture("configuration").replace(/caBundle: ".*"/, `caBundle: "${data["ca.crt"]}"`));
    // Its rule is for v1beta1 alone. Once that is served, as in the document's days, the API server asks about v1 as well.
    await serveV1beta1(true);
    await kubectl(["rollout", "status", "-n", "default", "deployment/snapshot-validation-deployment", "--timeout=60s"]);
    await untilJudged();
    await kubectl([
      "delete",
      "-n",
      "default",
      "deployment/snapshot-validation-deployment",
      "service/snapshot-validation-service",
      "secret/snapshot-validation-secret",
    ]);
    await kubectl(["delete", "validatingwebhookconfiguration", "webhook-validation.storage.sigs.k8s.io"]);
    await serveV1beta1(false);
  });

  test("--uninstall leaves nothing but what it names", async () => {
    const { code, out, text } = await install("--uninstall");
    assert.equal(code, 0, text);
    for (const kind of ["volumesnapshots", "volumesnapshotcontents", "volumesnapshotclasses"])
      assert.match(out, new RegExp(`stays: CustomResourceDefinition ${kind}`));
    assert.match(out, /stays: Lease kube-system\/snapshot-controller-leader/);
    const lease = [
      "get",
      "lease",
      "-n",
      "kube-system",
      "snapshot-controller-leader",
      "-o",
      "jsonpath={.spec.holderIdentity}",
    ];
    assert.deepEqual((await cluster.kubectl(lease)).stdout, "", "the last pod has not released its lease");
    const left = await until({ what: "the namespaces are gone", msMax: 120_000 }, async () => {
      const now = (await inventory()).filter((name) => !empty.includes(name));
      return now.some((name) => name.startsWith("namespace/snapkeep")) ? undefined : now;
    });
    const expected = (name: string): boolean =>
      /^customresourcedefinition\.apiextensions\.k8s\.io\/volumesnapshot/.test(name) ||
      /^lease\.coordination\.k8s\.io\/(snapshot-controller-leader|localhost)$/.test(name) ||
      /^(namespace|serviceaccount)\/((life|upgrade)-\d+|default)$/.test(name);
    assert.deepEqual(
      left.filter((name) => !expected(name)),
      [],
    );
  });
});
