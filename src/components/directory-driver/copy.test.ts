import assert from "node:assert/strict";
import { existsSync, renameSync, unlinkSync } from "node:fs";
import {
  chmod,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { copyFaithfully } from "./copy.ts";
import { copyLimits } from "./limits.ts";
import { removeTree } from "./remove-tree.ts";

async function aFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "copy-"));
  t.after(() => removeTree(folder)); // Also what an ordinary user may not write to.
  return folder;
}

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
    // While cp has the first files, all names are known, and the others only by name.
    while (!existsSync(join(folder, "copy.parts/files"))) await new Promise(setImmediate);
    for (const index of all.reverse()) {
      const path = join(source, nameOf(index));
      if (index % 3 === 1) unlinkSync(path);
      if (index % 3 === 2) renameSync(path, join(source, `renamed-${nameOf(index)}`));
    }
    if ((await copying) > 0) return join(folder, "copy");
  }
  assert.fail(`in ${roundsMax} rounds no file went while it was copied`);
}

test("a copy of a changing tree: deleted files may be missing, renamed files have one of their names, all files are complete", async (t) => {
  const copy = await copyWhileFilesGo(t);
  const found = new Set(await readdir(copy));
  assert.ok(found.delete("large"));
  for (const name of found) assert.equal(await readFile(join(copy, name), "utf8"), name.replace("renamed-", ""));
  for (let index = 0; index < fileCount; index++) {
    const isThere = found.has(nameOf(index)) || found.has(`renamed-${nameOf(index)}`);
    assert.ok(isThere || index % 3 === 1, `${nameOf(index)} is lost`);
  }
});

test("a file that is replaced repeatedly is present and complete", async (t) => {
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

test("a missing source is an error, not an empty copy", async (t) => {
  const folder = await aFolder(t);
  await assert.rejects(copyFaithfully(join(folder, "none"), join(folder, "copy")), { code: "Internal" });
});

test("a tree without write permission is removed", async (t) => {
  const folder = join(await aFolder(t), "tree");
  await mkdir(join(folder, "sealed"), { recursive: true });
  await writeFile(join(folder, "sealed/file"), "");
  await chmod(join(folder, "sealed"), 0o500);
  await removeTree(folder);
  await assert.rejects(stat(folder), { code: "ENOENT" });
  await removeTree(folder); // What is not there is removed already.
});

test("a copy of many files keeps modes, times, links and names that are not UTF-8", async (t) => {
  const folder = await aFolder(t);
  const [source, copy] = [join(folder, "source"), join(folder, "copy")];
  const count = 2 * copyLimits.copyHandlesMax + 10;
  await mkdir(join(source, "sealed/deep"), { recursive: true });
  for (let index = 0; index < count; index++) await writeFile(join(source, "sealed/deep", nameOf(index)), "");
  await writeFile(join(source, "one"), "shared");
  for (const name of ["two", "sealed/deep/three"]) await link(join(source, "one"), join(source, name));
  const odd = Buffer.from([...Buffer.from(`${source}/`), 0xff, 0xfe]);
  await writeFile(odd, "odd");
  await symlink("nowhere", join(source, "sealed/link"));
  for (const path of ["sealed/deep", "sealed", "."]) await utimes(join(source, path), 1_000_000_000, 1_000_000_000);
  await chmod(join(source, "sealed/deep"), 0o500);
  await chmod(join(source, "sealed"), 0o555);
  await copyFaithfully(source, copy);
  for (const path of ["", "sealed", "sealed/deep"]) {
    const [was, is] = [await stat(join(source, path)), await stat(join(copy, path))];
    assert.deepEqual([is.mode, is.mtimeMs, is.uid], [was.mode, was.mtimeMs, was.uid], path);
  }
  assert.equal((await readdir(join(copy, "sealed/deep"))).length, count + 1);
  const inodes = ["one", "two", "sealed/deep/three"].map(async (path) => (await stat(join(copy, path))).ino);
  assert.equal(new Set(await Promise.all(inodes)).size, 1);
  assert.equal(await readlink(join(copy, "sealed/link")), "nowhere");
  assert.equal(await readFile(Buffer.from([...Buffer.from(`${copy}/`), 0xff, 0xfe]), "utf8"), "odd");
  assert.deepEqual((await readdir(folder)).sort(), ["copy", "source"]);
});

test("folders that are nested too deep are an error, and a copy leaves no open file", async (t) => {
  const folder = await aFolder(t);
  const source = join(folder, "source");
  await mkdir(join(source, ..."x".repeat(copyLimits.copyDepthMax + 1)), { recursive: true });
  const openFiles = async (): Promise<number> => (await readdir("/proc/self/fd")).length;
  const before = await openFiles();
  await assert.rejects(copyFaithfully(source, join(folder, "copy")), {
    code: "FailedPrecondition",
    message: /more than 250 deep/,
  });
  assert.equal(await openFiles(), before);
});
