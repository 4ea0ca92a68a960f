/**
 * A newcomer: `npm run control-plane -- --node`, and then every command of docs/guides/install.md and admission.md as it is printed, but for
 * those that other suites play (an upgrade under load in rolling-upgrade.ts, external-snapshotter's pods in swap.test.ts).
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { image, version } from "../harness/cluster.ts";
import { type GuideShell, guideCommands, guideShell } from "../harness/guides.ts";
import { tool } from "../harness/tools.ts";
import { until } from "../harness/until.ts";

const helm = await tool("helm");
const root = resolve(import.meta.dirname, "../../..");
const minutesMs = 120_000;
// Upgrades and swaps are in rolling-upgrade.ts and swap.test.ts; no cert-manager is here.
const elsewhere = [
  "certificates.cert-manager.io",
  "rollout undo",
  "scale deployment snapshot-controller",
  "rollout status",
  "install sidecar",
];
const registry = "registry.example.com/snapkeep";

describe("a newcomer's cluster", () => {
  const blocks = [...guideCommands("install.md"), ...guideCommands("admission.md")];
  const walked = new Set<string>();
  let plane: ChildProcess;
  let said = "";
  let shell: GuideShell;
  const printed = (pattern: RegExp): string => pattern.exec(said)?.[1] ?? assert.fail(`${pattern}: ${said}`);
  /** The block of the guide that begins so, line by line as a shell runs them; the first line that fails ends it. */
  const walk = async (begin: string, edited: (text: string) => string = (text) => text): Promise<string> => {
    const block = blocks.find((text) => text.startsWith(begin)) ?? assert.fail(`no block begins with ${begin}`);
    walked.add(block);
    const { code, stdout, stderr } = await shell(`set -e\ncd ${root}\n${edited(block).replaceAll("VERSION", version)}`);
    assert.equal(code, 0, `${block}\n${stdout}${stderr}`);
    return stdout;
  };
  const must = async (line: string): Promise<string> => {
    const { code, stdout, stderr } = await shell(line);
    assert.equal(code, 0, `${line}: ${stdout}${stderr}`);
    return stdout;
  };

  before(async () => {
    const command = [join(import.meta.dirname, "../control-plane.ts"), "--node", "--image", image.archive];
    plane = spawn(process.execPath, command, { cwd: root });
    for (const stream of [plane.stdout, plane.stderr]) stream?.on("data", (chunk) => (said += String(chunk)));
    await until({ what: "it says how to use it", msMax: minutesMs }, async () =>
      said.includes("Ctrl-C stops") || plane.exitCode !== null ? true : undefined,
    );
    shell = guideShell(printed(/export KUBECONFIG=(.*)/));
    // What is particular to this cluster: its containerd, its kubelet's folder, and that it has no registry.
    const kubeletDir = printed(/--kubelet-dir=(\S+?)\. /);
    const ctr = `ctr --address ${printed(/ctr --address (\S+)/)}`;
    shell.add("ctr", `exec /usr/bin/${ctr} "$@"`);
    shell.add("helm", `exec ${helm} "$@"`);
    const main = `${process.execPath} ${join(root, "src/main.ts")}`;
    shell.add(
      "snapkeep",
      `case "$*" in *directory-driver*) exec ${main} "$@" --kubelet-dir=${kubeletDir};; *) exec ${main} "$@";; esac`,
    );
    for (const tag of [version, `${version}-driver`])
      await must(`ctr --namespace k8s.io images tag docker.io/library/snapkeep:${tag} ${registry}:${tag}`);
  });
  after(async () => {
    shell?.remove();
    plane?.kill("SIGINT");
    await until({ what: "the cluster is gone" }, async () => (plane?.exitCode === null ? undefined : true));
  });

  test("the image is imported, and the components are installed from a registry and found by their label", async () => {
    await walk("ctr --namespace", (text) => text.replace("dist-image/snapkeep-VERSION.oci.tar", image.archive));
    assert.match(await walk("snapkeep install --diff  --image"), /everything is ready\n$/);
    assert.match(await walk("kubectl get all,clusterroles"), /deployment\.apps\/snapshot-controller/);
  });

  test("with the driver over directories, the first snapshot gives back what was spoiled", async () => {
    assert.match(
      await walk("snapkeep install --apply --components=snapshot-controller,webhook,directory-driver"),
      /ready/,
    );
    await walk("kubectl annotate storageclass");
    assert.match(await walk("kubectl exec writer -- sh -c 'echo spoiled"), /\nfirst version\n$/);
    await walk("kubectl delete pod/writer");
  });

  test("the webhook makes room for policies, and what is invalid is listed", async () => {
    await walk("kubectl get volumesnapshots -A -l");
    await walk("# The webhook still refuses.");
    await must("snapkeep admission-policies --print | kubectl delete -f -");
  });

  test("when the kubelet dies, it is said and started again, and pods go on", async () => {
    const folder = printed(/--kubelet-dir=(\S+?)\. /);
    process.kill(kubeletOf(folder), "SIGKILL");
    await until({ what: "it is said" }, async () =>
      said.includes("kubelet has ended by itself and is started") ? true : undefined,
    );
    await must("kubectl run after --image=busybox:1 --restart=Never -- true");
    await must("kubectl wait --for=jsonpath='{.status.phase}'=Succeeded --timeout=120s pod/after");
    await must("kubectl delete pod/after");
  });

  test("the installation is removed, and both other ways install it again", async () => {
    const removed = await walk("snapkeep install --uninstall --dry-run");
    assert.match(removed, /^would delete: Namespace snapkeep$/m);
    await must("snapkeep install --uninstall --components=directory-driver");
    await must("kubectl delete crd -l '!nothing' --wait=true");
    // kubectl does not wait for a namespace that is still being deleted, as snapkeep does.
    await must("kubectl wait --for=delete namespace/snapkeep --timeout=120s || true");
    await walk("kubectl create -k");
    await must("kubectl -n snapkeep rollout status deployment/snapshot-validation-deployment --timeout=120s");
    await must("snapkeep install --uninstall");
    await must("kubectl wait --for=delete namespace/snapkeep --timeout=120s || true");
    await walk("helm install snaps");
    await must("helm uninstall snaps -n snapkeep --wait");
  });

  test("no command of the guides is left out", () => {
    const left = blocks.filter((text) => !walked.has(text) && !elsewhere.some((words) => text.includes(words)));
    assert.deepEqual(left, []);
  });
});

/** The process whose arguments name the folder. */
function kubeletOf(folder: string): number {
  const found = globSync("/proc/[0-9]*/cmdline").find((path) => {
    try {
      const [program = "", ...words] = readFileSync(path, "utf8").split("\0");
      return program.endsWith("/kubelet") && words.includes(`--root-dir=${folder}`);
    } catch {
      return false;
    }
  });
  return Number(/\d+/.exec(found ?? "")?.[0] ?? assert.fail(`no kubelet of ${folder}`));
}
