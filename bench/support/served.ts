/** The replay server as a child process. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

export interface Served {
  readonly url: string;
  readonly caFile: string;
}

export async function startReplay(): Promise<Served & { stop(): void }> {
  const child: ChildProcess = spawn(process.execPath, [join(import.meta.dirname, "replay-server.ts")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout ?? process.stdin, "data")) as [Buffer];
  const served = JSON.parse(line.toString()) as Served;
  return { ...served, stop: () => void child.kill("SIGTERM") };
}
