/** The whole sidecar on an API server in memory and a driver of a few lines. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aClass, aContent, driver } from "../../../test/builders.ts";
import { createFakeKube, type Hook } from "../../../test/fake-kube.ts";
import { createVirtualWorld } from "../../../test/virtual-world.ts";
import { annotations, finalizers } from "../../api/names.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import { Fault } from "../../base/fault.ts";
import { silent } from "../../base/log.ts";
import type { CsiClient } from "../../csi/client.ts";
import { createCsiSnapshotter } from "./index.ts";

type Answer = { readonly snapshotId: string; readonly readyToUse: boolean };

interface Setting {
  readonly contents: readonly VolumeSnapshotContent[];
  readonly hook?: Hook;
  readonly callsAtOnce?: number;
  readonly labelSelector?: string;
  canListSnapshots?(): boolean | undefined;
  create(name: string): Promise<Answer>;
  remove?(handle: string): Promise<void>;
}

async function setUp({
  contents,
  hook,
  callsAtOnce = 10,
  labelSelector,
  canListSnapshots = () => true,
  create,
  remove,
}: Setting) {
  const world = createVirtualWorld();
  let isRunning = false;
  const kube = createFakeKube((call, when) => (isRunning ? hook?.(call, when) : undefined));
  for (const object of [aClass(), ...contents]) await kube.create(object.kind as never, object as never);
  isRunning = true;
  const reported: string[] = [];
  const failures: string[] = [];
  const createSnapshot = async ({ name }: { name: string }) => ({
    snapshot: { sizeBytes: 1n, creationTime: { seconds: 1_750_000_000n, nanos: 0 }, ...(await create(name)) },
  });
  const deleteSnapshot = async ({ snapshotId }: { snapshotId: string }) => void (await remove?.(snapshotId));
  const sidecar = createCsiSnapshotter({
    api: kube,
    csi: { controller: { createSnapshot, deleteSnapshot } } as unknown as CsiClient,
    facts: () => ({ driver, canListSnapshots: canListSnapshots() }),
    options: { snapshotNamePrefix: "snapshot", snapshotNameUuidLength: -1, extraCreateMetadata: false },
    world,
    log: silent,
    callsAtOnce,
    labelSelector,
    backoff: { startMs: 1_000, maxMs: 300_000 },
    poll: { startMs: 1_000, maxMs: 30_000 },
    failed: (operation) => void failures.push(operation),
    count: (what) => void reported.push(what),
    record: (about, { reason }) => void reported.push(`${reason} of ${about.metadata.name}`),
  });
  const stop = new AbortController();
  const running = Promise.all([sidecar.watch(stop.signal), sidecar.run(stop.signal)]);
  running.catch(() => undefined);
  const stored = (name: string) => kube.stored("VolumeSnapshotContent").find(({ metadata }) => metadata.name === name);
  return {
    kube,
    world,
    reported,
    failures,
    stored,
    running,
    remembered: sidecar.remembered,
    factsChanged: sidecar.factsChanged,
    stop: () => stop.abort(),
  };
}

/** No watch tells anything: of its own writes the sidecar knows by their answers. */
const withoutEvents: Hook = ({ verb }, when) => (verb === "watch" && when === "after" ? never() : undefined);
const never = (): Promise<never> => new Promise(() => undefined);

test("a driver without replies delays its own calls and nothing else", async () => {
  const asked: string[] = [];
  const terminating = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [finalizers.contentBound] };
  const retained = aContent({
    metadata: { name: "retained", ...terminating, annotations: { [annotations.beingDeleted]: "yes" } },
    spec: { deletionPolicy: "Retain" },
  });
  const wrong = aContent({ metadata: { name: "wrong" }, spec: { volumeSnapshotClassName: "nobody-made-this" } });
  const { world, reported, stored, stop } = await setUp({
    contents: [aContent({ metadata: { name: "slow" } }), aContent({ metadata: { name: "next" } }), retained, wrong],
    callsAtOnce: 1,
    create: (name) => {
      asked.push(name);
      return never();
    },
  });
  await world.advance(1_000);
  assert.deepEqual(asked, ["snapshot-uid-snap"]);
  assert.equal(stored("retained"), undefined);
  assert.deepEqual(reported, ["SnapshotCreationFailed of wrong"]);
  assert.match(stored("wrong")?.status?.error?.message ?? "", /"nobody-made-this" not found/);
  stop();
});

test("twelve hanging calls delay twenty other snapshots for seconds, and no snapshot has two concurrent calls", async () => {
  const inFlight = new Set<string>();
  const contents = Array.from({ length: 32 }, (_, index) => {
    const name = `${index < 12 ? "hanging" : "other"}-${index}`;
    return aContent({ metadata: { name, uid: name }, spec: { volumeSnapshotRef: { name, uid: name } } });
  });
  const { world, stored, stop } = await setUp({
    contents,
    create: async (name) => {
      assert.ok(!inFlight.has(name), `a second CreateSnapshot ${name} is in flight`);
      inFlight.add(name);
      await world.sleep(name.includes("hanging") ? 60_000 : 20);
      inFlight.delete(name);
      if (name.includes("hanging")) throw new Fault("DeadlineExceeded", "no answer within 60000 ms");
      return { snapshotId: name, readyToUse: true };
    },
  });
  const ready = (): number => contents.filter(({ metadata }) => stored(metadata.name)?.status?.readyToUse).length;
  await world.advance(6_000);
  assert.equal(ready(), 20);
  await world.advance(600_000);
  assert.ok(inFlight.size <= 12);
  stop();
});

