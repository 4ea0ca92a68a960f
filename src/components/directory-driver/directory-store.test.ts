import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createMemoryLog } from "../../../test/csi-sockets.ts";
import { realWorld } from "../../base/world.ts";
import { type DirectoryStore, openDirectoryStore } from "./directory-store.ts";

interface Book {
  readonly id: string;
  readonly pages: number;
}

async function aStore(t: TestContext) {
  const root = await mkdtemp(join(tmpdir(), "directory-store-"));
  t.after(() => rm(root, { recursive: true, force: true }));
  const log = createMemoryLog();
  const reopen = (): Promise<DirectoryStore<Book>> =>
    openDirectoryStore({ root, name: "books", world: realWorld, log });
  return { root, log, reopen, store: await reopen(), place: join(root, "books"), making: join(root, ".making-books") };
}
const nothing = async (): Promise<void> => undefined;

test("a record exists only once it is complete", async (t) => {
  const { store, place } = await aStore(t);
  await store.add({ id: "a", pages: 1 }, async (folder) => {
    await writeFile(join(folder, "text"), "once");
    assert.equal(store.get("a"), undefined);
    assert.deepEqual(await readdir(place), []);
  });
  assert.deepEqual(store.get("a"), { id: "a", pages: 1 });
  assert.equal(await readFile(join(store.folder("a"), "text"), "utf8"), "once");
});

test("a failed creation leaves nothing and returns its own error", async (t) => {
  const { store, place, making } = await aStore(t);
  const fill = async (folder: string): Promise<void> => {
    await writeFile(join(folder, "text"), "half");
    throw new Error("out of ink");
  };
  await assert.rejects(store.add({ id: "a", pages: 1 }, fill), /out of ink/);
  assert.deepEqual([await readdir(place), await readdir(making), store.all()], [[], [], []]);
});

test("a full disk is ResourceExhausted", async (t) => {
  const { store } = await aStore(t);
  const full = Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  await assert.rejects(
    store.add({ id: "a", pages: 1 }, () => Promise.reject(full)),
    { code: "ResourceExhausted" },
  );
});

test("records are ordered by id, and exist after a restart", async (t) => {
  const { store, reopen } = await aStore(t);
  for (const id of ["b", "a", "c"]) await store.add({ id, pages: 1 }, nothing);
  await store.update({ id: "b", pages: 2 });
  await store.remove("c");
  const expected = [
    { id: "a", pages: 1 },
    { id: "b", pages: 2 },
  ];
  assert.deepEqual(store.all(), expected);
  assert.deepEqual((await reopen()).all(), expected);
});

test("incomplete records of a killed driver are removed at start", async (t) => {
  const { root, making, reopen } = await aStore(t);
  await mkdir(join(making, "a-1/data"), { recursive: true });
  await mkdir(join(root, ".leftover-books-1/data"), { recursive: true });
  await reopen();
  assert.deepEqual((await readdir(root)).sort(), [".making-books", "books"]);
  assert.deepEqual(await readdir(making), []);
});

test("each draft has its own folder, so that a leftover process cannot write into a later one", async (t) => {
  const { store, reopen } = await aStore(t);
  const drafts = new Set<string>();
  const fill = async (folder: string): Promise<void> => void drafts.add(folder);
  for (const opened of [store, await reopen()]) {
    await opened.add({ id: "a", pages: 1 }, fill);
    await opened.remove("a");
  }
  assert.equal(drafts.size, 2);
});

const strangers: readonly { given: string; record: string | undefined }[] = [
  { given: "no record", record: undefined },
  { given: "a record that is not JSON", record: "{" },
  { given: "a record that is not an object", record: "7" },
  { given: "another's record", record: '{"id":"b","pages":1}' },
];
for (const { given, record } of strangers)
  test(`a folder with ${given} is kept and logged, and a request for its id fails with an error`, async (t) => {
    const { place, log, reopen } = await aStore(t);
    await mkdir(join(place, "a"));
    await writeFile(join(place, "a/precious"), "kept");
    if (record !== undefined) await writeFile(join(place, "a/record.json"), record);
    const store = await reopen();
    assert.deepEqual(store.all(), []);
    assert.ok(log.lines.some(({ level, folder }) => level === "warn" && folder === join(place, "a")));
    await assert.rejects(store.add({ id: "a", pages: 1 }, nothing), {
      code: "FailedPrecondition",
      message: /is in the way.*move it away/,
    });
    assert.equal(await readFile(join(place, "a/precious"), "utf8"), "kept");
  });

test("a failed removal fails again until the data is gone", async (t) => {
  const { root, log } = await aStore(t);
  let broken = true;
  const removed: string[] = [];
  const removeTree = async (path: string): Promise<void> => {
    if (broken) throw new Error("Input/output error");
    removed.push(path);
    await rm(path, { recursive: true });
  };
  const store = await openDirectoryStore<Book>({ root, name: "books", world: realWorld, log, removeTree });
  await store.add({ id: "a", pages: 1 }, nothing);
  for (const _ of [1, 2]) await assert.rejects(store.remove("a"), /Input\/output error/);
  assert.deepEqual([store.get("a"), store.all()], [undefined, []], "without its data nobody is told that it is there");
  await store.add({ id: "a", pages: 2 }, nothing);
  broken = false;
  await store.remove("a");
  assert.equal(removed.length, 2);
  assert.deepEqual(await readdir(join(root, ".making-books")), []);
  await store.remove("a");
  assert.equal(removed.length, 2);
});

test("records that were removed by hand can be deleted", async (t) => {
  const { store, root, place } = await aStore(t);
  await store.add({ id: "a", pages: 1 }, nothing);
  await rm(store.folder("a"), { recursive: true });
  await store.remove("a");
  assert.equal(store.get("a"), undefined);
  // When the whole folder is missing, its disk is gone.
  await store.add({ id: "b", pages: 2 }, nothing);
  await rename(place, join(root, "elsewhere"));
  await assert.rejects(store.remove("b"), { code: "ENOENT" });
  assert.deepEqual(store.get("b"), { id: "b", pages: 2 });
});
