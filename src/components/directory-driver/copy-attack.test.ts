/** A pod can change its volume at any moment of a copy. Whatever it does, nothing outside of the volume is read, written or removed. */
import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { temporaryFolder } from "../../../test/csi-sockets.ts";
import { racing, repeatedFor } from "../../../test/racing.ts";
import { copyFaithfully } from "./copy.ts";
import { copyTree } from "./copy-tree.ts";
import { removeTree } from "./remove-tree.ts";

const fileCount = 300;
const raceMs = 1_500;
const names = Array.from({ length: fileCount }, (_, index) => `key-${index}`);

/** A volume beside a folder of the host with files of the same names. */
function aVolume(t: TestContext) {
  const folder = temporaryFolder(t);
  const [volume, outside] = [join(folder, "volume"), join(folder, "outside")];
  for (const [place, text] of [
    [join(volume, "folder"), "own"],
    [outside, "canary"],
  ] as const) {
    mkdirSync(place, { recursive: true });
    for (const name of names) writeFileSync(join(place, name), text);
  }
  return { folder, volume, outside };
}

/** Without waiting for the disk, so that there are more rounds. */
async function copyUnsynced(from: string, to: string): Promise<void> {
  mkdirSync(`${to}.parts`);
  await copyTree(from, to, { work: `${to}.parts`, signal: undefined });
}

/** Not through links. */
const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesIn(path);
    return entry.isFile() ? [path] : [];
  });

test("a folder that becomes a link during the copy does not lead outside of the volume", async (t) => {
  const { folder, volume, outside } = aVolume(t);
  const swap = `
    fs.renameSync(data.volume + "/folder", data.volume + "/away");
    fs.symlinkSync(data.outside, data.volume + "/folder");
    fs.unlinkSync(data.volume + "/folder");
    fs.renameSync(data.volume + "/away", data.volume + "/folder");`;
  await racing(swap, { volume, outside }, () =>
    repeatedFor(raceMs, async (round) => {
      const copy = join(folder, `copy-${round}`);
      await copyUnsynced(volume, copy);
      for (const path of filesIn(copy)) assert.equal(readFileSync(path, "utf8"), "own", path);
      rmSync(copy, { recursive: true });
    }),
  );
});

test("a file that becomes a link or a pipe during the copy is copied as one of them", async (t) => {
  const { folder, volume, outside } = aVolume(t);
  const swap = `
    const path = data.volume + "/folder/" + data.names[turn % data.names.length];
    fs.symlinkSync(data.outside + "/key-0", path + ".new");
    fs.renameSync(path + ".new", path);
    fs.writeFileSync(path + ".new", "own");
    fs.renameSync(path + ".new", path);`;
  await racing(swap, { volume, outside, names }, () =>
    repeatedFor(raceMs, async (round) => {
      const copy = join(folder, `copy-${round}`);
      await copyUnsynced(volume, copy);
      for (const path of filesIn(copy)) assert.notEqual(readFileSync(path, "utf8"), "canary", path);
      rmSync(copy, { recursive: true });
    }),
  );
});

test("nothing is written through a link that an earlier pass copied", async (t) => {
  const { folder, volume, outside } = aVolume(t);
  const entry = join(outside, "key-0");
  // Once the copy has the links they become a file and a folder, and what was still to be copied gets other names: a second pass is made.
  const attack = `
    const copied = fs.lstatSync(data.copy + ".parts/filled-0/to-folder", { throwIfNoEntry: false });
    if (copied === undefined || fs.existsSync(data.source + "/to-folder/planted")) return;
    fs.writeFileSync(data.source + "/new", "own");
    fs.renameSync(data.source + "/new", data.source + "/to-file");
    fs.unlinkSync(data.source + "/to-folder");
    fs.mkdirSync(data.source + "/to-folder");
    for (const name of ["key-0", "planted"]) fs.writeFileSync(data.source + "/to-folder/" + name, "own");
    for (let index = 0; index < 10; index++) fs.renameSync(data.source + "/more/" + index, data.source + "/more/moved-" + index);`;
  for (let [round, gone] = [1, 0]; gone === 0; round++) {
    assert.ok(round < 20, "no copy needed a second pass");
    const [source, copy] = [join(volume, `source-${round}`), join(folder, `copy-${round}`)];
    mkdirSync(source);
    symlinkSync(entry, join(source, "to-file"));
    symlinkSync(outside, join(source, "to-folder"));
    for (let index = 0; index < 10; index++) {
      mkdirSync(join(source, "more", String(index)), { recursive: true });
      for (const name of names.slice(0, 100)) writeFileSync(join(source, "more", String(index), name), "");
    }
    gone = await racing(attack, { source, copy }, () => copyFaithfully(source, copy));
    assert.equal(readFileSync(entry, "utf8"), "canary");
    assert.equal(readdirSync(outside).length, fileCount);
  }
});

test("a folder that becomes a link during removal removes nothing outside", async (t) => {
  const { folder, volume, outside } = aVolume(t);
  const swap = `
    const folder = data.volume + "/folder";
    try {
      fs.renameSync(folder, folder + "-away");
      fs.symlinkSync(data.outside, folder);
      dwell();
      fs.unlinkSync(folder);
      fs.renameSync(folder + "-away", folder);
      dwell();
    } catch (reason) {
      if (!["ENOENT", "EEXIST", "EISDIR", "ENOTEMPTY"].includes(reason.code)) throw reason;
    }`;
  await racing(swap, { volume, outside }, () =>
    repeatedFor(raceMs, async (round) => {
      await removeTree(volume).catch(() => undefined); // What comes back under another name may be left.
      assert.equal(readdirSync(outside).length, fileCount);
      const next = join(folder, `next-${round}`);
      mkdirSync(join(next, "folder"), { recursive: true });
      for (const name of names) writeFileSync(join(next, "folder", name), "own");
      if (existsSync(volume)) renameSync(volume, join(folder, `left-${round}`));
      renameSync(next, volume);
    }),
  );
});
