/** How much a burst of snapshots asks of the API server, counted from its own record. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { draftOf } from "../../src/api/builders.ts";
import { annotations, finalizers } from "../../src/api/names.ts";
import type { AuditEntry } from "./harness/audit.ts";
import { type Connection, connect } from "./harness/client.ts";
import {
  aBoundClaim,
  aClassFor,
  csiClientTo,
  type Furniture,
  installSnapshotCrds,
  startComponent,
} from "./harness/components.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { startHostpath } from "./harness/hostpath.ts";
import { until } from "./harness/until.ts";

const namespace = "default";
const claims = ["one", "two", "three", "four", "five"];
const count = 50;
const names = Array.from({ length: count }, (_, index) => `burst-${index}`);

let plane: ControlPlane;
let connection: Connection;
let furniture: Furniture;

describe("what snapshots cost the API server", () => {
  before(async () => {
    plane = await startControlPlane();
    connection = await connect(plane.kubeconfig);
    const hostpath = await startHostpath(plane.instance);
    furniture = { client: connection.client, csi: csiClientTo(hostpath.socket), driver: hostpath.driver, namespace };
    await installSnapshotCrds(connection.client);
    await aClassFor(furniture, "burst", "Delete");
    for (const claim of claims) await aBoundClaim(furniture, claim);
    startComponent(plane, "snapshot-controller");
    startComponent(plane, "csi-snapshotter", [`--csi-address=${hostpath.socket}`]);
    // One first, so that starting up is not counted.
    await take(["first"]);
    await untilAll("the first snapshot is ready", isReady);
    await untilUnprotected();
  });
  after(() => {
    furniture?.csi.close();
    connection?.close();
    plane?.stop();
  });

  const take = (wanted: readonly string[]) =>
    Promise.all(
      wanted.map((name, index) => {
        const source = { persistentVolumeClaimName: claims[index % claims.length] ?? "" };
        const spec = { source, volumeSnapshotClassName: "burst" };
        return furniture.client.create("VolumeSnapshot", draftOf("VolumeSnapshot", { namespace, name }, { spec }));
      }),
    );

  type Snapshot = Awaited<ReturnType<typeof snapshots>>[number];
  const snapshots = async () => (await furniture.client.list("VolumeSnapshot", { namespace })).objects;
  const isReady = ({ status }: Snapshot): boolean => status?.readyToUse === true;
  const untilAll = (what: string, holds: (snapshot: Snapshot) => boolean) =>
    until({ what, msMax: 120_000, everyMs: 500 }, async () => ((await snapshots()).every(holds) ? true : undefined));
  const untilUnmarked = () =>
    until({ what: "no content is marked", msMax: 60_000, everyMs: 500 }, async () => {
      const { objects } = await furniture.client.list("VolumeSnapshotContent");
      const isMarked = objects.some(({ metadata }) => metadata.annotations?.[annotations.beingCreated] !== undefined);
      return isMarked ? undefined : true;
    });

  /** A claim is let go a little after its last snapshot was cut. */
  const untilUnprotected = () =>
    until({ what: "all claims are let go", msMax: 60_000, everyMs: 500 }, async () => {
      const { objects } = await furniture.client.list("PersistentVolumeClaim", { namespace });
      return objects.some(({ metadata }) => metadata.finalizers?.includes(finalizers.claimAsSource)) ? undefined : true;
    });

  const isOurs = ({ userAgent = "" }: AuditEntry): boolean =>
    /^(snapshot-controller|csi-snapshotter)\//.test(userAgent);
  const isUpkeep = ({ verb, objectRef }: AuditEntry): boolean => objectRef?.resource === "leases" || verb === "watch";
  const resourceOf = ({ objectRef }: AuditEntry): string => objectRef?.resource ?? "";
  const isRead = ({ verb }: AuditEntry): boolean => verb === "get" || verb === "list";

  /** What our components asked since then, but for leases and watches. */
  const asked = (from: number): readonly AuditEntry[] =>
    plane.auditLog(from).filter((entry) => isOurs(entry) && !isUpkeep(entry));
  const writesIn = (entries: readonly AuditEntry[]): readonly AuditEntry[] =>
    entries.filter((entry) => !isRead(entry) && resourceOf(entry) !== "events");
  const told = (entries: readonly AuditEntry[]): string => {
    const counts = new Map<string, number>();
    for (const { verb, objectRef } of entries) {
      const row = `${verb} ${objectRef?.resource}/${objectRef?.subresource ?? ""}`;
      counts.set(row, (counts.get(row) ?? 0) + 1);
    }
    return [...counts].map(([row, times]) => `${times} × ${row}`).join("\n");
  };
  /** The finalizer of a claim comes with the first snapshot and goes with the last, whatever their number. */
  const claimWritesMax = 2 * claims.length;

  test("in a burst over few claims a snapshot costs at most six writes and no reads until it is ready", async () => {
    const from = plane.auditMark();
    await take(names);
    await untilAll("all snapshots are ready", isReady);
    await untilUnmarked();
    await untilUnprotected();
    await sleep(1_000); // For whatever should not come any more.
    const entries = asked(from);
    const writes = writesIn(entries);
    const ofClaims = writes.filter((entry) => resourceOf(entry) === "persistentvolumeclaims");
    assert.deepEqual(entries.filter(isRead), []);
    assert.ok(writes.length - ofClaims.length <= 6 * count, told(entries));
    assert.ok(ofClaims.length <= claimWritesMax, told(entries));
  });

  test("deleting them all costs at most four writes each, and two looks to be sure", async () => {
    const from = plane.auditMark();
    await Promise.all(names.map((name) => furniture.client.delete({ kind: "VolumeSnapshot", namespace, name })));
    await untilAll("all snapshots of the burst are gone", ({ metadata }) => metadata.name === "first");
    const entries = asked(from);
    assert.ok(entries.filter(isRead).length <= 2 * count, told(entries));
    assert.ok(writesIn(entries).length <= 4 * count, told(entries));
  });
});
