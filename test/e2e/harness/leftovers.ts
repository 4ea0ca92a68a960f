/**
 * What an instance (a control plane, a node) has started is written beside it, so that a later run can take it
 * down: the instance itself when it stops, or the next start after a kill -9. Nothing is ever killed by name: a process is
 * ours when its pid and start time were recorded, when it carries our mark in its environment, or when it lives in a
 * container whose root lies in the instance's folder.
 */
import { globSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import {
  type Identity,
  identify,
  isAlive,
  processNamespace,
  readOrEmpty,
} from "../../../src/runtime/process-identity.ts";
import { mountsUnder, unmountAllUnder } from "./mounts.ts";
import { say } from "./progress.ts";
import { removeStrays } from "./stray-processes.ts";

export interface State {
  readonly owner: Identity;
  readonly namespace: string;
  readonly processes: readonly Identity[];
  /** Network links made for pods. */
  readonly links: readonly string[];
}

/** Every process of an instance carries this variable; its value is the instance's folder. */
export const mark = "SNAPKEEP_INSTANCE";
const stateFile = "state.json";

/** Short, because sockets lie under it and their paths end at 107 bytes; ours alone, because sweeping trusts it. */
export function runFolder(): string {
  const folder = join(tmpdir(), `snapkeep-${userInfo().uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid } = lstatSync(folder);
  if (!lstatSync(folder).isDirectory() || uid !== userInfo().uid)
    throw new Error(`${folder} belongs to another user (${uid}): remove it, or set TMPDIR to a folder of your own`);
  return folder;
}

export function writeState(folder: string, state: State): void {
  writeFileSync(join(folder, `${stateFile}.new`), JSON.stringify(state));
  renameSync(join(folder, `${stateFile}.new`), join(folder, stateFile));
}

function readState(folder: string): State | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, stateFile), "utf8")) as State;
  } catch {
    return undefined;
  }
}

/** Takes down every instance whose owner is gone; returns the folders that were swept. */
export function sweep(): readonly string[] {
  const here = runFolder();
  const orphans = readdirSync(here)
    .map((name) => join(here, name))
    .filter((folder) => isOrphan(readState(folder)));
  for (const folder of orphans) {
    say(`sweeping what an earlier run left behind in ${folder}`);
    takeDown(folder);
  }
  return orphans;
}

/** A folder without a state is being made by someone, or is no instance. */
const isOrphan = (state: State | undefined): boolean =>
  state !== undefined && state.namespace === processNamespace() && !isAlive(state.owner);

/** Kills, unmounts, unlinks and removes, in this order. Synchronous, because it also runs while the process exits. */
export function takeDown(folder: string): void {
  const state = readState(folder);
  killAll(() => processesOf(folder, state?.processes ?? []));
  unmountAllUnder(folder);
  removeStrays(folder, state?.links ?? []);
  const left = mountsUnder(folder);
  // Deleting through a mount would delete other data.
  if (left.length > 0) throw new Error(`${folder} stays, because these could not be unmounted: ${left.join(", ")}`);
  rmSync(folder, { recursive: true, force: true });
}

const killRoundsMax = 100;
const killPollMs = 20;

/** Again and again until none is left: a supervisor may have started another one between the look and the kill. */
function killAll(find: () => readonly Identity[]): void {
  for (let round = 0; round < killRoundsMax; round += 1) {
    const alive = find();
    if (alive.length === 0) return;
    for (const identity of alive) kill(identity);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, killPollMs);
  }
  const left = find().map(({ pid }) => pid);
  if (left.length > 0) throw new Error(`processes ${left.join(", ")} survive SIGKILL`);
}

function kill(identity: Identity): void {
  if (!isAlive(identity)) return;
  try {
    process.kill(identity.pid, "SIGKILL");
  } catch {
    // It ended between the look and the kill.
  }
}

function processesOf(folder: string, recorded: readonly Identity[]): readonly Identity[] {
  const seen = globSync("/proc/[0-9]*")
    .map((path) => Number(path.slice("/proc/".length)))
    .filter((pid) => pid !== process.pid && (isMarked(pid, folder) || isContained(pid, folder)))
    .flatMap((pid) => identify(pid) ?? []);
  return [...recorded.filter(isAlive), ...seen];
}

const isMarked = (pid: number, folder: string): boolean =>
  readOrEmpty(`/proc/${pid}/environ`).split("\0").includes(`${mark}=${folder}`);

/** A container's root is an overlay whose layers lie in containerd's folder, which lies in ours. */
const isContained = (pid: number, folder: string): boolean =>
  readOrEmpty(`/proc/${pid}/mountinfo`)
    .split("\n")
    .some((line) => line.split(" ")[4] === "/" && line.includes(`upperdir=${folder}/`));
