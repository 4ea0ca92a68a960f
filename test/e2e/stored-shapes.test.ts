/** Whatever could be stored before there were rules can be deleted, with the rules of each phase of the CRDs. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { type CrdDraft, crdPhases, snapshotCrds } from "../../src/api/crds/index.ts";
import { finalizers } from "../../src/api/names.ts";
import { isFault } from "../../src/base/fault.ts";
import { type StoredShape, storedShapes } from "../stored-shapes.ts";
import type { Client } from "./harness/client.ts";
import { startComponent } from "./harness/components.ts";
import { type MigrationGround, sharedMigrationGround } from "./harness/migrations.ts";
import { startOddDriver } from "./harness/odd-driver.ts";
import { until } from "./harness/until.ts";

const namespace = "default";
/** Those that differ in what the rules look at: every source with every reference, as new, in the middle of CreateSnapshot, and ready. */
const differs = /\.(plain\.new|being-created\.new|plain\.ready)\.driver$|\.plain\.new\.no-driver$/;

const kinds = ["VolumeSnapshotContent", "VolumeSnapshot"] as const;
const sources = [
  {},
  { persistentVolumeClaimName: "missing" },
  { volumeSnapshotContentName: "volume.without-uid.plain.new.driver" },
  { persistentVolumeClaimName: "missing", volumeSnapshotContentName: "missing" },
];

/** As the server may have been before there were any: whatever is sent is stored. */
const withoutRules = (crd: CrdDraft): CrdDraft => ({
  ...crd,
  spec: {
    ...crd.spec,
    versions: crd.spec.versions.map((version) => ({
      ...version,
      schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
    })),
  },
});

async function storeContents(client: Client, shapes: readonly StoredShape[]): Promise<void> {
  for (const { name, metadata, spec, status } of shapes) {
    const draft = draftOf("VolumeSnapshotContent", { ...metadata, name }, { spec } as never);
    await client.create("VolumeSnapshotContent", draft);
    const patch = { type: "merge", body: { status: status ?? {} } } as const;
    const ref = { kind: "VolumeSnapshotContent", name } as const;
    if (status !== undefined) await client.patch(ref, patch, { subresource: "status" });
  }
}

async function storeSnapshots(client: Client): Promise<void> {
  for (const [index, source] of sources.entries()) {
    const name = index === 0 ? "namesake" : `snapshot-${index}`;
    const metadata = { namespace, name, finalizers: [finalizers.snapshotAsSource, finalizers.snapshotBound] };
    await client.create("VolumeSnapshot", draftOf("VolumeSnapshot", metadata, { spec: { source } } as never));
  }
}

const namesOf = async (client: Client, kind: (typeof kinds)[number]): Promise<readonly string[]> =>
  (await client.list(kind)).objects.map(({ metadata }) => metadata.name);

async function deleteAll(client: Client): Promise<void> {
  for (const kind of kinds)
    for (const name of await namesOf(client, kind)) {
      const ref = kind === "VolumeSnapshot" ? { kind, namespace, name } : { kind, name };
      await client.delete(ref).catch((reason: unknown) => {
        if (!isFault(reason, "NotFound")) throw reason;
      });
    }
  const left = async () => (await Promise.all(kinds.map((kind) => namesOf(client, kind)))).flat();
  await until({ what: "nothing is left", msMax: 90_000, everyMs: 500 }, async () =>
    (await left()).length === 0 ? true : undefined,
  ).catch(async (reason: Error) => assert.fail(`${reason.message}; there is ${(await left()).join(", ")}`));
}

describe("objects that were stored without rules", () => {
  const open = sharedMigrationGround();
  let ground: MigrationGround;
  let driver: Awaited<ReturnType<typeof startOddDriver>>;
  before(async () => {
    ground = await open();
    driver = await startOddDriver(ground.plane.instance.folder);
  });
  after(async () => {
    await driver?.close();
    ground?.stop();
  });

  for (const phase of crdPhases)
    test(`with the CRDs of phase ${phase}, every shape of a content, and snapshots with our finalizers, can be deleted`, async () => {
      const client = ground.clients[phase === 1 ? "v1beta1" : "v1"];
      const shapes = storedShapes(driver.driver, ["missing", undefined]).filter(({ name }) => differs.test(name));
      await ground.install(snapshotCrds(phase).map(withoutRules));
      await storeContents(client, shapes);
      await storeSnapshots(client);
      await ground.replace(snapshotCrds(phase));
      const daemons = [
        await startComponent(ground.plane, "snapshot-controller"),
        await startComponent(ground.plane, "csi-snapshotter", [`--csi-address=${driver.socket}`]),
      ];
      await deleteAll(client);
      for (const daemon of daemons) await daemon.stop("SIGTERM");
    });
});
