import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { temporaryFolder } from "../../../../test/csi-sockets.ts";
import { createRecords } from "./records.ts";
import type { VolumeSpec } from "./types.ts";

const spec: VolumeSpec = {
  id: "csi-1",
  target: "/pods/p/mount",
  shareKind: "SharedSecret",
  share: "tls",
  pod: { namespace: "team", name: "web-1", uid: "7a0f", serviceAccount: "web" },
  refresh: false,
};

/** As the driver that is replaced writes it. */
const upstream = {
  volID: "csi-1",
  volName: "web",
  volSize: 0,
  volPathAnchorDir: "team-web-1-csi-1",
  volPathBindMountDir: "/run/csi-data-dir/team-web-1-csi-1",
  volAccessType: 16,
  targetPath: "/pods/p/mount",
  sharedDataKind: "Secret",
  sharedDataId: "tls",
  podNamespace: "team",
  podName: "web-1",
  podUID: "7a0f",
  podSA: "web",
  refresh: false,
};

test("records of the replaced driver are understood", async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "csi-1"), JSON.stringify(upstream));
  assert.deepEqual(await createRecords(folder).all(), { records: [{ spec, source: undefined }], skipped: {} });
});

test("our records have the fields of the replaced driver, for the owner only", async (t) => {
  const folder = join(temporaryFolder(t), "map");
  const records = createRecords(folder);
  await records.write({ spec, source: "Secret team data" });
  const written = JSON.parse(readFileSync(join(folder, "csi-1"), "utf8")) as Record<string, unknown>;
  assert.deepEqual(
    Object.keys(upstream).filter((field) => !(field in written)),
    [],
  );
  assert.deepEqual((await records.all()).records, [{ spec, source: "Secret team data" }]);
  assert.deepEqual([statSync(join(folder, "csi-1")).mode & 0o777, statSync(folder).mode & 0o777], [0o600, 0o700]);
  await records.remove("csi-1");
  await records.remove("csi-1");
  assert.deepEqual(readdirSync(folder), []);
});

test("a folder that is not there has no records", async (t) =>
  assert.deepEqual((await createRecords(join(temporaryFolder(t), "none")).all()).records, []));

test("a damaged record is skipped with a reason, and the others are read", async (t) => {
  const folder = temporaryFolder(t);
  const damaged: Readonly<Record<string, string>> = {
    "not-json": "{",
    "a-list": "[]",
    "other-id": JSON.stringify(upstream),
    "no-target": JSON.stringify({ ...upstream, volID: "no-target", targetPath: undefined }),
    climbing: JSON.stringify({ ...upstream, volID: "climbing", targetPath: "/pods/../../etc" }),
    "other-kind": JSON.stringify({ ...upstream, volID: "other-kind", sharedDataKind: "Pod" }),
    huge: JSON.stringify({ ...upstream, volID: "huge", volName: "x".repeat(70_000) }),
  };
  for (const [name, text] of Object.entries(damaged)) writeFileSync(join(folder, name), text);
  mkdirSync(join(folder, "a-folder"));
  symlinkSync("/etc/passwd", join(folder, "a-link"));
  writeFileSync(join(folder, ".csi-2.new"), "left by a crash");
  writeFileSync(join(folder, "csi-1"), JSON.stringify(upstream));
  const { records, skipped } = await createRecords(folder).all();
  assert.deepEqual(
    records.map(({ spec }) => spec.id),
    ["csi-1"],
  );
  assert.deepEqual(Object.keys(skipped).sort(), [...Object.keys(damaged), "a-folder", "a-link"].sort());
  for (const reason of Object.values(skipped)) assert.ok(!reason.includes("root:"), reason);
});

test("5,000 hostile volume ids: no record is written or removed outside of the folder", async (t) => {
  const parent = temporaryFolder(t);
  const folder = join(parent, "map");
  mkdirSync(folder);
  writeFileSync(join(parent, "outside"), "untouched");
  const records = createRecords(folder);
  const id = fc.oneof(
    fc.string({ maxLength: 200 }),
    fc.constantFrom("..", ".", "../outside", "a/../../outside", "/etc/passwd", "csi-1\0", "a..b", ""),
    fc.stringMatching(/^[-._a-zA-Z0-9]{1,140}$/),
  );
  await fc.assert(
    fc.asyncProperty(id, async (name) => {
      await records.write({ spec: { ...spec, id: name } }).then(
        () => records.remove(name),
        () => assert.rejects(async () => records.remove(name)),
      );
      assert.deepEqual([readdirSync(parent).sort(), readdirSync(folder)], [["map", "outside"], []]);
    }),
    { numRuns: 5_000 },
  );
  assert.equal(readFileSync(join(parent, "outside"), "utf8"), "untouched");
});