test("a stop finishes running calls and does not start waiting ones", async () => {
  const asked: number[] = [];
  const { world, reported, failures, running, stop } = await setUp({
    contents: Array.from({ length: 50 }, (_, index) => aContent({ metadata: { name: `content-${index}` } })),
    callsAtOnce: 2,
    create: async () => {
      asked.push(world.elapsed());
      await world.sleep(5_000);
      return { snapshotId: "s-1", readyToUse: true };
    },
  });
  await world.advance(7_000);
  stop();
  let endedAt = Number.NaN;
  void running.then(() => {
    endedAt = world.elapsed();
  });
  await world.advance(60_000);
  assert.deepEqual([asked, endedAt], [[0, 0, 5_000, 5_000], 10_000]);
  assert.deepEqual([reported, failures], [[], []]);
});

test("readiness is polled until the snapshot is ready, even without watch events", async () => {
  let times = 0;
  const { kube, world, stored, stop } = await setUp({
    contents: [aContent({ metadata: { name: "slow" } })],
    hook: withoutEvents,
    create: async () => {
      times += 1;
      return { snapshotId: "s-1", readyToUse: times === 20 };
    },
  });
  // Twenty questions, half a minute apart at most; a backoff that grew to five minutes would take an hour and a half.
  await world.advance(600_000);
  assert.deepEqual([times, stored("slow")?.status?.readyToUse], [20, true]);
  const writes = kube.calls.filter(({ verb }) => verb === "patch").length;
  assert.ok(
    writes <= 4,
    `${writes} writes: annotation, handle, readiness, removal of the annotation; a poll that changes nothing writes nothing`,
  );
  stop();
});

test("one kind of error is one event and one status, for any number of repetitions and any numbers in its text", async () => {
  let times = 0;
  const { kube, world, reported, stop } = await setUp({
    contents: [aContent({ metadata: { name: "refused" } })],
    create: async () => {
      times += 1;
      throw new Fault("FailedPrecondition", `no space left, request ${times}f3a-${times}`);
    },
  });
  await world.advance(600_000);
  assert.ok(times > 5, `${times} calls`);
  assert.deepEqual(reported, ["SnapshotCreationFailed of refused"]);
  const statuses = kube.calls.filter(({ verb, body }) => verb === "patch" && JSON.stringify(body).includes('"status"'));
  assert.equal(statuses.length, 1);
  stop();
});

test("a snapshot deleted during CreateSnapshot is deleted at the driver right after the reply, even without watch events", async () => {
  const both = { [annotations.beingCreated]: "yes", [annotations.beingDeleted]: "yes" };
  const terminating = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [finalizers.contentBound] };
  const removed: string[] = [];
  const { world, stored, stop } = await setUp({
    contents: [aContent({ metadata: { name: "unwanted", ...terminating, annotations: both } })],
    hook: withoutEvents,
    create: async () => ({ snapshotId: "s-1", readyToUse: true }),
    remove: async (handle) => void removed.push(handle),
  });
  await world.advance(1_000);
  assert.deepEqual([removed, stored("unwanted")], [["s-1"], undefined]);
  stop();
});

test("creating a missing class triggers its content at once", async () => {
  const { kube, world, stored, stop } = await setUp({
    contents: [aContent({ metadata: { name: "early" }, spec: { volumeSnapshotClassName: "late" } })],
    create: async () => ({ snapshotId: "s-1", readyToUse: true }),
  });
  await world.advance(3_600_000);
  assert.match(stored("early")?.status?.error?.message ?? "", /"late" not found/);
  const { metadata, ...late } = aClass();
  await kube.create("VolumeSnapshotClass", { ...late, metadata: { ...metadata, name: "late" } });
  await world.advance(100);
  assert.equal(stored("early")?.status?.readyToUse, true);
  stop();
});

test("with --node-deployment only contents of this node are watched, and all classes", async () => {
  const labelSelector = "snapshot.storage.kubernetes.io/managed-by=near";
  const { kube, world, stop } = await setUp({ contents: [], labelSelector, create: never });
  await world.advance(1_000);
  const scopes = kube.calls
    .filter(({ verb }) => verb === "watch")
    .map(({ kind, body }) => [kind, (body as { labelSelector?: string }).labelSelector]);
  assert.deepEqual(Object.fromEntries(scopes), {
    VolumeSnapshotContent: labelSelector,
    VolumeSnapshotClass: undefined,
  });
  stop();
});

