import assert from "node:assert/strict";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../test/csi-sockets.ts";
import { copyPlainly } from "./copy-plainly.ts";

const then = new Date("2020-02-02T02:02:02Z");

test("without GNU cp a tree is copied with modes, times, symbolic links and hard links", async (t) => {
  const folder = temporaryFolder(t);
  const [from, to] = [join(folder, "from"), join(folder, "to")];
  mkdirSync(join(from, "deep"), { recursive: true });
  writeFileSync(join(from, "deep/file"), "words");
  chmodSync(join(from, "deep/file"), 0o640);
  linkSync(join(from, "deep/file"), join(from, "same"));
  symlinkSync("deep/nowhere", join(from, "link"));
  for (const path of ["deep/file", "deep"]) utimesSync(join(from, path), then, then);
  chmodSync(join(from, "deep"), 0o550);
  assert.equal(await copyPlainly(from, to), 0);
  chmodSync(join(from, "deep"), 0o750);

  const seen = (path: string) => lstatSync(join(to, path));
  assert.equal(readFileSync(join(to, "same"), "utf8"), "words");
  assert.equal(readlinkSync(join(to, "link")), "deep/nowhere");
  assert.equal(seen("deep/file").mode & 0o777, 0o640);
  assert.equal(seen("deep").mode & 0o777, 0o550);
  assert.equal(seen("same").ino, seen("deep/file").ino);
  for (const path of ["deep/file", "deep"]) assert.deepEqual(seen(path).mtime, then);
  chmodSync(join(to, "deep"), 0o750);
  writeFileSync(join(from, "same"), "spoiled");
  assert.equal(readFileSync(join(to, "deep/file"), "utf8"), "words");
});

test("without GNU cp a single file, such as a block volume image, is copied", async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "image"), "blocks");
  await copyPlainly(join(folder, "image"), join(folder, "copy"));
  assert.equal(readFileSync(join(folder, "copy"), "utf8"), "blocks");
});

test("without GNU cp an aborted copy ends, and a missing source is an error", async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "from"));
  const given = new AbortController();
  given.abort();
  await assert.rejects(copyPlainly(join(folder, "from"), join(folder, "to"), given.signal), { name: "AbortError" });
  await assert.rejects(copyPlainly(join(folder, "nowhere"), join(folder, "to")), { code: "ENOENT" });
});

test("without GNU cp nothing is written through a copied link", async (t) => {
  const folder = temporaryFolder(t);
  const [from, to, outside] = [join(folder, "from"), join(folder, "to"), join(folder, "outside")];
  for (const path of [join(from, "folder"), to, outside]) mkdirSync(path, { recursive: true });
  writeFileSync(join(from, "folder/planted"), "");
  symlinkSync(outside, join(to, "folder"));
  await copyPlainly(from, to);
  assert.deepEqual(readdirSync(outside), []);
});
