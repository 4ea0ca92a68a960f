/** argv → command → exit code. The only reader of process.argv and process.env. */
import packageFile from "../package.json" with { type: "json" };
import { realWorld } from "./base/world.ts";
import { commands } from "./cli/commands.ts";
import { runCommandLine } from "./cli/run.ts";

const stopping = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stopping.abort());

process.exitCode = await runCommandLine(commands, process.argv.slice(2), {
  environment: process.env,
  signal: stopping.signal,
  world: realWorld,
  out: process.stdout,
  error: process.stderr,
  version: packageFile.version,
});
