/** A whole cluster of one node whose pods run our image: with service accounts, a scheduler and every controller. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import packageFile from "../../../package.json" with { type: "json" };
import { type ControlPlane, startControlPlane } from "./control-plane.ts";
import { onExit } from "./exit.ts";
import { createKubectl } from "./kubectl.ts";
import { type Node, startNode } from "./node.ts";
import { withProgress } from "./progress.ts";
import { run } from "./run.ts";
import { until } from "./until.ts";

const root = resolve(import.meta.dirname, "../../..");
export const version = packageFile.version;
export const machineArchitecture = process.arch === "arm64" ? "arm64" : "amd64";

export interface Built {
  readonly archive: string;
  /** Tag → digest. */
  readonly digests: Readonly<Record<string, string>>;
}

/** `npm run image` for this machine, in a folder that goes with the process. */
async function runImage(...args: readonly string[]): Promise<{ readonly folder: string; readonly stdout: string }> {
  const folder = mkdtempSync(join(tmpdir(), "snapkeep-image-"));
  onExit(() => rmSync(folder, { recursive: true, force: true }));
  const command = [join(root, "scripts/image.ts"), "--out", folder, ...args];
  const { code, stdout, stderr } = await withProgress("the image is built", () =>
    run(process.execPath, command, { cwd: root, msMax: 600_000 }),
  );
  if (code !== 0) throw new Error(`npm run image failed: ${stderr}`);
  return { folder, stdout };
}

/** The folders that image/Dockerfile copies. */
export const buildFolders = async (): Promise<string> => (await runImage("--folders")).folder;

async function buildImage(): Promise<Built> {
  const { folder, stdout } = await runImage("--architecture", machineArchitecture);
  const digests = [...stdout.matchAll(/^snapkeep:(\S+) .* (sha256:\w+)$/gm)].map(([, tag = "", digest = ""]) => [
    tag,
    digest,
  ]);
  return { archive: join(folder, `snapkeep-${version}.oci.tar`), digests: Object.fromEntries(digests) };
}

/** At import, so that a build counts against no test's time. */
export const image = await buildImage();

export interface Cluster {
  readonly plane: ControlPlane;
  readonly node: Node;
  readonly kubectl: ReturnType<typeof createKubectl>;
  stop(): void;
}

export async function startCluster(images: readonly string[] = [image.archive]): Promise<Cluster> {
  const plane = await startControlPlane({ controllers: "all", servesPods: true });
  try {
    // A kubelet of 1.36 ends when a container with limits has no image: the suites after that one would wait in vain.
    const node = await startNode(plane, { scheduler: true, images, routesApiServer: true, keepsKubelet: true });
    const stop = () => {
      node.stop();
      plane.stop();
    };
    return { plane, node, kubectl: createKubectl(plane.kubeconfig), stop };
  } catch (reason) {
    plane.stop();
    throw reason;
  }
}

let shared: Promise<Cluster> | undefined;

/** One for all suites of the run that install things; they install and remove one after the other. */
export const useCluster = (): Promise<Cluster> => {
  shared ??= startCluster();
  return shared;
};

const ownPods = "/api/v1/pods?labelSelector=app.kubernetes.io%2Fname%3Dsnapkeep";
const controllerLease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/snapshot-controller-leader";

/** The pods of any installation of snapkeep. */
export async function ownPodsOf<Pod>({ plane }: Pick<Cluster, "plane">): Promise<readonly Pod[]> {
  return JSON.parse((await plane.request("GET", ownPods)).text).items;
}

/** For suites that install: nobody waits for the end of what the suite before has removed until the next one needs the place. */
export async function untilRemoved({ plane }: Cluster): Promise<void> {
  const isThere = async (): Promise<boolean> => {
    const [pods, namespaces] = await Promise.all([ownPodsOf({ plane }), plane.request("GET", "/api/v1/namespaces")]);
    return pods.length > 0 || /"name":"snapkeep(-drivers)?"/.test(namespaces.text);
  };
  await until({ what: "no other installation is left", msMax: 120_000 }, async () =>
    (await isThere()) ? undefined : true,
  );
  await deleteLease({ plane });
}

/** Pods that end without their rights cannot release the lease, and the next controller would wait until the lease expires. */
export const deleteLease = ({ plane }: Pick<Cluster, "plane">) => plane.request("DELETE", controllerLease);
