/** What goes wrong on a cluster of the years before v1, whose CRDs do not check what later ones do. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { aBoundClaim, startComponent } from "./harness/components.ts";
import { type Proxied, proxyTo } from "./harness/fault-proxy.ts";
import { drivers, type SnapshotSuite, snapshotSuiteFor, type TestServer } from "./harness/snapshot-suites.ts";
import { until } from "./harness/until.ts";
import { callsOutside, groundOfV1beta1 } from "./harness/v1beta1.ts";

const namespace = "default";

describe("a cluster that serves v1beta1 alone", () => {
  let place: TestServer;
  let client: TestServer["connection"]["client"];
  let proxied: Proxied;
  let sent: readonly string[];
  let stand: SnapshotSuite;
  before(async () => {
    place = await groundOfV1beta1("real control plane");
    client = place.connection.client;
    proxied = await proxyTo(place);
    sent = proxied.proxy.record();
    const via = { ...place, ...proxied };
    await startComponent(via, "snapshot-controller");
    stand = await snapshotSuiteFor(via, place.connection, await drivers["directory-driver"](place.instance));
    await aBoundClaim(stand.fixtures, "data");
    // If nothing is served, every test would time out.
    await stand.takeAndRemove("old", "data", stand.classes.delete);
  });
  after(async () => {
    stand?.fixtures.csi.close();
    await proxied?.proxy.close();
    place?.stop();
  });

  test("is detected by discovery, and snapshots are created and deleted in its version", () => {
    assert.deepEqual(callsOutside("v1beta1", sent), []);
  });

  const unclear = {
    both: { persistentVolumeClaimName: "data", volumeSnapshotContentName: "any" },
    neither: {},
  };
  for (const [which, source] of Object.entries(unclear))
    test(`a snapshot with ${which} of the two sources has an error, is taken once it has one, and does not affect others`, async () => {
      const spec = { source, volumeSnapshotClassName: stand.classes.delete };
      await client.create("VolumeSnapshot", draftOf("VolumeSnapshot", { namespace, name: which }, { spec }));
      const reported = /Exactly one of PersistentVolumeClaimName and VolumeSnapshotContentName should be specified/;
      await stand.untilReported(which, reported);
      await until({ what: "there is an event" }, async () =>
        (await client.list("Event", { namespace })).objects.some(
          ({ reason, involvedObject }) => reason === "SnapshotValidationError" && involvedObject.name === which,
        )
          ? true
          : undefined,
      );
      await stand.take("bystander", "data", stand.classes.delete);
      await stand.untilReady("bystander");
      await stand.remove("bystander");
      const one = { persistentVolumeClaimName: "data", volumeSnapshotContentName: null };
      await client.patch(stand.ref(which), { type: "merge", body: { spec: { source: one } } });
      assert.equal((await stand.untilReady(which)).status?.error, undefined);
      await stand.remove(which);
    });

  test("a snapshot with no source can be deleted as it is", async () => {
    const spec = { source: {} };
    await client.create("VolumeSnapshot", draftOf("VolumeSnapshot", { namespace, name: "hopeless" }, { spec }));
    await stand.untilReported("hopeless", /Exactly one/);
    await stand.remove("hopeless");
  });

  test("a content with an empty handle and its snapshot have an error, and both work once the handle is set", async () => {
    await stand.take("original", "data", stand.classes.retain);
    await stand.untilReady("original");
    const { snapshotHandle } = (await stand.contentOf("original")).status ?? {};
    const ref = { kind: "VolumeSnapshotContent", name: "by-hand" } as const;
    const volumeSnapshotRef = { namespace, name: "adopted" };
    const source = { snapshotHandle: "" };
    const spec = { driver: stand.fixtures.driver, deletionPolicy: "Delete" as const, source, volumeSnapshotRef };
    await client.create("VolumeSnapshotContent", draftOf("VolumeSnapshotContent", ref, { spec }));
    const adopting = { source: { volumeSnapshotContentName: ref.name } };
    await client.create(
      "VolumeSnapshot",
      draftOf("VolumeSnapshot", { namespace, name: "adopted" }, { spec: adopting }),
    );
    await stand.untilReported(
      "adopted",
      /of VolumeSnapshotContent by-hand has neither \(an empty handle is none\); give one/,
    );
    await client.patch(ref, { type: "merge", body: { spec: { source: { snapshotHandle } } } });
    assert.equal((await stand.untilReady("adopted")).status?.error, undefined);
    assert.equal((await client.get(ref)).status?.error, undefined);
    await stand.remove("original");
    await stand.remove("adopted");
    const left = (await client.list("VolumeSnapshotContent")).objects;
    for (const { metadata } of left) await client.delete({ kind: ref.kind, name: metadata.name });
    for (const { metadata } of left) await stand.untilGone({ kind: ref.kind, name: metadata.name });
    assert.deepEqual(await stand.handles(), []);
  });

  const recorded =
    /^Exactly one of VolumeHandle and SnapshotHandle should be specified: .* has (both; leave|neither .*; give) one/;
  const twoOrNone = { both: { volumeHandle: "v", snapshotHandle: "s" }, neither: {} };
  for (const [which, source] of Object.entries(twoOrNone))
    test(`a content with ${which} of the two handles has an error, is never passed to the driver, and can be deleted`, async () => {
      const volumeSnapshotRef = { namespace, name: "nobody", uid: "0d1f4c52-5b6e-4f0c-9f0e-1f2d3c4b5a69" };
      const spec = { driver: stand.fixtures.driver, deletionPolicy: "Delete" as const, source, volumeSnapshotRef };
      const ref = { kind: "VolumeSnapshotContent", name: `content-with-${which}` } as const;
      await client.create("VolumeSnapshotContent", draftOf("VolumeSnapshotContent", ref, { spec }));
      await until({ what: "there is an event" }, async () =>
        (await client.list("Event")).objects.some(
          ({ reason, message, involvedObject }) =>
            reason === "ContentValidationError" && involvedObject.name === ref.name && recorded.test(message ?? ""),
        )
          ? true
          : undefined,
      );
      const { status } = await client.get(ref);
      assert.match(status?.error?.message ?? "", recorded);
      assert.deepEqual([status?.readyToUse, status?.snapshotHandle], [false, undefined]);
      await client.delete(ref);
      await stand.untilGone(ref);
    });
});
