/**
 * The main job before the user's eyes: files in a volume, a snapshot, the source spoiled, the snapshot's bytes intact, and nothing
 * left at the end. Each step says what is true now and fails loudly when it is not.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { draftOf } from "../../api/builders.ts";
import type { KindName } from "../../api/kinds.ts";
import type { Ref } from "../../api/plan.ts";
import type { ObjectOf, VolumeSnapshot } from "../../api/types.ts";
import { Fault, isFault } from "../../base/fault.ts";
import type { World } from "../../base/world.ts";
import { VolumeCapability_AccessMode_Mode as AccessMode } from "../../csi/gen/csi_pb.js";
import type { Writer } from "../../runtime/command.ts";
import { driverName, type Stack } from "./stack.ts";

interface Guide {
  readonly stack: Stack;
  readonly world: World;
  readonly out: Writer;
  readonly signal: AbortSignal;
}

const namespace = "default";
const names = { class: "directory", volume: "tour-data", claim: "data", snapshot: "monday" } as const;
const first = "the first words\n";
const waitMsMax = 10_000;
const lookEveryMs = 20;

/** True when every step held. */
export async function tour(guide: Guide): Promise<boolean> {
  const steps: readonly (readonly [string, () => Promise<string>])[] = [
    ["a volume behind a bound claim, with a file in it", () => furnish(guide)],
    ["a snapshot of the claim is ready to use", () => takeSnapshot(guide)],
    ["the source is spoiled", () => spoil(guide)],
    ["the snapshot still holds the first words", () => lookInside(guide)],
    ["everything is deleted and nothing is left", () => leaveNothing(guide)],
  ];
  for (const [claim, step] of steps) {
    const startedAt = guide.world.elapsed();
    try {
      const detail = await step();
      guide.out.write(`  ✓ ${claim} (${Math.round(guide.world.elapsed() - startedAt)} ms)\n      ${detail}\n`);
    } catch (reason) {
      guide.out.write(`  ✗ ${claim}: ${Fault.from(reason).message}\n`);
      return false;
    }
  }
  return true;
}

/** There is no provisioner yet, so the volume is made through the driver and written down by hand. */
async function furnish(guide: Guide): Promise<string> {
  const { client, csi } = guide.stack;
  const capacity = { storage: "1Gi" };
  const accessModes = ["ReadWriteOnce"];
  const capability = {
    accessMode: { mode: AccessMode.SINGLE_NODE_WRITER },
    accessType: { case: "mount" as const, value: {} },
  };
  const { volume } = await csi.controller.createVolume({ name: names.volume, volumeCapabilities: [capability] });
  const volumeHandle = volume?.volumeId ?? "";
  await writeFile(join(dataOf(guide), "notes.txt"), first);
  await client.create(
    "VolumeSnapshotClass",
    draftOf("VolumeSnapshotClass", { name: names.class }, { driver: driverName, deletionPolicy: "Delete" }),
  );
  const spec = {
    capacity,
    accessModes,
    persistentVolumeReclaimPolicy: "Retain",
    storageClassName: "",
    csi: { driver: driverName, volumeHandle },
    claimRef: { namespace, name: names.claim },
  };
  await client.create("PersistentVolume", draftOf("PersistentVolume", { name: names.volume }, { spec }));
  const claimSpec = { accessModes, storageClassName: "", volumeName: names.volume, resources: { requests: capacity } };
  await client.create(
    "PersistentVolumeClaim",
    draftOf("PersistentVolumeClaim", { namespace, name: names.claim }, { spec: claimSpec }),
  );
  await until(
    guide,
    { kind: "PersistentVolumeClaim", namespace, name: names.claim },
    "the claim is bound",
    ({ status }) => status?.phase === "Bound",
  );
  return `PersistentVolumeClaim ${namespace}/${names.claim} → volume ${volumeHandle} of ${driverName}`;
}

const snapshotRef = { kind: "VolumeSnapshot", namespace, name: names.snapshot } as const;

async function takeSnapshot(guide: Guide): Promise<string> {
  const source = { persistentVolumeClaimName: names.claim };
  await guide.stack.client.create(
    "VolumeSnapshot",
    draftOf(
      "VolumeSnapshot",
      { namespace, name: names.snapshot },
      { spec: { source, volumeSnapshotClassName: names.class } },
    ),
  );
  const { status } = await until(guide, snapshotRef, "the snapshot is ready", ready);
  return `VolumeSnapshot ${namespace}/${names.snapshot} → ${status?.boundVolumeSnapshotContentName}, cut at ${status?.creationTime}`;
}
const ready = ({ status }: VolumeSnapshot): boolean => status?.readyToUse === true;

async function spoil(guide: Guide): Promise<string> {
  const path = join(dataOf(guide), "notes.txt");
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
  const path = join(driver.storage.snapshotDataOf(snapshot), "notes.txt");
  const text = await readFile(path, "utf8");
  if (text !== first)
    throw new Fault("DataLoss", `${path} reads ${JSON.stringify(text)}, expected ${JSON.stringify(first)}`);
  return `${path} still reads: ${text.trim()}`;
}

async function leaveNothing(guide: Guide): Promise<string> {
  const { client, csi, driver } = guide.stack;
  await client.delete(snapshotRef);
  await gone(guide, snapshotRef);
  for (const ref of [
    { kind: "PersistentVolumeClaim", namespace, name: names.claim },
    { kind: "PersistentVolume", name: names.volume },
    { kind: "VolumeSnapshotClass", name: names.class },
  ] as const) {
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

const dataOf = ({ stack: { driver } }: Guide): string => {
  const volume = driver.storage.volumes.get(names.volume);
  if (volume === undefined) throw new Fault("NotFound", "the driver does not know the volume");
  return driver.storage.dataOf(volume);
};

async function until<K extends KindName>(
  { stack, world, signal }: Guide,
  ref: Ref<K>,
  wanted: string,
  holds: (object: ObjectOf<K>) => boolean,
): Promise<ObjectOf<K>> {
  const giveUpAt = world.elapsed() + waitMsMax;
  for (;;) {
    const object = await stack.client.get(ref, { signal });
    if (holds(object)) return object;
    if (world.elapsed() > giveUpAt)
      throw new Fault(
        "DeadlineExceeded",
        `after ${waitMsMax / 1000} s it is still not true that ${wanted}: ${JSON.stringify((object as { status?: unknown }).status)}`,
      );
    await world.sleep(lookEveryMs, signal);
  }
}

async function gone(guide: Guide, ref: Ref): Promise<void> {
  try {
    await until(guide, ref, `${ref.kind} ${ref.name} is gone`, () => false);
  } catch (reason) {
    if (!isFault(reason, "NotFound")) throw reason;
  }
}
