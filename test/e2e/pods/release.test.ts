/** `npm run release`, twice: the same files with the same digests. It runs no pod, but needs what the image is built with. */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import packageFile from "../../../package.json" with { type: "json" };
import { run } from "../harness/run.ts";

const root = resolve(import.meta.dirname, "../../..");
const { version } = packageFile;
const folder = mkdtempSync(join(tmpdir(), "snapkeep-release-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const architecture = process.arch === "arm64" ? "arm64" : "amd64";

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
});
