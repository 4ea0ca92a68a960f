import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { temporaryFolder } from "../../../test/csi-sockets.ts";
import { Fault } from "../../base/fault.ts";
import { silent } from "../../base/log.ts";
import { realWorld } from "../../base/world.ts";
import { type Stack, startStack } from "./stack.ts";
import { tour } from "./tour.ts";

/** The tour over a stack in which something is wrong, and what it says. */
async function tourOf(t: TestContext, spoil: (stack: Stack, root: string) => Partial<Stack>, world = realWorld) {
  const root = join(temporaryFolder(t), "root");
  const stop = new AbortController();
  const { signal } = stop;
  const stack = await startStack({ world: realWorld, log: silent, version: "0", port: 0, root, signal });
  t.after(() => {
    stop.abort();
    return stack.stopped;
  });
  let said = "";
  const write = (text: string): void => {
    said += text;
  };
  const held = await tour({ stack: { ...stack, ...spoil(stack, root) }, world, out: { write }, signal });
  return { held, said };
}

const impatient = { ...realWorld, elapsed: () => realWorld.elapsed() * 20 };

test("a claim without a volume ends the demo with the warning of the provisioner, not with JSON", async (t) => {
  const refuse = (stack: Stack): Partial<Stack> => {
    stack.driver.storage.createVolume = () => Promise.reject(new Fault("ResourceExhausted", "the disk is full"));
    return {};
  };
  // An event is sent after half a second.
  const { held, said } = await tourOf(t, refuse, { ...realWorld, elapsed: () => realWorld.elapsed() * 5 });
  assert.equal(held, false);
  assert.match(
    said,
    /✗ a claim gets a volume.*: PersistentVolumeClaim default\/data was not bound after 10 s: [^{}]*the disk is full[^{}]*\n$/,
  );
  assert.doesNotMatch(said, /✓/);
});

test("the demo fails if the snapshot has other content", async (t) => {
  const { held, said } = await tourOf(t, ({ client }, root) => ({
    client: {
      ...client,
      // Changes the snapshot's files right before the demo reads them.
      get: (async (ref: Parameters<typeof client.get>[0], ...rest: readonly unknown[]) => {
        if (ref.kind === "VolumeSnapshotContent")
          for (const name of readdirSync(join(root, "snapshots")))
            writeFileSync(join(root, "snapshots", name, "data/notes.txt"), "other words");
        return client.get(ref, ...(rest as []));
      }) as typeof client.get,
    },
  }));
  assert.equal(held, false);
  assert.match(
    said,
    /✗ the snapshot still holds the first words: .* reads "other words", expected "the first words\\n"/,
  );
});

test("the demo fails if the restored volume has other content", async (t) => {
  const { held, said } = await tourOf(t, ({ driver: { storage } }) => {
    const { createVolume } = storage;
    storage.createVolume = async (request) => {
      const volume = await createVolume(request);
      if (request.origin.kind === "snapshot") writeFileSync(join(storage.dataOf(volume), "notes.txt"), "other words");
      return volume;
    };
    return {};
  });
  assert.equal(held, false);
  assert.match(
    said,
    /✓ the snapshot still holds[^✗]*✗ a new claim, restored from the snapshot, has .* reads "other words", expected "the first words\\n"\n$/,
  );
});

test("the demo fails if a volume is left behind", async (t) => {
  const { held, said } = await tourOf(t, ({ driver: { storage } }) => {
    storage.deleteVolume = async () => {};
    return {};
  });
  assert.equal(held, false);
  assert.match(said, /✗ everything is deleted and nothing is left: 2 volumes, snapshots or contents are left\n$/);
});

test("a timeout shows the object's error message, not its JSON", async (t) => {
  const refuse = (stack: Stack): Partial<Stack> => {
    stack.driver.storage.takeSnapshot = () => Promise.reject(new Fault("Internal", "the disk is full"));
    return {};
  };
  const { held, said } = await tourOf(t, refuse, impatient);
  assert.equal(held, false);
  assert.match(
    said,
    /✗ .*: VolumeSnapshot default\/monday was not ready after 10 s: Failed to create snapshot: [^{}]*full[^{}]*\n$/,
  );
});
