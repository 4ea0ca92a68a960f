/** What reaches the driver (secrets, names, parameters), and what dashboards see, on the real control plane. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { provisioning } from "../../src/api/names.ts";
import { Fault } from "../../src/base/fault.ts";
import { aStorageClass, claimsOf, restoring } from "./harness/claims.ts";
import { aClassFor, startComponent } from "./harness/components.ts";
import type { Daemon } from "./harness/instance.ts";
import { bucketsOf, labelsOf, numberOf, samplesOf, scrape } from "./harness/metrics.ts";
import { type OddDriver, startOddDriver } from "./harness/odd-driver.ts";
import { freePort } from "./harness/ports.ts";
import { type SnapshotSuite, snapshotSuiteFor, type TestServer, testServers } from "./harness/snapshot-suites.ts";
import { until } from "./harness/until.ts";
import { startUpstream, unthrottled } from "./harness/upstream.ts";

const namespace = "default";
const prefix = "csi.storage.k8s.io";

describe("secrets, names and metrics of the provisioner", () => {
  let place: TestServer;
  let driver: OddDriver;
  let suite: SnapshotSuite;
  let provisioner: Daemon;
  let port: number;

  before(async () => {
    place = await testServers["real control plane"]();
    await startComponent(place, "snapshot-controller");
    driver = await startOddDriver(place.instance.folder);
    suite = await snapshotSuiteFor(place, place.connection, driver, [], { added: ["secrets"] });
    port = await freePort();
    // Nothing answers at the address in this kubeconfig.
    const elsewhere = readFileSync(place.kubeconfig, "utf8").replaceAll(place.plane?.url ?? "", "https://127.0.0.1:1");
    const kubeconfig = join(place.instance.folder, "elsewhere.kubeconfig");
    writeFileSync(kubeconfig, elsewhere, { mode: 0o600 });
    const flags = [
      `--master=${place.plane?.url}`,
      `--csi-address=${driver.socket}`,
      `--http-endpoint=127.0.0.1:${port}`,
      "--retry-interval-start=100ms",
      "--retry-interval-max=200ms",
      "--volume-name-prefix=kept",
      "--volume-name-uuid-length=8",
      "--default-fstype=xfs",
      "--extra-create-metadata",
    ];
    provisioner = await startComponent({ ...place, kubeconfig }, "csi-provisioner", flags, { added: ["secrets"] });
    for (const name of ["of-data", "for-snapshots", "for-restores", "stage"]) await aSecret(name);
  });
  after(async () => {
    suite?.fixtures.csi.close();
    await driver?.close();
    place?.stop();
  });

  /** Whose only value is its own name. */
  const aSecret = (name: string) =>
    place.connection.client.create("Secret", {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace, name },
      data: { token: Buffer.from(name).toString("base64") },
    } as never);
  const secret = (role: string, name: string, space = namespace) => ({
    [`${prefix}/${role}-secret-name`]: name,
    [`${prefix}/${role}-secret-namespace`]: space,
  });
  const claimsOfClass = async (name: string, parameters: Readonly<Record<string, string>>, more: object = {}) => {
    await aStorageClass(place.connection.client, name, driver.driver, { parameters: { ...parameters }, ...more });
    return claimsOf(place.connection.client, name);
  };

  test("the templated secret of the class reaches CreateVolume and, from the volume alone, DeleteVolume; the others are named on the volume", async () => {
    const claims = await claimsOfClass("guarded", {
      ...secret("provisioner", "of-${pvc.name}", "${pvc.namespace}"),
      ...secret("node-stage", "stage"),
    });
    await claims.create("data");
    const { metadata, spec } = await claims.untilBound("data");
    assert.deepEqual(driver.askedForVolumes.at(-1)?.secrets, { token: "of-data" });
    assert.equal(metadata.annotations?.[provisioning.deletionSecretName], "of-data");
    assert.equal(metadata.annotations?.[provisioning.deletionSecretNamespace], namespace);
    assert.deepEqual(spec?.csi?.nodeStageSecretRef, { name: "stage", namespace });
    await place.connection.client.delete({ kind: "StorageClass", name: "guarded" });
    await claims.remove("data");
    assert.deepEqual(driver.askedToDeleteVolumes.at(-1)?.secrets, { token: "of-data" });
  });

  test("a restore sends the provisioner secret of the claim's class, for volume and source alike, and never that of the snapshot", async () => {
    const plain = await claimsOfClass("plain", {});
    await plain.create("source");
    await plain.untilBound("source");
    await aClassFor(suite.fixtures, "guarded", "Delete", secret("snapshotter", "for-snapshots"));
    await suite.take("monday", "source", "guarded");
    await suite.untilReady("monday");
    assert.deepEqual(driver.asked.at(-1)?.secrets, { token: "for-snapshots" });
    const guarded = await claimsOfClass("restores", secret("provisioner", "for-restores"));
    await guarded.create("restored", restoring("monday"));
    await guarded.untilBound("restored");
    const [asked] = driver.askedForVolumes.slice(-1);
    assert.equal(asked?.volumeContentSource?.type.case, "snapshot");
    assert.deepEqual(asked?.secrets, { token: "for-restores" });
    await plain.create("unguarded", restoring("monday"));
    await plain.untilBound("unguarded");
    assert.deepEqual(driver.askedForVolumes.at(-1)?.secrets, {});
    for (const name of ["restored", "unguarded"]) await plain.remove(name);
    await suite.remove("monday");
    await plain.remove("source");
  });

  test("name prefix, uid length, file system, mount options, extra metadata and the class's parameters reach the driver", async () => {
    const claims = await claimsOfClass("coloured", { colour: "blue" }, { mountOptions: ["noatime"] });
    const { metadata } = await claims.create("named");
    const volume = await claims.untilBound("named");
    const asked = driver.askedForVolumes.at(-1);
    const name = `kept-${metadata.uid.replaceAll("-", "").slice(0, 8)}`;
    assert.equal(asked?.name, name);
    assert.equal(volume.metadata.name, name);
    assert.deepEqual(asked?.parameters, {
      colour: "blue",
      [`${prefix}/pvc/name`]: "named",
      [`${prefix}/pvc/namespace`]: namespace,
      [`${prefix}/pv/name`]: name,
    });
    const { case: access, value } = asked?.volumeCapabilities[0]?.accessType ?? {};
    assert.deepEqual([access, (value as { fsType: string }).fsType], ["mount", "xfs"]);
    assert.deepEqual((value as { mountFlags: string[] }).mountFlags, ["noatime"]);
    assert.deepEqual(volume.spec?.mountOptions, ["noatime"]);
    await claims.remove("named");
  });

  const families = {
    controller_persistentvolumeclaim_provision_total: "counter",
    controller_persistentvolumeclaim_provision_failed_total: "counter",
    controller_persistentvolumeclaim_provision_duration_seconds: "histogram",
    controller_persistentvolume_delete_total: "counter",
    controller_persistentvolume_delete_failed_total: "counter",
    controller_persistentvolume_delete_duration_seconds: "histogram",
    csi_sidecar_operations_seconds: "histogram",
  } as const;
  /** One volume made from a snapshot and deleted, with two refusals of each call on the way. */
  const exercise = async (className: string): Promise<void> => {
    const claims = await claimsOfClass(className, {});
    await claims.create("origin");
    await claims.untilBound("origin");
    await suite.take("friday", "origin", suite.classes.delete);
    await suite.untilReady("friday");
    driver.refusals.createVolume.push(full(), full());
    await claims.create("counted", restoring("friday"));
    await claims.untilBound("counted");
    driver.refusals.deleteVolume.push(full(), full());
    await claims.remove("counted");
    await suite.remove("friday");
    await claims.remove("origin");
  };
  const full = () => new Fault("ResourceExhausted", "the pool is full");

  test("each attempt is counted once, by class and by the kind of the source", async () => {
    await exercise("ours");
    const text = await until({ what: "the last deletion is counted" }, async () => {
      const seen = await scrape(port);
      const [count] = samplesOf(seen, "controller_persistentvolume_delete_total", { class: "ours" });
      return numberOf(count) === 2 ? seen : undefined;
    });
    const sumOf = (name: string, labels: Readonly<Record<string, string>>): number =>
      numberOf(samplesOf(text, name, { class: "ours", ...labels })[0]);
    const claim = "controller_persistentvolumeclaim_provision";
    for (const source of ["", "VolumeSnapshot"]) {
      assert.equal(sumOf(`${claim}_total`, { source }), 1);
      assert.equal(sumOf(`${claim}_duration_seconds_count`, { source }), 1);
    }
    assert.equal(sumOf(`${claim}_failed_total`, { source: "VolumeSnapshot" }), 2);
    assert.equal(sumOf("controller_persistentvolume_delete_failed_total", {}), 2);
    assert.equal(sumOf("controller_persistentvolume_delete_duration_seconds_count", {}), 2);
    const calls = (method_name: string, grpc_status_code: string) =>
      numberOf(
        samplesOf(text, "csi_sidecar_operations_seconds_count", {
          driver_name: driver.driver,
          method_name: `/csi.v1.Controller/${method_name}`,
          grpc_status_code,
        })[0],
      );
    assert.equal(calls("CreateVolume", "ResourceExhausted"), 2);
    assert.equal(calls("DeleteVolume", "ResourceExhausted"), 2);
  });

  test("names, kinds, labels and buckets are those that external-provisioner itself serves", async () => {
    const ours = await scrape(port);
    await provisioner.stop();
    const theirPort = await freePort();
    const theirs = startUpstream(place, "csi-provisioner", [
      `--csi-address=${driver.socket}`,
      `--http-endpoint=127.0.0.1:${theirPort}`,
      "--retry-interval-start=100ms",
      "--retry-interval-max=200ms",
      ...unthrottled,
    ]);
    await exercise("theirs");
    const reference = await scrape(theirPort);
    for (const [name, kind] of Object.entries(families)) {
      const sample = kind === "histogram" ? `${name}_bucket` : name;
      const [our, their] = [ours, reference].map((text) => {
        const samples = samplesOf(text, sample);
        assert.ok(samples.length > 0, `${name} is missing`);
        assert.ok(text.includes(`# TYPE ${name} ${kind}`), `${name} is no ${kind}`);
        return { labels: labelsOf(samples[0]), buckets: [...new Set(bucketsOf(samples))] };
      });
      assert.deepEqual(our, their, name);
    }
    await theirs.stop("SIGKILL");
    assert.deepEqual([...driver.volumes], []);
  });
});
