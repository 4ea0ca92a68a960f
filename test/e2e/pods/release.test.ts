/** `npm run release`, twice: the same files with the same digests. It runs no pod, but needs what the image is built with. */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { machineArchitecture as architecture, image, version } from "../harness/cluster.ts";
import { run } from "../harness/run.ts";

const root = resolve(import.meta.dirname, "../../..");
const folder = mkdtempSync(join(tmpdir(), "snapkeep-release-"));
after(() => rmSync(folder, { recursive: true, force: true }));

async function release(name: string): Promise<string> {
  const out = join(folder, name);
  const args = ["scripts/release.ts", "--allow-changes", "--architecture", architecture, "--out", out];
  const { code, stdout, stderr } = await run(process.execPath, args, { cwd: root, msMax: 300_000 });
  assert.equal(code, 0, stderr);
  return stdout;
}

test("two runs of one commit make the same files: package, image, chart, manifests, monitoring, bill of materials, checksums", async () => {
  const sums = await release("one");
  assert.equal(await release("two"), sums);
  assert.deepEqual(readdirSync(join(folder, "one")).sort(), [
    "SHA256SUMS",
    "alerts.yaml",
    "dashboard.json",
    "install-all.yaml",
    "install.yaml",
    `snapkeep-${version}-${architecture}.spdx.json`,
    `snapkeep-${version}.oci.tar`,
    `snapkeep-${version}.tgz`,
    `snapkeep-chart-${version}.tgz`,
  ]);
  const archives = [image.archive, join(folder, "one", `snapkeep-${version}.oci.tar`)].map((path) =>
    readFileSync(path),
  );
  assert.ok(archives[0]?.equals(archives[1] ?? Buffer.of()), "npm run image makes another image");
});
