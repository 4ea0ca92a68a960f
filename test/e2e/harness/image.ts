/** Container images made by hand, as docker archives, without any registry: Debian's static busybox as a shell for pods, and Go programs. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

/** For pods that need a shell. */
export const boxImage = "docker.io/library/box:1";

const busybox = "/bin/busybox";
const folders = ["bin", "etc", "tmp", "proc", "sys", "dev", "mnt", "var", "root"];
const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/** Writes `<folder>/image.tar`, which holds the same image under several names; returns its path. */
export const makeImage = (folder: string, names: readonly string[]): string =>
  // The same image also keeps a pod's namespaces open, doing nothing.
  writeImage(folder, "image", names, { Env: ["PATH=/bin"], Cmd: ["/bin/sleep", "1000000"] }, fillRoot);

/** An image with one static program, which is its entry point; returns the path of the archive. */
export function makeProgramImage(folder: string, image: string, program: string): string {
  const name = basename(program);
  return writeImage(folder, name, [image], { Entrypoint: [`/${name}`] }, (root) => {
    mkdirSync(root, { recursive: true });
    copyFileSync(program, join(root, name));
    chmodSync(join(root, name), 0o755);
  });
}

function writeImage(
  folder: string,
  called: string,
  names: readonly string[],
  runs: object,
  fill: (root: string) => void,
): string {
  const work = join(folder, called);
  fill(join(work, "root"));
  execFileSync("tar", ["-C", join(work, "root"), "-cf", join(work, "layer.tar"), "."]);
  const digest = createHash("sha256")
    .update(readFileSync(join(work, "layer.tar")))
    .digest("hex");
  const config = {
    architecture: architectures[process.arch] ?? process.arch,
    os: "linux",
    config: runs,
    rootfs: { type: "layers", diff_ids: [`sha256:${digest}`] },
  };
  writeFileSync(join(work, "config.json"), JSON.stringify(config));
  const manifest = [{ Config: "config.json", RepoTags: names, Layers: ["layer.tar"] }];
  writeFileSync(join(work, "manifest.json"), JSON.stringify(manifest));
  const archive = join(folder, `${called}.tar`);
  execFileSync("tar", ["-C", work, "-cf", archive, "manifest.json", "config.json", "layer.tar"]);
  rmSync(work, { recursive: true });
  return archive;
}

function fillRoot(root: string): void {
  for (const name of folders) mkdirSync(join(root, name), { recursive: true });
  copyFileSync(busybox, join(root, "bin/busybox"));
  chmodSync(join(root, "bin/busybox"), 0o755);
  const commands = execFileSync(busybox, ["--list"]).toString().trim().split("\n");
  for (const command of commands) if (command !== "busybox") symlinkSync("busybox", join(root, "bin", command));
  writeFileSync(join(root, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n");
  writeFileSync(join(root, "etc/group"), "root:x:0:\n");
}
