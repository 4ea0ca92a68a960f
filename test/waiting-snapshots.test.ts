/** A stuck snapshot at --v=4, on the embedded API server: the log says why it waits, and the gauge counts it by that reason. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { draftOf } from "../src/api/builders.ts";
import type { ReasonCode } from "../src/api/reasons.ts";
import { Fault } from "../src/base/fault.ts";
import { type SnapshotStage, startSnapshotComponents } from "./snapshot-components.ts";

type Stage = Awaited<ReturnType<typeof startSnapshotComponents>>;

interface Row {
  readonly given: string;
  readonly create?: SnapshotStage["create"];
  /** What is there and happens, up to the stuck object. */
  happens(stage: Stage): Promise<unknown>;
  readonly reason: ReasonCode;
  readonly says: RegExp;
  /** How many objects wait, by component and reason; absent: the snapshot alone waits. */
  readonly waiting?: Readonly<Record<string, number>>;
}

const never = (): Promise<never> => new Promise(() => undefined);
const monday = { kind: "VolumeSnapshot", namespace: "default", name: "monday" } as const;

async function takeSnapshot(stage: Stage, isThere = { hasClass: true, hasClaim: true }): Promise<void> {
  if (isThere.hasClass) await stage.createClass("fast");
  if (isThere.hasClaim) await stage.createClaim();
  await stage.createSnapshot();
}

async function contentOf({ run, client }: Stage) {
  const { objects } = await run(client.list("VolumeSnapshotContent"));
  const [content] = objects;
  assert.ok(content !== undefined);
  return { kind: "VolumeSnapshotContent", name: content.metadata.name } as const;
}

async function deleteByForce(stage: Stage): Promise<void> {
  const { run, client, world } = stage;
  const content = await contentOf(stage);
  await run(client.delete(content));
  await run(client.patch(content, { type: "merge", body: { metadata: { finalizers: null } } }));
  await world.advance(10_000);
}

async function restore({ run, client, world }: Stage): Promise<void> {
  const source = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "monday" };
  const spec = {
    accessModes: ["ReadWriteOnce"],
    storageClassName: "slow",
    resources: { requests: { storage: "1Mi" } },
    dataSource: source,
  };
  const copy = draftOf("PersistentVolumeClaim", { namespace: "default", name: "copy" }, { spec });
  await run(client.create("PersistentVolumeClaim", copy));
  await world.advance(1_000);
}

async function deleteSnapshot({ run, client, world }: Stage): Promise<void> {
  await run(client.delete(monday));
  await world.advance(10_000);
}

const rows: readonly Row[] = [
  {
    given: "a snapshot whose claim is missing",
    happens: (stage) => takeSnapshot(stage, { hasClass: true, hasClaim: false }),
    reason: "ClaimNotFound",
    says: /claim default\/data not found: create it/,
  },
  {
    given: "a snapshot whose claim has no volume",
    happens: async (stage) => {
      await stage.createClass("fast");
      await stage.createClaim({ isBound: false });
      await stage.createSnapshot();
    },
    reason: "ClaimNotBound",
    says: /claim default\/data is not bound to a volume/,
  },
  {
    given: "a snapshot whose class is missing",
    happens: (stage) => takeSnapshot(stage, { hasClass: false, hasClaim: true }),
    reason: "ClassNotFound",
    says: /volumesnapshotclass "fast" not found/,
  },
  {
    given: "a snapshot whose class is another driver's",
    happens: async (stage) => {
      await stage.createClass("tape", "tape.example.com");
      await stage.createClaim();
      await stage.createSnapshot("tape");
    },
    reason: "ClassNotUsable",
    says: /class tape is for driver tape\.example\.com, but the volume belongs to driver disk\.example\.com/,
  },
  {
    given: "a snapshot whose driver is down, with its sidecar",
    happens: takeSnapshot,
    reason: "WaitsForSidecar",
    says: /^no csi-snapshotter of driver disk\.example\.com has acted on VolumeSnapshotContent snapcontent-\S+ yet$/,
  },
  {
    given: "a snapshot whose driver does not answer",
    create: never,
    happens: takeSnapshot,
    reason: "WaitsForDriver",
    says: /^driver disk\.example\.com is asked for CreateSnapshot for VolumeSnapshotContent snapcontent-/,
    waiting: { "snapshot-controller WaitsForDriver": 1, "csi-snapshotter WaitsForDriver": 1 },
  },
  {
    given: "a snapshot whose driver fails",
    create: () => Promise.reject(new Fault("ResourceExhausted", "pool is full")),
    happens: takeSnapshot,
    reason: "DriverFailed",
    says: /^VolumeSnapshotContent snapcontent-\S+ has an error: .*pool is full.* \[SNAP-501\]$/,
    waiting: { "snapshot-controller DriverFailed": 1, "csi-snapshotter DriverFailed": 1 },
  },
  {
    given: "a ready snapshot whose content was deleted",
    create: "takes it",
    happens: async (stage) => {
      await takeSnapshot(stage);
      await deleteByForce(stage);
    },
    reason: "ContentLost",
    says: /snapcontent-\S+ was removed although the snapshot still needs it/,
  },
  {
    given: "a deleted snapshot that a claim is being restored from",
    create: "takes it",
    happens: async (stage) => {
      await takeSnapshot(stage);
      await restore(stage);
      await deleteSnapshot(stage);
    },
    reason: "InUseByClaim",
    says: /^Snapshot is being used to restore a PVC: default\/copy/,
  },
];

/** Decisions of the snapshot's controller, one after the other; what is decided again with other writes is one. */
function decisionsOn(stage: Stage) {
  const lines = stage.decisionsOn("default/monday");
  return lines.filter(({ reason, says }, index) => {
    const before = lines[index - 1];
    return before === undefined || before.reason !== reason || before.says !== says;
  });
}

for (const { given, create, happens, reason, says, waiting } of rows)
  test(`given ${given}, one decision names ${reason}, and the gauge counts it`, async () => {
    const stage = await startSnapshotComponents({ create });
    await happens(stage);
    const decisions = decisionsOn(stage);
    assert.deepEqual(
      decisions.filter((decision) => decision.reason === reason),
      decisions.slice(-1),
    );
    assert.match(decisions.at(-1)?.says ?? "", says);
    assert.deepEqual(await stage.waiting(), waiting ?? { [`snapshot-controller ${reason}`]: 1 });
    await stage.end();
  });

test("a snapshot that waits no longer is not counted, and the log tells its whole way", async () => {
  const stage = await startSnapshotComponents({ create: "takes it" });
  await takeSnapshot(stage, { hasClass: true, hasClaim: false });
  assert.deepEqual(await stage.waiting(), { "snapshot-controller ClaimNotFound": 1 });
  await stage.createClaim();
  await stage.world.advance(10_000);
  assert.deepEqual(await stage.waiting(), {});
  const way = decisionsOn(stage).map(({ phase, reason }) => `${phase} ${reason}`);
  assert.deepEqual(way.slice(0, 1), ["invalid ClaimNotFound"]);
  assert.deepEqual(way.slice(-2), ["waiting Writes", "ready Settled"]);
  await deleteSnapshot(stage);
  assert.deepEqual(decisionsOn(stage).at(-1)?.reason, "Released");
  assert.deepEqual(await stage.waiting(), {});
  await stage.end();
});
