/** Real pods read, in another namespace, the bytes that a pod of the owner wrote: by dataSourceRef.namespace, and through a link. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../../src/api/builders.ts";
import { aStorageClass, type Claims, claimsOf } from "../harness/claims.ts";
import { startComponent } from "../harness/components.ts";
import { grantSpec, snapshotNamed, switches } from "../harness/cross-namespace.ts";
import { type PodSuite, startPodSuite, ways } from "../harness/pod-suite.ts";
import { type Driver, shortName } from "../harness/snapshot-suites.ts";

const owner = "default";
const guest = "pods-abroad";

describe("pods with hostpath, across namespaces", () => {
  let suite: PodSuite;
  let claims: Claims;
  let abroad: Claims;

  before(async () => {
    const provision = async (
      place: Parameters<typeof startComponent>[0],
      { client }: PodSuite["connection"],
      driver: Driver,
    ) => {
      await aStorageClass(client, shortName(driver), driver.driver);
      await startComponent(place, "csi-provisioner", [`--csi-address=${driver.socket}`, ...switches], {
        added: ["other namespaces"],
      });
      return shortName(driver);
    };
    suite = await startPodSuite("hostpath", "abroad.pods.example.com", provision);
    const { client } = suite.connection;
    await client.create("Namespace", draftOf("Namespace", { name: guest }, {}));
    claims = claimsOf(client, suite.storageClassName);
    abroad = claimsOf(client, suite.storageClassName, guest);
  });
  after(() => suite?.stop());

  test("a pod writes, another spoils the source, and pods of the other namespace read the first bytes", async () => {
    const { said, snapshots, connection } = suite;
    const { client } = connection;
    const { claim, write, read } = ways.Filesystem;
    await claims.create("source");
    await claims.untilBound("source");
    await said({ name: "writer", script: write("first-bytes"), ...claim("source") });
    await snapshots.take("then", "source", snapshots.classes.delete);
    await snapshots.untilReady("then");
    await said({ name: "spoiler", script: write("spoiled"), ...claim("source") });
    for (const way of ["ref", "link"] as const)
      await client.create(
        "ReferenceGrant",
        draftOf("ReferenceGrant", { namespace: owner, name: `pods-${way}` }, { spec: grantSpec("then", way, guest) }),
      );
    const spec = { source: { name: "then", namespace: owner } };
    await client.create(
      "VolumeSnapshotLink",
      draftOf("VolumeSnapshotLink", { namespace: guest, name: "then" }, { spec }),
    );
    await abroad.create("by-ref", { dataSourceRef: { ...snapshotNamed("then"), namespace: owner } });
    await abroad.create("by-link", { dataSourceRef: { ...snapshotNamed("then"), kind: "VolumeSnapshotLink" } });
    for (const name of ["by-ref", "by-link"]) {
      await abroad.untilBound(name);
      const reader = { name: `reads-${name}`, namespace: guest, script: read(), ...claim(name) };
      assert.equal(await said(reader), "first-bytes\n");
      await abroad.remove(name);
    }
    for (const way of ["ref", "link"])
      await client.delete({ kind: "ReferenceGrant", namespace: owner, name: `pods-${way}` });
    await snapshots.remove("then");
    await claims.remove("source");
    await suite.assertNothingLeft();
  });
});
