/**
 * Process lifecycle: the first signal stops the process gracefully, a second one ends it at
 * once; it ends within a time limit; its fatal message is one line, with a stack for unexpected errors; the exit code gives the
 * result.
 */
import type { Millis } from "../base/brand.ts";
import { Fault, unexpectedIn } from "../base/fault.ts";
import { limits } from "../base/limits.ts";
import { redactText, stackOf } from "../base/redact.ts";
import type { World } from "../base/world.ts";
import { exitCodes, signalCodes } from "./exit-codes.ts";

/** The part of node:process that is used; tests bring their own. */
export interface Host {
  on(event: string, listener: (...details: never[]) => void): unknown;
  exit(code: number): void;
  readonly stdout: {
    write(text: string, done: () => void): unknown;
    on(event: "error", listener: (reason: NodeJS.ErrnoException) => void): unknown;
  };
  readonly stderr: { write(text: string): unknown; on(event: "error", listener: () => void): unknown };
}

export interface ProcessOptions {
  readonly host: Host;
  readonly world: Pick<World, "sleep" | "elapsed">;
  readonly name: string;
  readonly shutdownMsMax?: Millis;
}

/** npm passes a signal on that the terminal has sent to the whole group already: two so close are one Ctrl-C. */
const sameSignalMs = 300;
/** Beyond what the parts allow themselves. */
const spareMs = 3_000;

/** One line whatever was thrown. */
export const fatalMessage = (reason: unknown): string =>
  (reason instanceof Error ? reason.message || reason.name : String(reason)).replace(/\s*\n\s*/g, "; ");

/** Stack lines after the fatal message, for unexpected errors. Empty for a fault. */
export function stackLines(reason: unknown): string {
  const unexpected = unexpectedIn(reason);
  return unexpected === undefined ? "" : `${redactText(stackOf(unexpected))}\n`;
}

/** Runs the program and exits with its code. Returns when that is done (in a test the host does not really exit). */
export async function runProcess(
  { host, world, name, shutdownMsMax = limits.shutdownMsMax + spareMs }: ProcessOptions,
  run: (signal: AbortSignal) => Promise<number>,
): Promise<void> {
  const stopping = new AbortController();
  const ended = new AbortController();
  const say = (line: string): unknown => host.stderr.write(`${name}: ${line}\n`);

  const stop = (why: string): void => {
    stopping.abort();
    const overdue = (): void => {
      say(`did not stop within ${shutdownMsMax / 1_000} s of ${why}; ending now`);
      host.exit(exitCodes.failed.code);
    };
    world.sleep(shutdownMsMax, ended.signal).then(overdue, () => undefined);
  };
  let askedAt = 0;
  const asked = (signalName: string, code: number): void => {
    if (!stopping.signal.aborted) {
      askedAt = world.elapsed();
      stop(signalName);
    } else if (world.elapsed() - askedAt > sameSignalMs) host.exit(code);
  };
  // SIGHUP comes when the terminal is closed: what was begun must be cleaned up then, too.
  for (const [signalName, code] of Object.entries(signalCodes)) host.on(signalName, () => asked(signalName, code));
  const give = (reason: unknown): void => {
    say(`unexpected error: ${redactText(fatalMessage(reason))}`);
    // An uncaught fault is a bug as well.
    host.stderr.write(reason instanceof Fault ? `${redactText(stackOf(reason))}\n` : stackLines(reason));
    host.exit(exitCodes.failed.code);
  };
  host.on("uncaughtException", give);
  host.on("unhandledRejection", give);
  let lostOutput: number | undefined;
  host.stdout.on("error", (reason) => {
    if (lostOutput !== undefined) return;
    // The reader of a pipe has seen enough ("snapkeep crds | head"): nothing is wrong, but what was begun must still be tidied up.
    lostOutput = reason.code === "EPIPE" ? exitCodes.good.code : exitCodes.failed.code;
    if (lostOutput > 0) say(`the output cannot be written: ${fatalMessage(reason)}`);
    if (!stopping.signal.aborted) stop("losing its output");
  });
  host.stderr.on("error", () => undefined);

  const code = await run(stopping.signal);
  // A write that fails says so only after it was made; without this, a full disk would look like success.
  await new Promise<void>((resolve) => host.stdout.write("", resolve));
  ended.abort();
  host.exit(lostOutput ?? code);
}
