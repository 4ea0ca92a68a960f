/** On a plain folder, which needs no root: what is shown, what is left, and that nothing outside is touched. */
import assert from "node:assert/strict";
import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import { temporaryFolder } from "../../../../test/csi-sockets.ts";
import type { ObjectOf } from "../../../api/types.ts";
import { keyProblem } from "./plan-files.ts";
import { contentOf } from "./sources.ts";
import { adoptFiles, wipeFiles, writeFiles } from "./volume-files.ts";

const filesOf = (files: Readonly<Record<string, string>>) =>
  new Map(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)]));

function aVolume(t: TestContext) {
  const folder = temporaryFolder(t);
  const root = join(folder, "volume");
  mkdirSync(root);
  return { folder, root };
}
const shown = (root: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(root)
      .filter((name) => !name.startsWith(".."))
      .map((name) => [name, readFileSync(join(root, name), "utf8")]),
  );
const hidden = (root: string): readonly string[] => readdirSync(root).filter((name) => name.startsWith(".."));

test("R73: a new set replaces the old one, and nothing of the old one is left", async (t) => {
  const { root } = aVolume(t);
  await writeFiles(root, filesOf({ a: "1", b: "1" }), "first");
  assert.deepEqual(shown(root), { a: "1", b: "1" });
  await writeFiles(root, filesOf({ b: "2", c: "2" }), "second");
  assert.deepEqual(shown(root), { b: "2", c: "2" });
  assert.deepEqual(hidden(root), ["..data", "..second"]);
  assert.equal(readlinkSync(join(root, "b")), "..data/b");
  await writeFiles(root, filesOf({}), "third");
  assert.deepEqual([shown(root), hidden(root)], [{}, ["..data", "..third"]], "an empty set shows no old file");
});

test("a set that may not be shown any more when it is ready leaves the old one, and nothing of itself", async (t) => {
  const { root } = aVolume(t);
  assert.equal(await writeFiles(root, filesOf({ a: "1" }), "first"), true);
  const asked: string[] = [];
  const mayShow = (): boolean => {
    asked.push(readFileSync(join(root, "..data_tmp", "b"), "utf8"));
    return false;
  };
  assert.equal(await writeFiles(root, filesOf({ a: "2", b: "2" }), "second", mayShow), false);
  assert.deepEqual(asked, ["2"], "asked once, when all is ready");
  assert.deepEqual([shown(root), hidden(root)], [{ a: "1" }, ["..data", "..first"]]);
});

test("files have mode 0644 and folders 0755, whatever the umask is", async (t) => {
  const { root } = aVolume(t);
  const before = process.umask(0o077);
  t.after(() => process.umask(before));
  await writeFiles(root, filesOf({ a: "1" }), "first");
  const modeOf = (path: string): number => lstatSync(path).mode & 0o7777;
  assert.deepEqual([modeOf(join(root, "..first")), modeOf(join(root, "..first", "a"))], [0o755, 0o644]);
});

test("a volume that is emptied holds nothing at all", async (t) => {
  const { root } = aVolume(t);
  await writeFiles(root, filesOf({ a: "1", b: "2" }), "first");
  await wipeFiles(root);
  assert.deepEqual(readdirSync(root), []);
  await wipeFiles(root);
});

/** What Kubernetes allows as a key, at its longest. */
const longKeys = [250, 251, 252, 253].flatMap((length) =>
  ["a", "-", "_", "."].map((first) => first.padEnd(length, "k")),
);
test("R73: keys of 250 to 253 characters are shown, replaced and taken away, whatever they begin with", async (t) => {
  const { root } = aVolume(t);
  const setOf = (text: string) => filesOf(Object.fromEntries(longKeys.map((key) => [key, text])));
  await writeFiles(root, setOf("1"), "first");
  await writeFiles(root, setOf("2"), "second");
  assert.deepEqual(new Set(Object.values(shown(root))), new Set(["2"]));
  assert.equal(await adoptFiles(root), contentOf(setOf("2")).digest);
  await writeFiles(root, filesOf({ a: "3" }), "third");
  assert.deepEqual([shown(root), hidden(root)], [{ a: "3" }, ["..data", "..third"]]);
  await writeFiles(root, setOf("4"), "fourth");
  await wipeFiles(root);
  assert.deepEqual(readdirSync(root), []);
});

