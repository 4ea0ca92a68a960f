/** argv → command → exit code. The only reader of process.argv and process.env. */
import { writeFileSync } from "node:fs";
import module from "node:module";
import { basename } from "node:path";
import { text } from "node:stream/consumers";
import packageFile from "../package.json" with { type: "json" };
import { realWorld } from "./base/world.ts";
import { commands } from "./cli/commands.ts";
import { runCommandLine } from "./cli/run.ts";
import { runProcess } from "./runtime/process.ts";

/** Kubernetes shows what is in here as the reason of a container's end. Outside of a pod there is no such file. */
const terminationLog = "/dev/termination-log";

function writeTerminationMessage(line: string): void {
  try {
    writeFileSync(terminationLog, line, { flag: "r+" });
  } catch {
    // Not in a pod.
  }
}

// From sources, most of a start is stripping and compiling the command's modules; the second start need not do it again.
if (import.meta.filename.endsWith(".ts")) module.enableCompileCache();

/** kubectl asks a program of this name to complete the command line of its plugin `kubectl snapkeep`. */
const isAsked = basename(process.argv[1] ?? "").startsWith("kubectl_complete-");
const words = process.argv.slice(2);

await runProcess({ host: process, world: realWorld, name: packageFile.name }, (signal) =>
  runCommandLine(commands, isAsked ? ["__complete", ...words] : words, {
    environment: process.env,
    signal,
    world: realWorld,
    out: process.stdout,
    error: process.stderr,
    version: packageFile.version,
    columns: process.stdout.columns,
    writeTerminationMessage,
    readInput: () => text(process.stdin),
  }),
);
