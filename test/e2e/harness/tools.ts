/**
 * Where the real programs come from: KUBEBUILDER_ASSETS, then the user's cache, then `go build` from the pinned modules
 * in test/e2e/tools. Only what is asked for is built, once, and kept in the cache.
 */
import { createHash } from "node:crypto";
import { accessSync, constants, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { buildFlags, goBuild, goVersion } from "./go.ts";
import { withLock } from "./lock.ts";
import { say, seconds } from "./progress.ts";

interface Module {
  /** The Go module whose version is stamped into the programs. */
  readonly pinned: string;
  readonly programs: Readonly<Record<string, string>>;
  readonly stamps: (version: string) => Readonly<Record<string, string>>;
}

const kubeVersion = "k8s.io/component-base/version";
const mainVersion = (version: string) => ({ "main.version": version });
const csi = "github.com/kubernetes-csi";

export const modules = {
  etcd: { pinned: "go.etcd.io/etcd/server/v3", programs: { etcd: "." }, stamps: () => ({}) },
  kubernetes: {
    pinned: "k8s.io/kubernetes",
    programs: {
      "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
      "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
      "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
      kubectl: "k8s.io/kubernetes/cmd/kubectl",
      kubelet: "k8s.io/kubernetes/cmd/kubelet",
    },
    // Without these the programs call themselves v0.0.0 and refuse to run.
    stamps: (version) => ({
      [`${kubeVersion}.gitVersion`]: version,
      [`${kubeVersion}.gitMajor`]: version.slice(1).split(".")[0] ?? "",
      [`${kubeVersion}.gitMinor`]: version.split(".")[1] ?? "",
    }),
  },
  hostpath: {
    pinned: `${csi}/csi-driver-host-path`,
    programs: { hostpathplugin: `${csi}/csi-driver-host-path/cmd/hostpathplugin` },
    stamps: mainVersion,
  },
  sanity: {
    pinned: `${csi}/csi-test/v5`,
    programs: { "csi-sanity": `${csi}/csi-test/v5/cmd/csi-sanity` },
    stamps: () => ({}),
  },
  snapshotter: {
    pinned: `${csi}/external-snapshotter/v8`,
    programs: {
      "snapshot-controller": `${csi}/external-snapshotter/v8/cmd/snapshot-controller`,
      "csi-snapshotter": `${csi}/external-snapshotter/v8/cmd/csi-snapshotter`,
    },
    stamps: mainVersion,
  },
  provisioner: {
    pinned: `${csi}/external-provisioner/v5`,
    programs: { "csi-provisioner": `${csi}/external-provisioner/v5/cmd/csi-provisioner` },
    stamps: mainVersion,
  },
  webhook7: {
    pinned: `${csi}/external-snapshotter/v7`,
    programs: { "snapshot-validation-webhook": `${csi}/external-snapshotter/v7/cmd/snapshot-validation-webhook` },
    stamps: mainVersion,
  },
  client3: { pinned: `${csi}/external-snapshotter/client/v3`, programs: { "v1beta1-client": "." }, stamps: () => ({}) },
  helm: {
    pinned: "helm.sh/helm/v3",
    programs: { helm: "helm.sh/helm/v3/cmd/helm" },
    stamps: (version) => ({ "helm.sh/helm/v3/internal/version.version": version }),
  },
} as const satisfies Record<string, Module>;

type ModuleName = keyof typeof modules;
export type Program = { [M in ModuleName]: keyof (typeof modules)[M]["programs"] }[ModuleName];

/** An older Kubernetes than the pinned one, for example "1.33": `KUBERNETES=1.33 npm run test:e2e`. It has no kubelet. */
export const olderKubernetes: string | undefined = process.env.KUBERNETES || undefined;

export const moduleFolder = (name: string): string => {
  const folder = name === "kubernetes" && olderKubernetes !== undefined ? `${name}-${olderKubernetes}` : name;
  return resolve(import.meta.dirname, "../tools", folder);
};

/** Versions that KUBERNETES may name. */
export const olderVersions = (): readonly string[] =>
  globSync("kubernetes-*", { cwd: resolve(import.meta.dirname, "../tools") })
    .map((folder) => folder.slice("kubernetes-".length))
    .sort();

/** The path of one program; built first where it is nowhere to be found. */
export const tool = async (program: Program): Promise<string> => (await tools(program))[program];

/** Several at once: what is missing of one module is built in one go. */
export async function tools<P extends Program>(...programs: readonly P[]): Promise<Record<P, string>> {
  const found: Partial<Record<P, string>> = {};
  for (const [name, module] of Object.entries(modules) as [ModuleName, Module][]) {
    const wanted = programs.filter((program) => program in module.programs);
    const missing = wanted.filter((program) => inAssets(program) === undefined);
    const folder = missing.length === 0 ? "" : await built(name, module, missing);
    for (const program of wanted) found[program] = inAssets(program) ?? join(folder, program);
  }
  return found as Record<P, string>;
}

/** What keeps any program from being had on this machine, as one line with its remedy; undefined when nothing does. */
export async function toolProblem(): Promise<string | undefined> {
  const versions = olderVersions();
  if (olderKubernetes !== undefined && !versions.includes(olderKubernetes))
    return `KUBERNETES=${olderKubernetes} is not pinned in test/e2e/tools: name one of ${versions.join(", ")}, or none for the newest`;
  const programs = Object.values(modules).flatMap((module) => Object.keys(module.programs));
  if (programs.every((program) => inAssets(program) !== undefined)) return undefined;
  return goVersion().then(
    () => undefined,
    (reason: Error) => reason.message,
  );
}

function inAssets(program: string): string | undefined {
  const folder = process.env.KUBEBUILDER_ASSETS;
  if (folder === undefined || folder === "") return undefined;
  // The folder has one version, and another one was asked for.
  if (olderKubernetes !== undefined && program in modules.kubernetes.programs) return undefined;
  const path = join(folder, program);
  return isProgram(path) ? path : undefined;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The cache folder of one module, holding at least these programs. */
async function built(name: ModuleName, module: Module, programs: readonly string[]): Promise<string> {
  const go = await goVersion();
  const folder = join(cacheFolder(), `${name}-${fingerprint(name, module, go)}`);
  const missing = () => programs.filter((program) => !isProgram(join(folder, program)));
  if (missing().length === 0) return folder;
  mkdirSync(folder, { recursive: true });
  // The lock saves a second build: a waiting process finds the programs.
  await withLock(join(folder, ".lock"), `another build of ${name} is under way`, async () => {
    if (missing().length > 0) await buildInto(folder, name, module, missing());
  });
  return folder;
}

async function buildInto(folder: string, name: ModuleName, module: Module, programs: readonly string[]): Promise<void> {
  const startedAt = performance.now();
  for (const left of globSync(".build-*", { cwd: folder }))
    rmSync(join(folder, left), { recursive: true, force: true });
  const scratch = mkdtempSync(join(folder, ".build-"));
  try {
    for (const [output, packages] of outputs(module, programs, scratch))
      await goBuild({
        folder: moduleFolder(name),
        output,
        packages,
        flags: flagsOf(name, module),
        label: programs.join(", "),
      });
    // Renaming is atomic: no process runs half a program.
    for (const program of programs) renameSync(join(scratch, program), join(folder, program));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  say(`built ${programs.join(", ")} in ${seconds(performance.now() - startedAt)}`);
}

/** A module's own main package is built under a name; others go into a folder and name themselves. */
function outputs(module: Module, programs: readonly string[], scratch: string): [string, string[]][] {
  const own = programs.filter((program) => module.programs[program] === ".");
  const others = programs.filter((program) => module.programs[program] !== ".");
  return [
    ...own.map((program): [string, string[]] => [join(scratch, program), ["."]]),
    ...(others.length === 0 ? [] : [[`${scratch}/`, others.map((p) => module.programs[p] ?? p)] as [string, string[]]]),
  ];
}

function flagsOf(name: ModuleName, module: Module): readonly string[] {
  const stamps = Object.entries(module.stamps(pinnedVersion(name, module.pinned))).map(
    ([key, value]) => `-X ${key}=${value}`,
  );
  return [...buildFlags, "-ldflags", ["-s -w", ...stamps].join(" ")];
}

export function pinnedVersion(name: string, pinned: string): string {
  const line = readFileSync(join(moduleFolder(name), "go.mod"), "utf8")
    .split("\n")
    .map((text) =>
      text
        .trim()
        .replace(/^require /, "")
        .split(" "),
    )
    .find(([path, version]) => path === pinned && version !== undefined);
  if (line?.[1] === undefined) throw new Error(`test/e2e/tools/${name}/go.mod does not require ${pinned}`);
  return line[1];
}

function fingerprint(name: ModuleName, module: Module, go: string): string {
  const hash = createHash("sha256");
  for (const file of ["go.mod", "go.sum"]) hash.update(readFileSync(join(moduleFolder(name), file)));
  hash.update(JSON.stringify([flagsOf(name, module), go, process.platform, process.arch]));
  return hash.digest("hex").slice(0, 12);
}

function cacheFolder(): string {
  const base = process.env.XDG_CACHE_HOME;
  return join(base === undefined || base === "" ? join(homedir(), ".cache") : base, "snapkeep", "tools");
}
