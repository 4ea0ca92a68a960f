/** Everything that can be seen of a node from outside: it must be there while the node lives, and nothing of it after. */
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { basename } from "node:path";
import { mountsUnder } from "./mounts.ts";
import { run } from "./run.ts";

async function tracesOf(folder: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const linesWith = async (text: string, program: string, ...args: readonly string[]) =>
    (await run(program, args)).stdout.split("\n").filter((line) => line.includes(text));
  return {
    processes: await linesWith(folder, "ps", "-e", "-o", "args"),
    mounts: mountsUnder(folder),
    links: await linesWith(`sk${basename(folder)}`, "ip", "-brief", "link"),
    folders: globSync(folder),
  };
}

export async function hasTraces(folder: string): Promise<void> {
  for (const [kind, traces] of Object.entries(await tracesOf(folder))) assert.notDeepEqual(traces, [], kind);
}

export async function hasNoTraces(folder: string): Promise<void> {
  assert.deepEqual(await tracesOf(folder), { processes: [], mounts: [], links: [], folders: [] });
}
