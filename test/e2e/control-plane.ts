/** `npm run control-plane`: a real Kubernetes for a person to try things on, until Ctrl-C. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { whenExited } from "./harness/exited-processes.ts";
import { nodePackages, podProblem } from "./harness/packages.ts";
import { seconds } from "./harness/progress.ts";
import { tool, toolProblem } from "./harness/tools.ts";

const usage = `npm run control-plane [-- --node [--image ARCHIVE]]

Starts etcd, kube-apiserver and kube-controller-manager on free loopback ports, prints a kubeconfig and stays until
Ctrl-C, which stops and removes everything. The programs are built once from pinned Go modules (Go 1.26 or newer),
or taken from KUBEBUILDER_ASSETS.

  --node    also a kubelet with containerd and a scheduler, so that pods run and reach the API server (root on Linux, and
            the Debian packages containerd runc containernetworking-plugins busybox-static nftables). There is no registry:
            pods use the image busybox:1, and those of --image
  --image   with --node: an OCI archive whose images pods can use, for example the one that npm run image writes
  --help    this text
`;

const fail = (message: string, code: number): never => {
  process.stderr.write(`${message}\n`);
  process.exit(code);
};

function options() {
  try {
    const image = { type: "string", multiple: true } as const;
    return parseArgs({ options: { node: { type: "boolean" }, image, help: { type: "boolean", short: "h" } } }).values;
  } catch (reason) {
    return fail(`${(reason as Error).message.split(". ")[0]}; see npm run control-plane -- --help`, 2);
  }
}

const { node = false, image: images = [], help = false } = options();
if (help) {
  process.stdout.write(usage);
  process.exit(0);
}
if (images.length > 0 && !node) fail("--image goes with --node: without one no pod runs", 2);
const missing = images.find((path) => !existsSync(path));
if (missing !== undefined) fail(`--image: ${missing} does not exist; npm run image writes one`, 2);
const problem = (await toolProblem()) ?? (node ? await podProblem(nodePackages) : undefined);
if (problem !== undefined) fail(problem, 1);

const buildingAt = performance.now();
const { startControlPlane } = await import("./harness/control-plane.ts");
const startNode = node ? (await import("./harness/node.ts")).startNode : undefined;
const kubectl = await tool("kubectl");

const startingAt = performance.now();
const orFail = (reason: Error): never => fail(reason.message, 1);
const plane = await startControlPlane({ controllers: node ? "all" : "storage", servesPods: node }).catch(orFail);
const nodeOptions = { scheduler: true, routesApiServer: true, keepsKubelet: true, images };
const started = await startNode?.(plane, nodeOptions).catch(orFail);
const kubelet = started?.rootDir;
whenExited(({ folder, name, lastOutput }) => {
  const isKept = ["kubelet", "kube-scheduler"].includes(name);
  process.stderr.write(
    `${name} has ended by itself${isKept ? " and is started again" : ": stop with Ctrl-C and start again"}; its log is ${join(folder, `${name}.log`)}, its last words:\n${lastOutput().trim()}\n`,
  );
});
const buildMs = startingAt - buildingAt;
process.stdout.write(`Kubernetes is ready on ${plane.url} in ${seconds(performance.now() - startingAt)}${
  buildMs > 1_000 ? `, after ${seconds(buildMs)} of building` : ""
}.

  export KUBECONFIG=${plane.kubeconfig}
  ${kubectl} get namespaces
${
  kubelet === undefined
    ? ""
    : `  ${kubectl} run hello --image=busybox:1 -- sleep 1000

The kubelet's folder is another than in most clusters: give snapkeep install --kubelet-dir=${kubelet}. Pods can use
${["busybox:1", ...images].join(", ")}; more images come with

  ctr --address ${started?.containerd} --namespace k8s.io images import ARCHIVE\n`
}
Logs and the audit log are in ${plane.folder}${started === undefined ? "" : ` and ${started.folder}`}.
Ctrl-C stops and removes everything.
`);
setInterval(() => undefined, 2 ** 30); // Its programs alone do not keep it alive.
