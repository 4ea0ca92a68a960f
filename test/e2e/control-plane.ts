/** `npm run control-plane`: a real Kubernetes for a person to try things on, until Ctrl-C. */
import { parseArgs } from "node:util";
import { seconds } from "./harness/progress.ts";
import { tool, toolTrouble } from "./harness/tools.ts";

const usage = `npm run control-plane [-- --node]

Starts etcd, kube-apiserver and kube-controller-manager on free loopback ports, prints a kubeconfig and stays until
Ctrl-C, which stops and removes everything. The programs are built once from pinned Go modules (Go 1.26 or newer),
or taken from KUBEBUILDER_ASSETS.

  --node   also a kubelet with containerd and a scheduler, so that pods run (root on Linux, and the Debian packages
           containerd runc containernetworking-plugins busybox-static); pods use the image docker.io/library/box:1
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
const trouble = await toolTrouble();
if (trouble !== undefined) fail(trouble, 1);

const startedAt = performance.now();
const { startControlPlane } = await import("./harness/control-plane.ts");
const builtAt = performance.now();
const plane = await startControlPlane({ controllers: node ? "all" : "storage" }).catch((reason: Error) =>
  fail(reason.message, 1),
);
const kubectl = await tool("kubectl");
process.stdout.write(`Kubernetes is ready on ${plane.url} (in ${seconds(performance.now() - builtAt)}${
  builtAt - startedAt > 1_000 ? `, after ${seconds(builtAt - startedAt)} of building` : ""
}).

  export KUBECONFIG=${plane.kubeconfig}
  ${kubectl} get namespaces

Logs and the audit log are in ${plane.folder}. Ctrl-C stops and removes everything.
`);
setInterval(() => undefined, 2 ** 30); // Its programs alone do not keep it alive.
