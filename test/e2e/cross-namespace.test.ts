/** Claims restore snapshots of other namespaces, by a grant of their owner and by nothing else. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import {
  type CrossNamespaces,
  crossNamespaces,
  firstWords,
  grantSpec,
  guest,
  owner,
  shared,
  snapshotNamed,
  switches,
  type Way,
  ways,
} from "./harness/cross-namespace.ts";
import type { Daemon } from "./harness/instance.ts";
import { createKubectl } from "./harness/kubectl.ts";
import { type Combination, type TestServer, testServers } from "./harness/snapshot-suites.ts";
import { until } from "./harness/until.ts";

const other: Readonly<Record<Way, Way>> = { ref: "link", ref2: "link", link: "ref" };
const folder = join(import.meta.dirname, "fixtures/requirement-004");
const rows = [
  ["hostpath", "real control plane", ["ref", "link"]],
  ["directory-driver", "embedded server of the documents", ["ref", "ref2", "link"]],
] as const satisfies readonly (readonly [...Combination, readonly Way[]])[];

for (const [driver, ground, served] of rows)
  describe(`with ${driver} on the ${ground}`, () => {
    let place: TestServer;
    let stage: CrossNamespaces;
    let provisioner: Daemon;
    before(async () => {
      place = await testServers[ground]();
      stage = await crossNamespaces(place, driver);
      provisioner = await stage.startProvisioner(...switches);
    });
    after(() => stage?.stop());

    /** Which objects of snapshots and grants the provisioner has read, in order. */
    const readsSince = (from: number): readonly string[] | undefined =>
      place.plane
        ?.auditLog(from)
        .filter(({ verb, userAgent }) => verb === "get" && userAgent?.startsWith("csi-provisioner"))
        .map(({ objectRef }) => objectRef?.resource ?? "")
        .filter((resource) => /^volumesnapshot|^referencegrants$/.test(resource));

    for (const way of served) {
      const by = `by ${ways[way]}`;

      test(`${by}: a claim is restored from a snapshot of another namespace that a grant allows, with few reads`, async () => {
        await stage.grant("lend", grantSpec(shared, way));
        const from = place.plane?.auditPosition() ?? 0;
        await stage.restore(`allowed-${way}`, way, owner);
        assert.equal(stage.bytesOf(await stage.untilBound(`allowed-${way}`)), firstWords);
        const link = way === "link" ? ["volumesnapshotlinks"] : [];
        // Source and content are read at once, in any order; the grant is read last.
        const expected = ["volumesnapshotcontents", ...link, "volumesnapshots", "referencegrants"];
        const reads = readsSince(from) ?? expected;
        assert.deepEqual([...reads.slice(0, -1).sort(), reads.at(-1)], expected);
        await stage.remove(`allowed-${way}`);
        await stage.revoke("lend");
      });

      test(`${by}: a claim is not restored from a snapshot of another namespace without a grant, until there is one`, async () => {
        await stage.grant("of-the-other", grantSpec(shared, other[way]));
        await stage.restore(`waiting-${way}`, way, owner);
        const message = await stage.untilSaid(`waiting-${way}`, "SNAP-361");
        assert.match(message, /no ReferenceGrant in namespace prod lets \w+s of namespace test use/);
        assert.ok(await stage.isPending(`waiting-${way}`));
        await stage.grant("late", grantSpec(undefined, way));
        assert.equal(stage.bytesOf(await stage.untilBound(`waiting-${way}`)), firstWords);
        await stage.remove(`waiting-${way}`);
        for (const name of ["late", "of-the-other"]) await stage.revoke(name);
      });

      test(`${by}: a claim is restored from a snapshot of its own namespace that is named without a namespace, without a grant`, async () => {
        await stage.restore(`local-${way}`, way, undefined, owner);
        assert.equal(stage.bytesOf(await stage.untilBound(`local-${way}`, owner)), firstWords);
        await stage.remove(`local-${way}`, owner);
      });

      test(`${by}: a claim is not restored from a snapshot of its own namespace that is written out, without a grant`, async () => {
        await stage.restore(`explicit-${way}`, way, owner, owner);
        await stage.untilSaid(`explicit-${way}`, "SNAP-361", owner);
        assert.ok(await stage.isPending(`explicit-${way}`, owner));
        await stage.grant("self", grantSpec(shared, way, owner));
        await stage.untilBound(`explicit-${way}`, owner);
        await stage.remove(`explicit-${way}`, owner);
        await stage.revoke("self");
      });
    }

    test("a granted guest's claims that can get no volume keep no snapshot of the owner", async () => {
      const { client } = place.connection;
      const { suite, storageClassName } = stage;
      // hostpath knows only the last snapshot of a volume.
      await stage.claim("pin-data", {}, { namespace: owner });
      await stage.untilBound("pin-data", owner);
      await suite.take("pinned", "pin-data", suite.classes.delete);
      await suite.untilReady("pinned");
      await stage.grant("pins", grantSpec("pinned"));
      const late = draftOf("StorageClass", { name: "late" }, {
        provisioner: suite.driver.driver,
        volumeBindingMode: "WaitForFirstConsumer",
      } as never);
      await client.create("StorageClass", late);
      const dataSourceRef = { ...snapshotNamed("pinned"), namespace: owner };
      const small = { dataSourceRef, resources: { requests: { storage: "1Ki" } } };
      await stage.claim("too-small", small, { storageClassName });
      await stage.claim("classless", { dataSourceRef }, { storageClassName: "missing" });
      await stage.claim("podless", { dataSourceRef }, { storageClassName: "late" });
      await stage.untilSaid("too-small", "SNAP-136");
      const content = await suite.contentOf("pinned");
      await suite.remove("pinned");
      await suite.untilGone({ kind: "VolumeSnapshotContent", name: content.metadata.name });
      for (const name of ["too-small", "classless", "podless"]) {
        assert.ok(await stage.isPending(name));
        await stage.remove(name);
      }
      await stage.remove("pin-data", owner);
      await stage.revoke("pins");
    });

    test("a clone of a claim of another namespace needs a grant to that claim", async () => {
      const dataSourceRef = { kind: "PersistentVolumeClaim", name: "data", namespace: owner };
      await stage.grant("snapshots-only");
      await stage.claim("copy", { dataSourceRef });
      await stage.untilSaid("copy", "SNAP-361");
      await stage.grant("claims", { ...grantSpec(), to: [{ group: "", kind: "PersistentVolumeClaim", name: "data" }] });
      assert.equal(stage.bytesOf(await stage.untilBound("copy")), "spoiled\n");
      await stage.remove("copy");
      for (const name of ["snapshots-only", "claims"]) await stage.revoke(name);
      await until({ what: "the source of the clone is free again" }, async () =>
        (
          await place.connection.client.get({ kind: "PersistentVolumeClaim", namespace: owner, name: "data" })
        ).metadata.finalizers?.some((name) => name.includes("cloning"))
          ? undefined
          : true,
      );
    });

    const documents = [
      ["grant", ground === "real control plane" ? "claim-ref" : "claim-ref2"],
      ["link-grant", "link", "link-claim"],
    ] as const;
    const originals = ["grant", "claim", "link-grant", "link-claim"];
    test("what the requirement document prints is refused for its slips, and works without them", async () => {
      const kubectl = createKubectl(place.kubeconfig);
      const apply = (name: string) => kubectl(["create", "-f", join(folder, `${name}.yaml`)]);
      for (const name of originals) {
        const { code, stderr } = await apply(`${name}-original`);
        assert.equal(code, 1, `${name} is stored`);
        assert.match(stderr, /group|dataSourceRef2|apiGroup/i);
      }
      for (const names of documents) {
        for (const name of names) {
          const { code, stderr } = await apply(name);
          assert.equal(code, 0, stderr);
        }
        assert.equal(stage.bytesOf(await stage.untilBound("foo-testing")), firstWords);
        await stage.remove("foo-testing");
        await stage.revoke("bar");
      }
    });

    test("turned off, claims wait and volumes stay; turned on again, the claims are served", async () => {
      await stage.grant("lend");
      await stage.restore("before", "ref", owner);
      await stage.untilBound("before");
      await provisioner.stop("SIGTERM");
      const off = await stage.startProvisioner();
      await stage.restore("meanwhile", "ref", owner);
      await stage.untilSaid("meanwhile", "SNAP-336");
      assert.ok(await stage.isPending("meanwhile"));
      assert.equal(stage.bytesOf(await stage.untilBound("before")), firstWords);
      await off.stop("SIGTERM");
      provisioner = await stage.startProvisioner(...switches);
      assert.equal(stage.bytesOf(await stage.untilBound("meanwhile")), firstWords);
      for (const name of ["before", "meanwhile"]) await stage.remove(name);
      await stage.revoke("lend");
    });

    test("links are registered as a data source once, and their source cannot be changed", async () => {
      const { client } = place.connection;
      const populators = await until({ what: "VolumeSnapshotLink is registered" }, async () => {
        const { objects } = await client.list("VolumePopulator");
        return objects.length > 0 ? objects : undefined;
      });
      assert.deepEqual(
        populators.map((object) => (object as unknown as { sourceKind: object }).sourceKind),
        [{ group: "snapshot.storage.k8s.io", kind: "VolumeSnapshotLink" }],
      );
      const spec = { source: { name: shared, namespace: owner } };
      const draft = draftOf("VolumeSnapshotLink", { namespace: guest, name: "fixed" }, { spec });
      const link = await client.create("VolumeSnapshotLink", draft);
      const changed = { ...link, spec: { source: { name: "tuesday", namespace: owner } } };
      await assert.rejects(client.replace("VolumeSnapshotLink", changed), /source is immutable/);
    });
  });
