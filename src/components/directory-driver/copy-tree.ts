/**
 * Copies a file or a tree that others change meanwhile, some of them in order to lead the copy out of the volume. The source is read
 * through handles only (pins.ts), and the copy is only added to (tree-target.ts).
 */
import { type FileHandle, lstat, readlink } from "node:fs/promises";
import { Fault } from "../../base/fault.ts";
import { fsErrorText } from "../../base/fs-errors.ts";
import type { BatchOptions, Found } from "./copy-batch.ts";
import { copyLimits } from "./limits.ts";
import {
  type BytePath,
  below,
  bytePath,
  bytesOfPath,
  type Chain,
  chainFrom,
  hasGone,
  inside,
  namesIn,
  pin,
  readable,
} from "./pins.ts";
import { createTreeTarget, type TreeTarget } from "./tree-target.ts";

/** Another pass looks for what got another name just when its turn had come: it must not be missing under both. */
const passesMax = 5;
/** Names looked at side by side. */
const namesAtOnce = 50;

/** `to` must not exist. Returns how many files disappeared during the copy. */
export async function copyTree(from: string, to: string, options: BatchOptions): Promise<number> {
  const root = await pin(bytePath(from)).catch(cannotBeRead(from));
  const target = createTreeTarget(to, options);
  try {
    const stats = await root.stat({ bigint: true });
    await target.add({ path: "", stats, handle: await pin(bytePath(from)) });
    const gone = stats.isDirectory() ? await copyContents(root, target, options.signal) : 0;
    await target.flush();
    await target.finish();
    await lstat(from).catch(cannotBeRead(from));
    return gone;
  } finally {
    await target.close();
    await root.close();
  }
}

async function copyContents(root: FileHandle, target: TreeTarget, signal: AbortSignal | undefined): Promise<number> {
  let gone = 0;
  for (let pass = 1; pass <= passesMax; pass++) {
    const chain = chainFrom(root);
    const missed = await copyOnce(chain, target, signal).finally(chain.close);
    await target.flush(); // The next pass must know what the copy has.
    gone += missed;
    if (missed === 0) break;
  }
  return gone;
}

/** Returns how many names led to nothing any more. */
async function copyOnce(chain: Chain, target: TreeTarget, signal: AbortSignal | undefined): Promise<number> {
  let missed = 0;
  const folders: BytePath[] = [""];
  for (let path = folders.pop(); path !== undefined; path = folders.pop()) {
    const folder = await chain.at(path).catch(goneOr(path));
    const names = folder && (await namesIn(folder).catch(goneOr(path)));
    if (folder === undefined || names === undefined) missed += 1;
    else
      for (let start = 0; start < names.length; start += namesAtOnce) {
        signal?.throwIfAborted();
        const some = names.slice(start, start + namesAtOnce);
        missed += await addAll(folder, some, path, target);
        folders.push(...some.map((name) => below(path, name)).filter(target.isFolder));
      }
  }
  return missed;
}

/** In their order. Returns how many had gone. */
async function addAll(
  folder: FileHandle,
  names: readonly BytePath[],
  path: BytePath,
  target: TreeTarget,
): Promise<number> {
  const looks = await Promise.allSettled(names.map((name) => look(folder, name, below(path, name), target)));
  const found = looks.flatMap((look) =>
    look.status === "fulfilled" && typeof look.value === "object" ? look.value : [],
  );
  try {
    for (const look of looks) if (look.status === "rejected") throw look.reason;
    for (const one of found) await target.add(one);
  } catch (reason) {
    for (const { handle } of found) await handle.close();
    throw reason;
  }
  return looks.filter((look) => look.status === "fulfilled" && look.value === "gone").length;
}

async function look(
  folder: FileHandle,
  name: BytePath,
  path: BytePath,
  target: TreeTarget,
): Promise<Found | "gone" | "copied already"> {
  if (target.isFolder(path) || (await target.has(path))) return "copied already";
  const handle = await pin(inside(folder, name)).catch(goneOr(path));
  if (handle === undefined) return "gone";
  try {
    const stats = await handle.stat({ bigint: true });
    if (stats.isDirectory() && path.split("/").length > copyLimits.copyDepthMax) throw tooDeep(path);
    if (!stats.isSymbolicLink()) return { path, stats, handle };
    const target = await readlink(bytesOfPath(inside(folder, name)), { encoding: "buffer" }).catch(goneOr(path));
    if (target !== undefined) return { path, stats, handle, target };
  } catch (reason) {
    await handle.close();
    throw reason;
  }
  await handle.close();
  return "gone";
}

/** The source itself must not go. Else, what has gone is rightly missing. */
const goneOr = (path: BytePath) => (reason: unknown) => {
  if (path !== "" && hasGone(reason)) return undefined;
  throw cannotBeRead(path === "" ? "its top folder" : readable(path))(reason);
};

function cannotBeRead(path: string) {
  return (reason: unknown): never => {
    throw new Fault("Internal", `the data cannot be read: ${path}: ${fsErrorText(reason)}`, { cause: reason });
  };
}

const tooDeep = (path: BytePath): Fault =>
  new Fault(
    "FailedPrecondition",
    `folders lie more than ${copyLimits.copyDepthMax} deep in the volume and cannot be copied, first ${readable(path).slice(0, 80)}…`,
  );
