import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { realWorld } from "../../base/world.ts";
import { commands } from "../commands.ts";
import { runCommandLine } from "../run.ts";

test("the tour holds at every step, says so, and leaves nothing on disk", async () => {
  const before = readdirSync(tmpdir());
  let said = "";
  const out = {
    write: (text: string) => {
      said += text;
    },
  };
  const context = {
    environment: {},
    signal: new AbortController().signal,
    world: realWorld,
    out,
    error: out,
    version: "0",
  };
  const code = await runCommandLine(commands, ["up", "--exit"], context);
  assert.equal(code, 0, said);
  assert.equal(said.match(/✓/g)?.length, 5, said);
  const left = readdirSync(tmpdir()).filter((name) => name.startsWith("snapkeep-") && !before.includes(name));
  assert.deepEqual(left, []);
});
