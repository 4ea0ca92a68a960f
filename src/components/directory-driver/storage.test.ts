import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  link,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Fault } from "../../base/fault.ts";
import { silent } from "../../base/log.ts";
import { realWorld } from "../../base/world.ts";
import { openStorage, type Storage } from "./storage.ts";
import type { VolumeRequest } from "./types.ts";

async function aStorage(t: TestContext): Promise<{ storage: Storage; root: string; reopen(): Promise<Storage> }> {
  const root = await mkdtemp(join(tmpdir(), "dir-"));
  let storage = await openStorage(root, realWorld, silent);
  t.after(async () => {
    await storage.close();
    await rm(root, { recursive: true, force: true });
  });
  const reopen = async (): Promise<Storage> => {
    await storage.close();
    storage = await openStorage(root, realWorld, silent);
    return storage;
  };
  return { storage, root, reopen };
}
const request = (name: string, change: Partial<VolumeRequest> = {}): VolumeRequest => ({
  name,
  mode: "mount",
  origin: { kind: "empty" },
  bytesMin: 0,
  bytesMax: 0,
  ...change,
});

test("a root that cannot be opened is unlocked, and can be opened after the cause is fixed", async (t) => {
  const root = await mkdtemp(join(tmpdir(), "dir-"));
  t.after(() => rm(root, { recursive: true, force: true }));
  await writeFile(join(root, "snapshots"), "in the way");
  await assert.rejects(openStorage(root, realWorld, silent), { message: /\/snapshots: there is a file of that name/ });
  await rm(join(root, "snapshots"));
  const storage = await openStorage(root, realWorld, silent);
  await storage.close();
});

test("a snapshot keeps its bytes when the volume changes", async (t) => {
  const { storage } = await aStorage(t);
  const volume = await storage.createVolume(request("v"));
  await writeFile(join(storage.dataOf(volume), "note"), "first");
  const snapshot = await storage.takeSnapshot("s", "v");
  await writeFile(join(storage.dataOf(volume), "note"), "spoiled");
  assert.equal(await readFile(join(storage.snapshotDataOf(snapshot), "note"), "utf8"), "first");
  const restored = await storage.createVolume(request("r", { origin: { kind: "snapshot", id: "s" } }));
  assert.equal(await readFile(join(storage.dataOf(restored), "note"), "utf8"), "first");
});

test("a new volume is writable for pods of any user, for any umask of the driver", async (t) => {
  const { storage } = await aStorage(t);
  const mask = process.umask(0o077);
  t.after(() => void process.umask(mask));
  const volume = await storage.createVolume(request("v"));
  assert.equal((await stat(storage.dataOf(volume))).mode & 0o777, 0o777);
});

test("links, modes, times and holes survive a snapshot", async (t) => {
  const { storage } = await aStorage(t);
  const data = storage.dataOf(await storage.createVolume(request("v")));
  await mkdir(join(data, "deep"));
  await writeFile(join(data, "deep/file"), "x");
  await chmod(join(data, "deep/file"), 0o640);
  await utimes(join(data, "deep/file"), 1_000_000_000, 1_000_000_000);
  await symlink("deep/file", join(data, "soft"));
  await link(join(data, "deep/file"), join(data, "hard"));
  const sparse = await open(join(data, "sparse"), "w");
  await sparse.truncate(64 * 2 ** 20);
  await sparse.close();
  const copy = storage.snapshotDataOf(await storage.takeSnapshot("s", "v"));
  const file = await stat(join(copy, "deep/file"));
  assert.equal(file.mode & 0o777, 0o640);
  assert.equal(file.mtimeMs, 1_000_000_000_000);
  assert.equal(await readlink(join(copy, "soft")), "deep/file");
  assert.equal((await stat(join(copy, "hard"))).ino, file.ino);
  const hole = await stat(join(copy, "sparse"));
  assert.equal(hole.size, 64 * 2 ** 20);
  assert.ok(hole.blocks * 512 < 2 ** 20, `the hole takes ${hole.blocks * 512} bytes`);
});

test("repeating CreateVolume or CreateSnapshot returns the same object", async (t) => {
  const { storage } = await aStorage(t);
  const volume = await storage.createVolume(request("v", { bytesMin: 5 }));
  assert.deepEqual(await storage.createVolume(request("v", { bytesMin: 5 })), volume);
  const snapshot = await storage.takeSnapshot("s", "v");
  assert.deepEqual(await storage.takeSnapshot("s", "v"), snapshot);
});

