/** The few programs of the system that do what Node has no call for, run to their very end. */
import { spawn } from "node:child_process";
import { Fault } from "../base/fault.ts";

export interface ProgramOptions {
  /** Kills it. Even then its end is awaited, because cleanup must not race with it. */
  readonly signal?: AbortSignal | undefined;
  /** A complaint that is no failure. */
  readonly forgives?: ((complaint: string) => boolean) | undefined;
  /** Open files that the program finds under the numbers from `firstInherited` on. */
  readonly inherits?: readonly number[] | undefined;
  /** Puts names that users know into a complaint. */
  readonly translate?: ((complaint: string) => string) | undefined;
}

export const firstInherited = 3;

export interface ProgramEnd {
  readonly output: string;
  /** The complaints that were forgiven. */
  readonly forgiven: readonly string[];
}

/** No text of ours is translated, and nothing of our own environment leaks. */
const environment = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };
const complaintsMax = 10_000;

export type RunProgram = typeof runProgram;

export async function runProgram(
  program: string,
  args: readonly string[],
  { signal, inherits, forgives = () => false, translate = (complaint) => complaint }: ProgramOptions = {},
): Promise<ProgramEnd> {
  signal?.throwIfAborted();
  const { code, output, complaints } = await endOf(program, args, { signal, inherits });
  if (signal?.aborted) throw Fault.from(signal.reason);
  const serious = complaints.find((complaint) => !forgives(complaint));
  const excused = code === 1 && complaints.length > 0 && complaints.length < complaintsMax;
  if (code === 0 || (excused && serious === undefined)) return { output: output.trim(), forgiven: complaints };
  const complaint = serious ?? complaints[0];
  const message =
    (complaint && translate(complaint)) ?? (code === null ? "was killed" : `ended with exit code ${code}`);
  const named = message.startsWith(`${program}: `) ? message : `${program}: ${message}`;
  throw new Fault(codeFor(message), isOtherProgram(message) ? `${named}; ${remedy}` : named);
}

export interface Ended {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly output: string;
  readonly complaints: readonly string[];
}

/** For programs whose exit code is an answer. Rejects only when the program cannot be run. */
export function endOf(
  program: string,
  args: readonly string[],
  { signal, inherits = [] }: Pick<ProgramOptions, "signal" | "inherits"> = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: environment, stdio: ["ignore", "pipe", "pipe", ...inherits] });
    const kill = (): void => void child.kill("SIGKILL");
    const ended = (): void => signal?.removeEventListener("abort", kill);
    signal?.addEventListener("abort", kill, { once: true });
    const output = gather(child.stdout);
    const complaints = gather(child.stderr);
    child.once("error", (reason) => {
      ended();
      reject(cannotRun(program, reason));
    });
    child.once("close", (code) => {
      ended();
      resolve({ code, output: output().join("\n"), complaints: complaints() });
    });
  });
}

/** The lines of a stream, as many as anybody will look at. */
function gather(stream: NodeJS.ReadableStream | null): () => readonly string[] {
  const lines: string[] = [];
  let rest = "";
  stream?.setEncoding("utf8").on("data", (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts.slice(0, complaintsMax - lines.length));
  });
  return () => (rest === "" ? lines : [...lines, rest]);
}

function cannotRun(program: string, reason: Error): Fault {
  const missing = "code" in reason && reason.code === "ENOENT";
  return missing
    ? new Fault("FailedPrecondition", `${program} is not installed: ${remedy}`)
    : new Fault("Internal", `${program} cannot be run: ${reason.message}`);
}

const codeFor = (complaint: string): Fault["code"] => {
  if (/no space left|quota exceeded/i.test(complaint)) return "ResourceExhausted";
  return isOtherProgram(complaint) ? "FailedPrecondition" : "Internal";
};
/** As busybox's programs say it, which have the same names and other flags. */
const isOtherProgram = (complaint: string): boolean => /unrecognized option|invalid option/.test(complaint);
const remedy = "install GNU coreutils, GNU tar and util-linux";

const systemFaults: Readonly<Record<string, Fault["code"]>> = {
  ENOSPC: "ResourceExhausted",
  EDQUOT: "ResourceExhausted",
  EFBIG: "OutOfRange",
};

/** What Node throws about a full disk and its like, in the protocol's words. Everything else stays as it is. */
export function asFault(reason: unknown): unknown {
  const code = reason instanceof Error && "code" in reason ? systemFaults[String(reason.code)] : undefined;
  return code === undefined || reason instanceof Fault ? reason : new Fault(code, (reason as Error).message);
}
