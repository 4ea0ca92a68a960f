/** What docs/guides/directory-driver.md says of paths and manifests, held against the driver. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { kindRows } from "../src/api/kinds.ts";
import { startCommand } from "./command-line.ts";
import { connectTo, temporaryFolder } from "./csi-sockets.ts";

const guide = readFileSync(resolve(import.meta.dirname, "../docs/guides/directory-driver.md"), "utf8");

test("every path that the guide lists exists after a volume, a block volume, a snapshot and a group are created", async (t) => {
  const folder = temporaryFolder(t);
  const socket = join(folder, "csi.sock");
  const driver = startCommand("directory-driver", "--endpoint", socket, "--root", join(folder, "storage"));
  const { controller, group, close } = connectTo(t, socket);
  const accessMode = { mode: 1 };
  const capacityRange = { requiredBytes: 4096n };
  for (const [name, kind] of [
    ["files", "mount"],
    ["blocks", "block"],
  ] as const)
    await controller.createVolume({
      name,
      capacityRange,
      volumeCapabilities: [{ accessMode, accessType: { case: kind, value: {} } as { case: "mount"; value: object } }],
    });
  await controller.createSnapshot({ name: "kept", sourceVolumeId: "files" });
  const { groupSnapshot } = await group.createVolumeGroupSnapshot({
    name: "both",
    sourceVolumeIds: ["files", "blocks"],
  });
  const member = groupSnapshot?.snapshots[0]?.snapshotId.split("/").at(-1) ?? "";
  const paths = [...new Set([...guide.matchAll(/\bstorage\/\S+/g)].map(([path]) => path))];
  assert.ok(paths.length >= 6, paths.join(" "));
  for (const path of paths) {
    const ids = { snapshots: "kept", groups: groupSnapshot?.groupSnapshotId };
    const ofKind = ids[path.split("/")[1] as keyof typeof ids];
    const id = ofKind ?? (path.endsWith("/image") ? "blocks" : "files");
    const found = path.replace("<id>", id).replace("<snapshot>", member).replace("…", "");
    assert.ok(existsSync(join(folder, found)), path);
  }
  close();
  driver.stop();
  assert.equal(await driver.code, 0, driver.said.error);
});

test("the manifests of the guide are complete objects", () => {
  const blocks = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
  const objects = blocks.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS()));
  assert.ok(objects.length >= 3);
  for (const { apiVersion, kind, metadata } of objects)
    assert.ok(apiVersion && kind in kindRows && metadata?.name, JSON.stringify({ apiVersion, kind }));
});
