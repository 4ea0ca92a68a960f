/** Plays one row: the driver is started, the user does what he does, and what came of it is written down. */
import { setTimeout as sleep } from "node:timers/promises";
import { draftOf } from "../../../src/api/builders.ts";
import type { VolumeSnapshot } from "../../../src/api/types.ts";
import { claimDrafts } from "../harness/components.ts";
import { isThere } from "../harness/snapshots.ts";
import { until } from "../harness/until.ts";
import { handleFor, startScriptedDriver } from "./driver.ts";
import type { OddDriverHarness, Sidecar } from "./harness.ts";
import { type Outcome, type Row, rightOf, type ScenarioRow } from "./row.ts";

/** Generous where the snapshot has to become ready, or to show an error: on a busy machine both come late. */
const settledMsMax = 60_000;
/** Where nothing is expected, it is waited for in vain. */
const nothingMsMax = 20_000;
const goneMsMax = 60_000;
const everyMs = 100;

export async function play(harness: OddDriverHarness, row: Row, id: string): Promise<Outcome> {
  const driver = await startScriptedDriver(harness.folder, id, row.script);
  const sidecar = await harness.startSidecar(id, [`--csi-address=${driver.socket}`, ...(row.flags ?? [])]);
  const scenario = scenarioOf(harness, row, id, driver);
  try {
    await furnish(scenario, row);
    await until({ what: "the sidecar knows the driver's capabilities" }, () => driver.asked.capabilities[0]);
    await row.before?.(scenario);
    return await observed(scenario, row, sidecar);
  } finally {
    await sidecar.stop();
    await driver.close();
  }
}

const claimsOf = ({ claims, handle }: Row): readonly string[] => claims ?? (handle === undefined ? ["data"] : []);
const contentFor = (id: string, name: string): string => `${id}-${name}`;

interface PlayedScenario extends ScenarioRow {
  readonly id: string;
  /** All snapshots of the row. */
  readonly made: string[];
  readonly settledMs: number;
  claimHeld(): boolean;
}

function scenarioOf(
  { client, proxy, settledMs }: OddDriverHarness,
  row: Row,
  id: string,
  driver: ScenarioRow["driver"],
): PlayedScenario {
  const namespace = id;
  const made: string[] = [];
  let claimHeld = true;
  const classed = row.parameters === undefined && row.handle !== undefined ? {} : { volumeSnapshotClassName: id };
  const create = async (name: string, source: object, named: object = classed) => {
    made.push(name);
    const spec = { ...named, source };
    await client.create("VolumeSnapshot", draftOf("VolumeSnapshot", { namespace, name }, { spec } as never));
  };
  return {
    id,
    client,
    proxy,
    driver,
    namespace,
    made,
    settledMs,
    claimHeld: () => claimHeld,
    claimWentEarly: () => {
      claimHeld = false;
    },
    take: (name, claim = "data", volumeSnapshotClassName = id) =>
      create(name, { persistentVolumeClaimName: claim }, { volumeSnapshotClassName }),
    adopt: async (name, snapshotHandle) => {
      const content = contentFor(id, name);
      const source = { snapshotHandle };
      const volumeSnapshotRef = { namespace, name };
      const spec = { ...classed, deletionPolicy: "Delete" as const, driver: driver.name, source, volumeSnapshotRef };
      await client.create("VolumeSnapshotContent", draftOf("VolumeSnapshotContent", { name: content }, { spec }));
      await create(name, { volumeSnapshotContentName: content });
    },
  };
}

/** What is there before the user comes. */
async function furnish({ client, driver, namespace, id }: PlayedScenario, row: Row): Promise<void> {
  await client.create("Namespace", draftOf("Namespace", { name: namespace }, {}));
  const { parameters = {}, secret } = row;
  await client.create(
    "VolumeSnapshotClass",
    draftOf("VolumeSnapshotClass", { name: id }, { driver: driver.name, deletionPolicy: "Delete", parameters }),
  );
  if (secret !== undefined) {
    const data = Object.fromEntries(Object.entries(secret).map(([key, text]) => [key, btoa(text)]));
    const metadata = { namespace, name: "access" };
    await client.create("Secret", { apiVersion: "v1", kind: "Secret", metadata, data } as never);
  }
  for (const name of claimsOf(row)) {
    const { volume, claim } = claimDrafts({ driver: driver.name, namespace }, name, name);
    await client.create("PersistentVolume", volume);
    await client.create("PersistentVolumeClaim", claim);
    await until({ what: `claim ${namespace}/${name} is bound` }, async () => {
      const { status } = await client.get({ kind: "PersistentVolumeClaim", namespace, name });
      return status?.phase === "Bound" ? true : undefined;
    });
  }
}