test("an attempt that fails before the CSI call counts as failed", async () => {
  let left = 2;
  const { world, failures, stored, stop } = await setUp({
    contents: [aContent({ metadata: { name: "unannotated" } })],
    hook: ({ verb }, when) => {
      if (verb !== "patch" || when === "after" || left === 0) return;
      left -= 1;
      throw new Fault("Internal", "the server broke down");
    },
    create: async () => ({ snapshotId: "s-1", readyToUse: true }),
  });
  await world.advance(10_000);
  assert.deepEqual([failures, stored("unannotated")?.status?.readyToUse], [["CreateSnapshot", "CreateSnapshot"], true]);
  stop();
});

test("replies are forgotten when the content is deleted", async () => {
  const { kube, world, stored, remembered, stop } = await setUp({
    contents: ["a", "b", "c"].map((name) => aContent({ metadata: { name } })),
    create: async () => ({ snapshotId: "s-1", readyToUse: true }),
  });
  await world.advance(1_000);
  assert.equal(remembered(), 3);
  const ref = { kind: "VolumeSnapshotContent", name: "a" } as const;
  const annotated = { metadata: { annotations: { [annotations.beingDeleted]: "yes" } } };
  await kube.patch(ref, { type: "merge", body: annotated });
  await kube.delete(ref);
  await world.advance(1_000);
  assert.deepEqual([stored("a"), remembered()], [undefined, 2]);
  stop();
});

test("a reply for a content that was removed by force is not kept", async () => {
  const answer = Promise.withResolvers<Answer>();
  const { kube, world, stored, remembered, stop } = await setUp({
    contents: [aContent({ metadata: { name: "forced" } })],
    create: () => answer.promise,
  });
  await world.advance(1_000);
  const ref = { kind: "VolumeSnapshotContent", name: "forced" } as const;
  await kube.patch(ref, { type: "merge", body: { metadata: { finalizers: null } } });
  await kube.delete(ref);
  await world.advance(1_000);
  answer.resolve({ snapshotId: "s-1", readyToUse: true });
  await world.advance(1_000);
  assert.deepEqual([stored("forced"), remembered()], [undefined, 0]);
  stop();
});

const unreadable = async (): Promise<never> => {
  throw new Fault("MalformedReply", "no message received");
};
const terminating = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [finalizers.contentBound] };
const unreadables = [
  {
    what: "to CreateSnapshot",
    annotation: annotations.beingCreated,
    status: undefined,
    calls: "CreateSnapshot",
  },
  {
    what: "to DeleteSnapshot",
    annotation: annotations.beingDeleted,
    status: { snapshotHandle: "s-1", readyToUse: true },
    calls: "DeleteSnapshot",
  },
] as const;
for (const { what, annotation, status, calls } of unreadables)
  test(`a terminating content is released after five replies ${what} that cannot be decoded, with an event`, async () => {
    const metadata = { ...terminating, annotations: { [annotations.beingDeleted]: "yes", [annotation]: "yes" } };
    const { world, reported, failures, stored, stop } = await setUp({
      contents: [aContent({ metadata: { name: "unheard", ...metadata }, ...(status === undefined ? {} : { status }) })],
      create: unreadable,
      remove: unreadable,
    });
    await world.advance(3_000);
    assert.match(stored("unheard")?.status?.error?.message ?? "", /no message received/);
    await world.advance(60_000);
    assert.equal(stored("unheard"), undefined);
    assert.deepEqual(
      failures,
      Array.from({ length: 5 }, () => calls),
    );
    assert.equal(reported.at(-1), "SnapshotLeftAtDriver of unheard");
    stop();
  });

test("a pre-provisioned content is reconciled again when an unavailable driver returns", async () => {
  let canListSnapshots: boolean | undefined;
  const spec = { source: { snapshotHandle: "handle" } };
  const { world, stored, factsChanged, stop } = await setUp({
    contents: [aContent({ metadata: { name: "pre-provisioned" }, spec })],
    canListSnapshots: () => canListSnapshots,
    create: never,
  });
  await world.advance(60_000);
  assert.equal(stored("pre-provisioned")?.status?.readyToUse, undefined);
  canListSnapshots = false;
  factsChanged();
  await world.advance(0);
  assert.equal(stored("pre-provisioned")?.status?.readyToUse, true);
  stop();
});

test("a deletion secret that differs from the class is reported and counted once", async () => {
  const noted = { [annotations.deletionSecretName]: "admin", [annotations.deletionSecretNamespace]: "kube-system" };
  const { world, reported, failures, stop } = await setUp({
    contents: [
      aContent({
        metadata: { name: "strange", ...terminating, annotations: { ...noted, [annotations.beingDeleted]: "yes" } },
        status: { snapshotHandle: "s-1", readyToUse: true },
      }),
    ],
    create: never,
  });
  await world.advance(10_000);
  assert.ok(failures.length > 1);
  assert.deepEqual(reported, ["DeletionSecretMismatch of strange", "secretMismatch", "SnapshotDeleteError of strange"]);
  stop();
});
