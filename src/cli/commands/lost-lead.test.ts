/** A sidecar that is stopped for long between its decision and the first byte of a call: another replica may lead when it continues. */
import assert from "node:assert/strict";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createClaim, policy, startHarness } from "../../../test/command-harness.ts";
import { eventually, temporaryFolder } from "../../../test/csi-sockets.ts";
import { draftOf } from "../../api/builders.ts";
import { realWorld, type World } from "../../base/world.ts";

/** Between the sidecar and the driver: connections can be closed, and new ones delayed. */
async function startRelay(t: TestContext, driver: string) {
  const path = join(temporaryFolder(t), "relay.sock");
  const ends = new Set<Socket>();
  let gate = Promise.resolve();
  let waiting = 0;
  const relay = createServer((front) => {
    ends.add(front.on("error", () => undefined));
    waiting += 1;
    void gate.then(() => {
      waiting -= 1;
      const back = connect(driver);
      ends.add(back.on("error", () => undefined));
      front.pipe(back).pipe(front);
    });
  });
  await new Promise<void>((resolve) => void relay.listen(path, resolve));
  const disconnectAll = (): void => {
    for (const end of ends) end.destroy();
    ends.clear();
  };
  t.after(() => {
    disconnectAll();
    relay.close();
  });
  return {
    path,
    waiting: () => waiting,
    /** Returns what opens it again. */
    close: () => {
      const opening = Promise.withResolvers<void>();
      gate = opening.promise;
      disconnectAll();
      return opening.resolve;
    },
  };
}

/** So seldom that no timer of the election rings while the test runs, as none does in a process that is stopped. */
const election = [
  "--leader-election",
  "--leader-election-namespace=default",
  "--leader-election-lease-duration=600s",
  "--leader-election-renew-deadline=500s",
  "--leader-election-retry-period=300s",
];
const pauseMs = 3_600_000;
/** Nothing else takes so long: by this its timers are known. */
const callMs = 61_000;

for (const isPaused of [false, true])
  test(`a call that waits for its connection is ${isPaused ? "not sent if the lease has expired meanwhile" : "sent when the connection is ready"}`, async (t) => {
    let pausedMs = 0;
    const calls = new Set<() => void>();
    const after: World["after"] = (ms, ring) => {
      const stop = realWorld.after(ms, ring);
      if (ms === callMs) calls.add(stop);
      return () => {
        calls.delete(stop);
        stop();
      };
    };
    const world: World = { ...realWorld, after, elapsed: () => realWorld.elapsed() + pausedMs };
    const asked: string[] = [];
    const { client, socket, start } = await startHarness(t, {
      world,
      beforeCreateSnapshot: async (name) => void asked.push(name),
    });
    const relay = await startRelay(t, socket);
    await createClaim(client);
    const { said } = start(
      "csi-snapshotter",
      `--csi-address=${relay.path}`,
      `--timeout=${callMs}ms`,
      "-v=5",
      ...election,
    );
    await eventually("the sidecar works", () => said().includes("controller started"));
    const open = relay.close();
    const volumeSnapshotRef = { namespace: "default", name: "monday", uid: "uid-of-monday" };
    const spec = { ...policy, source: { volumeHandle: "v-1" }, volumeSnapshotRef, volumeSnapshotClassName: "fast" };
    await client.create("VolumeSnapshotContent", draftOf("VolumeSnapshotContent", { name: "c" }, { spec }));
    await eventually("the call waits for a connection, as does the one for the capabilities", () => calls.size === 2);
    assert.ok(relay.waiting() > 0);
    if (isPaused) pausedMs = pauseMs;
    open();
    await eventually("the call has been made, or refused", () => /csi call .*CreateSnapshot/.test(said()));
    assert.deepEqual(asked, isPaused ? [] : ["snapshot-uid-of-monday"]);
  });
