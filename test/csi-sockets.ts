/** For tests of CSI over real sockets: a short temporary folder, a log that remembers, a wait for what I/O brings. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { Fault } from "../src/base/fault.ts";
import { type Fields, type Log, traceVerbosity } from "../src/base/log.ts";
import { realWorld } from "../src/base/world.ts";
import { type CsiSocketOptions, createCsiClient } from "../src/csi/client.ts";
import type { Served } from "../src/csi/serve.ts";
import { type CsiServerOptions, createCsiServer } from "../src/csi/server.ts";

export interface Line extends Fields {
  readonly level: string;
  readonly message: string;
}

export interface MemoryLog extends Log {
  readonly lines: readonly Line[];
}

export function createMemoryLog(lines: Line[] = [], always: Fields = {}): MemoryLog {
  const write =
    (level: string) =>
    (message: string, fields: Fields = {}): void =>
      void lines.push({ level, message, ...always, ...fields });
  return {
    lines,
    verbosity: traceVerbosity,
    trace: write("trace"),
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    with: (fields) => createMemoryLog(lines, { ...always, ...fields }),
  };
}

/** A folder with a short path, for a socket's path has 107 bytes; gone after the test. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "sk-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Long enough for a busy machine, and short enough to fail before the runner's timeout. */
const patienceMs = 30_000;

const hopeless = (what: string): Error => new Error(`gave up after ${patienceMs / 1000} s waiting until ${what}`);

/** Looks again after each turn of the event loop until `condition` holds. */
export async function eventually(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw hopeless(what);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** For work that would never end if what it waits for were broken. */
export async function inTime<T>(what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(hopeless(what)), patienceMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

export async function startDriver(
  t: TestContext,
  services: readonly Served[],
  options: Partial<CsiServerOptions> & { readonly address: string },
) {
  const stop = new AbortController();
  const log = createMemoryLog();
  const server = await createCsiServer({ services, log, world: realWorld, signal: stop.signal, ...options });
  const close = (): Promise<void> => {
    stop.abort();
    return server.closed;
  };
  t.after(close);
  return { ...server, log, stop: close };
}

export interface Restartable {
  /** As by SIGKILL: the connections break off, nothing more is said. */
  kill(): Promise<void>;
  /** As by SIGTERM. */
  stop(): Promise<void>;
}

/** A driver behind a relay that can be disconnected, which looks to a client like a killed process. */
export async function startRestartable(
  t: TestContext,
  services: readonly Served[],
  options: Partial<CsiServerOptions> & { readonly address: string },
): Promise<Restartable> {
  const driver = await startDriver(t, services, { ...options, address: `${options.address}.driver` });
  const ends = new Set<Socket>();
  const relay = createServer((front) => {
    const back = connect(driver.path);
    for (const end of [front, back]) ends.add(end.on("error", () => undefined).on("close", () => ends.delete(end)));
    front.pipe(back).pipe(front);
  });
  await new Promise<void>((resolve) => relay.listen(options.address, resolve));
  const kill = async (): Promise<void> => {
    for (const end of ends) end.destroy();
    if (relay.listening) await new Promise((resolve) => relay.close(resolve));
  };
  t.after(kill);
  return {
    kill,
    stop: async () => {
      await driver.stop();
      await kill();
    },
  };
}

export const faultOf = (work: Promise<unknown>): Promise<Fault> =>
  work.then(
    () => assert.fail("this should have failed"),
    (reason: unknown) => (reason instanceof Fault ? reason : assert.fail(`not a Fault: ${reason}`)),
  );

export function connectTo(t: TestContext, address: string, options: Partial<CsiSocketOptions> = {}) {
  const log = createMemoryLog();
  const client = createCsiClient({ address, log, world: realWorld, ...options });
  t.after(() => client.close());
  return { ...client, log };
}
