/**
 * Demonstrates a snapshot: writes a file to the volume of a claim, takes a snapshot, overwrites the file, checks the snapshot's content,
 * restores the snapshot into a new claim, checks the file there, takes a group of both volumes, and deletes everything. Each step prints its result or its error.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { VolumeSnapshot } from "../../api/types.ts";
import { Fault } from "../../base/fault.ts";
import type { Writer } from "../../runtime/command.ts";
import {
  claimRef,
  createClaim,
  groupRef,
  inGroup,
  manifests,
  names,
  namespace,
  restoredRef,
  snapshotRef,
  volumeOf,
} from "./demo-objects.ts";
import { driverName, type Stack } from "./stack.ts";
import { until, untilGone, type WaitingContext } from "./waiting.ts";

interface Guide extends WaitingContext {
  readonly stack: Stack;
  readonly out: Writer;
}

interface Step {
  readonly says: string;
  /** Resolves to lines of detail. */
  run(guide: Guide): Promise<readonly string[]>;
  /** With an empty line before and after it: this is what snapshots are for. */
  readonly standsOut?: true;
}

const first = "the first words\n";

const steps: readonly Step[] = [
  { says: "a claim gets a volume, and a file is written to it", run: prepare },
  { says: "a snapshot of the claim is ready to use", run: takeSnapshot },
  { says: "the file in the volume is overwritten", run: overwrite },
  { says: "the snapshot still holds the first words", run: lookInside },
  { says: "a new claim, restored from the snapshot, has the first words again", run: restore, standsOut: true },
  { says: "a group snapshot has a member of each of the two volumes", run: takeGroup },
  { says: "everything is deleted and nothing is left", run: leaveNothing },
];

/** True when every step succeeded. */
export async function tour(guide: Guide): Promise<boolean> {
  for (const { says, run, standsOut } of steps) {
    if (guide.signal.aborted) return interrupted(guide);
    const startedAt = guide.world.elapsed();
    try {
      const details = await run(guide);
      const line = `  ✓ ${says} (${Math.round(guide.world.elapsed() - startedAt)} ms)`;
      const text = `${[line, ...details].join("\n      ")}\n`;
      guide.out.write(standsOut ? `\n${text}\n` : text);
    } catch (reason) {
      if (guide.signal.aborted) return interrupted(guide);
      guide.out.write(`  ✗ ${says}: ${Fault.from(reason).message}\n`);
      return false;
    }
  }
  return true;
}

function interrupted({ out }: Guide): false {
  out.write("  interrupted before the demo was complete\n");
  return false;
}

async function prepare(guide: Guide): Promise<readonly string[]> {
  const { name, file } = await createClaim(guide, manifests.claim);
  await writeFile(file, first);
  return [`PersistentVolumeClaim ${namespace}/${claimRef.name} → volume ${name} of ${driverName}`];
}

async function takeSnapshot(guide: Guide): Promise<readonly string[]> {
  const { metadata, ...snapshot } = manifests.snapshot;
  await guide.stack.client.create("VolumeSnapshot", { ...snapshot, metadata: { namespace, ...metadata } });
  const named = `VolumeSnapshot ${namespace}/${snapshotRef.name}`;
  const { status } = await until(guide, snapshotRef, `${named} was not ready`, isReady);
  return [`${named} → ${status?.boundVolumeSnapshotContentName}, taken at ${status?.creationTime}`];
}
const isReady = ({ status }: VolumeSnapshot): boolean => status?.readyToUse === true;

async function overwrite({ stack }: Guide): Promise<readonly string[]> {
  const { file } = await volumeOf(stack, claimRef.name);
  await writeFile(file, "spoiled\n");
  return [`${file} now reads: spoiled`];
}

async function lookInside({ stack: { client, driver } }: Guide): Promise<readonly string[]> {
  const { status } = await client.get(snapshotRef);
  const content = await client.get({
    kind: "VolumeSnapshotContent",
    name: status?.boundVolumeSnapshotContentName ?? "",
  });
  const snapshot = driver.storage.snapshots.get(content.status?.snapshotHandle ?? "");
  if (snapshot === undefined) throw new Fault("NotFound", "the driver does not know the snapshot");
  const path = join(driver.storage.snapshotDataOf(snapshot), names.file);
  return [`${path} still reads: ${await firstWordsIn(path)}`];
}

async function restore(guide: Guide): Promise<readonly string[]> {
  const { name, file } = await createClaim(guide, manifests.restored);
  const text = await firstWordsIn(file);
  return [`PersistentVolumeClaim ${namespace}/${restoredRef.name} → volume ${name}`, `${file} reads: ${text}`];
}

async function takeGroup(guide: Guide): Promise<readonly string[]> {
  const { client } = guide.stack;
  for (const ref of [claimRef, restoredRef]) await client.patch(ref, inGroup);
  const { metadata, ...group } = manifests.group;
  await client.create("VolumeGroupSnapshot", { ...group, metadata: { namespace, ...metadata } });
  const named = `VolumeGroupSnapshot ${namespace}/${groupRef.name}`;
  await until(guide, groupRef, `${named} was not ready`, ({ status }) => status?.readyToUse === true);
  const members = await membersOfGroup(guide);
  if (members.length !== 2) throw new Fault("DataLoss", `${named} has ${members.length} members, expected 2`);
  return members.map(
    ({ metadata: { name }, spec }) => `${spec.source.persistentVolumeClaimName} → VolumeSnapshot ${name}`,
  );
}

const membersOfGroup = async ({ stack: { client } }: Guide): Promise<readonly VolumeSnapshot[]> =>
  (await client.list("VolumeSnapshot", { namespace })).objects.filter(
    ({ status }) => status?.volumeGroupSnapshotName === groupRef.name,
  );

async function firstWordsIn(path: string): Promise<string> {
  const text = await readFile(path, "utf8");
  if (text !== first)
    throw new Fault("DataLoss", `${path} reads ${JSON.stringify(text)}, expected ${JSON.stringify(first)}`);
  return text.trim();
}

async function leaveNothing(guide: Guide): Promise<readonly string[]> {
  const { client, driver } = guide.stack;
  const volumes = await client.list("PersistentVolume");
  const members = await membersOfGroup(guide);
  await client.delete(groupRef);
  for (const { metadata } of members) await untilGone(guide, { ...snapshotRef, name: metadata.name });
  const refs = [snapshotRef, claimRef, restoredRef];
  for (const ref of refs) await client.delete(ref);
  // The provisioner deletes the volumes of the claims.
  const volumeRefs = volumes.objects.map(({ metadata: { name } }) => ({ kind: "PersistentVolume", name }) as const);
  for (const ref of [...refs, ...volumeRefs]) await untilGone(guide, ref);
  const left =
    [...driver.storage.volumes.all(), ...driver.storage.snapshots.all()].length +
    (await client.list("VolumeSnapshotContent")).objects.length;
  if (left > 0) throw new Fault("FailedPrecondition", `${left} volumes, snapshots or contents are left`);
  return ["no VolumeSnapshot, no group, no content, no volume, no file"];
}
