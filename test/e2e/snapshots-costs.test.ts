/** What a snapshot costs the API server, counted from its own audit log. Leases, events, lists and watches aside. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { annotations } from "../../src/api/names.ts";
import type { VolumeSnapshot, VolumeSnapshotContent } from "../../src/api/types.ts";
import type { AuditEntry } from "./harness/audit.ts";
import { aBoundClaim, startComponent } from "./harness/components.ts";
import type { ControlPlane } from "./harness/control-plane.ts";
import {
  drivers,
  type SnapshotSuite,
  snapshotSuiteFor,
  type TestServer,
  testServers,
} from "./harness/snapshot-suites.ts";
import { until } from "./harness/until.ts";

const writes = new Set(["create", "update", "patch", "delete"]);
const isOurs = ({ userAgent, objectRef }: AuditEntry): boolean =>
  /^(snapshot-controller|csi-snapshotter)\//.test(userAgent ?? "") &&
  // Discovery, and the question whether grants may be read, come once a minute, whatever is taken.
  objectRef !== undefined &&
  !["leases", "events", "selfsubjectaccessreviews"].includes(objectRef.resource ?? "");
/** What was asked for, and how often, whichever object it was about. */
function reported(entries: readonly AuditEntry[]): string {
  const counts = Map.groupBy(entries, ({ verb, objectRef }) =>
    [verb, objectRef?.resource, objectRef?.subresource].filter((word) => word !== undefined).join(" "),
  );
  return [...counts].map(([what, same]) => `${same.length} × ${what}`).join("\n");
}
const writesIn = (entries: readonly AuditEntry[]): number => entries.filter(({ verb }) => writes.has(verb)).length;
const getsIn = (entries: readonly AuditEntry[]): number => entries.filter(({ verb }) => verb === "get").length;
const readsIn = (entries: readonly AuditEntry[]): number =>
  getsIn(entries) + entries.filter(({ verb }) => verb === "list").length;

function assertAtMost(max: number, found: number, what: string, entries: readonly AuditEntry[]): void {
  assert.ok(found <= max, `${found} ${what}, where ${max} do:\n${reported(entries)}`);
}

/** One after the other on control planes of their own, so that what is counted is of one driver. */
for (const driver of ["directory-driver", "hostpath"] as const)
  describe(`what a snapshot costs with ${driver}`, () => costs(driver));

