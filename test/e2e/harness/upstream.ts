/** The programs and files of the upstream release, run as they are: what ours must stand in for. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { type CrdDraft, crdNameOf, snapshotKinds } from "../../../src/api/crds/index.ts";
import type { ControlPlane } from "./control-plane.ts";
import type { Daemon, Environment } from "./instance.ts";
import { moduleFolder, tools } from "./tools.ts";

/** At import, so that a build counts against no test's time. */
const programs = await tools("snapshot-controller", "csi-snapshotter", "csi-provisioner");
let started = 0;

export function startUpstream(
  { instance, kubeconfig }: Pick<ControlPlane, "instance" | "kubeconfig">,
  program: keyof typeof programs,
  flags: readonly string[] = [],
  environment: Environment = {},
): Daemon {
  started += 1;
  const given = [`--kubeconfig=${kubeconfig}`, "--v=4", ...flags];
  return instance.start(`upstream-${program}-${started}`, programs[program], given, environment);
}

/** Upstream's own limits would be what is measured. */
export const unthrottled = ["--kube-api-qps=1000", "--kube-api-burst=2000"] as const;

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

const release = "github.com/kubernetes-csi/external-snapshotter";

/** The documents of one file of the release: `deploy/…` of its main module, or `config/…` of its client's. */
export async function releaseFile(
  path: string,
  edited: (text: string) => string = (text) => text,
): Promise<readonly Manifest[]> {
  const module = path.startsWith("config/") ? `${release}/client/v8` : `${release}/v8`;
  return documentsIn(edited(await readFile(join(await sourcesOf(module, "snapshotter"), path), "utf8")));
}

/** The same of release 3, the last one with v1beta1 alone; only `config/…`. */
export const oldReleaseFile = async (path: string): Promise<readonly Manifest[]> =>
  documentsIn(await readFile(join(await sourcesOf(`${release}/client/v3`, "client3"), path), "utf8"));

const crdFiles = snapshotKinds.map(
  (kind) => `config/crd/snapshot.storage.k8s.io_${crdNameOf(kind).split(".", 1)[0]}.yaml`,
);

/** The CRDs of the current upstream release. */
export async function upstreamCrds(): Promise<readonly CrdDraft[]> {
  return (await Promise.all(crdFiles.map((file) => releaseFile(file)))).flat() as unknown as readonly CrdDraft[];
}

/** The CRDs of the last upstream release that had v1beta1 alone. */
export async function oldUpstreamCrds(): Promise<readonly CrdDraft[]> {
  return (await Promise.all(crdFiles.map((file) => oldReleaseFile(file)))).flat() as unknown as readonly CrdDraft[];
}

/** Every release of the client module that the module proxy has: the sets of CRDs that clusters have. */
export const clientReleases = ["3.0.0", "4.0.0", "4.2.0", "6.3.0", "8.0.0", "8.2.0", "8.4.0", "8.6.0"] as const;

/** The snapshot CRDs of one of them. */
export async function crdsOfRelease(version: (typeof clientReleases)[number]): Promise<readonly CrdDraft[]> {
  const module = `${release}/client/v${version.split(".", 1)[0]}@v${version}`;
  // Nothing is built of it: its checksum stands in no go.sum.
  const env = { ...process.env, GONOSUMDB: "*", GOFLAGS: "-mod=mod" };
  const { stdout } = await promisify(execFile)("go", ["mod", "download", "-json", module], { env, cwd: tmpdir() });
  const { Dir: folder } = JSON.parse(stdout) as { readonly Dir: string };
  const texts = await Promise.all(crdFiles.map((file) => readFile(join(folder, file), "utf8")));
  return texts.flatMap(documentsIn) as unknown as readonly CrdDraft[];
}

const folders = new Map<string, Promise<string>>();

function sourcesOf(module: string, pinnedIn: string): Promise<string> {
  const folder = folders.get(module) ?? findSources(module, pinnedIn);
  folders.set(module, folder);
  return folder;
}

async function findSources(module: string, pinnedIn: string): Promise<string> {
  const listing = ["list", "-m", "-f", "{{.Dir}}", module];
  const { stdout } = await promisify(execFile)("go", listing, { cwd: moduleFolder(pinnedIn) });
  return stdout.trim();
}

const documentsIn = (text: string): readonly Manifest[] =>
  parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? []);

const pathsByKind: Readonly<Record<string, string>> = {
  ServiceAccount: "serviceaccounts",
  ClusterRole: "clusterroles",
  ClusterRoleBinding: "clusterrolebindings",
  Role: "roles",
  RoleBinding: "rolebindings",
  CustomResourceDefinition: "customresourcedefinitions",
};

/** Creates an object of a file as `kubectl apply -n default` would. */
export async function applyManifest({ request }: ControlPlane, object: Manifest): Promise<void> {
  const resource = pathsByKind[object.kind];
  if (resource === undefined) throw new Error(`no resource is known for kind ${object.kind}`);
  const isClusterWide = /^(Cluster|Custom)/.test(object.kind);
  const group = object.apiVersion.includes("/") ? `/apis/${object.apiVersion}` : `/api/${object.apiVersion}`;
  const space = isClusterWide ? "" : `/namespaces/${object.metadata.namespace ?? "default"}`;
  const { status, text } = await request("POST", `${group}${space}/${resource}`, object);
  if (status !== 201 && status !== 409) throw new Error(`${object.kind} ${object.metadata.name}: ${text}`);
}
