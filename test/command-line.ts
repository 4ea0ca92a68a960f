/** A command started as a person starts it, in this process: what it says, and how to end it. */
import { realWorld } from "../src/base/world.ts";
import { commands } from "../src/cli/commands.ts";
import { runCommandLine } from "../src/cli/run.ts";

export function startCommand(...argv: readonly string[]) {
  const stop = new AbortController();
  /** To each of the two, and all of it in the order it came. */
  const said = { out: "", error: "", text: "" };
  const into = (stream: "out" | "error") => ({
    write: (text: string) => {
      said[stream] += text;
      said.text += text;
    },
  });
  const code = runCommandLine(commands, argv, {
    environment: {},
    signal: stop.signal,
    world: realWorld,
    out: into("out"),
    error: into("error"),
    version: "1.2.3",
  });
  return { said, stop: () => stop.abort(), code };
}
