/** The whole controller on an API server in memory: what only shows when decisions, writes and watches play together. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim, aClass, aSnapshot, aVolume, driver } from "../../../test/builders.ts";
import { createFakeKube, type Hook } from "../../../test/fake-kube.ts";
import { createVirtualWorld } from "../../../test/virtual-world.ts";
import { draftOf } from "../../api/builders.ts";
import { annotations, finalizers, labels } from "../../api/names.ts";
import { keyOf } from "../../api/types.ts";
import { Fault } from "../../base/fault.ts";
import { silent } from "../../base/log.ts";
import { createNodeFinder } from "../../kube/node-finder.ts";
import { createSnapshotController } from "./index.ts";

const claimRef = { namespace: "team", name: "data" };
const volume = aVolume({ spec: { csi: { driver, volumeHandle: "vol-1" }, claimRef } });
const hostname = "kubernetes.io/hostname";
const onlyOnFar = {
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key: hostname, operator: "In", values: ["far"] }] }] },
};
const aNode = (name: string, nodeLabels: Record<string, string>) =>
  draftOf("Node", { name, labels: nodeLabels }, {} as never);

interface Setting {
  /** A kind whose object comes right after the caches are synced, before the snapshot. */
  readonly late?: string;
  readonly grantFor?: () => string | undefined;
  readonly onGrantsChange?: (listener: (namespace: string) => void) => void;
  readonly hook?: Hook;
  readonly pv?: typeof volume;
  readonly policy?: "Delete" | "Retain";
}

/** A cluster with a bound claim, a class and a snapshot of it, and a controller that takes snapshots node by node. */
async function setUp({ hook, pv = volume, policy = "Delete", grantFor, onGrantsChange, late }: Setting = {}) {
  const world = createVirtualWorld();
  let isRunning = false;
  const kube = createFakeKube((call, when) => (isRunning ? hook?.(call, when) : undefined));
  const objects = [aClaim(), pv, aClass({ deletionPolicy: policy }), aSnapshot()];
  const isLate = ({ kind }: { kind: string }): boolean => late !== undefined && [late, "VolumeSnapshot"].includes(kind);
  for (const object of objects.filter((object) => !isLate(object)))
    await kube.create(object.kind as never, object as never);
  isRunning = true;
  const recorded: string[] = [];
  const nodes = createNodeFinder(kube, { world, log: silent });
  const controller = createSnapshotController({
    api: kube,
    world,
    log: silent,
    options: { preventVolumeModeConversion: true, placeOf: nodes.placeOf, grantFor },
    onPlacesChange: nodes.onChange,
    onGrantsChange,
    workers: 4,
    backoff: { startMs: 100, maxMs: 1_000 },
    record: (about, { type, reason }) => void recorded.push(`${type} ${reason} of ${about.kind} ${keyOf(about)}`),
  });
  const stop = new AbortController();
  const watching = [nodes.watch(stop.signal), controller.watch(stop.signal)];
  await nodes.synced(stop.signal);
  const running = Promise.all([...watching, controller.run(stop.signal)]);
  if (late !== undefined) await world.advance(100);
  for (const object of objects.filter(isLate)) await kube.create(object.kind as never, object as never);
  await world.advance(10_000);
  return {
    kube,
    world,
    told: recorded,
    errorOf: () => kube.stored("VolumeSnapshot")[0]?.status?.error?.message,
    end: async () => {
      stop.abort();
      await world.run(running.catch(() => undefined));
    },
  };
}

const brokenDown = new Fault("Internal", "the server broke down");

/** Refuses the first calls that are meant, each with this fault. */
function refusing(times: number, fault: Fault, isMeant: (call: Parameters<Hook>[0]) => boolean): Hook {
  let left = times;
  return (call, when) => {
    if (when === "after" || !isMeant(call) || left === 0) return;
    left -= 1;
    throw fault;
  };
}

test("a snapshot whose volume no node reaches has an error, and is taken as soon as a node reaches it", async () => {
  const pv = { ...volume, spec: { ...volume.spec, nodeAffinity: onlyOnFar } } as typeof volume;
  const { kube, world, told, errorOf, end } = await setUp({ pv });
  assert.match(errorOf() ?? "", /no node matches spec\.nodeAffinity of volume pv-1/);
  assert.deepEqual(told, ["Warning SnapshotContentCreationFailed of VolumeSnapshot team/monday"]);
  await kube.create("Node", aNode("near", { [hostname]: "near" }));
  await world.advance(1_000);
  assert.deepEqual(kube.stored("VolumeSnapshotContent"), []);
  await kube.create("Node", aNode("far-away", { [hostname]: "far" }));
  await world.advance(1_000);
  const [content] = kube.stored("VolumeSnapshotContent");
  assert.equal(content?.metadata.labels?.[labels.managedBy], "far-away");
  await end();
});

test("an event is sent once, for its snapshot, even if the status write failed before", async () => {
  const { kube, world, told, errorOf, end } = await setUp({
    pv: { ...volume, spec: { claimRef } },
    hook: refusing(3, brokenDown, ({ verb, kind }) => verb === "patch" && kind === "VolumeSnapshot"),
  });
  assert.equal(kube.calls.filter(({ verb, kind }) => verb === "patch" && kind === "VolumeSnapshot").length, 4);
  assert.match(errorOf() ?? "", /non-CSI/);
  await world.advance(60_000);
  assert.deepEqual(told, ["Warning SnapshotContentCreationFailed of VolumeSnapshot team/monday"]);
  await end();
});

