import assert from "node:assert/strict";
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { temporaryFolder } from "../../../test/csi-sockets.ts";
import { chainFrom, namesIn, pin } from "./pins.ts";

/** A tree with links to a folder outside, and the handle of its top. */
async function aTree(t: TestContext) {
  const folder = temporaryFolder(t);
  const [tree, outside] = [join(folder, "tree"), join(folder, "outside")];
  for (const path of [join(tree, "a/b"), join(outside, "b")]) mkdirSync(path, { recursive: true });
  writeFileSync(join(tree, "a/b/own"), "");
  writeFileSync(join(outside, "b/canary"), "");
  symlinkSync(outside, join(tree, "link"));
  const root = await pin(tree);
  const chain = chainFrom(root);
  t.after(async () => {
    await chain.close();
    await root.close();
  });
  return { tree, outside, chain };
}

test("a folder is opened step by step along its path", async (t) => {
  const { chain } = await aTree(t);
  assert.deepEqual(await namesIn(await chain.at("a/b")), ["own"]);
  assert.deepEqual(await namesIn(await chain.at("a")), ["b"]);
  assert.deepEqual([...(await namesIn(await chain.at("")))].sort(), ["a", "link"]);
});

for (const path of ["link", "link/b"])
  test(`a symbolic link is not followed as a folder: ${path}`, async (t) => {
    const { chain } = await aTree(t);
    await assert.rejects(chain.at(path), { code: "ENOTDIR" });
  });

test("an open folder handle stays the same when a symbolic link replaces its name", async (t) => {
  const { tree, outside, chain } = await aTree(t);
  const held = await chain.at("a");
  renameSync(join(tree, "a"), join(tree, "away"));
  symlinkSync(outside, join(tree, "a"));
  assert.deepEqual(await namesIn(held), ["b"]);
  assert.deepEqual(await namesIn(await chain.at("a/b")), ["own"]);
});
