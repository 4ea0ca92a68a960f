/** What somebody with an old Node sees after `npm ci --ignore-scripts`: the pinned Node is missing, and one line says how to get it. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { test } from "node:test";
import packageFile from "../package.json" with { type: "json" };

const check = resolve(import.meta.dirname, "../scripts/need-node.cjs");
const older = `data:text/javascript,Object.defineProperty(process.versions, "node", { value: "18.1.0" });Object.defineProperty(process, "version", { value: "v18.1.0" })`;

function ran(...options: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...options, check], { encoding: "utf8" });
  return { status, said: stdout + stderr };
}

test("on an old Node the message names both versions and the command, on the pinned one there is none", () => {
  assert.deepEqual(ran("--import", older), {
    status: 1,
    said: "snapkeep: Node 24 is missing because its install script has not run, and this is v18.1.0; run: npm rebuild node\n",
  });
  assert.deepEqual(ran(), { status: 0, said: "" });
});

test("every npm script that runs Node on our files checks the Node version first", () => {
  const starting = Object.entries(packageFile.scripts).filter(([, line]) => /\bnode (?!scripts\/need-node)/.test(line));
  assert.deepEqual(
    starting.filter(([, line]) => !line.startsWith("node scripts/need-node.cjs && ")),
    [],
  );
});
