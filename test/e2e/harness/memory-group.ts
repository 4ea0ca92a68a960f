/** A control group with a memory limit, as the kubelet makes one for a pod: what exceeds it is killed by the kernel, and that is seen. */
import { existsSync, globSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseQuantity, wholeUnits } from "../../../src/base/quantity.ts";
import { readOrEmpty } from "../../../src/runtime/process-identity.ts";

export interface MemoryGroup {
  readonly folder: string;
  /** As the manifest writes it. */
  readonly limit: string;
  /** How many of its processes the kernel has killed because of the limit. */
  oomKills(): number;
  /** Charged now: the processes' own memory, and what they wrote to a tmpfs. */
  usedBytes(): number;
}

/** Version 1 has a tree per controller; version 2 has one tree, whose root names its controllers. */
const [treeOfV1, treeOfV2] = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"] as const;
const isV1 = existsSync(join(treeOfV1, "memory.limit_in_bytes"));
const isV2 = readOrEmpty(join(treeOfV2, "cgroup.controllers")).split(/\s/).includes("memory");
const nameOf = (instanceFolder: string): string => `snapkeep-${basename(instanceFolder)}`;

/** One group per name, also for a process that is started again: a pod keeps its group, and its volumes stay charged to it. */
export function memoryGroup(instanceFolder: string, name: string, limit: string): MemoryGroup | undefined {
  if (process.getuid?.() !== 0 || !(isV1 || isV2)) return undefined;
  const folder = join(isV1 ? treeOfV1 : treeOfV2, `${nameOf(instanceFolder)}-${name}`);
  const bytes = String(wholeUnits(parseQuantity(limit)));
  if (!isV1) writeFileSync(join(treeOfV2, "cgroup.subtree_control"), "+memory");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, isV1 ? "memory.limit_in_bytes" : "memory.max"), bytes);
  // Pods do not swap.
  const swap = join(folder, isV1 ? "memory.memsw.limit_in_bytes" : "memory.swap.max");
  if (existsSync(swap)) writeFileSync(swap, isV1 ? bytes : "0");
  const [kills, used] = isV1 ? ["memory.oom_control", "memory.usage_in_bytes"] : ["memory.events", "memory.current"];
  return {
    folder,
    limit,
    oomKills: () => Number(/^oom_kill (\d+)$/m.exec(readOrEmpty(join(folder, kills)))?.[1] ?? 0),
    usedBytes: () => Number(readOrEmpty(join(folder, used))),
  };
}

/** The program as `spawn` takes it, which joins the group before it begins. */
export const joining = ({ folder }: MemoryGroup, program: string, args: readonly string[]) =>
  ["sh", ["-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', folder, program, ...args]] as const;

export function removeMemoryGroups(instanceFolder: string): void {
  for (const tree of [treeOfV1, treeOfV2])
    for (const group of globSync(join(tree, `${nameOf(instanceFolder)}-*`)))
      try {
        rmdirSync(group);
      } catch {
        // Not empty yet, or gone already: an empty group costs nothing.
      }
}
