/** What every command prints for --help, on terminals of several widths. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import packageFile from "../../package.json" with { type: "json" };
import { realWorld } from "../base/world.ts";
import { commands } from "./commands.ts";
import { runCommandLine, tagline } from "./run.ts";

async function helpOf(columns: number, ...argv: readonly string[]): Promise<string> {
  let said = "";
  const out = { write: (text: string) => (said += text) };
  const { signal } = new AbortController();
  const context = { environment: {}, signal, world: realWorld, out, error: out, version: "1.2.3", columns };
  assert.equal(await runCommandLine(commands, [...argv, "--help"], context), 0);
  return said;
}

const names = commands.map(({ name }) => name);
for (const columns of [110, 80, 60, 40])
  test(`help fits ${columns} columns, except for longer single words`, async () => {
    const texts = await Promise.all([helpOf(columns), ...names.map((name) => helpOf(columns, name))]);
    const long = texts
      .flatMap((text) => text.split("\n"))
      .filter((line) => line.length > columns && line.trim().replace(/ \\$/, "").includes(" "));
    // The left column of a flag is one unit.
    assert.deepEqual(
      long.filter((line) => !/^ {2}--?\S+ \S+$/.test(line)),
      [],
    );
  });

test("examples can be copied: wrapped lines end with a backslash, and * is quoted", async () => {
  for (const { name, load } of commands) {
    const text = (await helpOf(60, name)).replaceAll(/ \\\n +/g, " ");
    for (const { line } of (await load()).command.examples) {
      assert.ok(text.includes(`  ${line}\n`), line);
      assert.doesNotMatch(line.replaceAll(/'[^']*'/g, ""), /[*?[\]]/, line);
    }
  }
});

test("README, package.json and help have the same tagline", async () => {
  const readme = readFileSync(resolve(import.meta.dirname, "../../README.md"), "utf8");
  assert.equal(packageFile.description, tagline);
  assert.equal(readme.split("\n")[2], tagline);
  assert.ok((await helpOf(110)).startsWith(`${tagline}\n`));
});
