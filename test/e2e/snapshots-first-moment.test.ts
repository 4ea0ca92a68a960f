/** What kubectl shows of a snapshot before any component has written its status, and that showing it changes nothing for upstream's. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { snapshotCrds } from "../../src/api/crds/index.ts";
import { Fault } from "../../src/base/fault.ts";
import { type Connection, connect } from "./harness/client.ts";
import {
  aBoundClaim,
  aClassFor,
  csiClientTo,
  type Fixtures,
  snapshotKindsServed,
  startComponent,
} from "./harness/components.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import type { Daemon } from "./harness/instance.ts";
import { createKubectl } from "./harness/kubectl.ts";
import { type OddDriver, startOddDriver } from "./harness/odd-driver.ts";
import { type Snapshots, snapshotsOf } from "./harness/snapshots.ts";
import { until } from "./harness/until.ts";
import { startUpstream, unthrottled } from "./harness/upstream.ts";
import { yaml } from "./kubectl/objects.ts";

describe("the first moment of a snapshot", () => {
  const namespace = "default";
  let plane: ControlPlane;
  let connection: Connection;
  let driver: OddDriver;
  let fixtures: Fixtures;
  let snapshots: Snapshots;
  let kubectl: ReturnType<typeof createKubectl>;

  before(async () => {
    plane = await startControlPlane();
    connection = await connect(plane.kubeconfig);
    kubectl = createKubectl(plane.kubeconfig);
    driver = await startOddDriver(plane.instance.folder);
    fixtures = { client: connection.client, csi: csiClientTo(driver.socket), driver: driver.driver, namespace };
    snapshots = snapshotsOf(fixtures);
    await define(2);
    await aClassFor(fixtures, "delete", "Delete");
  });
  after(async () => {
    fixtures?.csi.close();
    await driver?.close();
    connection?.close();
    plane?.stop();
  });

  async function define(phase: 2 | 3): Promise<void> {
    const { code, stderr } = await kubectl(["apply", "-f", "-"], {
      input: yaml(...snapshotCrds(phase, { serveV1beta1: true })),
    });
    assert.equal(code, 0, stderr);
    await snapshotKindsServed(fixtures.client);
  }

  /** The column READYTOUSE, which follows the name. */
  async function shown(name: string, resource = "volumesnapshot"): Promise<string> {
    const { stdout } = await kubectl(["get", resource, name]);
    const [header = "", row = ""] = stdout.split("\n");
    const [start, end] = [header.indexOf("READYTOUSE"), header.indexOf("SOURCEPVC")];
    assert.ok(start > 0 && end > start, stdout);
    return row.slice(start, end).trim();
  }

  const statusWrites = (since: number): readonly string[] =>
    plane
      .auditLog(since)
      .filter(({ objectRef }) => objectRef?.resource === "volumesnapshots" && objectRef.subresource === "status")
      .map(({ verb, requestURI }) => `${verb} ${requestURI}`);

  test("READYTOUSE is false before any component runs, in every version that is served and whichever is stored", async () => {
    const { status } = await snapshots.take("early", "nobody", "delete");
    assert.deepEqual(status, { readyToUse: false });
    for (const version of ["v1", "v1beta1"])
      assert.equal(await shown("early", `volumesnapshots.${version}.snapshot.storage.k8s.io`), "false");
    await define(3);
    assert.equal(await shown("early"), "false");
    await snapshots.take("newer", "nobody", "delete");
    assert.equal(await shown("newer"), "false");
    assert.deepEqual(statusWrites(0), []);
    for (const name of ["early", "newer"]) await snapshots.remove(name);
  });

  test("a snapshot shows false while the driver works, without a status that anybody wrote", async () => {
    const daemons = [
      await startComponent(plane, "snapshot-controller"),
      await startComponent(plane, "csi-snapshotter", [`--csi-address=${driver.socket}`]),
    ];
    const answer = Promise.withResolvers<object>();
    driver.oddities.set(await aBoundClaim(fixtures, "slow"), () => answer.promise);
    const start = plane.auditPosition();
    await snapshots.take("slow", "slow", "delete");
    await until({ what: "the driver is asked" }, () => (driver.asked.length > 0 ? true : undefined));
    assert.equal(await shown("slow"), "false");
    assert.deepEqual(statusWrites(start), []);
    answer.resolve({});
    await snapshots.untilReady("slow");
    assert.equal(await shown("slow"), "true");
    await snapshots.remove("slow");
    await stop(daemons);
  });

  test("upstream's pair takes, reports and deletes on these definitions as on its own", async () => {
    const daemons = [
      startUpstream(plane, "snapshot-controller", unthrottled),
      startUpstream(plane, "csi-snapshotter", [...unthrottled, `--csi-address=${driver.socket}`]),
    ];
    await aBoundClaim(fixtures, "refused");
    const refusal = new Fault("Internal", "the disk is on fire");
    driver.refusals.create.push(refusal, refusal);
    await snapshots.take("refused", "refused", "delete");
    await snapshots.untilReady("refused", 60_000);
    const { metadata } = await snapshots.contentOf("refused");
    // It tells the first failure from the later ones by a content without any status: contents have no default.
    const reasons = await until({ what: "upstream's sidecar has told of both failures" }, async () => {
      const { objects } = await fixtures.client.list("Event");
      const about = objects.filter(({ involvedObject, type }) => {
        return involvedObject.name === metadata.name && type === "Warning";
      });
      return about.length < 2 ? undefined : about.map(({ reason }) => reason ?? "");
    });
    assert.deepEqual([...reasons].sort(), ["SnapshotContentCheckandUpdateFailed", "SnapshotCreationFailed"]);
    await snapshots.remove("refused");
    await snapshots.untilUnprotected("refused");
    await until({ what: "the driver has nothing left" }, () => (driver.snapshots.size === 0 ? true : undefined));
    await stop(daemons);
  });

  const stop = (daemons: readonly Daemon[]) => Promise.all(daemons.map((daemon) => daemon.stop("SIGKILL")));
});
