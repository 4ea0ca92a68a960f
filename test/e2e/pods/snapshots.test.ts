/**
 * Snapshots of what pods really write: on a real node, mounted by a real kubelet, taken by our controller and sidecar, restored by
 * upstream's csi-provisioner, with hostpath and with our own driver.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type Claims, claimsOf, handleOf, restoring } from "../harness/claims.ts";
import { type PodSuite, startPodSuite, ways } from "../harness/pod-suite.ts";
import { createPod, deletePod, waitForPod } from "../harness/pods.ts";
import { provisionBy } from "../harness/snapshot-suites.ts";
import { until } from "../harness/until.ts";

for (const driverName of ["hostpath", "directory-driver"] as const)
  describe(`pods with ${driverName}`, () => {
    let suite: PodSuite;
    let claims: Claims;

    before(async () => {
      suite = await startPodSuite(driverName, `${driverName}.pods.example.com`, provisionBy);
      claims = claimsOf(suite.connection.client, suite.storageClassName);
    });
    after(() => suite?.stop());

    for (const mode of ["Filesystem", "Block"] as const)
      test(`${mode}: a pod writes, another overwrites the source, a third reads the first bytes from the restored volume`, async () => {
        const { said, snapshots } = suite;
        const { claim, write, read } = ways[mode];
        await claims.create("source", { volumeMode: mode }, "4Mi");
        await claims.untilBound("source");
        await said({ name: "writer", script: write("first-bytes"), ...claim("source") });
        await snapshots.take("then", "source", snapshots.classes.delete);
        await snapshots.untilReady("then");
        assert.equal((await snapshots.contentOf("then")).spec.sourceVolumeMode, mode);
        await said({ name: "spoiler", script: write("spoiled"), ...claim("source") });
        await claims.create("restored", { volumeMode: mode, ...restoring("then") }, "4Mi");
        await claims.untilBound("restored");
        assert.equal(await said({ name: "reader", script: read(), ...claim("restored") }), "first-bytes\n");
        assert.equal(await said({ name: "witness", script: read(), ...claim("source") }), "spoiled\n");
        await claims.remove("restored");
        await snapshots.remove("then");
        await claims.remove("source");
        await suite.assertNothingLeft();
      });

    if (driverName === "directory-driver")
      test("a snapshot that is taken while a pod writes has a prefix of each file", async () => {
        const { node, snapshots } = suite;
        await claims.create("busy");
        const source = handleOf(await claims.untilBound("busy"));
        const script = "i=0; while true; do i=$((i+1)); for f in a b c; do echo $i >> /mnt/data/$f; done; done";
        const writer = { name: "busy", script, ...ways.Filesystem.claim("busy") };
        await createPod(node, writer);
        await waitForPod(node, writer, "Running");
        const linesOf = (handle: string, file: string): string =>
          readFileSync(join(snapshots.driver.dataOf(handle), file), "utf8");
        await until({ what: "the pod has begun to write" }, () => (hasGrown(source) ? true : undefined));
        function hasGrown(handle: string): boolean {
          return globSync(join(snapshots.driver.dataOf(handle), "c")).some((file) => readFileSync(file).length > 1_000);
        }
        await snapshots.take("midway", "busy", snapshots.classes.delete);
        await snapshots.untilReady("midway");
        await deletePod(node, writer);
        await claims.create("half", restoring("midway"));
        const restored = handleOf(await claims.untilBound("half"));
        for (const file of ["a", "b", "c"]) {
          const [whole, part] = [linesOf(source, file), linesOf(restored, file)];
          assert.ok(part.length > 0 && part.length < whole.length, `${file}: ${part.length} of ${whole.length} bytes`);
          assert.ok(whole.startsWith(part), `${file} is not what was written first`);
        }
        await claims.remove("half");
        await snapshots.remove("midway");
        await claims.remove("busy");
        await suite.assertNothingLeft();
      });
  });
