/**
 * Demonstrates a snapshot: writes a file to a volume, takes a snapshot, overwrites the file, checks the snapshot's content and deletes
 * everything. Each step prints its result or its error.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { draftOf } from "../../api/builders.ts";
import type { KindName } from "../../api/kinds.ts";
import type { Ref } from "../../api/plan.ts";
import type { ObjectOf, VolumeSnapshot } from "../../api/types.ts";
import { Fault, isFault } from "../../base/fault.ts";
import type { World } from "../../base/world.ts";
import type { Writer } from "../../runtime/command.ts";
import { claimRef, createDemoObjects, demoObjects, fileIn, names, namespace } from "./demo-objects.ts";
import { driverName, type Stack } from "./stack.ts";

interface Guide {
  readonly stack: Stack;
  readonly world: World;
  readonly out: Writer;
  readonly signal: AbortSignal;
}

const snapshotName = "monday";
const first = "the first words\n";
const waitMsMax = 10_000;
const lookEveryMs = 20;

/** True when every step held. */
export async function tour(guide: Guide): Promise<boolean> {
  const steps: readonly (readonly [string, () => Promise<string>])[] = [
    ["a claim is bound to a volume with a file", () => prepare(guide)],
    ["a snapshot of the claim is ready to use", () => takeSnapshot(guide)],
    ["the file in the volume is overwritten", () => spoil(guide)],
    ["the snapshot still holds the first words", () => lookInside(guide)],
    ["everything is deleted and nothing is left", () => leaveNothing(guide)],
  ];
  for (const [claim, step] of steps) {
    if (guide.signal.aborted) return interrupted(guide);
    const startedAt = guide.world.elapsed();
    try {
      const detail = await step();
      guide.out.write(`  ✓ ${claim} (${Math.round(guide.world.elapsed() - startedAt)} ms)\n      ${detail}\n`);
    } catch (reason) {
      if (guide.signal.aborted) return interrupted(guide);
      guide.out.write(`  ✗ ${claim}: ${Fault.from(reason).message}\n`);
      return false;
    }
  }
  return true;
}

function interrupted({ out }: Guide): false {
  out.write("  interrupted before the demo was complete\n");
  return false;
}

async function prepare(guide: Guide): Promise<string> {
  const handle = await createDemoObjects(guide.stack, first);
  await until(
    guide,
    claimRef,
    `PersistentVolumeClaim ${namespace}/${names.claim} was not bound`,
    ({ status }) => status?.phase === "Bound",
  );
  return `PersistentVolumeClaim ${namespace}/${names.claim} → volume ${handle} of ${driverName}`;
}

const snapshotRef = { kind: "VolumeSnapshot", namespace, name: snapshotName } as const;

async function takeSnapshot(guide: Guide): Promise<string> {
  const source = { persistentVolumeClaimName: names.claim };
  await guide.stack.client.create(
    "VolumeSnapshot",
    draftOf("VolumeSnapshot", snapshotRef, { spec: { source, volumeSnapshotClassName: names.class } }),
  );
  const { status } = await until(
    guide,
    snapshotRef,
    `VolumeSnapshot ${namespace}/${snapshotName} was not ready`,
    ready,
  );
  return `VolumeSnapshot ${namespace}/${snapshotName} → ${status?.boundVolumeSnapshotContentName}, taken at ${status?.creationTime}`;
}
const ready = ({ status }: VolumeSnapshot): boolean => status?.readyToUse === true;

async function spoil(guide: Guide): Promise<string> {
  const path = fileIn(guide.stack);
  await writeFile(path, "spoiled\n");
  return `${path} now reads: spoiled`;
}

async function lookInside({ stack: { client, driver } }: Guide): Promise<string> {
  const { status } = await client.get(snapshotRef);
  const content = await client.get({
    kind: "VolumeSnapshotContent",
    name: status?.boundVolumeSnapshotContentName ?? "",
  });
  const snapshot = driver.storage.snapshots.get(content.status?.snapshotHandle ?? "");
  if (snapshot === undefined) throw new Fault("NotFound", "the driver does not know the snapshot");
  const path = join(driver.storage.snapshotDataOf(snapshot), names.file);
  const text = await readFile(path, "utf8");
  if (text !== first)
    throw new Fault("DataLoss", `${path} reads ${JSON.stringify(text)}, expected ${JSON.stringify(first)}`);
  return `${path} still reads: ${text.trim()}`;
}

async function leaveNothing(guide: Guide): Promise<string> {
  const { client, csi, driver } = guide.stack;
  await client.delete(snapshotRef);
  await gone(guide, snapshotRef);
  for (const ref of demoObjects) {
    await client.delete(ref);
    await gone(guide, ref);
  }
  await csi.controller.deleteVolume({ volumeId: names.volume });
  const left =
    [...driver.storage.volumes.all(), ...driver.storage.snapshots.all()].length +
    (await client.list("VolumeSnapshotContent")).objects.length;
  if (left > 0) throw new Fault("FailedPrecondition", `${left} volumes, snapshots or contents are left`);
  return "no VolumeSnapshot, no content, no file";
}

async function until<K extends KindName>(
  { stack, world, signal }: Guide,
  ref: Ref<K>,
  problem: string,
  holds: (object: ObjectOf<K>) => boolean,
): Promise<ObjectOf<K>> {
  const giveUpAt = world.elapsed() + waitMsMax;
  for (;;) {
    const object = await stack.client.get(ref, { signal });
    if (holds(object)) return object;
    if (world.elapsed() > giveUpAt)
      throw new Fault("DeadlineExceeded", `${problem} after ${waitMsMax / 1000} s: ${stateOf(object)}`);
    await world.sleep(lookEveryMs, signal);
  }
}

/** What it says of itself: the error is written for people, the rest of a status is not. */
function stateOf(object: object): string {
  const { status } = object as { readonly status?: { readonly error?: { readonly message?: string } } };
  return status?.error?.message ?? `its status is ${JSON.stringify(status ?? {})}`;
}

async function gone(guide: Guide, ref: Ref): Promise<void> {
  try {
    await until(guide, ref, `${ref.kind} ${ref.name} was not deleted`, () => false);
  } catch (reason) {
    if (!isFault(reason, "NotFound")) throw reason;
  }
}
