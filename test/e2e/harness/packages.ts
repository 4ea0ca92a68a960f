/**
 * What real pods need from the machine: root on Linux and some Debian packages. In a pipeline (CI set) on Debian as root,
 * what is missing is installed; on anybody's own machine it is only said.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readOrEmpty } from "../../../src/runtime/process-identity.ts";
import { say, withProgress } from "./progress.ts";
import { run } from "./run.ts";

type Packages = Readonly<Record<string, string>>;

/** Each package, with a file that is there once it is installed. A node needs these. */
export const nodePackages: Packages = {
  containerd: "/usr/bin/containerd",
  runc: "/usr/sbin/runc",
  "containernetworking-plugins": "/usr/lib/cni/bridge",
  "busybox-static": "/bin/busybox",
  nftables: "/usr/sbin/nft",
};

/** The suites also try file systems that share blocks, and extended attributes. */
export const suitePackages: Packages = {
  ...nodePackages,
  e2fsprogs: "/usr/sbin/mkfs.ext4",
  xfsprogs: "/usr/sbin/mkfs.xfs",
  "btrfs-progs": "/usr/sbin/mkfs.btrfs",
  attr: "/usr/bin/setfattr",
  // promtool, which tests alerts.
  prometheus: "/usr/bin/promtool",
};

export interface Machine {
  readonly platform: string;
  readonly root: boolean;
  readonly ci: boolean;
  readonly debian: boolean;
  readonly missing: readonly string[];
}

export type PodSupport =
  | { readonly kind: "ready" }
  | { readonly kind: "install"; readonly packages: readonly string[] }
  | { readonly kind: "none"; readonly why: string };

export function podSupport({ platform, root, ci, debian, missing }: Machine): PodSupport {
  if (platform !== "linux") return { kind: "none", why: `real pods need Linux, and this is ${platform}` };
  if (!root) return { kind: "none", why: "real pods need root: run it with sudo" };
  if (missing.length === 0) return { kind: "ready" };
  if (ci && debian) return { kind: "install", packages: missing };
  const how = debian ? `apt-get install ${missing.join(" ")}` : `install Debian's ${missing.join(", ")} or their like`;
  return { kind: "none", why: `real pods need more packages: ${how}` };
}

const thisMachine = (packages: Packages): Machine => ({
  platform: process.platform,
  root: process.getuid?.() === 0,
  ci: isPipeline(),
  debian: existsSync("/etc/debian_version"),
  missing: Object.entries(packages).flatMap(([name, file]) => (isThere(name, file) ? [] : [name])),
});

export const isPipeline = (): boolean => (process.env.CI ?? "") !== "";

/** Debian's /bin/busybox may be the dynamic one, which does not run in an empty image. */
const isThere = (name: string, file: string): boolean =>
  existsSync(file) && (name !== "busybox-static" || !isDynamic(file));

function isDynamic(file: string): boolean {
  const status = readOrEmpty("/var/lib/dpkg/status");
  if (status.includes("\nPackage: busybox-static\nStatus: install ok installed")) return false;
  return execFileSync("head", ["-c", "1024", file]).includes("ld-linux");
}

/** Why no pod can run here, in one line; undefined once everything is there. */
export async function podProblem(packages: Packages): Promise<string | undefined> {
  const support = podSupport(thisMachine(packages));
  if (support.kind === "none") return support.why;
  if (support.kind === "ready") return undefined;
  await install(support.packages);
  const after = podSupport(thisMachine(packages));
  return after.kind === "ready" ? undefined : `after apt-get, still missing: ${support.packages.join(", ")}`;
}

const aptMsMax = 600_000;

async function install(names: readonly string[]): Promise<void> {
  say(`installing ${names.join(" ")} for the pod suites`);
  const apt = (...args: readonly string[]) =>
    run("apt-get", args, { env: { DEBIAN_FRONTEND: "noninteractive" }, msMax: aptMsMax });
  await withProgress("apt-get is installing", async () => {
    // Package lists in images are old or empty.
    for (const args of [["update"], ["install", "-y", "--no-install-recommends", ...names]]) {
      const { code, stderr } = await apt(...args);
      if (code !== 0) say(`apt-get ${args[0]} failed (${code}): ${stderr.trim().split("\n").at(-1) ?? ""}`);
    }
  });
}
