/**
 * The folder of one run, in the temporary folder. It names the process it belongs to and the kubeconfigs that process has entries
 * in: the next start removes what a killed process left, and nothing else.
 */
import { lstat, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Fault } from "../base/fault.ts";
import { fsErrorText } from "../base/fs-errors.ts";
import type { World } from "../base/world.ts";
import { leaveKubeconfig } from "./kubeconfig/file.ts";
import { isGone, isOwner, type Owner, thisProcess } from "./owner.ts";

export interface RunFolder {
  readonly path: string;
  readonly owner: Owner;
  /** Notes a kubeconfig before it gets an entry, so that a kill at any moment leaves nothing unknown; undefined: it has none any more. */
  noteKubeconfig(path: string | undefined): Promise<void>;
  /** Unless an entry is still to be removed from a kubeconfig: then the next start finds the note. */
  remove(): Promise<void>;
}

interface Surroundings {
  readonly world: World;
  /** Parent of run folders; by default the temporary folder. */
  readonly parent?: string;
  warn(line: string): unknown;
}

interface Note {
  readonly owner: Owner;
  readonly kubeconfigs: readonly string[];
}

const prefix = "snapkeep-";
const noteFile = "run.json";

export async function openRunFolder({ world, warn, parent = tmpdir() }: Surroundings): Promise<RunFolder> {
  await removeLeftovers({ world, warn, parent });
  const owner = thisProcess();
  try {
    const path = await mkdtemp(join(parent, prefix));
    let kubeconfigs: readonly string[] = [];
    const write = (): Promise<void> =>
      writeFile(join(path, noteFile), JSON.stringify({ owner, kubeconfigs } satisfies Note), { mode: 0o600 });
    await write();
    return {
      path,
      owner,
      noteKubeconfig: (kubeconfig) => {
        kubeconfigs = kubeconfig === undefined ? [] : [resolve(kubeconfig)];
        return write();
      },
      remove: async () => {
        if (kubeconfigs.length === 0) await rm(path, { recursive: true, force: true });
      },
    };
  } catch (reason) {
    throw new Fault("FailedPrecondition", `nothing can be kept in ${parent}: ${fsErrorText(reason)}; set TMPDIR`);
  }
}

async function removeLeftovers({ world, warn, parent }: Required<Surroundings>): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  for (const name of names.filter((found) => found.startsWith(prefix))) {
    const path = join(parent, name);
    const note = await noteIn(path);
    if (note === undefined || !isGone(note.owner)) continue;
    try {
      for (const kubeconfig of note.kubeconfigs) await leaveKubeconfig(kubeconfig, isGone, world);
      await rm(path, { recursive: true, force: true });
    } catch (reason) {
      warn(`${path} of a killed run stays: ${Fault.from(reason).message}`);
    }
  }
}

/** Undefined for everything that is not a run folder of this user. */
async function noteIn(path: string): Promise<Note | undefined> {
  try {
    const folder = await lstat(path);
    if (!folder.isDirectory() || folder.uid !== process.getuid?.()) return undefined;
    const note: Partial<Note> = JSON.parse(await readFile(join(path, noteFile), "utf8"));
    const { owner, kubeconfigs } = note;
    return isOwner(owner) && Array.isArray(kubeconfigs) ? { owner, kubeconfigs } : undefined;
  } catch {
    return undefined;
  }
}
