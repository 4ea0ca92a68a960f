/** A machine in memory: mounts, files and records that outlive the driver's process. Every step takes time, in which a kill may come. */

import type { VolumeHost } from "../../../src/components/shared-resource/node/host.ts";
import { type Footprint, footprintOf, sizesOf } from "../../../src/components/shared-resource/node/plan-memory.ts";
import type { VolumeRecord } from "../../../src/components/shared-resource/node/records.ts";
import { contentOf } from "../../../src/components/shared-resource/node/sources.ts";
import type { FileSet, VolumeSpec } from "../../../src/components/shared-resource/node/types.ts";
import { pageBytes } from "../../../src/node/page-size.ts";

export interface Machine {
  /** What a pod sees at each target. Undefined: the mount is empty. */
  readonly mounts: Map<string, MachineMount>;
  readonly records: Map<string, VolumeRecord>;
}

export interface MachineMount {
  readonly id: string;
  shown: FileSet | undefined;
  /** A process in the pod opens each set, and closes none: those that were replaced since. */
  open?: FileSet[];
}

export const createMachine = (): Machine => ({ mounts: new Map(), records: new Map() });

export interface HostTiming {
  /** Waits for a moment, and for ever once the process is dead. */
  step(): Promise<void>;
  /** Called after each change of what a pod sees. */
  onShown(target: string): void;
}

export function createMemoryHost({ mounts, records }: Machine, { step, onShown }: HostTiming): VolumeHost {
  const show = (target: string, files: FileSet | undefined): void => {
    const mount = mounts.get(target);
    if (mount === undefined) throw new Error(`nothing is mounted at ${target}`);
    if (files !== undefined && mount.shown !== undefined) mount.open?.push(mount.shown);
    mount.shown = files;
    onShown(target);
  };
  return {
    records: {
      async all() {
        await step();
        return { records: [...records.values()], skipped: {} };
      },
      async write(record) {
        await step();
        records.set(record.spec.id, record);
      },
      async remove(id) {
        await step();
        records.delete(id);
      },
    },
    async mount({ id, target }: VolumeSpec) {
      await step();
      if (mounts.has(target)) return false;
      mounts.set(target, { id, shown: undefined });
      return true;
    },
    mounted: async (specs) => new Set(specs.filter(({ target }) => mounts.has(target)).map(({ id }) => id)),
    strays: async (known) => [...mounts].filter(([, { id }]) => !known.has(id)).map(([target]) => target),
    isGone: async (target) => !mounts.has(target),
    async unmount({ id, target }) {
      await step();
      if (mounts.get(target)?.id !== id) return;
      show(target, undefined);
      await step();
      mounts.delete(target);
    },
    async write(target, files, mayShow) {
      await step();
      if (!mayShow()) return false;
      show(target, files);
      await step();
      return true;
    },
    async wipe(target) {
      await step();
      show(target, undefined);
    },
    sizes: async (target) =>
      [...(mounts.get(target)?.shown ?? [])].map(([name, { length }]) => [name, length] as const),
    use: async (target) => {
      const { shown, open = [] } = mounts.get(target) ?? {};
      const all = [...open, ...(shown === undefined ? [] : [shown])].map((files) =>
        footprintOf(sizesOf(files), pageBytes()),
      );
      const sum = (of: (one: Footprint) => number): number => all.reduce((total, one) => total + of(one), 0);
      return { pages: sum(({ pages }) => pages), inodes: sum(({ inodes }) => inodes) };
    },
    async adopt(target) {
      await step();
      const shown = mounts.get(target)?.shown;
      return shown && contentOf(shown).digest;
    },
  };
}
