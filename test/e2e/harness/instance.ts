/** A folder with processes in it that live as long as we say, and never longer than this process plus one next start. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync, renameSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Identity,
  identify,
  isAlive,
  processNamespace,
  readOrEmpty,
} from "../../../src/runtime/process-identity.ts";
import { onExit } from "./exit.ts";
import { forgetExited, noteExited } from "./exited-processes.ts";
import { mark, runFolder, sweep, takeDown, writeState } from "./leftovers.ts";
import { joining, type MemoryGroup } from "./memory-group.ts";

export interface Daemon {
  readonly pid: number;
  readonly log: string;
  /** Settles when the process is gone, however it went. */
  readonly ended: Promise<void>;
  running(): boolean;
  /** Sends the signal and waits; a process that does not go is killed after the grace time. */
  stop(signal?: NodeJS.Signals, graceMs?: number): Promise<void>;
  /** The end of what it logged since it was started, for an error message. */
  lastWords(): string;
}

/** Variables beside those of this process. */
export type Environment = Readonly<Record<string, string>>;

export interface Instance {
  readonly folder: string;
  /** Starts a program in the folder, its output appended to `<name>.log`; in a group, if given, that limits its memory. */
  start(
    name: string,
    program: string,
    args: readonly string[],
    environment?: Environment,
    memory?: MemoryGroup,
  ): Daemon;
  /** The same, and starts it again whenever it ends by itself, as a cluster does with its controllers. */
  keep(name: string, program: string, args: readonly string[]): Daemon;
  /** Remembers a network link, to be deleted with the instance. */
  own(link: string): void;
  stop(): void;
}

let swept = false;

export function createInstance(): Instance {
  if (!swept) sweep();
  swept = true;
  const owner = identify(process.pid);
  if (owner === undefined) throw new Error("this process cannot be found in the process table");
  const folder = newFolder(owner);
  const processes: Identity[] = [];
  const links: string[] = [];
  const save = () =>
    writeState(folder, { owner, namespace: processNamespace(), processes: processes.filter(isAlive), links });
  let stopped = false;
  const stop = () => {
    stopped = true;
    forgetExited(folder);
    takeDown(folder);
    forget();
  };
  const forget = onExit(stop);
  const start: Instance["start"] = (name, program, args, environment = {}, memory = undefined) => {
    const [command, words] = memory === undefined ? ([program, args] as const) : joining(memory, program, args);
    const daemon = told(startDaemon(folder, name, command, words, environment), memory);
    const identity = identify(daemon.pid);
    if (identity !== undefined) processes.push(identity);
    save();
    let isMeant = false;
    daemon.ended.then(() => {
      if (!stopped && !isMeant) noteExited({ folder, name, lastOutput: daemon.lastWords });
    });
    return {
      ...daemon,
      stop: (...args) => {
        isMeant = true;
        return daemon.stop(...args);
      },
    };
  };
  const keep: Instance["keep"] = (name, program, args) => {
    const daemon = start(name, program, args);
    daemon.ended.then(async () => {
      await sleep(restartMs, undefined, { ref: false });
      if (!stopped) keep(name, program, args);
    });
    return daemon;
  };
  return {
    folder,
    stop,
    start,
    keep,
    own: (link) => {
      links.push(link);
      save();
    },
  };
}

const restartMs = 500;

/** Appears under its name only together with its state: a cleanup in another process never sees it incomplete. */
function newFolder(owner: Identity): string {
  const name = randomBytes(3).toString("hex");
  const hidden = join(runFolder(), `.${name}`);
  mkdirSync(hidden, { mode: 0o700 });
  writeState(hidden, { owner, namespace: processNamespace(), processes: [], links: [] });
  renameSync(hidden, join(runFolder(), name));
  return join(runFolder(), name);
}

const graceMsDefault = 5_000;
const lastOutputChars = 2_000;

function startDaemon(
  folder: string,
  name: string,
  program: string,
  args: readonly string[],
  environment: Environment,
): Daemon {
  const log = join(folder, `${name}.log`);
  const output = openSync(log, "a");
  const logStart = statSync(log).size;
  const child = spawn(program, args, {
    cwd: folder,
    // A group of its own: Ctrl-C in a terminal reaches us alone, and we stop the others.
    detached: true,
    stdio: ["ignore", output, output],
    env: { ...process.env, ...environment, [mark]: folder },
  });
  closeSync(output);
  child.unref();
  if (child.pid === undefined) throw new Error(`${basename(program)} cannot be started: is ${program} a program?`);
  const ended = endOf(child);
  const running = () => child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid,
    log,
    ended,
    running,
    stop: async (signal = "SIGTERM", graceMs = graceMsDefault) => {
      if (!running()) return;
      child.ref();
      child.kill(signal);
      const timer = setTimeout(() => child.kill("SIGKILL"), graceMs);
      await ended;
      clearTimeout(timer);
    },
    lastWords: () => readOrEmpty(log).slice(logStart).slice(-lastOutputChars),
  };
}

/** A kill by the kernel leaves no word in the log. */
function told(daemon: Daemon, memory: MemoryGroup | undefined): Daemon {
  if (memory === undefined) return daemon;
  const before = memory.oomKills();
  const killed = (): string =>
    memory.oomKills() > before ? `\nthe kernel has killed it: out of memory, its limit is ${memory.limit}` : "";
  return { ...daemon, lastWords: () => `${daemon.lastWords()}${killed()}` };
}

const endOf = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
