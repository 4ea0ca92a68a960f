/** `snapkeep gather` on a real kube-apiserver with secret values wherever people and programs leave them. */
import assert from "node:assert/strict";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { KindName } from "../../src/api/kinds.ts";
import { startCommand } from "../command-line.ts";
import { type PlantedCluster, plantedCluster, spellingsOf } from "../gather-canaries.ts";
import { type Connection, connect } from "./harness/client.ts";
import { installSnapshotCrds } from "./harness/components.ts";
import type { ControlPlane } from "./harness/control-plane.ts";
import { newNamespace, useControlPlane } from "./harness/shared.ts";

describe("gather on a real kube-apiserver", () => {
  const parent = mkdtempSync(join(tmpdir(), "snapkeep-gather-"));
  let plane: ControlPlane;
  let connection: Connection;
  let planted: PlantedCluster;

  before(async () => {
    plane = await useControlPlane();
    connection = await connect(plane.kubeconfig);
    await installSnapshotCrds(connection.client);
    planted = plantedCluster(await newNamespace(plane, "gather"));
    for (const { path, object, status, kind } of planted.objects) {
      const created = await plane.request("POST", path, object);
      assert.equal(created.status, 201, `${kind}: ${created.text}`);
      if (status === undefined) continue;
      const { name, namespace } = object.metadata as { name: string; namespace?: string };
      const ref = { kind: kind as KindName, name, ...(namespace === undefined ? {} : { namespace }) };
      await connection.client.patch(ref, { type: "merge", body: { status } }, { subresource: "status" });
    }
  });
  after(async () => {
    await connection?.close();
    rmSync(parent, { recursive: true, force: true });
    for (const { path, object } of planted?.objects ?? [])
      await plane.request("DELETE", `${path}/${(object.metadata as { name: string }).name}`);
  });

  test("no secret value that the API server has is in the bundle, and every object is", async () => {
    const folder = join(parent, "bundle");
    const { code, said } = startCommand("gather", `--kubeconfig=${plane.kubeconfig}`, `--out=${folder}`, "-o", "json");
    assert.equal(await code, 0, said.text);
    const { problems } = JSON.parse(said.out) as { problems: readonly string[] };
    const files = globSync("**/*", { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile());
    const everything = files.map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8")).join("\n");
    const stored = (
      await Promise.all([...new Set(planted.objects.map(({ path }) => path))].map((path) => plane.request("GET", path)))
    )
      .map(({ text }) => text)
      .join("\n");
    const isStored = planted.canaries.filter(({ value }) => stored.includes(value));
    assert.ok(isStored.length >= 42, `the API server has only ${isStored.length}`);
    const found = planted.canaries.filter((canary) => spellingsOf(canary).some((text) => everything.includes(text)));
    assert.deepEqual(
      found.map(({ where }) => where),
      [],
    );
    for (const { kind, object } of planted.objects)
      if (kind !== "ConfigMap")
        assert.ok(everything.includes(`name: ${(object.metadata as { name: string }).name}`), kind);
    assert.match(everything, /login failed: password=\*\*\* was refused/);
    // The pod runs nowhere, so it has neither log nor metrics.
    assert.ok(
      problems.every((problem) =>
        /^components\/|groupsnapshot|gateway|volumesnapshotlinks|shared|referencegrants/.test(problem),
      ),
      problems.join("\n"),
    );
  });
});