const refusals: readonly { verb: string; kind: string; reason: string }[] = [
  { verb: "create", kind: "VolumeSnapshotContent", reason: "CreateSnapshotContentFailed" },
  { verb: "replace", kind: "PersistentVolumeClaim", reason: "ErrorPVCFinalizer" },
  { verb: "patch", kind: "VolumeSnapshot", reason: "SnapshotFinalizerError" },
];
for (const { verb, kind, reason } of refusals)
  test(`a forbidden ${verb} of a ${kind} is reported to the user, and repeated once it is allowed`, async () => {
    const forbidden = new Fault("PermissionDenied", "not allowed");
    const { kube, told, end } = await setUp({
      hook: refusing(3, forbidden, (call) => call.verb === verb && call.kind === kind),
    });
    const about = "of VolumeSnapshot team/monday";
    const each = `Warning ${reason} ${about}`;
    assert.deepEqual(told, [each, each, each, `Normal CreatingSnapshot ${about}`]);
    assert.equal(kube.stored("VolumeSnapshotContent").length, 1);
    await end();
  });

test("a write conflict is retried and not reported to the user", async () => {
  const conflict = new Fault("Conflict", "the object has been modified");
  const { kube, told, errorOf, end } = await setUp({
    hook: refusing(6, conflict, ({ verb }) => verb === "patch" || verb === "replace" || verb === "create"),
  });
  assert.equal(kube.stored("VolumeSnapshotContent").length, 1);
  assert.equal(errorOf(), undefined);
  assert.deepEqual(told, ["Normal CreatingSnapshot of VolumeSnapshot team/monday"]);
  await end();
});

test("a retained content gets the being-deleted annotation after failed writes, before its snapshot is released", async () => {
  const isMark = ({ verb, kind }: { verb: string; kind: string }) =>
    verb === "patch" && kind === "VolumeSnapshotContent";
  const { kube, world, end } = await setUp({ policy: "Retain", hook: refusing(3, brokenDown, isMark) });
  await kube.delete({ kind: "VolumeSnapshot", namespace: "team", name: "monday" });
  await world.advance(60_000);
  const [content] = kube.stored("VolumeSnapshotContent");
  assert.deepEqual([kube.calls.filter(isMark).length, kube.stored("VolumeSnapshot").length], [4, 0]);
  assert.equal(content?.metadata.annotations?.[annotations.beingDeleted], "yes");
  assert.equal(content?.metadata.deletionTimestamp, undefined);
  await end();
});

test("a claim of another namespace stops blocking a deletion when its grant is deleted", async () => {
  let isGranted = true;
  let grantsChanged: (namespace: string) => void = () => undefined;
  const { kube, world, told, end } = await setUp({
    grantFor: () => (isGranted ? "lend" : undefined),
    onGrantsChange: (listener) => {
      grantsChanged = listener;
    },
  });
  const [content] = kube.stored("VolumeSnapshotContent");
  const status = { readyToUse: true, snapshotHandle: "s-1" };
  await kube.patch(
    { kind: "VolumeSnapshotContent", name: content?.metadata.name ?? "" },
    { type: "merge", body: { status } },
  );
  const dataSourceRef = {
    apiGroup: "snapshot.storage.k8s.io",
    kind: "VolumeSnapshot",
    name: "monday",
    namespace: "team",
  };
  const reader = aClaim({ metadata: { namespace: "abroad", name: "copy" }, spec: { dataSourceRef } as never });
  await kube.create("PersistentVolumeClaim", { ...reader, status: { phase: "Pending" } } as never);
  const snapshot = { kind: "VolumeSnapshot", namespace: "team", name: "monday" } as const;
  const finalizersOn = async () => (await kube.get(snapshot)).metadata.finalizers ?? [];
  const stored = [...(await finalizersOn()), finalizers.snapshotRestoring];
  await kube.patch(snapshot, { type: "merge", body: { metadata: { finalizers: stored } } });
  await kube.patch(snapshot, { type: "merge", body: { status: { readyToUse: true } } });
  await kube.delete(snapshot);
  await world.advance(60_000);
  assert.ok(told.includes("Warning SnapshotDeletePending of VolumeSnapshot team/monday"));
  assert.equal(kube.stored("VolumeSnapshotContent")[0]?.metadata.deletionTimestamp, undefined);
  isGranted = false;
  grantsChanged("other");
  await world.advance(1_000);
  assert.equal(kube.stored("VolumeSnapshotContent")[0]?.metadata.deletionTimestamp, undefined);
  grantsChanged("team");
  await world.advance(1_000);
  assert.notEqual(kube.stored("VolumeSnapshotContent")[0]?.metadata.deletionTimestamp, undefined);
  await end();
});

/** What the server has and the watch has not brought yet. */
const lates: readonly { what: string; kind: "VolumeSnapshotClass" | "PersistentVolumeClaim" | "PersistentVolume" }[] = [
  { what: "a class", kind: "VolumeSnapshotClass" },
  { what: "a claim", kind: "PersistentVolumeClaim" },
  { what: "a volume", kind: "PersistentVolume" },
];
const silence = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_, reject) => {
    signal?.addEventListener("abort", () => reject(new Fault("Cancelled", "told to stop")), { once: true });
  });
for (const { what, kind } of lates)
  test(`${what} that is missing in the cache is read from the server before the user gets an error`, async () => {
    const isWatch = (call: Parameters<Hook>[0]): boolean => call.verb === "watch" && call.kind === kind;
    const { kube, told, errorOf, end } = await setUp({
      late: kind,
      // The list was empty, and the watch is silent.
      hook: (call, when) => (when === "before" && isWatch(call) ? silence(call.signal) : undefined),
    });
    assert.equal(errorOf(), undefined);
    assert.deepEqual(told, ["Normal CreatingSnapshot of VolumeSnapshot team/monday"]);
    assert.equal(kube.calls.filter((call) => call.verb === "get" && call.kind === kind).length, 1);
    await end();
  });