const refusals: readonly { given: string; code: string; ask(storage: Storage): Promise<unknown> }[] = [
  {
    given: "the same name with another size",
    code: "AlreadyExists",
    ask: (s) => s.createVolume(request("v", { bytesMin: 2 ** 40 })),
  },
  {
    given: "the same name with another mode",
    code: "AlreadyExists",
    ask: (s) => s.createVolume(request("v", { mode: "block" })),
  },
  {
    given: "a source that does not exist",
    code: "NotFound",
    ask: (s) => s.createVolume(request("w", { origin: { kind: "snapshot", id: "none" } })),
  },
  {
    given: "a source of another mode",
    code: "InvalidArgument",
    ask: (s) => s.createVolume(request("w", { mode: "block", origin: { kind: "volume", id: "v" } })),
  },
  {
    given: "a limit below the source's size",
    code: "OutOfRange",
    ask: (s) => s.createVolume(request("w", { bytesMax: 1, origin: { kind: "volume", id: "v" } })),
  },
  { given: "a snapshot of no volume", code: "NotFound", ask: (s) => s.takeSnapshot("s", "none") },
  {
    given: "the same snapshot name of another volume",
    code: "AlreadyExists",
    ask: async (s) => {
      await s.createVolume(request("other"));
      await s.takeSnapshot("s", "v");
      await s.takeSnapshot("s", "other");
    },
  },
];
for (const { given, code, ask } of refusals)
  test(`given ${given}, the answer is ${code}`, async (t) => {
    const { storage } = await aStorage(t);
    await storage.createVolume(request("v"));
    await assert.rejects(ask(storage), { code });
  });

test("after a restart complete volumes and snapshots exist, and incomplete ones do not", async (t) => {
  const { storage, root, reopen } = await aStorage(t);
  const volume = await storage.createVolume(request("v"));
  const snapshot = await storage.takeSnapshot("s", "v");
  await mkdir(join(root, ".making-snapshots", "half-1"), { recursive: true });
  const again = await reopen();
  assert.deepEqual(again.volumes.all(), [volume]);
  assert.deepEqual(again.snapshots.all(), [snapshot]);
  assert.deepEqual(await readdir(join(root, ".making-snapshots")), []);
});

test("a copy that fails leaves nothing behind", async (t) => {
  const { storage, root } = await aStorage(t);
  const volume = await storage.createVolume(request("v"));
  await rm(storage.dataOf(volume), { recursive: true });
  await assert.rejects(storage.takeSnapshot("s", "v"), { code: "Internal" });
  assert.deepEqual(await readdir(join(root, ".making-snapshots")), []);
  assert.deepEqual(storage.snapshots.all(), []);
});

test("no name leads outside of the root, and an unknown id deletes nothing", async (t) => {
  const { storage, root } = await aStorage(t);
  await writeFile(join(root, "precious"), "kept");
  for (const name of ["../precious", "..", "/etc/passwd", "a/b", "", "ünïcödé", "x".repeat(300)]) {
    const volume = await storage.createVolume(request(name));
    assert.match(volume.id, /^x-[0-9a-f]{40}$/);
    await storage.deleteVolume(name);
    await storage.deleteSnapshot(name);
  }
  assert.equal(await readFile(join(root, "precious"), "utf8"), "kept");
});

test("a block volume is an image as long as the volume, and grows", async (t) => {
  const { storage } = await aStorage(t);
  const volume = await storage.createVolume(request("b", { mode: "block", bytesMin: 2 ** 20 }));
  assert.equal((await stat(storage.dataOf(volume))).size, 2 ** 20);
  const grown = await storage.expandVolume("b", 2 ** 21);
  assert.equal(grown.bytes, 2 ** 21);
  assert.equal((await stat(storage.dataOf(volume))).size, 2 ** 21);
});

test("a deletion removes the data, and a repeated deletion succeeds", async (t) => {
  const { storage, root } = await aStorage(t);
  await storage.createVolume(request("v"));
  await storage.takeSnapshot("s", "v");
  for (const _ of [1, 2]) {
    await storage.deleteSnapshot("s");
    await storage.deleteVolume("v");
  }
  assert.deepEqual([await readdir(join(root, "volumes")), await readdir(join(root, "snapshots"))], [[], []]);
});

/** As a pod makes it: step by step, so that the path of the deepest folder is longer than any call takes. */
async function makeDeepTree(top: string): Promise<void> {
  let folder = await open(top, "r");
  for (let level = 0; level < 100; level++) {
    const next = `/proc/self/fd/${folder.fd}/${"x".repeat(200)}`;
    await mkdir(next);
    await writeFile(`${next}/file`, "data");
    const opened = await open(next, "r");
    await folder.close();
    folder = opened;
  }
  await folder.close();
}

test("a tree deeper than any path is long is copied, and deleted at the first call", async (t) => {
  const { storage, root } = await aStorage(t);
  const volume = await storage.createVolume(request("v"));
  await makeDeepTree(storage.dataOf(volume));
  await storage.takeSnapshot("s", "v");
  await storage.deleteVolume("v");
  await storage.deleteSnapshot("s");
  assert.deepEqual([await readdir(join(root, "volumes")), await readdir(join(root, ".making-volumes"))], [[], []]);
  assert.deepEqual(await readdir(join(root, ".making-snapshots")), []);
});

test("inline and persistent volumes are never confused", async (t) => {
  const { storage } = await aStorage(t);
  await storage.createVolume(request("v"));
  await assert.rejects(storage.createVolume(request("v", { ephemeral: true })), {
    code: "AlreadyExists",
    message: /lifetime/,
  });
});

