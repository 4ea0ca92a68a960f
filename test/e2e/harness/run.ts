/** Any program, run to its end: its exit code and both outputs come back; nothing is thrown for one that fails. */
import { spawn } from "node:child_process";

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** For the standard input. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly msMax?: number;
}

export async function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { input, env = {}, cwd, msMax = 60_000 } = options;
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    timeout: msMax,
    killSignal: "SIGKILL",
  });
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      texts[name] += text;
    });
  child.stdin.on("error", () => undefined); // It may end without reading what it is given.
  child.stdin.end(input ?? "");
  const code = await new Promise<number | null>((done, fail) => child.once("error", fail).once("close", done));
  return { code: code ?? -1, ...texts };
}
