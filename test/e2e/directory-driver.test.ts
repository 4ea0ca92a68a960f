/** directory-driver as a process: killed at any moment it shows all of a snapshot or nothing, and starts again. */
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "../../src/base/fault.ts";
import { connectTo } from "../csi-sockets.ts";
import {
  type DirectoryDriverProcess,
  fromSnapshot,
  newVolume,
  startDirectoryDriver,
} from "./harness/directory-driver.ts";
import { createInstance } from "./harness/instance.ts";
import { run } from "./harness/run.ts";
import { until } from "./harness/until.ts";

async function aDriver(t: TestContext) {
  const instance = createInstance();
  t.after(() => instance.stop());
  const driver = await startDirectoryDriver(instance);
  return { driver, client: connectTo(t, driver.socket) };
}

const dataOf = ({ root }: DirectoryDriverProcess, store: "volumes" | "snapshots", id: string): string =>
  join(root, store, id, "data");

/** Enough that copying it takes a while. */
function fill(folder: string, fileCount: number): void {
  for (let index = 0; index < fileCount; index++) {
    const place = join(folder, `folder-${index % 10}`);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `file-${index}`), Buffer.alloc(8_000, index));
  }
}

async function mustBeAlike(one: string, other: string): Promise<void> {
  const { code, stdout, stderr } = await run("diff", ["-r", one, other]);
  assert.equal(code, 0, `${stdout}${stderr}`.slice(0, 500));
}

const rounds = 10;
const killAfterMsMax = 100;

test(`killed ${rounds} times during copies and deletions, the driver never shows an incomplete snapshot and always restarts`, async (t) => {
  const { driver, client } = await aDriver(t);
  const { controller } = client;
  await newVolume(client, "source");
  const source = dataOf(driver, "volumes", "source");
  fill(source, 400);
  let interrupted = 0;
  for (let round = 0; round < rounds; round++) {
    // Each outcome is open: the process dies under them.
    const calls = [
      controller.createSnapshot({ name: `cut-${round}`, sourceVolumeId: "source" }),
      controller.createSnapshot({ name: `other-${round}`, sourceVolumeId: "source" }),
      controller.deleteSnapshot({ snapshotId: `cut-${round - 1}` }),
      newVolume(client, `copy-${round}`, "mount", round === 0 ? {} : fromSnapshot(`other-${round - 1}`)),
    ].map((call) => call.catch(Fault.from));
    await sleep((round / rounds) * killAfterMsMax);
    await driver.kill();
    interrupted += readdirSync(join(driver.root, ".making-snapshots")).length > 0 ? 1 : 0;
    for (const id of readdirSync(join(driver.root, "snapshots")))
      await mustBeAlike(source, dataOf(driver, "snapshots", id));
    for (const id of readdirSync(join(driver.root, "volumes")).filter((name) => name !== "copy-0"))
      await mustBeAlike(source, dataOf(driver, "volumes", id));

    await driver.start();
    await Promise.all(calls); // One that was not sent before the kill is served by the new process.
    const { entries } = await controller.listSnapshots({});
    assert.deepEqual(
      entries.map(({ snapshot }) => snapshot?.snapshotId),
      readdirSync(join(driver.root, "snapshots")).sort(),
    );
    // The caller asks again with the same name, as Kubernetes does, and tidies up.
    await controller.createSnapshot({ name: `other-${round}`, sourceVolumeId: "source" });
    await mustBeAlike(source, dataOf(driver, "snapshots", `other-${round}`));
    await controller.deleteSnapshot({ snapshotId: `other-${round - 1}` });
    await controller.deleteVolume({ volumeId: `copy-${round}` });
  }
  assert.ok(interrupted > 0, "no kill came in the middle of a copy");

  for (const { snapshot } of (await controller.listSnapshots({})).entries)
    await controller.deleteSnapshot({ snapshotId: snapshot?.snapshotId ?? "" });
  for (const { volume } of (await controller.listVolumes({})).entries)
    await controller.deleteVolume({ volumeId: volume?.volumeId ?? "" });
  const { stdout } = await run("find", [driver.root, "-mindepth", "1"]);
  assert.deepEqual(
    stdout.trim().split("\n").sort(),
    [".making-groups", ".making-snapshots", ".making-volumes", "groups", "snapshots", "volumes"].map((name) =>
      join(driver.root, name),
    ),
  );
});

test("a snapshot that takes longer than the call's deadline is still completed", async (t) => {
  const { driver, client } = await aDriver(t);
  await newVolume(client, "v");
  fill(dataOf(driver, "volumes", "v"), 400);
  const impatient = client.controller.createSnapshot({ name: "s", sourceVolumeId: "v" }, { timeoutMs: 5 });
  await assert.rejects(impatient, { code: "DeadlineExceeded" });
  await until({ what: "the snapshot is listed" }, async () =>
    (await client.controller.listSnapshots({})).entries.length === 1 ? true : undefined,
  );
  await mustBeAlike(dataOf(driver, "volumes", "v"), dataOf(driver, "snapshots", "s"));
});

test("a stop during a copy finishes the copy first", async (t) => {
  const { driver, client } = await aDriver(t);
  await newVolume(client, "v");
  fill(dataOf(driver, "volumes", "v"), 400);
  const creating = client.controller.createSnapshot({ name: "s", sourceVolumeId: "v" });
  await until({ what: "the copy has begun", everyMs: 1 }, () =>
    readdirSync(join(driver.root, ".making-snapshots")).length > 0 ? true : undefined,
  );
  await driver.daemon().stop("SIGTERM");
  assert.equal((await creating).snapshot?.readyToUse, true);
  await driver.start();
  assert.equal((await client.controller.listSnapshots({})).entries.length, 1);
});

test("a second driver on the same root does not start and changes nothing", async (t) => {
  const { driver } = await aDriver(t);
  const main = join(import.meta.dirname, "../../src/main.ts");
  const flags = [`--endpoint=${driver.socket}2`, `--root=${driver.root}`];
  const { code, stderr } = await run(process.execPath, [main, "directory-driver", ...flags]);
  assert.equal(code, 1);
  assert.match(stderr, /^snapkeep directory-driver: another process keeps its volumes in .*\n$/);
});
