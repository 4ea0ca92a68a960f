/** What containerd, the kubelet and the kernel keep of a node outside of its folder, however they are configured. */
import { spawnSync } from "node:child_process";
import { globSync, readdirSync, readlinkSync, rmdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { readOrEmpty } from "../../../src/runtime/process-identity.ts";
import { removeMemoryGroups } from "./memory-group.ts";

/** `links` are the network links it has made. */
export function removeStrays(folder: string, links: readonly string[]): void {
  removeMemoryGroups(folder);
  for (const container of globSync(join(folder, "containerd/state/io.containerd.runtime.v2.task/k8s.io/*"))) {
    // Its helper listens on a socket in a folder that is not configurable; a file says on which.
    const socket = readOrEmpty(join(container, "address")).trim().replace("unix://", "");
    if (socket !== "") rmSync(socket, { force: true });
    for (const file of globSync(`/var/lib/cni/results/*-${basename(container)}-*`)) rmSync(file, { force: true });
    removeControlGroups(basename(container));
  }
  for (const link of globSync("/var/log/containers/*.log"))
    if (targetOf(link).startsWith(`${folder}/`)) rmSync(link, { force: true });
  // One may go with another, and belong to somebody else's image by the time it is its turn.
  for (const device of loopsOver(folder))
    if (isOver(folder, device)) spawnSync("losetup", ["--detach", device], { stdio: "ignore" });
  for (const link of links) {
    spawnSync("ip", ["link", "delete", link], { stdio: "ignore" });
    // The rules for packets of the link are in a table of its name.
    spawnSync("nft", ["delete", "table", "ip", link], { stdio: "ignore" });
  }
}

/** The block devices whose image lies, or lay, in the folder. */
export const loopsOver = (folder: string): readonly string[] =>
  readdirSync("/dev")
    .map((name) => `/dev/${name}`)
    .filter((device) => isOver(folder, device));

const isOver = (folder: string, device: string): boolean =>
  readOrEmpty(`/sys/block/${basename(device)}/loop/backing_file`).startsWith(`${folder}/`);

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return "";
  }
}

/** One tree of groups, or one per controller, depending on the kernel. */
function removeControlGroups(container: string): void {
  for (const group of globSync([`/sys/fs/cgroup/k8s.io/${container}`, `/sys/fs/cgroup/*/k8s.io/${container}`]))
    try {
      rmdirSync(group);
    } catch {
      // Not empty yet, or gone already: an empty group costs nothing.
    }
}
