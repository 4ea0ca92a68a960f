/**
 * Claims that cannot be served as they are, and drivers that answer oddly: the claim says why and what helps, gets its volume when the
 * world has changed, and nothing is left at the driver.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { provisioning } from "../../src/api/names.ts";
import type { PersistentVolumeClaim } from "../../src/api/types.ts";
import { startComponent } from "./harness/components.ts";
import { type OddDriver, type OddVolume, startOddDriver } from "./harness/odd-driver.ts";
import { type SnapshotSuite, snapshotSuiteFor, type TestServer, testServers } from "./harness/snapshot-suites.ts";
import { until } from "./harness/until.ts";

const namespace = "default";
const group = "snapshot.storage.k8s.io";
const from = (name: string) => ({ dataSource: { apiGroup: group, kind: "VolumeSnapshot", name } });
const secretKeys = {
  "csi.storage.k8s.io/provisioner-secret-name": "key",
  "csi.storage.k8s.io/provisioner-secret-namespace": namespace,
};

interface Row {
  readonly given: string;
  readonly says: RegExp;
  readonly spec?: PersistentVolumeClaim["spec"];
  readonly parameters?: Readonly<Record<string, string>>;
  readonly storage?: string;
  annotations?(): Record<string, string>;
  prepare?(): Promise<unknown>;
  /** After this the claim gets its volume; absent: nothing can be done for this claim. */
  mend?(): Promise<unknown>;
}

