import assert from "node:assert/strict";
import { test } from "node:test";
import { aCreateCall } from "../../../../test/volume-plans.ts";
import { type VolumeName, volumeName } from "../identity.ts";
import type { Intent } from "./intent.ts";
import { bytesOfCall, intentsIn, partsOf, textOf } from "./intent-text.ts";

const anIntent = (name: string, bytes = "1048576"): Intent => ({
  claim: { namespace: "team", name: `claim "${name}"`, uid: `u-${name}` },
  call: aCreateCall({ name, bytes }),
  secrets: { provisioner: { namespace: "team", name: "key" } },
  reclaimPolicy: "Delete",
  snapshotKey: "team/monday",
});
const nameFor = (uid: string): VolumeName => volumeName(uid.slice(2));
const written = (...intents: readonly Intent[]): string =>
  textOf(intents.map((intent) => [intent.call.name, partsOf(intent)] as const));

test("what is written is read again, in the same order of fields", () => {
  const intents = ["pvc-1", "pvc-2", "ü-3"].map((name) => anIntent(name));
  const read = intentsIn(written(...intents, anIntent("pvc-4", "7")), nameFor);
  assert.deepEqual([...read.intents.values()], [...intents, anIntent("pvc-4", "7")]);
  assert.equal(JSON.stringify(read.intents.get(volumeName("pvc-1"))?.call), JSON.stringify(intents[0]?.call));
  assert.deepEqual(read.unreadable, []);
});

test("calls that differ only in their claim share all the rest", () => {
  const one = written(anIntent("pvc-1"));
  const two = written(anIntent("pvc-1"), anIntent("pvc-2"));
  const added = Buffer.byteLength(two) - Buffer.byteLength(one);
  assert.ok(added < 60, `${added} bytes`);
  assert.ok(added <= bytesOfCall("pvc-2", partsOf(anIntent("pvc-2"))));
  assert.equal(JSON.parse(two).shapes.length, 1);
  assert.equal(JSON.parse(written(anIntent("pvc-1"), anIntent("pvc-2", "7"))).shapes.length, 2);
});
