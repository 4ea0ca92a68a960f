/** Restores and clones by our provisioner, as pods see them: written, read and measured on a real node, mounted by a real kubelet. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { aStorageClass, type Claims, claimsOf, cloning, restoring } from "../harness/claims.ts";
import type { Connection } from "../harness/client.ts";
import type { Place } from "../harness/component-users.ts";
import { startComponent } from "../harness/components.ts";
import { type PodSuite, startPodSuite, ways } from "../harness/pod-suite.ts";
import { type Driver, shortName } from "../harness/snapshot-suites.ts";
import { tool } from "../harness/tools.ts";
import { until } from "../harness/until.ts";

const scheduler = await tool("kube-scheduler");
const mebibyte = 2 ** 20;

async function provisionByOurs(place: Place, { client }: Connection, driver: Driver): Promise<string> {
  const name = shortName(driver);
  await aStorageClass(client, name, driver.driver);
  await startComponent(place, "csi-provisioner", [`--csi-address=${driver.socket}`, "--v=4"]);
  return name;
}

for (const driverName of ["hostpath", "directory-driver"] as const)
  describe(`pods with volumes of our provisioner and ${driverName}`, () => {
    let suite: PodSuite;
    let claims: Claims;

    before(async () => {
      suite = await startPodSuite(driverName, `${driverName}.restores.example.com`, provisionByOurs);
      claims = claimsOf(suite.connection.client, suite.storageClassName);
    });
    after(() => suite?.stop());

    for (const volumeMode of ["Filesystem", "Block"] as const)
      test(`${volumeMode}: a larger restored volume has the bytes of the snapshot, a clone those of its source, which has changed since`, async () => {
        const { said, snapshots } = suite;
        const { claim, write, read } = ways[volumeMode];
        await claims.create("source", { volumeMode }, "4Mi");
        await claims.untilBound("source");
        await said({ name: "writer", script: write("first-bytes"), ...claim("source") });
        await snapshots.take("then", "source", snapshots.classes.delete);
        await snapshots.untilReady("then");
        await said({ name: "spoiler", script: write("spoiled"), ...claim("source") });
        await claims.create("restored", { volumeMode, ...restoring("then") }, "12Mi");
        await claims.create("clone", { volumeMode, ...cloning("source") }, "4Mi");
        assert.equal((await claims.untilBound("restored")).spec?.capacity?.storage, "12Mi");
        await claims.untilBound("clone");
        const all = ["source", "restored", "clone"].map((name) => claim(name, name));
        const volumes = all.flatMap((one) => one.volumes);
        const at = {
          volumeMounts: all.flatMap((one) => ("volumeMounts" in one ? one.volumeMounts : [])),
          volumeDevices: all.flatMap((one) => ("volumeDevices" in one ? one.volumeDevices : [])),
        };
        const size = volumeMode === "Block" ? "; blockdev --getsize64 /dev/restored" : "";
        const script = `${read("source")}; ${read("restored")}; ${read("clone")}${size}`;
        const [source, restored, clone, bytes] = (await said({ name: "reader", script, volumes, ...at })).split("\n");
        assert.deepEqual([source, restored, clone], ["spoiled", "first-bytes", "spoiled"]);
        if (volumeMode === "Block") assert.equal(bytes, String(12 * mebibyte));
        for (const name of ["restored", "clone"]) await claims.remove(name);
        await snapshots.remove("then");
        await claims.remove("source");
        await suite.assertNothingLeft();
      });

    if (driverName === "directory-driver")
      test("WaitForFirstConsumer: the restore waits for its pod, kube-scheduler selects the node, and the pod reads the first bytes", async () => {
        const { instance, node, connection, snapshots, said } = suite;
        const { claim, write, read } = ways.Filesystem;
        instance.start("kube-scheduler", scheduler, [
          `--kubeconfig=${node.plane.kubeconfig}`,
          "--leader-elect=false",
          "--secure-port=0",
        ]);
        const volumeBindingMode = "WaitForFirstConsumer";
        await aStorageClass(connection.client, "late", snapshots.driver.driver, { volumeBindingMode });
        const late = claimsOf(connection.client, "late");
        await late.create("source");
        await said({ name: "writer", isScheduled: true, script: write("first-bytes"), ...claim("source") });
        await snapshots.take("then", "source", snapshots.classes.delete);
        await snapshots.untilReady("then");
        await late.create("restored", restoring("then"));
        await until({ what: "the claim waits for its first consumer" }, async () =>
          (await late.messages("restored", "WaitForFirstConsumer")).length > 0 ? true : undefined,
        );
        assert.equal((await snapshots.fixtures.csi.controller.listVolumes({})).entries.length, 1);
        const reader = { name: "reader", isScheduled: true, script: read(), ...claim("restored") };
        assert.equal(await said(reader), "first-bytes\n");
        const { metadata } = await connection.client.get(late.ref("restored"));
        assert.equal(metadata.annotations?.["volume.kubernetes.io/selected-node"], node.name);
        await late.remove("restored");
        await snapshots.remove("then");
        await late.remove("source");
        await connection.client.delete({ kind: "StorageClass", name: "late" });
        await suite.assertNothingLeft();
      });
  });
