/** What users, administrators and drivers get wrong: each gives an error with a remedy, affects no other object, and works once corrected. */
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { Fault } from "../../src/base/fault.ts";
import { badInputs, classRef, defaultClass, type World } from "./harness/bad-input.ts";
import { aBoundClaim, aClassFor, startComponent } from "./harness/components.ts";
import type { Daemon } from "./harness/instance.ts";
import { startOddDriver } from "./harness/odd-driver.ts";
import { snapshotSuiteFor, type TestServer, testServers } from "./harness/snapshot-suites.ts";
import { isThere, leftovers } from "./harness/snapshots.ts";
import { until } from "./harness/until.ts";

const namespace = "default";
const longName = "n".repeat(253);
const retries = ["--retry-interval-start=200ms", "--retry-interval-max=1s"];

/** docs/reference/errors.md explains the code. */
const coded = / \[SNAP-\d{3}\]$/;

describe("bad input", () => {
  let place: TestServer;
  let world: World;
  let daemons: readonly Daemon[];
  before(async () => {
    place = await testServers["real control plane"]();
    const driver = await startOddDriver(place.instance.folder);
    const controller = await startComponent(place, "snapshot-controller", retries);
    const stand = await snapshotSuiteFor(place, place.connection, driver, retries, { added: ["secrets"] });
    world = { stand, client: place.connection.client, driver };
    daemons = [controller, stand.sidecar];
    await aBoundClaim(stand.fixtures, "data");
    await aBoundClaim(stand.fixtures, "good");
  });
  after(async () => {
    world?.stand.fixtures.csi.close();
    await world?.driver.close();
    place?.stop();
  });
  // After a crash every later test would time out.
  beforeEach(mustBeAlive);
  afterEach(tidyUp);

  for (const { what, make, reason, told, mend } of badInputs)
    test(`${what} gives an error with its remedy, affects no other snapshot${mend === undefined ? ", and can be deleted" : ", and works once corrected"}`, async () => {
      const { stand } = world;
      await make(world);
      assert.match(await stand.untilReported("wrong", told), coded);
      await untilEvent(reason, told);
      await stand.take("good", "good", stand.classes.delete);
      await stand.untilReady("good", 15_000);
      await stand.remove("good");
      await mend?.(world);
      if (mend !== undefined) assert.equal((await stand.untilReady("wrong")).status?.error, undefined);
      await stand.remove("wrong");
    });

  const impossible = [
    { what: "a negative size", answer: { sizeBytes: -1n }, told: /^size_bytes is -1: the size is not known/ },
    {
      what: "the year 1970",
      answer: { creationTime: { seconds: 0n, nanos: 0 } },
      told: /^creation_time is 0 s and 0 ns after 1970, which cannot be/,
    },
  ] as const;
  for (const { what, answer, told } of impossible)
    test(`after a reply with ${what} the snapshot becomes ready with one warning event, and can be deleted`, async () => {
      const { stand, driver } = world;
      driver.oddities.set(`${namespace}-data`, () => answer);
      await stand.take("wrong", "data", stand.classes.delete);
      const { status } = await stand.untilReady("wrong");
      assert.ok(Date.parse(status?.creationTime ?? "") > Date.parse("2000-01-01"));
      assert.equal(status?.restoreSize, what === "a negative size" ? undefined : "1Mi");
      await untilEvent("OddDriverReply", told);
      await stand.remove("wrong");
      assert.equal(driver.snapshots.size, 0);
    });

  /** On the snapshot, or on its content where the sidecar found it. */
  const untilEvent = (reason: string, told: RegExp) =>
    until({ what: `there is an event ${reason}` }, async () =>
      (await world.client.list("Event")).objects.some(
        (event) =>
          event.reason === reason &&
          told.test(event.message ?? "") &&
          coded.test(event.message ?? "") &&
          event.type === "Warning",
      )
        ? true
        : undefined,
    );

  /** Also after a test that failed in the middle: the next one is about something else. */
  async function tidyUp(): Promise<void> {
    mustBeAlive();
    const { stand, client, driver } = world;
    driver.mend();
    if (await isThere(stand.fixtures, stand.ref("wrong"))) await stand.remove("wrong");
    for (const { metadata } of (await client.list("VolumeSnapshotContent")).objects)
      if (metadata.name === "theirs") await client.delete({ kind: "VolumeSnapshotContent", name: "theirs" });
    for (const name of Object.values(stand.classes)) await client.patch(classRef(name), defaultClass(false));
    let left: readonly string[] = [];
    await until({ what: "nothing is left" }, async () => {
      left = await leftovers(stand.fixtures);
      return left.length === 0 ? true : undefined;
    }).catch((reason: Error) => assert.fail(`${reason.message}; there is: ${left.join(", ")}`));
  }

  function mustBeAlive(): void {
    for (const daemon of daemons) assert.ok(daemon.running(), `a program has ended: ${daemon.lastWords()}`);
  }

  const refusing =
    /Waiting for VolumeSnapshotContent snapcontent-.* to be deleted: Failed to delete snapshot: .*it is in use/;
  for (const remedy of ["the driver is mended", "the policy says Retain"] as const)
    test(`a failed DeleteSnapshot is shown on the snapshot, which is deleted as soon as ${remedy}`, async () => {
      const { stand, client, driver } = world;
      await stand.take("wrong", "data", stand.classes.delete);
      await stand.untilReady("wrong");
      const { metadata } = await stand.contentOf("wrong");
      driver.refusals.delete.push(
        ...Array.from({ length: 500 }, () => new Fault("FailedPrecondition", "it is in use")),
      );
      await client.delete(stand.ref("wrong"));
      await stand.untilReported("wrong", refusing);
      await untilEvent("SnapshotDeleteError", refusing);
      const body = { spec: { deletionPolicy: "Retain" } };
      const ref = { kind: "VolumeSnapshotContent", name: metadata.name } as const;
      if (remedy === "the driver is mended") driver.refusals.delete.length = 0;
      else await client.patch(ref, { type: "merge", body });
      await stand.untilGone(stand.ref("wrong"));
      await stand.untilGone(ref);
      assert.equal(driver.snapshots.size, remedy === "the driver is mended" ? 0 : 1);
      driver.refusals.delete.length = 0;
      driver.snapshots.clear();
    });

  test("names of 253 characters for claim, class and snapshot work, also in events", async () => {
    const { stand, client } = world;
    await aBoundClaim(stand.fixtures, longName);
    await aClassFor(stand.fixtures, longName, "Delete");
    await stand.take(longName, longName, longName);
    await stand.untilReady(longName);
    await until({ what: "an event reports it" }, async () =>
      (await client.list("Event", { namespace })).objects.some(
        ({ involvedObject, reason }) => involvedObject.name === longName && reason === "SnapshotReady",
      )
        ? true
        : undefined,
    );
    await stand.remove(longName);
  });

  test("after all bad input the claim can be deleted", async () => {
    await world.stand.untilUnprotected("data");
  });

  test("the driver gets parameters and names without the reserved keys, and the secret's values", () => {
    const secretive = world.driver.asked.find(({ secrets }) => Object.keys(secrets).length > 0);
    assert.deepEqual(secretive?.secrets, { token: "open sesame" });
    assert.deepEqual(secretive?.parameters, {});
    assert.match(secretive?.name ?? "", /^snapshot-[0-9a-f-]{36}$/);
  });
});
