/** What administrators set and see: secrets that a class names, flags that reach the driver, metrics under the known names. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { annotations, parameters } from "../../src/api/names.ts";
import { Fault } from "../../src/base/fault.ts";
import { aBoundClaim, aClassFor, startComponent } from "./harness/components.ts";
import { bucketsOf, numberOf, samplesOf, scrape } from "./harness/metrics.ts";
import { type OddDriver, startOddDriver } from "./harness/odd-driver.ts";
import { freePort } from "./harness/ports.ts";
import {
  drivers,
  type SnapshotSuite,
  snapshotSuiteFor,
  type TestServer,
  testServers,
} from "./harness/snapshot-suites.ts";
import { until } from "./harness/until.ts";

const namespace = "default";
const operationBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 300, 600];
const callBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

for (const ground of ["real control plane", "embedded server"] as const)
  describe(`with directory-driver on the ${ground}, guarded by a secret`, () => {
    let place: TestServer;
    let stand: SnapshotSuite;
    let odd: OddDriver;
    let oddStand: SnapshotSuite;
    let ports: { readonly controller: number; readonly sidecar: number; readonly odd: number };
    before(async () => {
      place = await testServers[ground]();
      ports = { controller: await freePort(), sidecar: await freePort(), odd: await freePort() };
      await startComponent(place, "snapshot-controller", [`--http-endpoint=127.0.0.1:${ports.controller}`]);
      const secretFile = join(place.instance.folder, "open-sesame");
      writeFileSync(secretFile, "open-sesame\n");
      const flags = [`--snapshot-secret-file=${secretFile}`];
      const guarded = await drivers["directory-driver"](place.instance, { flags });
      const atPort = [`--http-endpoint=127.0.0.1:${ports.sidecar}`];
      stand = await snapshotSuiteFor(place, place.connection, guarded, atPort, { added: ["secrets"] });
      odd = await startOddDriver(place.instance.folder);
      const naming = ["--snapshot-name-prefix=kept", "--snapshot-name-uuid-length=8", "--extra-create-metadata"];
      const impatient = ["--retry-interval-start=100ms", "--retry-interval-max=200ms"];
      const watched = `--http-endpoint=127.0.0.1:${ports.odd}`;
      oddStand = await snapshotSuiteFor(place, place.connection, odd, [...naming, ...impatient, watched]);
      await aBoundClaim(stand.fixtures, "data");
      const at = (key: string): string => `${parameters.prefix}snapshotter-secret-${key}`;
      await aClassFor(stand.fixtures, "guarded", "Delete", {
        [at("name")]: `of-\${volumesnapshot.name}`,
        [at("namespace")]: `\${volumesnapshot.namespace}`,
      });
    });
    after(async () => {
      stand?.fixtures.csi.close();
      oddStand?.fixtures.csi.close();
      await odd?.close();
      place?.stop();
    });

    const aSecret = (name: string, token: string) =>
      place.connection.client.create("Secret", {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { namespace, name },
        data: { token: Buffer.from(token).toString("base64") },
      } as never);

    test("the class's templated secret is used for CreateSnapshot and, from the content alone, for DeleteSnapshot", async () => {
      await aSecret("of-monday", "open-sesame");
      await stand.take("monday", "data", "guarded");
      await stand.untilReady("monday");
      const { metadata } = await stand.contentOf("monday");
      assert.equal(metadata.annotations?.[annotations.deletionSecretName], "of-monday");
      assert.equal(metadata.annotations?.[annotations.deletionSecretNamespace], namespace);
      await place.connection.client.delete({ kind: "VolumeSnapshotClass", name: "guarded" });
      await stand.remove("monday");
      assert.deepEqual(await stand.handles(), []);
    });

    test("without the secret the call fails, and the user sees the driver's error", async () => {
      await stand.take("closed", "data", stand.classes.delete);
      await stand.untilReported("closed", /Failed to create snapshot: failed to take snapshot of the volume .*secret/);
      await stand.remove("closed");
    });

    test("name prefix, uid length, extra metadata and the class's parameters reach the driver", async () => {
      await aBoundClaim(oddStand.fixtures, "odd");
      await aClassFor(oddStand.fixtures, "coloured", "Delete", { colour: "blue" });
      await oddStand.take("named", "odd", "coloured");
      const { metadata } = await oddStand.untilReady("named");
      const [request] = odd.asked;
      assert.equal(request?.name, `kept-${metadata.uid.replaceAll("-", "").slice(0, 8)}`);
      assert.deepEqual(request?.parameters, {
        colour: "blue",
        [`${parameters.prefix}volumesnapshot/name`]: "named",
        [`${parameters.prefix}volumesnapshot/namespace`]: namespace,
        [`${parameters.prefix}volumesnapshotcontent/name`]: `snapcontent-${metadata.uid}`,
      });
      await oddStand.remove("named");
    });

    test("each failed call counts as one failed attempt, for any error text, and none is counted twice", async () => {
      const failures = async (port: number, operation_name: string): Promise<number> => {
        const labels = { driver_name: odd.driver, operation_name };
        return numberOf(samplesOf(await scrape(port), "snapshot_controller_operation_errors_total", labels)[0] ?? "0");
      };
      const full = () => new Fault("ResourceExhausted", "the pool is full");
      odd.refusals.create.push(full(), full(), full(), new Fault("Unavailable", "going away"), full());
      await oddStand.take("refused", "odd", "coloured");
      await oddStand.untilReady("refused");
      assert.equal(await failures(ports.odd, "CreateSnapshot"), 5);
      odd.refusals.delete.push(full(), full(), new Fault("FailedPrecondition", "it is in use"));
      await oddStand.remove("refused");
      assert.equal(await failures(ports.odd, "DeleteSnapshot"), 3);
      assert.equal(await failures(ports.odd, "CreateSnapshot"), 5);
      const name = "csi_sidecar_operations_seconds_count";
      const calls = samplesOf(await scrape(ports.odd), name).filter((line) => !line.includes('code="OK"'));
      assert.equal(
        calls.reduce((sum, line) => sum + numberOf(line), 0),
        8,
      );
      for (const operation of ["CreateSnapshot", "DeleteSnapshot"])
        assert.equal(await failures(ports.controller, operation), 0);
    });

    test("the controller counts its own rejections", async () => {
      const labels = { driver_name: odd.driver, operation_name: "CreateSnapshot" };
      await oddStand.take("sourceless", "nowhere", "coloured");
      await oddStand.untilReported("sourceless", /claim default\/nowhere not found/);
      const seen = samplesOf(await scrape(ports.controller), "snapshot_controller_operation_errors_total", labels);
      assert.equal(numberOf(seen[0]), 1);
      await oddStand.remove("sourceless");
    });

    test("the controller's metrics have upstream's names, labels and buckets", async () => {
      const { driver } = stand.fixtures;
      const labels = (operation_name: string, operation_status = "success") => ({
        driver_name: driver,
        operation_name,
        snapshot_type: "dynamic",
        operation_status,
      });
      const name = "snapshot_controller_operation_total_seconds";
      const text = await until({ what: "the deletion is counted" }, async () => {
        const seen = await scrape(ports.controller);
        return samplesOf(seen, `${name}_count`, labels("DeleteSnapshot")).length > 0 ? seen : undefined;
      });
      for (const operation of ["CreateSnapshot", "CreateSnapshotAndReady", "DeleteSnapshot"]) {
        assert.ok(numberOf(samplesOf(text, `${name}_count`, labels(operation))[0]) >= 1, operation);
        assert.deepEqual(bucketsOf(samplesOf(text, `${name}_bucket`, labels(operation))), operationBuckets);
      }
      assert.equal(numberOf(samplesOf(text, `${name}_count`, labels("CreateSnapshot", "cancel"))[0]), 1);
      assert.equal(samplesOf(text, "snapshot_controller_operations_in_flight").length, 1);
      assert.equal(samplesOf(text, "process_start_time_seconds").length, 1);
      assert.equal(numberOf(samplesOf(text, "snapshot_controller_snapshots", { phase: "ready" })[0]), 0);
      assert.equal(numberOf(samplesOf(text, "snapshot_controller_stuck_deletions")[0]), 0);
      assert.equal(numberOf(samplesOf(text, "snapshot_controller_oldest_unready_snapshot_seconds")[0]), 0);
    });

    test("the sidecar's metrics have method, code and upstream's buckets", async () => {
      const text = await scrape(ports.sidecar);
      const name = "csi_sidecar_operations_seconds";
      const create = { driver_name: stand.fixtures.driver, method_name: "/csi.v1.Controller/CreateSnapshot" };
      const good = { ...create, grpc_status_code: "OK" };
      assert.equal(numberOf(samplesOf(text, `${name}_count`, good)[0]), 1);
      assert.deepEqual(bucketsOf(samplesOf(text, `${name}_bucket`, good)), callBuckets);
      assert.ok(samplesOf(text, `${name}_count`, create).some((line) => !line.includes('grpc_status_code="OK"')));
    });

    test("a content with an empty handle, which the CRD accepts, gives an error on content and snapshot; created again, both work", async () => {
      const { client } = place.connection;
      const ref = { kind: "VolumeSnapshotContent", name: "by-hand" } as const;
      const aContent = (snapshotHandle: string) => {
        const volumeSnapshotRef = { namespace, name: "adopted" };
        const spec = {
          driver: odd.driver,
          deletionPolicy: "Delete" as const,
          source: { snapshotHandle },
          volumeSnapshotRef,
        };
        return client.create(ref.kind, draftOf(ref.kind, { name: ref.name }, { spec }));
      };
      await aContent("");
      const spec = { source: { volumeSnapshotContentName: ref.name } };
      await client.create("VolumeSnapshot", draftOf("VolumeSnapshot", { namespace, name: "adopted" }, { spec }));
      const reported =
        /spec\.source of VolumeSnapshotContent by-hand has neither .*; give one.*, or, .* delete the content/;
      await oddStand.untilReported("adopted", reported);
      await until({ what: "content and snapshot have the error and the events" }, async () => {
        const { status } = await client.get(ref);
        const events = (await client.list("Event")).objects.filter(({ reason }) => reason === "ContentValidationError");
        const about = new Set(events.map(({ involvedObject }) => involvedObject.kind));
        return reported.test(status?.error?.message ?? "") && about.size === 2 ? true : undefined;
      });
      const creationTime = { seconds: 1_700_000_000n, nanos: 0 };
      odd.snapshots.set("kept", {
        snapshotId: "s-1",
        sourceVolumeId: "v",
        sizeBytes: 1n,
        readyToUse: true,
        creationTime,
      });
      await client.delete(ref);
      await oddStand.untilGone(ref);
      await aContent("s-1");
      assert.equal((await oddStand.untilReady("adopted")).status?.error, undefined);
      await oddStand.remove("adopted");
      assert.deepEqual(await oddStand.handles(), []);
    });

    test("the state metrics show a snapshot that waits", async () => {
      const spec = { source: { persistentVolumeClaimName: "nowhere" }, volumeSnapshotClassName: stand.classes.delete };
      const draft = draftOf("VolumeSnapshot", { namespace, name: "waits" }, { spec });
      await place.connection.client.create("VolumeSnapshot", draft);
      await stand.untilReported("waits", /nowhere/);
      await until({ what: "it is counted, and grows old" }, async () => {
        const seen = await scrape(ports.controller);
        const [count] = samplesOf(seen, "snapshot_controller_snapshots", { phase: "invalid" });
        const [age] = samplesOf(seen, "snapshot_controller_oldest_unready_snapshot_seconds");
        return numberOf(count) === 1 && numberOf(age) > 0 ? true : undefined;
      });
      await stand.remove("waits");
    });
  });
