/**
 * A lock between processes: a file that names its holder. A holder that died without letting go is recognised by its
 * start time and passed over. Two waiters may then both go ahead, which the builds it guards survive (they end in a rename).
 */
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type Identity, identify, isAlive } from "../../../src/runtime/process-identity.ts";
import { withProgress } from "./progress.ts";

const pollMs = 500;

export async function withLock<T>(path: string, waiting: string, work: () => Promise<T>): Promise<T> {
  if (!take(path)) await withProgress(waiting, () => waitFor(path));
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

async function waitFor(path: string): Promise<void> {
  while (!take(path)) {
    const holder = holderOf(path);
    if (holder !== undefined && !isAlive(holder)) rmSync(path, { force: true });
    else await sleep(pollMs);
  }
}

/** A link is created atomically with its content: no process reads half a name. */
function take(path: string): boolean {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, JSON.stringify(identify(process.pid)));
  try {
    linkSync(own, path);
    return true;
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw reason;
  } finally {
    rmSync(own, { force: true });
  }
}

/** Undefined if it was released in the meantime. */
function holderOf(path: string): Identity | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Identity;
  } catch {
    return undefined;
  }
}
