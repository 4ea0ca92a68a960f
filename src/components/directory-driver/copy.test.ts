import assert from "node:assert/strict";
import { existsSync, renameSync, unlinkSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { copyFaithfully, hasGone, removeTree, wasReplaced } from "./copy.ts";

async function aFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "copy-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const complaints: readonly { text: string; gone?: true; replaced?: true }[] = [
  { text: "cp: cannot stat '/r/data/a': No such file or directory", gone: true },
  { text: "cp: cannot open '/r/data/a' for reading: No such file or directory", gone: true },
  { text: "cp: cannot access '/r/data/folder': No such file or directory", gone: true },
  { text: "cp: cannot read symbolic link '/r/data/link': No such file or directory", gone: true },
  { text: "cp: skipping file '/r/data/a', as it was replaced while being copied", replaced: true },
  { text: "cp: cannot create regular file '/r/making/a': No such file or directory" },
  { text: "cp: cannot open '/r/data/a' for reading: Permission denied" },
  { text: "cp: error reading '/r/data/a: No such file or directory': Input/output error" },
  { text: "cp: error writing '/r/making/a': No space left on device" },
];
for (const { text, gone = false, replaced = false } of complaints)
  test(`"${text}" ${gone || replaced ? "is forgiven in a live tree" : "is a failure"}`, () =>
    assert.deepEqual([hasGone(text), wasReplaced(text)], [gone, replaced]));

const roundsMax = 20;
const fileCount = 300;
const largeBytes = 8 * 2 ** 20;
const nameOf = (index: number): string => `file-${String(index).padStart(4, "0")}`;

/** Copies while files are deleted and renamed; again, until one was seen to go just when its turn had come. */
async function copyWhileFilesGo(t: TestContext): Promise<string> {
  for (let round = 0; round < roundsMax; round++) {
    const folder = await aFolder(t);
    const source = join(folder, "source");
    await mkdir(source);
    await writeFile(join(source, "large"), Buffer.alloc(largeBytes));
    const all = Array.from({ length: fileCount }, (_, index) => index);
    await Promise.all(all.map((index) => writeFile(join(source, nameOf(index)), nameOf(index))));
    const copying = copyFaithfully(source, join(folder, "copy"));
    // The large file is the first, and takes a while; by then cp knows all names.
    while (!existsSync(join(folder, "copy/large"))) await new Promise(setImmediate);
    for (const index of all.reverse()) {
      const path = join(source, nameOf(index));
      if (index % 3 === 1) unlinkSync(path);
      if (index % 3 === 2) renameSync(path, join(source, `renamed-${nameOf(index)}`));
    }
    if ((await copying) > 0) return join(folder, "copy");
  }
  assert.fail(`in ${roundsMax} rounds no file went while it was copied`);
}

test("a live tree is copied: what is deleted may be missing, what is renamed has one of its names, and all are whole", async (t) => {
  const copy = await copyWhileFilesGo(t);
  const found = new Set(await readdir(copy));
  assert.ok(found.delete("large"));
  for (const name of found) assert.equal(await readFile(join(copy, name), "utf8"), name.replace("renamed-", ""));
  for (let index = 0; index < fileCount; index++) {
    const isThere = found.has(nameOf(index)) || found.has(`renamed-${nameOf(index)}`);
    assert.ok(isThere || index % 3 === 1, `${nameOf(index)} is lost`);
  }
});

test("a file that is replaced again and again is there, whole", async (t) => {
  const folder = await aFolder(t);
  const source = join(folder, "source");
  await mkdir(source);
  for (let index = 0; index < 50; index++) await writeFile(join(source, nameOf(index)), "version 0");
  let copied = false;
  const copying = copyFaithfully(source, join(folder, "copy")).finally(() => {
    copied = true;
  });
  for (let version = 1; !copied; version++) {
    await writeFile(join(source, "new"), `version ${version}`);
    await rename(join(source, "new"), join(source, nameOf(version % 50)));
  }
  await copying;
  for (let index = 0; index < 50; index++)
    assert.match(await readFile(join(folder, "copy", nameOf(index)), "utf8"), /^version \d+$/);
});

test("a source that is not there is a failure, not an empty copy", async (t) => {
  const folder = await aFolder(t);
  await assert.rejects(copyFaithfully(join(folder, "none"), join(folder, "copy")), { code: "Internal" });
});

test("a tree is removed although its owner may not write to it", async (t) => {
  const folder = join(await aFolder(t), "tree");
  await mkdir(join(folder, "sealed"), { recursive: true });
  await writeFile(join(folder, "sealed/file"), "");
  await chmod(join(folder, "sealed"), 0o500);
  await removeTree(folder);
  await assert.rejects(stat(folder), { code: "ENOENT" });
  await removeTree(folder); // What is not there is removed already.
});
