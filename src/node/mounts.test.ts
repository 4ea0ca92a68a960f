import assert from "node:assert/strict";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { bindsIn, createMounts, mountedPlaceOf, mountTable, parseMounts, standingAt } from "./mounts.ts";
import { runProgram } from "./program.ts";

const table = parseMounts(`22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
23 22 0:5 / /dev rw,nosuid - devtmpfs devtmpfs rw
30 22 7:3 / /mnt/xfs rw - xfs /dev/loop3 rw
31 22 254:0 /root/volumes/v/data /kubelet/pods/p/mount rw - ext4 /dev/vda rw
32 22 254:0 /root/volumes/v/data/sub /kubelet/pods/p/subpath ro,relatime - ext4 /dev/vda rw
33 22 254:0 /root/volumes/v/database /elsewhere rw - ext4 /dev/vda rw
34 22 7:3 /root/volumes/v/data /kubelet/pods/q/mount ro - xfs /dev/loop3 rw
35 22 0:5 /loop7 /kubelet/devices/b rw - devtmpfs devtmpfs rw
36 22 254:0 /with\\040blank /target\\011tab rw - ext4 /dev/vda rw
`);

test("escapes in the kernel's mount table are decoded", () =>
  assert.deepEqual(
    table.filter(({ root }) => root === "/with blank").map(({ at }) => at),
    ["/target\ttab"],
  ));

const places: readonly { path: string; device: string; root: string }[] = [
  { path: "/root/volumes/v/data", device: "254:0", root: "/root/volumes/v/data" },
  { path: "/mnt/xfs/root/volumes/v/data", device: "7:3", root: "/root/volumes/v/data" },
  { path: "/mnt/xfs", device: "7:3", root: "/" },
  { path: "/mnt/xfsother", device: "254:0", root: "/mnt/xfsother" },
  { path: "/dev/loop7", device: "0:5", root: "/loop7" },
  { path: "/kubelet/pods/p/mount/file", device: "254:0", root: "/root/volumes/v/data/file" },
];
for (const { path, ...place } of places)
  test(`${path} is at ${place.root} of file system ${place.device}`, () =>
    assert.deepEqual(mountedPlaceOf(table, path), place));

const binds: readonly { path: string; at: readonly string[] }[] = [
  { path: "/root/volumes/v/data", at: ["/kubelet/pods/p/mount", "/kubelet/pods/p/subpath"] },
  { path: "/mnt/xfs/root/volumes/v/data", at: ["/kubelet/pods/q/mount"] },
  { path: "/mnt/xfs", at: ["/kubelet/pods/q/mount"] },
  { path: "/dev/loop7", at: ["/kubelet/devices/b"] },
  { path: "/dev/loop70", at: [] },
  { path: "/root/volumes/w/data", at: [] },
];
for (const { path, at } of binds)
  test(`${path} is in use ${at.length === 0 ? "nowhere" : `at ${at.join(" and ")}`}`, () =>
    assert.deepEqual(
      bindsIn(table, path).map((mount) => mount.at),
      at,
    ));

const standings = [
  { target: "/kubelet/pods/p/mount", source: "/root/volumes/v/data", gives: { options: ["rw"] } },
  { target: "/kubelet/pods/q/mount", source: "/mnt/xfs/root/volumes/v/data", gives: { options: ["ro"] } },
  { target: "/kubelet/pods/q/mount", source: "/root/volumes/v/data", gives: "other" },
  { target: "/kubelet/pods/r/mount", source: "/root/volumes/v/data", gives: "nothing" },
] as const;
for (const { target, source, gives } of standings)
  test(`${source} at ${target} gives ${JSON.stringify(gives)}`, () =>
    assert.deepEqual(standingAt(table, target, source), gives));

test("of two mounts at one target the last one counts", () => {
  const both = [...table, ...parseMounts("40 22 254:0 /other /kubelet/pods/p/mount rw - ext4 /dev/vda rw")];
  assert.equal(standingAt(both, "/kubelet/pods/p/mount", "/root/volumes/v/data"), "other");
});

test("without a mount table nothing is mounted, and an unreadable table or path is an error", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "mounts-"));
  t.after(() => rm(folder, { recursive: true }));
  assert.deepEqual(await mountTable(join(folder, "none")), []);
  await assert.rejects(mountTable(folder), { code: "EISDIR" });
  await symlink("loop", join(folder, "loop"));
  const { bindsOf } = createMounts(runProgram, () => mountTable());
  assert.deepEqual(await bindsOf(join(folder, "none")), []);
  await assert.rejects(bindsOf(join(folder, "loop")), { code: "ELOOP" });
});
