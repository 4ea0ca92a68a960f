/**
 * Changes a kubeconfig that belongs to the user: under the lock that kubectl takes too, replaced in one step, with the mode and
 * the owner it had. A file that cannot be read as a kubeconfig stays as it is.
 */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, chown, lstat, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Fault } from "../../base/fault.ts";
import { errorCodeOf, fsErrorText } from "../../base/fs-errors.ts";
import type { World } from "../../base/world.ts";
import { isGone } from "../owner.ts";
import { addEntry, type Entry, type Mark, removeEntries } from "./entries.ts";
import { withFileLock } from "./lock.ts";

/** Adds the entry and removes those of processes that are gone. Returns the name the entry got. */
export async function enterKubeconfig(path: string, entry: Entry, world: World): Promise<string> {
  let name = "";
  await changing(path, world, (text) => {
    const left = without(text, isGone);
    const mark: Mark = left === undefined ? { ...entry.mark, created: true } : entry.mark;
    const added = addEntry(left ?? "", { ...entry, mark });
    name = added.name;
    return added.text;
  });
  return name;
}

/** Removes the chosen entries, and the file if it was created for them and holds nothing else. A file that is gone holds none. */
export async function leaveKubeconfig(path: string, chosen: (mark: Mark) => boolean, world: World): Promise<void> {
  if (existsSync(path)) await changing(path, world, (text) => without(text, chosen));
}

function without(text: string | undefined, chosen: (mark: Mark) => boolean): string | undefined {
  if (text === undefined) return undefined;
  let created = false;
  const left = removeEntries(text, (mark) => {
    const isChosen = chosen(mark);
    created ||= isChosen && mark.created === true;
    return isChosen;
  });
  return created && left === "" ? undefined : left;
}

/** `change` gets the text, or undefined where there is no file, and answers with what is to be there. */
async function changing(
  path: string,
  world: World,
  change: (text: string | undefined) => string | undefined,
): Promise<void> {
  try {
    const target = await targetOf(path);
    await withFileLock(`${target}.lock`, world, async () => {
      const before = await textOf(target);
      const after = change(before);
      if (after === before) return;
      if (after === undefined) await rm(target, { force: true });
      else await replace(target, after);
    });
  } catch (reason) {
    const why = reason instanceof Fault ? reason.message : fsErrorText(reason);
    throw new Fault("FailedPrecondition", `the kubeconfig ${path} cannot be changed: ${why}`, { cause: reason });
  }
}

/** A link is followed: what it points to changes, and the link stays. */
async function targetOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (reason) {
    if (errorCodeOf(reason) !== "ENOENT") throw reason;
    if ((await lstat(path).catch(() => undefined))?.isSymbolicLink() === true)
      throw new Fault("FailedPrecondition", "it is a link to a file that is not there");
    return join(await realpath(dirname(path)), basename(path));
  }
}

async function textOf(path: string): Promise<string | undefined> {
  const found = await stat(path).catch((reason: unknown) => {
    if (errorCodeOf(reason) === "ENOENT") return undefined;
    throw reason;
  });
  if (found === undefined) return undefined;
  if (found.isDirectory()) throw new Fault("FailedPrecondition", "there is a folder of that name");
  if (!found.isFile()) throw new Fault("FailedPrecondition", "it is not a regular file");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await readFile(path));
  } catch (reason) {
    if (reason instanceof TypeError) throw new Fault("FailedPrecondition", "it is not UTF-8 text");
    throw reason;
  }
}

/** Readers see the old text or the new one, never a part. */
async function replace(path: string, text: string): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}`);
  const before = await stat(path).catch(() => undefined);
  try {
    const file = await open(draft, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    if (before !== undefined) {
      const { uid, gid } = await stat(draft);
      if (uid !== before.uid || gid !== before.gid) await chown(draft, before.uid, before.gid);
      await chmod(draft, before.mode & 0o7777);
    }
    await rename(draft, path);
  } catch (reason) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw reason;
  }
}
