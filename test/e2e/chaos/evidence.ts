/** What is asked of the API server, the storage, the logs and the audit log when the faults are over. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isFault } from "../../../src/base/fault.ts";
import { print } from "../../../src/base/json.ts";
import { unchecked } from "../../../src/components/csi-provisioner/stored-calls/intent-text.ts";
import { readOrEmpty } from "../../../src/runtime/process-identity.ts";
import type { AuditEntry } from "../harness/audit.ts";
import { snapshotsOf } from "../harness/snapshots.ts";
import { type ChaosHarness, components, leaseNames, storedCallsRef } from "./harness.ts";
import type { Intentions } from "./intentions.ts";
import type { ComponentName } from "./replica.ts";
import type { State } from "./verdict.ts";

/** What the objects say. It is asked for again and again until all is quiet. */
export async function look(
  { furniture: fixtures, driver, replicas }: ChaosHarness,
  intentions: Intentions,
): Promise<State> {
  const { client, namespace } = fixtures;
  const [snapshots, contents, claims, volumes] = await Promise.all([
    client.list("VolumeSnapshot", { namespace }),
    client.list("VolumeSnapshotContent"),
    client.list("PersistentVolumeClaim", { namespace }),
    client.list("PersistentVolume"),
  ]);
  return {
    wanted: [...intentions.snapshots.values()],
    retained: intentions.retained,
    letGo: intentions.letGo,
    wantedClaims: intentions.claims,
    provisioned: intentions.provisioned,
    complaints: intentions.complaints,
    snapshots: snapshots.objects,
    contents: contents.objects,
    claims: claims.objects,
    volumes: volumes.objects,
    calls: await callsStored(fixtures, driver),
    ledger: volumesBy(driver.root),
    stored: await storedBy(fixtures, driver.root),
    ends: replicas.flatMap(({ user, ends }) => ends.map((end) => ({ user, end }))),
    secretsSeen: [],
    overlaps: [],
    restless: [],
  };
}

async function callsStored(
  { client }: ChaosHarness["furniture"],
  driver: ChaosHarness["driver"],
): Promise<readonly string[]> {
  const lease = await client.get(storedCallsRef(driver)).catch((reason: unknown) => {
    if (!isFault(reason, "NotFound")) throw reason;
  });
  const text = lease?.metadata.annotations?.["snapkeep.dev/create-volume-calls"];
  return text === undefined ? [] : unchecked(text).map(([name]) => name);
}

/** Reads the driver's own records. */
const volumesBy = (root: string): ReadonlyMap<string, string> =>
  new Map(
    globSync("*", { cwd: join(root, "volumes") }).flatMap((id) => {
      const record = readOrEmpty(join(root, "volumes", id, "record.json"));
      return record === "" ? [] : [[id, (JSON.parse(record) as { name: string }).name] as const];
    }),
  );

/** What the driver lists, and under which name it was asked for by its own records. */
async function storedBy(fixtures: ChaosHarness["furniture"], root: string): Promise<ReadonlyMap<string, string>> {
  const handles = await snapshotsOf(fixtures).handles();
  // One that goes between the two looks has gone.
  return new Map(
    handles.flatMap((handle) => {
      const record = readOrEmpty(join(root, "snapshots", handle, "record.json"));
      return record === "" ? [] : [[handle, (JSON.parse(record) as { name: string }).name] as const];
    }),
  );
}

/** Long enough to detect repeated writes. */
const restMs = 5_000;

/** The same, with what takes longer to find out: once, at the very end. */
export async function lookClosely(harness: ChaosHarness, requests: Intentions): Promise<State> {
  const mark = harness.plane.auditPosition();
  await sleep(restMs);
  const restless = harness.plane.auditLog(mark).filter((entry) => isWork(entry) && componentOf(entry) !== undefined);
  return {
    ...(await look(harness, requests)),
    secretsSeen: await secretsSeen(harness),
    overlaps: overlapsIn(harness.plane.auditLog(), leaseNames(harness.driver)),
    restless: restless.map(({ user, verb, requestURI }) => `${user.username}: ${verb} ${requestURI}`),
  };
}

async function secretsSeen({ secret, plane, furniture: testFixtures }: ChaosHarness): Promise<readonly string[]> {
  const { client } = testFixtures;
  const spellings = [secret, Buffer.from(secret).toString("base64")];
  const isIn = (text: string): boolean => spellings.some((spelling) => text.includes(spelling));
  const logs = globSync(join(plane.folder, "*.log")).filter((path) => isIn(readFileSync(path, "utf8")));
  const kinds = [
    "VolumeSnapshot",
    "VolumeSnapshotContent",
    "VolumeSnapshotClass",
    "PersistentVolumeClaim",
    "Event",
  ] as const;
  const objects = [];
  for (const kind of kinds)
    for (const object of (await client.list(kind)).objects)
      if (isIn(print(object))) objects.push(`${kind} ${object.metadata.name}`);
  return [...logs.map((path) => path.slice(plane.folder.length + 1)), ...objects];
}

const componentOf = ({ user }: AuditEntry): ComponentName | undefined =>
  components.find((component) => user.username.startsWith(`${component}-`));
const isAccepted = ({ responseStatus }: AuditEntry): boolean => (responseStatus?.code ?? 500) < 300;
const isMutation = ({ verb }: AuditEntry): boolean => ["create", "update", "patch", "delete"].includes(verb);
/** Leases are how they elect, events tell what was done before, and an access review is a question: it stores nothing. */
const notWork: ReadonlySet<string | undefined> = new Set(["leases", "events", "selfsubjectaccessreviews"]);
const isWork = (entry: AuditEntry): boolean => isMutation(entry) && !notWork.has(entry.objectRef?.resource);

/**
 * Every accepted write must come from the replica that was the last to write the lease: one that was paused and continued
 * has lost it meanwhile. A write arrives when it is received, a lease is taken when its write is answered.
 */
export function overlapsIn(
  log: readonly AuditEntry[],
  leases: Readonly<Record<ComponentName, string>>,
): readonly string[] {
  const found: string[] = [];
  const holders = new Map<ComponentName, string>();
  const steps = log.flatMap((entry) => {
    const component = componentOf(entry);
    if (component === undefined || !isMutation(entry) || !isAccepted(entry)) return [];
    if (entry.objectRef?.name === leases[component])
      return [{ component, entry, isLease: true, at: entry.stageTimestamp }];
    return isWork(entry) ? [{ component, entry, isLease: false, at: entry.requestReceivedTimestamp }] : [];
  });
  for (const { component, entry, isLease } of steps.sort((a, b) => (a.at < b.at ? -1 : 1))) {
    const { username } = entry.user;
    const holder = holders.get(component);
    if (isLease) holders.set(component, username);
    else if (holder !== undefined && holder !== username)
      found.push(
        `${username} wrote while ${holder} led: ${entry.verb} ${entry.requestURI} at ${entry.requestReceivedTimestamp}`,
      );
  }
  return found;
}
