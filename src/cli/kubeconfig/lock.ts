/**
 * A lock file as kubectl makes one beside a kubeconfig: the process that creates it holds it. Ours names its holder, so that the lock of a
 * killed process can be removed.
 */
import { randomBytes } from "node:crypto";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { Fault } from "../../base/fault.ts";
import { errorCodeOf } from "../../base/fs-errors.ts";
import type { World } from "../../base/world.ts";
import { isGone, isOwner, thisProcess } from "../owner.ts";

const waitMsMax = 5_000;
const lookEveryMs = 20;

export async function withFileLock(path: string, world: World, work: () => Promise<void>): Promise<void> {
  await take(path, world);
  try {
    await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function take(path: string, world: World): Promise<void> {
  const giveUpAt = world.elapsed() + waitMsMax;
  while (!(await created(path))) {
    await removeStale(path);
    if (world.elapsed() > giveUpAt)
      throw new Fault("FailedPrecondition", `another program holds its lock; if none is running, remove ${path}`);
    await world.sleep(lookEveryMs);
  }
}

/** A link is created atomically with its content: no process reads half a name. */
async function created(path: string): Promise<boolean> {
  const draft = uniqueBeside(path);
  try {
    await writeFile(draft, JSON.stringify(thisProcess()), { flag: "wx", mode: 0o600 });
    await link(draft, path);
    return true;
  } catch (reason) {
    if (errorCodeOf(reason) === "EEXIST") return false;
    throw reason;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Two may see the same stale lock, and the first may hold a new one by then: what was taken by mistake is put back. */
async function removeStale(path: string): Promise<void> {
  if (!(await isStale(path))) return;
  const aside = uniqueBeside(path);
  try {
    await rename(path, aside);
    if (!(await isStale(aside))) await link(aside, path);
  } catch (reason) {
    if (!["ENOENT", "EEXIST"].includes(errorCodeOf(reason))) throw reason;
  } finally {
    await rm(aside, { force: true });
  }
}

const uniqueBeside = (path: string): string => `${path}.${randomBytes(6).toString("hex")}`;

async function isStale(path: string): Promise<boolean> {
  try {
    const holder: unknown = JSON.parse(await readFile(path, "utf8"));
    return isOwner(holder) && isGone(holder);
  } catch {
    return false; // Released meanwhile, or not ours.
  }
}