test("a set that cannot be written leaves nothing, and neither do its repetitions; a repaired one arrives", async (t) => {
  const { root } = aVolume(t);
  await writeFiles(root, filesOf({ a: "1" }), "first");
  const halfWritten = filesOf({ a: "2", "no/such": "2" });
  for (const label of ["second", "third", "fourth"]) {
    await assert.rejects(writeFiles(root, halfWritten, label), { code: "ENOENT" });
    assert.deepEqual([shown(root), hidden(root)], [{ a: "1" }, ["..data", "..first"]]);
  }
  // What a killed process has left takes room too.
  mkdirSync(join(root, "..killed"));
  writeFileSync(join(root, "..killed", "a"), "2");
  mkdirSync(join(root, "..old_0"));
  await writeFiles(root, filesOf({ a: "3" }), "fifth");
  assert.deepEqual([shown(root), hidden(root)], [{ a: "3" }, ["..data", "..fifth"]]);
});

test("what cannot be removed keeps nothing else, is reported, and is tried again", async (t) => {
  const { folder, root } = aVolume(t);
  await writeFiles(root, filesOf({ a: "1", b: "1" }), "first");
  // Deeper than a path may be long.
  const name = "d".repeat(250);
  const deep = join(root, "..0", ...Array(14).fill(name));
  mkdirSync(deep, { recursive: true });
  mkdirSync(join(folder, "more", ...Array(5).fill(name)), { recursive: true });
  renameSync(join(folder, "more"), join(deep, "more"));
  await assert.rejects(wipeFiles(root), { code: "ENAMETOOLONG" });
  assert.deepEqual(readdirSync(root), ["..old_0"]);
  for (const label of ["second", "third"]) {
    await assert.rejects(writeFiles(root, filesOf({ a: label }), label), { code: "ENAMETOOLONG" });
    assert.deepEqual(shown(root), { a: label }, "it does not keep a new set out");
    assert.deepEqual(hidden(root), ["..data", "..old_0", `..${label}`], "a repetition leaves no copy");
  }
  renameSync(join(root, "..old_0", ...Array(14).fill(name), "more"), join(folder, "more"));
  await wipeFiles(root);
  assert.deepEqual(readdirSync(root), []);
});

test("a file that a pod has open loses its bytes when it is taken away, and keeps them when it is replaced", async (t) => {
  const { root } = aVolume(t);
  await writeFiles(root, filesOf({ a: "1" }), "first");
  const replaced = openSync(join(root, "a"), "r");
  await writeFiles(root, filesOf({ a: "2" }), "second");
  const takenAway = openSync(join(root, "a"), "r");
  await wipeFiles(root);
  assert.deepEqual([readFileSync(replaced, "utf8"), readFileSync(takenAway, "utf8")], ["1", ""]);
  for (const file of [replaced, takenAway]) closeSync(file);
});

test("a swap that was cut short at any point is put right: the shown set is whole, and nothing else is left", async (t) => {
  const old = { a: "1", b: "1" };
  const states: readonly { given: string; left(root: string): void; expected: Readonly<Record<string, string>> }[] = [
    { given: "a folder half written", left: (root) => mkdirSync(join(root, "..second")), expected: old },
    {
      given: "the new link not renamed",
      left: (root) => symlinkSync("..second", join(root, "..data_tmp")),
      expected: old,
    },
    {
      given: "the new set shown, its links not made",
      left: (root) => {
        mkdirSync(join(root, "..second"));
        writeFileSync(join(root, "..second", "c"), "2");
        rmSync(join(root, "..data"));
        symlinkSync("..second", join(root, "..data"));
      },
      expected: { c: "2" },
    },
    { given: "an emptying begun", left: (root) => rmSync(join(root, "..data")), expected: {} },
  ];
  for (const { given, left, expected } of states) {
    const { root } = aVolume(t);
    await writeFiles(root, filesOf(old), "first");
    left(root);
    const digest = await adoptFiles(root);
    assert.deepEqual(shown(root), expected, given);
    assert.equal(hidden(root).length, digest === undefined ? 0 : 2, given);
    assert.equal(digest, digest === undefined ? undefined : contentOf(filesOf(expected)).digest, given);
  }
});

test("equal sets have equal digests, in any order, and names and bytes do not run into each other", () => {
  const digest = (files: Readonly<Record<string, string>>): string => contentOf(filesOf(files)).digest;
  assert.equal(digest({ a: "1", b: "2" }), digest({ b: "2", a: "1" }));
  const others = [{ a: "12" }, { a1: "2" }, { a: "1", "2": "" }, { a: "1" }, {}];
  assert.equal(new Set(others.map(digest)).size, others.length);
});

