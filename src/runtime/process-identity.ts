/**
 * Which process exactly. Process ids are used again, so a pid alone is no reason to kill anything: the time a process
 * started tells it apart from a later one with the same number.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";

export interface Identity {
  readonly pid: number;
  /** Opaque; equal only for the same process since the same boot. */
  readonly startedAt: string;
}

const onLinux = process.platform === "linux";

/** Undefined when there is no such process, or only its exit status is left of it. */
export function identify(pid: number): Identity | undefined {
  const startedAt = onLinux ? startOnLinux(pid) : startByPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

export const isAlive = ({ pid, startedAt }: Identity): boolean => identify(pid)?.startedAt === startedAt;

function startOnLinux(pid: number): string | undefined {
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  // The second field is the program's name in brackets and may hold anything, also brackets.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (stat === "" || state === "Z" || state === "X") return undefined;
  return `${bootId()}/${fields[18]}`;
}

function startByPs(pid: number): string | undefined {
  const { stdout } = spawnSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], { encoding: "utf8" });
  const line = (stdout ?? "").trim();
  return line === "" || line.startsWith("Z") ? undefined : line.replace(/^\S+\s+/, "");
}

const bootId = (): string => readOrEmpty("/proc/sys/kernel/random/boot_id").trim();

/** Processes of another container cannot be judged from here: their numbers mean something else. */
export function processNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

/** Files under /proc vanish while one reads them; what cannot be read is empty. */
export function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
