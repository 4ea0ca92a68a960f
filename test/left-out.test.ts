import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { leftOut } from "../scripts/left-out.ts";
import { temporaryFolder } from "./csi-sockets.ts";

test("a package is reported if npm left out all of its platform binaries, and only then", (t) => {
  const root = temporaryFolder(t);
  const parts = (name: string) => ({ [`@${name}/linux`]: "1.0.0", [`@${name}/darwin`]: "1.0.0" });
  const packages = {
    "": { optionalDependencies: parts("root") },
    "node_modules/parser": { optionalDependencies: parts("parser") },
    "node_modules/linter": { optionalDependencies: parts("linter") },
    "node_modules/absent": { optionalDependencies: parts("absent") },
    "node_modules/plain": {},
  };
  writeFileSync(join(root, "package-lock.json"), JSON.stringify({ packages }));
  for (const path of ["parser", "linter", "@linter/linux", "plain"])
    mkdirSync(join(root, "node_modules", path), { recursive: true });
  assert.deepEqual(leftOut(root), ["parser"]);
});

test("no platform binary is missing in this installation", () =>
  assert.deepEqual(leftOut(resolve(import.meta.dirname, "..")), []));