async function observed(played: PlayedScenario, row: Row, sidecar: Sidecar): Promise<Outcome> {
  const { driver } = played;
  const awaited = await (row.user?.(played) ?? oneSnapshot(played, row));
  const snapshots = await Promise.all(awaited.map((name) => untilSettled(played, name, row)));
  const [first] = snapshots;
  const content = await contentOf(played, first);
  const lookedAtMs = Date.now();
  await remove(played, row);
  const wentFirst = row.claimFirst !== true || (await within(goneMsMax, () => claimsGone(played)));
  if (row.mended !== undefined) driver.act(row.mended);
  const gone = await within(goneMsMax, () => snapshotsGone(played));
  const claim = (await within(gone ? goneMsMax : 0, () => claimsGone(played))) && wentFirst && played.claimHeld();
  const trouble = sidecar.problem();
  if (trouble !== undefined) throw new Error(trouble);
  const { creationTime, restoreSize } = content?.status ?? {};
  return {
    ready: snapshots.every(({ status }) => status?.readyToUse === true),
    gone,
    claim,
    left: [...driver.storage.keys()].map(namedForAll).sort(),
    error: snapshots.find(({ status }) => status?.error !== undefined)?.status?.error?.message,
    handle: content?.status?.snapshotHandle,
    ageMs: creationTime === undefined ? undefined : lookedAtMs - Number(BigInt(creationTime) / 1_000_000n),
    size: restoreSize?.toString(),
    deletes: driver.asked.delete,
    events: await eventsAbout(played, snapshots, row.reports),
    note: sidecar.note(),
  };
}

/** What was taken has another uid in its handle each time. */
const namedForAll = (handle: string): string => (handle.startsWith(handleFor("")) ? "taken" : handle);

async function oneSnapshot(scene: PlayedScenario, { handle }: Row): Promise<readonly string[]> {
  if (handle === undefined) await scene.take("snap");
  else await scene.adopt("snap", handle);
  return ["snap"];
}

const refTo = ({ namespace }: ScenarioRow, name: string) => ({ kind: "VolumeSnapshot", namespace, name }) as const;

/** Ready, or out of patience; a row that must not become ready ends when an error has stayed for a while. */
async function untilSettled(scene: PlayedScenario, name: string, row: Row): Promise<VolumeSnapshot> {
  const mustBeReady = rightOf(row).ready;
  const deadline =
    performance.now() + (row.readyMs ?? (mustBeReady || row.says !== undefined ? settledMsMax : nothingMsMax));
  let errorSince: number | undefined;
  for (;;) {
    const snapshot = await scene.client.get(refTo(scene, name));
    if (snapshot.status?.readyToUse === true) return snapshot;
    const now = performance.now();
    errorSince = snapshot.status?.error === undefined ? undefined : (errorSince ?? now);
    const hasSettled = !mustBeReady && errorSince !== undefined && now - errorSince > scene.settledMs;
    if (now > deadline || hasSettled) return snapshot;
    await sleep(everyMs);
  }
}

async function contentOf({ client }: ScenarioRow, snapshot: VolumeSnapshot | undefined) {
  const name = snapshot?.status?.boundVolumeSnapshotContentName;
  return name === undefined ? undefined : client.get({ kind: "VolumeSnapshotContent", name });
}

async function remove(scene: PlayedScenario, row: Row): Promise<void> {
  const { client, namespace, made } = scene;
  for (const name of made) await client.delete(refTo(scene, name));
  for (const name of claimsOf(row))
    if (await isThere(scene, { kind: "PersistentVolumeClaim", namespace, name }))
      await client.delete({ kind: "PersistentVolumeClaim", namespace, name });
}

/** Those of the row's namespace, and the contents that are for them. */
async function snapshotsGone({ client, namespace, driver }: PlayedScenario): Promise<boolean> {
  if ((await client.list("VolumeSnapshot", { namespace })).objects.length > 0) return false;
  const contents = (await client.list("VolumeSnapshotContent")).objects;
  return !contents.some(({ spec }) => spec.driver === driver.name);
}

const claimsGone = async ({ client, namespace }: PlayedScenario): Promise<boolean> =>
  (await client.list("PersistentVolumeClaim", { namespace })).objects.length === 0;

async function within(msMax: number, look: () => Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + msMax;
  for (;;) {
    if (await look()) return true;
    if (performance.now() > deadline) return false;
    await sleep(everyMs);
  }
}

const reportMsMax = 5_000;

/** Events come a moment after what they tell of. */
async function eventsAbout(scene: PlayedScenario, snapshots: readonly VolumeSnapshot[], wanted: RegExp | undefined) {
  let events: readonly string[] = [];
  await within(reportMsMax, async () => {
    events = await eventsNow(scene, snapshots);
    return wanted === undefined || wanted.test(events.join("\n"));
  });
  return events;
}

/** Events about contents, which have no namespace, lie elsewhere. */
async function eventsNow({ client, namespace, id }: PlayedScenario, snapshots: readonly VolumeSnapshot[]) {
  const contents = snapshots.flatMap(({ metadata }) => [`snapcontent-${metadata.uid}`, contentFor(id, metadata.name)]);
  return (await client.list("Event")).objects
    .filter(({ involvedObject: about }) => about.namespace === namespace || contents.includes(about.name ?? ""))
    .map(({ type, reason, message }) => `${type} ${reason} ${message}`);
}