const hostileNames = ["..", ".", "../x", "/etc/passwd", "a/b", "..data", "..data_tmp", "a\0b", "", "a b", "ä", "..x"];
test("5,000 hostile keys: each is refused, or becomes a file below the volume", async (t) => {
  const { folder, root } = aVolume(t);
  writeFileSync(join(folder, "outside"), "untouched");
  const key = fc.oneof(
    fc.constantFrom(...hostileNames),
    fc.string({ maxLength: 300 }),
    fc.stringMatching(/^[-._a-zA-Z0-9]{1,260}$/),
    fc.array(fc.constantFrom("..", ".", "a", "..data", "outside"), { maxLength: 6 }).map((parts) => parts.join("/")),
  );
  let written = 0;
  await fc.assert(
    fc.asyncProperty(key, async (name) => {
      const secret = { kind: "Secret", metadata: { name: "s", namespace: "n" }, data: { [name]: "eA==" } };
      const problem = keyProblem(secret as unknown as ObjectOf<"Secret">);
      if (problem !== undefined) return assert.match(problem, / \[SNAP-708\]$/);
      written += 1;
      await writeFiles(root, new Map([[name, Buffer.from("x")]]), `set${written}`);
      assert.equal(readFileSync(join(root, `..set${written}`, name), "utf8"), "x");
      assert.deepEqual(readdirSync(folder).sort(), ["outside", "volume"]);
    }),
    { numRuns: 5_000 },
  );
  assert.ok(written > 500, String(written));
  assert.equal(readFileSync(join(folder, "outside"), "utf8"), "untouched");
});

test("symbolic links in the volume are replaced, never followed", async (t) => {
  for (const name of ["a", "..data", "..data_tmp", "..first"]) {
    const { folder, root } = aVolume(t);
    const outside = join(folder, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "a"), "untouched");
    symlinkSync(outside, join(root, name));
    await writeFiles(root, filesOf({ a: "1" }), "first");
    assert.deepEqual(shown(root), { a: "1" });
    assert.deepEqual(readdirSync(outside), ["a"], name);
    assert.equal(readFileSync(join(outside, "a"), "utf8"), "untouched", name);
    await adoptFiles(root);
    await wipeFiles(root);
    assert.equal(readFileSync(join(outside, "a"), "utf8"), "untouched", name);
    assert.deepEqual(readdirSync(root), []);
  }
});

test("5,000 hostile links, folders and files, four in each volume: nothing outside is read, written or removed", async (t) => {
  const { folder, root } = aVolume(t);
  const outside = join(folder, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "a"), "untouched");
  const names = ["a", "b", "..data", "..data_tmp", "..set", "..old_a", "..old_..set", "..2024_01_01.1", "outside"];
  const goals = [
    outside,
    "../outside",
    "../outside/a",
    "..",
    ".",
    "/",
    "..set",
    "..data",
    "..data/a",
    "a",
    "../volume",
  ];
  const entry = fc.record({
    name: fc.constantFrom(...names),
    made: fc.oneof(
      fc.constantFrom(...goals).map((goal) => (path: string) => symlinkSync(goal, path)),
      fc.constant((path: string) => void mkdirSync(path)),
      fc.constant((path: string) => writeFileSync(path, "hostile")),
      // What a folder of ours would hold, and is not.
      fc.constantFrom(...goals).map((goal) => (path: string) => {
        mkdirSync(path);
        symlinkSync(goal, join(path, "a"));
      }),
    ),
  });
  const entries = fc.uniqueArray(entry, { selector: ({ name }) => name, minLength: 4, maxLength: 4 });
  const work = fc.constantFrom<() => Promise<unknown>>(
    () => writeFiles(root, filesOf({ a: "1", b: "2" }), "set"),
    () => adoptFiles(root),
    () => wipeFiles(root),
  );
  await fc.assert(
    fc.asyncProperty(entries, work, async (present, act) => {
      for (const { name, made } of present) made(join(root, name));
      await act().catch(() => undefined);
      await wipeFiles(root);
      assert.deepEqual([readdirSync(root), readdirSync(folder).sort()], [[], ["outside", "volume"]]);
      assert.deepEqual(readdirSync(outside), ["a"]);
      assert.equal(readFileSync(join(outside, "a"), "utf8"), "untouched");
    }),
    { numRuns: 1_250 },
  );
});