function costs(driver: keyof typeof drivers): void {
  let place: TestServer;
  let plane: ControlPlane;
  let stand: SnapshotSuite;
  const claims = ["a", "b", "c"];
  before(async () => {
    place = await testServers["real control plane"]();
    if (place.plane === undefined) throw new Error("the real control plane keeps an audit log");
    plane = place.plane;
    await startComponent(place, "snapshot-controller");
    stand = await snapshotSuiteFor(place, place.connection, await drivers[driver](place.instance));
    for (const claim of claims) await aBoundClaim(stand.fixtures, claim);
    await settle("warm");
  });
  after(() => {
    stand?.fixtures.csi.close();
    place?.stop();
  });

  /**
   * Irreversible steps are confirmed with a read: before DeleteSnapshot, and before the snapshot is released. Before it is given up, the
   * claims of its namespace are listed, once for all that wait for it.
   */
  const looksToBeSureMax = 2;
  const listsMax = 1;
  /** Its finalizer comes with the first snapshot and goes with the last. */
  const claimWritesMax = 2;

  /** Takes a snapshot, waits until nothing more is to be written about it, deletes it. */
  async function settle(...names: readonly string[]) {
    const start = plane.auditPosition();
    await Promise.all(
      names.map((name, index) => stand.take(name, claims[index % claims.length] ?? "", stand.classes.delete)),
    );
    for (const name of names) {
      await stand.untilReady(name);
      assert.equal((await stand.contentOf(name)).metadata.annotations?.[annotations.beingCreated], undefined);
    }
    for (const claim of claims) await stand.untilUnprotected(claim);
    const between = plane.auditPosition();
    await Promise.all(names.map((name) => stand.fixtures.client.delete(stand.ref(name))));
    for (const name of names) await stand.untilGone(stand.ref(name));
    const all = plane.auditLog(start).filter(isOurs);
    assert.ok(writesIn(all) > 0, "the components are known by their user agents");
    const deletion = plane.auditLog(between).filter(isOurs);
    return { creation: all.slice(0, all.length - deletion.length), deletion };
  }

  test("a single snapshot needs at most eight writes and no reads until it is ready, and four writes, two reads and a list to be deleted", async () => {
    const { creation, deletion } = await settle("lone");
    assertAtMost(0, readsIn(creation), "reads to get ready", creation);
    assertAtMost(looksToBeSureMax, getsIn(deletion), "reads to go", deletion);
    assertAtMost(listsMax, readsIn(deletion) - getsIn(deletion), "lists to go", deletion);
    assertAtMost(8, writesIn(creation), "writes to get ready", creation);
    assertAtMost(4, writesIn(deletion), "writes to go", deletion);
  });

  test("in a burst each snapshot needs at most six writes and no reads, its claim two writes in total, and four writes, two reads and at most a list to be deleted", async () => {
    const names = Array.from({ length: 60 }, (_, index) => `burst-${index}`);
    const { creation, deletion } = await settle(...names);
    assertAtMost(0, readsIn(creation), "reads to get ready", creation);
    assertAtMost(looksToBeSureMax * names.length, getsIn(deletion), "reads to go", deletion);
    assertAtMost(listsMax * names.length, readsIn(deletion) - getsIn(deletion), "lists to go", deletion);
    const ofClaims = creation.filter(({ objectRef }) => objectRef?.resource === "persistentvolumeclaims");
    const others = creation.filter((entry) => !ofClaims.includes(entry));
    assertAtMost(6 * names.length, writesIn(others), "writes to get ready", others);
    assertAtMost(claimWritesMax * claims.length, writesIn(ofClaims), "writes of claims", ofClaims);
    // Six leave room for one unneeded write. A status is written once, or twice where a busy driver let its snapshot wait.
    for (const kind of ["volumesnapshots", "volumesnapshotcontents"]) {
      const statuses = others.filter(
        ({ objectRef }) => objectRef?.resource === kind && objectRef.subresource === "status",
      );
      assertAtMost(1.5 * names.length, statuses.length, `statuses of ${kind} written`, others);
    }
    assertAtMost(4 * names.length, writesIn(deletion), "writes to go", deletion);
  });

  test("in a burst contents are created with the being-created annotation, which needs no separate write", async () => {
    await settle("at-work");
    const names = Array.from({ length: 40 }, (_, index) => `born-${index}`);
    const { creation } = await settle(...names);
    const isOfContent = ({ verb, objectRef }: AuditEntry): boolean =>
      verb === "patch" && objectRef?.resource === "volumesnapshotcontents" && objectRef.subresource === undefined;
    // One each removes the being-created annotation. Half as many more, should the sidecar's last sign have been too long ago for the first few.
    assertAtMost(1.5 * names.length, creation.filter(isOfContent).length, "changes of contents", creation);
  });

  test("100 snapshots with Retain rest once they are ready: each content is read and put back at once without a conflict, and nothing else changes", async () => {
    const { client, namespace } = stand.fixtures;
    const names = Array.from({ length: 100 }, (_, index) => `kept-${index}`);
    const stop = new AbortController();
    const { resourceVersion } = await client.list("VolumeSnapshot", { namespace });
    const ready = new Map<string, Promise<{ snapshot: string; content: VolumeSnapshotContent }>>();
    /** As Kubernetes' own stress test does; of every other content, so that the rest shows what we write of our own accord. */
    const readAndPutBack = async ({ metadata: { name, resourceVersion: snapshot } }: VolumeSnapshot) => {
      const content = await stand.contentOf(name);
      if (ready.size % 2 === 0) return { snapshot, content };
      const spec = { ...content.spec, deletionPolicy: "Delete" as const };
      return { snapshot, content: await client.replace("VolumeSnapshotContent", { ...content, spec }) };
    };
    const watching = client.watch("VolumeSnapshot", { namespace, resourceVersion, signal: stop.signal }, (event) => {
      if (event.kind !== "put" || event.object.status?.readyToUse !== true) return;
      const { name } = event.object.metadata;
      if (!ready.has(name)) ready.set(name, readAndPutBack(event.object));
    });
    watching.catch(() => undefined);
    await Promise.all(
      names.map((name, index) => stand.take(name, claims[index % claims.length] ?? "", stand.classes.retain)),
    );
    await until({ what: "100 snapshots are ready", msMax: 120_000 }, () =>
      ready.size === names.length ? true : undefined,
    );
    for (const claim of claims) await stand.untilUnprotected(claim);
    const changed: string[] = [];
    for (const [name, seen] of ready) {
      const { snapshot, content } = await seen;
      const isOurs = content.spec.deletionPolicy === "Retain";
      if (isOurs && (await stand.get(name)).metadata.resourceVersion !== snapshot)
        changed.push(`VolumeSnapshot ${name}`);
      if ((await stand.contentOf(name)).metadata.resourceVersion !== content.metadata.resourceVersion)
        changed.push(`content of ${name}`);
    }
    stop.abort();
    assert.deepEqual(changed, []);
    for (const name of names) {
      const { metadata } = await stand.contentOf(name);
      const ref = { kind: "VolumeSnapshotContent", name: metadata.name } as const;
      await client.patch(ref, { type: "merge", body: { spec: { deletionPolicy: "Delete" } } });
    }
    await Promise.all(names.map((name) => client.delete(stand.ref(name))));
    for (const name of names) await stand.untilGone(stand.ref(name), 60_000);
  });

  test("no request is denied, and no write is repeated because of our own conflicts", () => {
    const isRefusal = ({ verb, responseStatus }: AuditEntry): boolean => {
      const code = responseStatus?.code ?? 200;
      // A look that finds nothing has found what it was for.
      return code >= 400 && !(verb === "get" && code === 404);
    };
    const refused = plane.auditLog().filter((entry) => isOurs(entry) && isRefusal(entry));
    assert.deepEqual(
      refused.map(({ verb, requestURI, responseStatus }) => `${verb} ${requestURI}: ${responseStatus?.code}`),
      [],
    );
  });
}
