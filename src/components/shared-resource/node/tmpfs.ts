/** One tmpfs per volume, by mount(8) and umount(8). */
import type { Log } from "../../../base/log.ts";
import type { RunProgram } from "../../../node/program.ts";

export interface Tmpfs {
  /** The source is what the mount table shows. */
  mount(source: string, target: string, options: string): Promise<void>;
  /** Whoever still uses it does not keep it. */
  detach(target: string): Promise<void>;
}

/** Linux 6.4 or newer: no byte of a Secret gets onto a disk. */
const noSwap = "noswap";

export function createTmpfs({ run, log }: { readonly run: RunProgram; readonly log: Log }): Tmpfs {
  let hasNoSwap = true;
  return {
    async mount(source, target, wanted) {
      const withOptions = (all: string) => run("mount", ["-t", "tmpfs", "-o", all, "--", source, target]);
      if (hasNoSwap && (await withOptions(`${wanted},${noSwap}`).then(yes, no))) return;
      await withOptions(wanted);
      if (hasNoSwap) log.info("the kernel has no tmpfs option noswap: turn swap off, or use Linux 6.4 or newer");
      hasNoSwap = false;
    },
    async detach(target) {
      if (await run("umount", ["--", target]).then(yes, no)) return;
      // Somebody looks into it, or has mounted something in it. It is empty, and its pod must be able to end.
      await run("umount", ["-l", "--", target]);
      log.info("a volume was in use when it was unmounted", { target });
    },
  };
}

const yes = (): boolean => true;
const no = (): boolean => false;