describe("claims that cannot be served as they are", () => {
  let place: TestServer;
  let driver: OddDriver;
  let suite: SnapshotSuite;

  before(async () => {
    place = await testServers["real control plane"]();
    await startComponent(place, "snapshot-controller");
    driver = await startOddDriver(place.instance.folder);
    suite = await snapshotSuiteFor(place, place.connection, driver, ["--retry-interval-start=100ms"]);
    const flags = [
      `--csi-address=${driver.socket}`,
      "--retry-interval-start=200ms",
      "--retry-interval-max=2s",
      "--v=4",
    ];
    await startComponent(place, "csi-provisioner", flags, { added: ["secrets"] });
    await storageClass("plain");
    await create("data", "plain", {});
    await untilBound("data");
    await suite.take("monday", "data", suite.classes.delete);
    await suite.untilReady("monday");
  });
  after(async () => {
    suite?.fixtures.csi.close();
    await driver?.close();
    place?.stop();
  });

  const storageClass = (name: string, parameters: Readonly<Record<string, string>> = {}) =>
    place.connection.client.create(
      "StorageClass",
      draftOf("StorageClass", { name }, {
        provisioner: driver.driver,
        reclaimPolicy: "Delete",
        volumeBindingMode: "Immediate",
        parameters,
      } as never),
    );
  const claimRef = (name: string) => ({ kind: "PersistentVolumeClaim", namespace, name }) as const;
  const create = (
    name: string,
    storageClassName: string,
    spec: PersistentVolumeClaim["spec"],
    storage = "1Mi",
    annotations: Record<string, string> = {},
  ) =>
    place.connection.client.create(
      "PersistentVolumeClaim",
      draftOf(
        "PersistentVolumeClaim",
        { namespace, name, annotations },
        {
          spec: { accessModes: ["ReadWriteOnce"], storageClassName, resources: { requests: { storage } }, ...spec },
        },
      ),
    );
  const untilBound = (name: string): Promise<string> =>
    until({ what: `claim ${name} is bound` }, async () => {
      const { spec, status } = await place.connection.client.get(claimRef(name));
      return status?.phase === "Bound" ? spec?.volumeName : undefined;
    });
  const messagesOf = async (name: string): Promise<readonly string[]> =>
    (await place.connection.client.list("Event", { namespace })).objects
      .filter(({ reason, involvedObject }) => reason === "ProvisioningFailed" && involvedObject?.name === name)
      .map(({ message }) => message ?? "");
  const odd = (name: string, bend: (right: OddVolume) => Partial<OddVolume>) => async () =>
    void driver.volumeOddities.set(name, bend);
  const mended = async (): Promise<void> => driver.mend();
  const removeSnapshot = async (name: string): Promise<void> => {
    const ref = { kind: "VolumeSnapshot", namespace, name } as const;
    const held = await place.connection.client.get(ref);
    const metadata = { ...held.metadata, finalizers: [...(held.metadata.finalizers ?? []), "example.com/hold"] };
    await place.connection.client.replace("VolumeSnapshot", { ...held, metadata });
    await place.connection.client.delete(ref);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
  };
  const foreignSnapshot = async (): Promise<void> => {
    const spec = {
      deletionPolicy: "Retain" as const,
      driver: "tape.example.com",
      source: { snapshotHandle: "t-1" },
      volumeSnapshotRef: { namespace, name: "foreign" },
    };
    await place.connection.client.create(
      "VolumeSnapshotContent",
      draftOf("VolumeSnapshotContent", { name: "t" }, { spec }),
    );
    const source = { volumeSnapshotContentName: "t" };
    await place.connection.client.create(
      "VolumeSnapshot",
      draftOf("VolumeSnapshot", { namespace, name: "foreign" }, { spec: { source } }),
    );
    await until({ what: "the foreign snapshot is bound" }, async () => {
      const { status } = await place.connection.client.get({ kind: "VolumeSnapshot", namespace, name: "foreign" });
      return status?.boundVolumeSnapshotContentName;
    });
  };

  const rows: readonly Row[] = [
    {
      given: "a missing snapshot",
      says: /VolumeSnapshot default\/later does not exist: create it.*SNAP-301/,
      spec: from("later"),
      mend: () => suite.take("later", "data", suite.classes.delete),
    },
    {
      given: "a snapshot that is not ready",
      says: /not ready to use yet; the restore starts when.*SNAP-307/,
      spec: from("slow"),
      prepare: async () => {
        driver.oddities.set(await handleOfData(), () => ({ readyToUse: false }));
        await suite.take("slow", "data", suite.classes.delete);
        await until({ what: "the slow snapshot is bound" }, async () => {
          const { status } = await place.connection.client.get({ kind: "VolumeSnapshot", namespace, name: "slow" });
          return status?.boundVolumeSnapshotContentName;
        });
      },
      mend: mended,
    },
    {
      given: "a snapshot of another driver",
      says: /belongs to driver tape\.example\.com.*use a StorageClass of tape\.example\.com.*SNAP-306/,
      spec: from("foreign"),
      prepare: foreignSnapshot,
    },
    {
      given: "a claim smaller than its snapshot",
      says: /524288 bytes.*needs 1048576: request at least 1Mi.*SNAP-136/,
      spec: from("monday"),
      storage: "512Ki",
    },
    {
      given: "a snapshot that was deleted before",
      says: /is being deleted: restore from another.*SNAP-302/,
      spec: from("doomed"),
      prepare: async () => {
        await suite.take("doomed", "data", suite.classes.delete);
        await suite.untilReady("doomed");
        await removeSnapshot("doomed");
      },
    },
    {
      given: "a misspelt class parameter",
      says: /StorageClass class-5 has unknown parameters csi\.storage\.k8s\.io\/fsType: correct or remove.*SNAP-332/,
      parameters: { "csi.storage.k8s.io/fsType": "ext4" },
      mend: async () => {
        await place.connection.client.delete({ kind: "StorageClass", name: "class-5" });
        await storageClass("class-5");
      },
    },
    {
      given: "a class that does not exist",
      says: /StorageClass nobody does not exist: create it.*SNAP-331/,
      spec: { storageClassName: "nobody" },
      annotations: () => ({ [provisioning.storageProvisioner]: driver.driver }),
      mend: () => storageClass("nobody"),
    },
    {
      given: "an unknown secret",
      says: /secret default\/key cannot be read.*create it.*SNAP-338/,
      parameters: secretKeys,
      mend: () =>
        place.connection.client.create("Secret", draftOf("Secret", { namespace, name: "key" }, { data: {} } as never)),
    },
    {
      given: "a driver that answers a smaller volume",
      says: /created a volume of 7 bytes where 1048576 were requested: the volume is deleted.*SNAP-342/,
      parameters: { odd: "small" },
      prepare: odd("small", () => ({ capacityBytes: 7n })),
      mend: mended,
    },
    {
      given: "a driver that answers an empty id",
      says: /empty volume_id.*SNAP-344/,
      parameters: { odd: "empty" },
      prepare: odd("empty", () => ({ volumeId: "" })),
      mend: mended,
    },
    {
      given: "a driver that answers another id on retry",
      says: /answered volume "first" first and another one later.*the first is deleted.*SNAP-347/,
      parameters: { odd: "fickle" },
      // The first volume cannot be stored, so the call is repeated.
      prepare: odd("fickle", ({ volumeId }) => {
        if (driver.volumes.has("first")) return {};
        driver.volumes.delete(volumeId);
        driver.volumes.add("first");
        return { volumeId: "first", accessibleTopology: [{ segments: { "no key!": "x" } }] };
      }),
      mend: mended,
    },
    {
      given: "a driver that ignores the source",
      says: /did not confirm that the volume was made from snapshot.*SNAP-343/,
      spec: from("monday"),
      parameters: { odd: "sourceless" },
      prepare: odd("sourceless", () => ({ contentSource: undefined as never })),
      mend: mended,
    },
    {
      given: "a driver that restores another snapshot",
      says: /did not confirm that the volume was made from snapshot.*SNAP-343/,
      spec: from("monday"),
      parameters: { odd: "other" },
      prepare: odd("other", () => ({
        contentSource: { type: { case: "snapshot", value: { snapshotId: "another" } } } as never,
      })),
      mend: mended,
    },
    {
      given: "a driver that answers the volume of another claim",
      says: /belongs to PersistentVolume pvc-.*neither used nor deleted.*SNAP-346/,
      parameters: { odd: "taken" },
      prepare: async () => {
        const taken = await handleOfData();
        driver.volumeOddities.set("taken", ({ volumeId }) => {
          driver.volumes.delete(volumeId);
          return { volumeId: taken };
        });
      },
      mend: mended,
    },
    {
      given: "a driver whose topology no node can have",
      says: /PersistentVolume pvc-.* cannot be stored.*SNAP-345/,
      parameters: { odd: "nowhere" },
      prepare: odd("nowhere", () => ({ accessibleTopology: [{ segments: { "no key!": "x" } }] })),
      mend: mended,
    },
  ];
  const handleOfData = async (): Promise<string> =>
    (await place.connection.client.get({ kind: "PersistentVolume", name: await untilBound("data") })).spec?.csi
      ?.volumeHandle ?? "";

  for (const [index, row] of rows.entries())
    test(`given ${row.given}, the claim says why${row.mend === undefined ? "" : ", and gets its volume when that is mended"}`, async () => {
      const name = `claim-${index}`;
      await storageClass(`class-${index}`, row.parameters);
      await row.prepare?.();
      await create(name, `class-${index}`, row.spec ?? {}, row.storage, row.annotations?.());
      await until({ what: `the claim says ${row.says}` }, async () =>
        (await messagesOf(name)).some((message) => row.says.test(message)) ? true : undefined,
      );
      if (row.mend === undefined) return;
      await row.mend();
      await untilBound(name);
      assert.ok((await messagesOf(name)).length <= 2, "one event for each kind of error");
    });

  test("given a snapshot that was deleted after the claim came, the restore is finished, and then the snapshot goes", async () => {
    const parameters = { ...secretKeys, "csi.storage.k8s.io/provisioner-secret-name": "late" };
    await storageClass("patient", parameters);
    await suite.take("leaving", "data", suite.classes.delete);
    await suite.untilReady("leaving");
    await create("first", "patient", from("leaving"));
    await until(
      { what: "the claim waits for its secret" },
      async () =>
        (await messagesOf("first")).some((message) => /secret default\/late cannot be read/.test(message)) || undefined,
    );
    await place.connection.client.delete(suite.ref("leaving"));
    const { metadata } = await suite.get("leaving");
    assert.ok(metadata.deletionTimestamp !== undefined, "the snapshot is being deleted");
    await place.connection.client.create(
      "Secret",
      draftOf("Secret", { namespace, name: "late" }, { data: {} } as never),
    );
    await untilBound("first");
    await suite.untilGone(suite.ref("leaving"), 60_000);
  });

  test("the driver has the volumes of the PersistentVolumes and no others, and none when the claims are gone", async () => {
    const handles = async (): Promise<readonly string[]> =>
      (await place.connection.client.list("PersistentVolume", {})).objects
        .map(({ spec }) => spec?.csi?.volumeHandle ?? "")
        .toSorted();
    assert.deepEqual([...driver.volumes].toSorted(), await handles());
    for (const { metadata } of (await place.connection.client.list("PersistentVolumeClaim", { namespace })).objects)
      await place.connection.client.delete(claimRef(metadata.name));
    await until({ what: "all volumes are gone" }, async () => ((await handles()).length === 0 ? true : undefined));
    assert.deepEqual([...driver.volumes], []);
  });
});