test("a volume is not deleted or expanded while a snapshot is taken, and two snapshots may be taken at once", async (t) => {
  const { storage } = await aStorage(t);
  await storage.createVolume(request("v"));
  const creations = ["s", "t"].map((name) => storage.takeSnapshot(name, "v"));
  await assert.rejects(storage.deleteVolume("v"), { code: "Aborted" });
  await assert.rejects(storage.expandVolume("v", 2 ** 40), { code: "Aborted" });
  await assert.rejects(storage.takeSnapshot("s", "v"), { code: "Aborted" });
  await assert.rejects(storage.deleteSnapshot("s"), { code: "Aborted" });
  await Promise.all(creations);
  await storage.deleteVolume("v");
  assert.deepEqual(
    storage.snapshots.all().map(({ id }) => id),
    ["s", "t"],
  );
});

test("no snapshot is taken of a volume that is being deleted", async (t) => {
  const { storage, root } = await aStorage(t);
  await storage.createVolume(request("v"));
  const deletion = storage.deleteVolume("v");
  await assert.rejects(storage.takeSnapshot("s", "v"), { code: "Aborted" });
  await deletion;
  await assert.rejects(storage.takeSnapshot("s", "v"), { code: "NotFound" });
  assert.deepEqual(await readdir(join(root, "snapshots")), []);
});

test("a snapshot is not deleted while a volume is created from it", async (t) => {
  const { storage } = await aStorage(t);
  await storage.createVolume(request("v"));
  await storage.takeSnapshot("s", "v");
  const restore = storage.createVolume(request("r", { origin: { kind: "snapshot", id: "s" } }));
  await assert.rejects(storage.deleteSnapshot("s"), { code: "Aborted" });
  await restore;
  await storage.deleteSnapshot("s");
});

test("close aborts a running copy, which leaves nothing behind", async (t) => {
  const { storage, root, reopen } = await aStorage(t);
  const volume = await storage.createVolume(request("v"));
  await writeFile(join(storage.dataOf(volume), "large"), Buffer.alloc(16 * 2 ** 20));
  const making = join(root, ".making-snapshots");
  let [opened, ended] = [storage, "done"];
  for (let round = 1; ended === "done" && round <= 20; round++) {
    const creating = opened.takeSnapshot(`s-${round}`, "v").then(
      () => "done",
      ({ code }: Fault) => code,
    );
    while ((await readdir(making)).length === 0) await new Promise(setImmediate);
    await opened.close();
    assert.deepEqual(await readdir(making), []);
    ended = await creating;
    assert.equal(opened.snapshots.get(`s-${round}`) === undefined, ended !== "done");
    opened = await reopen();
  }
  assert.equal(ended, "Unavailable");
});

test("a root serves one driver at a time", async (t) => {
  const { root, storage } = await aStorage(t);
  await assert.rejects(openStorage(root, realWorld, silent), {
    code: "FailedPrecondition",
    message: /another process keeps its volumes in .*--root/,
  });
  await storage.close();
  await (await openStorage(root, realWorld, silent)).close();
});

test("a root is rejected while another process has locked it, also from another network namespace", async (t) => {
  const { root, storage } = await aStorage(t);
  await storage.close();
  const holder = spawn("sh", ["-c", 'exec flock "$0" sh -c "echo locked; exec cat"', root], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(holder, "close");
  await once(holder.stdout, "data");
  await assert.rejects(openStorage(root, realWorld, silent), { message: /another process keeps its volumes in/ });
  holder.stdin.end();
  await ended;
  await (await openStorage(root, realWorld, silent)).close();
});

test("a failed start removes a root that it created, and nothing that existed before", async (t) => {
  const { root } = await aStorage(t);
  const fresh = join(root, "parent/fresh");
  const opened = await openStorage(fresh, realWorld, silent);
  await opened.close();
  await opened.discard();
  await assert.rejects(stat(join(root, "parent")), { code: "ENOENT" });
  const used = await openStorage(fresh, realWorld, silent);
  await used.createVolume(request("v"));
  await used.close();
  await used.discard();
  assert.deepEqual(await readdir(join(fresh, "volumes")), ["v"]);
  const again = await openStorage(fresh, realWorld, silent);
  await again.deleteVolume("v");
  await again.close();
  await again.discard();
  const folders = [".making-groups", ".making-snapshots", ".making-volumes", "groups", "snapshots", "volumes"];
  assert.deepEqual((await readdir(fresh)).sort(), folders);
});

test("an unusable root is an error that names the folder and the flag", async (t) => {
  const { root } = await aStorage(t);
  await writeFile(join(root, "file"), "");
  for (const [path, problem] of [
    ["file", "there is a file of that name"],
    ["file/deeper", "a part of the path is a file, not a folder"],
  ] as const)
    await assert.rejects(openStorage(join(root, path), realWorld, silent), {
      message: `volumes cannot be kept at ${join(root, path)}: ${problem}; choose another --root`,
    });
});
