/**
 * A real node: containerd and a kubelet that serve one control plane, so that pods run with real mounts. Root on Linux.
 * Everything they keep lies in one folder, as far as they let themselves be told.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type ControlPlane, serviceAddress } from "./control-plane.ts";
import { boxImage, makeImage } from "./image.ts";
import { createInstance, type Daemon, type Instance } from "./instance.ts";
import { freePort } from "./ports.ts";
import { withProgress } from "./progress.ts";
import { run } from "./run.ts";
import { tools } from "./tools.ts";
import { until } from "./until.ts";

export interface NodeOptions {
  /** OCI archives whose images pods can use. */
  readonly images?: readonly string[];
  /** Pods reach the API server by its Service. The control plane must serve pods. */
  readonly routesApiServer?: boolean;
  /** Off by default: pods then name their node themselves. */
  readonly scheduler?: boolean;
  /** A kubelet that ends is started again, as systemd does it. */
  readonly keepsKubelet?: boolean;
}

export interface Node {
  readonly name: string;
  readonly folder: string;
  /** The kubelet's folder: drivers register in `plugins_registry` below it. */
  readonly rootDir: string;
  /** The socket of containerd, for ctr. */
  readonly containerd: string;
  readonly plane: ControlPlane;
  /** Pods can use the images of this archive from now on. */
  importImage(archive: string): Promise<void>;
  /** Pods can use this image under another name too. */
  tagImage(image: string, as: string): Promise<void>;
  restartKubelet(): Promise<void>;
  stop(): void;
}

/** At import, so that a build counts against no test's time. */
const programs = await tools("kubelet", "kube-scheduler");

/** Readers of a guide pull it by this name. */
const busyboxImage = "docker.io/library/busybox:1";
const pauseImage = "docker.io/library/pause:1";
const nodeName = "localhost";

export function startNode(plane: ControlPlane, options: NodeOptions = {}): Promise<Node> {
  return withProgress("containerd and kubelet are starting", async () => {
    const instance = createInstance();
    try {
      return await startIn(instance, plane, options);
    } catch (reason) {
      instance.stop();
      throw reason;
    }
  });
}

async function startIn(instance: Instance, plane: ControlPlane, options: NodeOptions): Promise<Node> {
  const { scheduler = false, images = [], routesApiServer = false, keepsKubelet = false } = options;
  const { folder } = instance;
  const rootDir = join(folder, "kubelet");
  writeFiles(instance, await freePort());
  const containerd = instance.start("containerd", "containerd", ["--config", join(folder, "containerd.toml")]);
  if (scheduler) instance.keep("kube-scheduler", programs["kube-scheduler"], schedulerFlags(plane));
  if (routesApiServer) await routeApiServer(folder, plane);
  await importImages(folder, containerd, images);
  const startKubelet = () =>
    instance[keepsKubelet ? "keep" : "start"]("kubelet", programs.kubelet, kubeletFlags(folder, rootDir, plane));
  let kubelet = startKubelet();
  await isReady(plane, { containerd, kubelet });
  return {
    name: nodeName,
    folder,
    rootDir,
    containerd: socketOf(folder),
    plane,
    importImage: (archive) => importImage(folder, archive),
    tagImage: (image, as) => tagImage(folder, image, as),
    restartKubelet: async () => {
      await kubelet.stop();
      kubelet = startKubelet();
      await isReady(plane, { containerd, kubelet });
    },
    stop: () => instance.stop(),
  };
}

const socketOf = (folder: string): string => join(folder, "containerd", "socket");

function writeFiles(instance: Instance, kubeletPort: number): void {
  const { folder } = instance;
  const bridge = nameOf(folder);
  instance.own(bridge);
  mkdirSync(join(folder, "network"));
  writeFileSync(join(folder, "network", "10-bridge.conflist"), JSON.stringify(networkConfig(folder, bridge)));
  writeFileSync(join(folder, "containerd.toml"), containerdConfig(folder));
  writeFileSync(join(folder, "kubelet.json"), JSON.stringify(kubeletConfig(folder, kubeletPort)));
}

/** Named after the instance: two nodes at once do not meet, and a cleanup knows whose network it is. */
const nameOf = (folder: string): string => `sk${basename(folder)}`;

/** The pods' network, without the last number. */
const networkOf = (folder: string): string => `10.244.${Number.parseInt(basename(folder).slice(0, 2), 16)}`;

/**
 * What kube-proxy would do for the one Service that every pod needs, for packets of this node's bridge only: nodes of other runs on the
 * same machine have the same Service address.
 */
async function routeApiServer(folder: string, { url }: ControlPlane): Promise<void> {
  const table = nameOf(folder);
  const rules = `table ip ${table} {
  chain prerouting {
    type nat hook prerouting priority dstnat;
    iifname "${table}" ip daddr ${serviceAddress} tcp dport 443 dnat to ${networkOf(folder)}.1:${new URL(url).port}
  }
}
`;
  const file = join(folder, "service.nft");
  writeFileSync(file, rules);
  const { code, stderr } = await run("nft", ["-f", file]);
  if (code !== 0) throw new Error(`nft refused the rule for the API server's Service: ${stderr}`);
}

