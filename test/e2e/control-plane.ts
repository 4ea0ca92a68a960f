/** `npm run control-plane`: a real Kubernetes for a person to try things on, until Ctrl-C. */
import { parseArgs } from "node:util";
import { boxImage } from "./harness/image.ts";
import { nodePackages, podProblem } from "./harness/packages.ts";
import { seconds } from "./harness/progress.ts";
import { tool, toolProblem } from "./harness/tools.ts";

const usage = `npm run control-plane [-- --node]

Starts etcd, kube-apiserver and kube-controller-manager on free loopback ports, prints a kubeconfig and stays until
Ctrl-C, which stops and removes everything. The programs are built once from pinned Go modules (Go 1.26 or newer),
or taken from KUBEBUILDER_ASSETS.

  --node   also a kubelet with containerd and a scheduler, so that pods run (root on Linux, and the Debian packages
           containerd runc containernetworking-plugins busybox-static nftables); pods use the image ${boxImage}
  --help   this text
`;

const fail = (message: string, code: number): never => {
  process.stderr.write(`${message}\n`);
  process.exit(code);
};

function options() {
  try {
    return parseArgs({ options: { node: { type: "boolean" }, help: { type: "boolean", short: "h" } } }).values;
  } catch (reason) {
    return fail(`${(reason as Error).message.split(". ")[0]}; see npm run control-plane -- --help`, 2);
  }
}

const { node = false, help = false } = options();
if (help) {
  process.stdout.write(usage);
  process.exit(0);
}
const problem = (await toolProblem()) ?? (node ? await podProblem(nodePackages) : undefined);
if (problem !== undefined) fail(problem, 1);

const buildingAt = performance.now();
const { startControlPlane } = await import("./harness/control-plane.ts");
const startNode = node ? (await import("./harness/node.ts")).startNode : undefined;
const kubectl = await tool("kubectl");

const startingAt = performance.now();
const orFail = (reason: Error): never => fail(reason.message, 1);
const plane = await startControlPlane({ controllers: node ? "all" : "storage" }).catch(orFail);
const kubelet = (await startNode?.(plane, { scheduler: true }).catch(orFail))?.rootDir;
const buildMs = startingAt - buildingAt;
process.stdout.write(`Kubernetes is ready on ${plane.url} in ${seconds(performance.now() - startingAt)}${
  buildMs > 1_000 ? `, after ${seconds(buildMs)} of building` : ""
}.

  export KUBECONFIG=${plane.kubeconfig}
  ${kubectl} get namespaces
${kubelet === undefined ? "" : `  ${kubectl} run hello --image=${boxImage} --image-pull-policy=Never -- sleep 1000\n`}
Logs and the audit log are in ${plane.folder}${kubelet === undefined ? "" : `, the kubelet's folder is ${kubelet}`}.
Ctrl-C stops and removes everything.
`);
setInterval(() => undefined, 2 ** 30); // Its programs alone do not keep it alive.