function networkConfig(folder: string, bridge: string) {
  const ipam = {
    type: "host-local",
    subnet: `${networkOf(folder)}.0/24`,
    routes: [{ dst: "0.0.0.0/0" }],
    dataDir: join(folder, "addresses"),
  };
  const plugin = { type: "bridge", bridge, isGateway: true, ipMasq: false, ipam };
  return { cniVersion: "0.4.0", name: bridge, plugins: [plugin] };
}

const containerdConfig = (folder: string): string => `version = 2
root = "${folder}/containerd/root"
state = "${folder}/containerd/state"
[grpc]
  address = "${socketOf(folder)}"
[plugins."io.containerd.grpc.v1.cri"]
  # Else runc may not start what it is told to, in a container that may not lower the score itself.
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  sandbox_image = "${pauseImage}"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${folder}/network"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      Root = "${folder}/containerd/runc"
[plugins."io.containerd.internal.v1.opt"]
  path = "${folder}/containerd/opt"
`;

const kubeletConfig = (folder: string, port: number) => ({
  apiVersion: "kubelet.config.k8s.io/v1beta1",
  kind: "KubeletConfiguration",
  containerRuntimeEndpoint: `unix://${socketOf(folder)}`,
  address: "127.0.0.1",
  port,
  healthzPort: 0,
  readOnlyPort: 0,
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: "AlwaysAllow" },
  podLogsDir: join(folder, "logs"),
  volumePluginDir: join(folder, "flex"),
  resolvConf: "",
  syncFrequency: "5s",
  // Machines that run tests are containers themselves as often as not: no own control groups, no judging of the disk.
  failCgroupV1: false,
  cgroupDriver: "cgroupfs",
  cgroupsPerQOS: false,
  enforceNodeAllocatable: [],
  failSwapOn: false,
  evictionHard: {
    "memory.available": "1Mi",
    "nodefs.available": "0%",
    "imagefs.available": "0%",
    "nodefs.inodesFree": "0%",
  },
  imageGCHighThresholdPercent: 100,
  // No driver here needs its volumes attached by a controller.
  enableControllerAttachDetach: false,
});

const kubeletFlags = (folder: string, rootDir: string, { kubeconfig }: ControlPlane): string[] => [
  `--config=${join(folder, "kubelet.json")}`,
  `--kubeconfig=${kubeconfig}`,
  `--root-dir=${rootDir}`,
  `--cert-dir=${join(folder, "kubelet-certificates")}`,
  `--hostname-override=${nodeName}`,
];

const schedulerFlags = ({ kubeconfig }: ControlPlane): string[] => [
  `--kubeconfig=${kubeconfig}`,
  "--leader-elect=false",
  "--secure-port=0",
];

const imagesCommand = (folder: string): readonly string[] => [
  "--address",
  socketOf(folder),
  "--namespace",
  "k8s.io",
  "images",
];

/** There is no registry: what pods run is brought in by hand. */
async function importImages(folder: string, containerd: Daemon, images: readonly string[]): Promise<void> {
  const archive = makeImage(folder, [pauseImage, boxImage, busyboxImage]);
  await until({ what: "containerd takes an image" }, async () => {
    if (!containerd.running()) throw new Error(`containerd ended while starting:\n${containerd.lastWords()}`);
    return (await run("ctr", [...imagesCommand(folder), "import", archive])).code === 0 ? true : undefined;
  });
  for (const image of images) await importImage(folder, image);
}

async function importImage(folder: string, archive: string): Promise<void> {
  const { code, stderr } = await run("ctr", [...imagesCommand(folder), "import", archive], { msMax: 120_000 });
  if (code !== 0) throw new Error(`containerd does not take ${archive}: ${stderr}`);
}

async function tagImage(folder: string, image: string, as: string): Promise<void> {
  const fullName = (name: string): string => `docker.io/library/${name}`;
  const { code, stderr } = await run("ctr", [...imagesCommand(folder), "tag", fullName(image), fullName(as)]);
  if (code !== 0) throw new Error(`containerd does not tag ${image} as ${as}: ${stderr}`);
}

interface NodeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const isReady = ({ request }: ControlPlane, daemons: Readonly<Record<string, Daemon>>): Promise<boolean> =>
  until({ what: "the node is ready", msMax: 60_000, everyMs: 100 }, async () => {
    for (const [name, daemon] of Object.entries(daemons))
      if (!daemon.running()) throw new Error(`${name} ended while starting:\n${daemon.lastWords()}`);
    const { status, text } = await request("GET", `/api/v1/nodes/${nodeName}`);
    const conditions = status === 200 ? ((JSON.parse(text) as NodeObject).status?.conditions ?? []) : [];
    return conditions.some(({ type, status: is }) => type === "Ready" && is === "True") ? true : undefined;
  });
