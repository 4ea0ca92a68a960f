import assert from "node:assert/strict";
import { test } from "node:test";
import { aVolume } from "../../../../test/builders.ts";
import { aFakeDriver, setUpProvisioner } from "../../../../test/provisioner-harness.ts";
import { createVirtualWorld } from "../../../../test/virtual-world.ts";
import {
  anIntent,
  aPendingClaim,
  aStorageClass,
  aVolumeView,
  created,
  driverWith,
  provisionerOptions,
  testVolumePlans,
} from "../../../../test/volume-plans.ts";
import { provisioning } from "../../../api/names.ts";
import { Fault } from "../../../base/fault.ts";
import { volumeName } from "../identity.ts";
import { hasRoom } from "./act.ts";
import { isAccessible, nodesAround, type OwnNode } from "./own-node.ts";
import { createRemembered } from "./remembered.ts";

const ownNode: OwnNode = { name: "n1", segments: { zone: "a" }, takesImmediate: true };
const options = { ...provisionerOptions, ownNode };
const driver = driverWith([], ["VOLUME_ACCESSIBILITY_CONSTRAINTS"]);
const around = { options, driver, ...nodesAround(driver.name, ownNode) };
const selected = (node: string) => aPendingClaim({ metadata: { annotations: { [provisioning.selectedNode]: node } } });
const boundOn = (node: string) =>
  aPendingClaim({
    metadata: { annotations: { [provisioning.selectedNode]: node } },
    spec: { volumeName: "pvc-u-new" },
  });
const affinityTo = (zone: string) => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: [zone] }] }] },
});
const storedIn = (zone: string, volumeHandle: string) =>
  aVolume({
    metadata: { name: "pvc-u-new" },
    spec: { csi: { driver: driver.name, volumeHandle }, nodeAffinity: affinityTo(zone) },
  });
const lateClass = aStorageClass({ volumeBindingMode: "WaitForFirstConsumer" });
const allowing = (zone: string) =>
  aStorageClass({ allowedTopologies: [{ matchLabelExpressions: [{ key: "zone", values: [zone] }] }] });

testVolumePlans([
  {
    given: "a claim of the own node",
    view: aVolumeView({ ...around, claim: selected("n1"), storageClass: lateClass }),
    phase: "wanted",
    reason: "WaitsForDriver",
    expect: ["logIntent, create"],
  },
  {
    given: "a claim of another node",
    view: aVolumeView({ ...around, claim: selected("n2") }),
    phase: "unwanted",
    reason: "NotOurs",
    expect: [],
  },
  {
    given: "a claim that went to another node after CreateVolume was sent",
    view: aVolumeView({ ...around, claim: selected("n2"), intent: anIntent() }),
    phase: "abandoned",
    reason: "VolumeAbandoned",
    expect: ["logIntent, learn"],
  },
  {
    given: "a volume of another node under the name of a call that was sent from this one",
    view: aVolumeView({ ...around, claim: selected("n2"), intent: anIntent(), volume: storedIn("b", "vol-8") }),
    phase: "abandoned",
    reason: "VolumeAbandoned",
    expect: ["logIntent, learn"],
  },
  {
    given: "the same, and the id of the own volume is known",
    view: aVolumeView(
      { ...around, claim: selected("n2"), intent: anIntent(), volume: storedIn("b", "vol-8") },
      { reply: created },
    ),
    phase: "abandoned",
    reason: "VolumeAbandoned",
    expect: ["confirm, requireIntent, delete"],
  },
  {
    given: "the same, and its id is that of the other node's volume",
    view: aVolumeView(
      { ...around, claim: selected("n2"), intent: anIntent(), volume: storedIn("b", "vol-9") },
      { reply: created },
    ),
    phase: "abandoned",
    reason: "Writes",
    expect: ["forgetIntent"],
  },
  {
    given: "a volume of another node, and no call of this one",
    view: aVolumeView({ ...around, claim: selected("n2"), volume: storedIn("b", "vol-8") }),
    phase: "stored",
    reason: "Settled",
    expect: [],
  },
  {
    given: "the volume of the own call",
    view: aVolumeView({ ...around, claim: selected("n1"), intent: anIntent(), volume: storedIn("a", "vol-9") }),
    phase: "stored",
    reason: "Settled",
    expect: ["forgetIntent"],
  },
  {
    given: "a claim that is bound to a volume of another node which the cache does not have yet",
    view: aVolumeView({ ...around, claim: boundOn("n2"), intent: anIntent() }),
    phase: "abandoned",
    reason: "VolumeAbandoned",
    expect: ["logIntent, learn"],
  },
  {
    given: "a claim that is bound to a volume of the own node which the cache does not have yet",
    view: aVolumeView({ ...around, claim: boundOn("n1"), intent: anIntent() }),
    phase: "stored",
    reason: "Settled",
    expect: ["forgetIntent"],
  },
  {
    given: "a claim that waits for its first consumer, on a node",
    view: aVolumeView({ ...around, storageClass: lateClass }),
    phase: "waiting",
    reason: "WaitsForNode",
    expect: [],
  },
  {
    given: "a claim of an immediate class, on a node",
    view: aVolumeView(around),
    phase: "untaken",
    reason: "WaitsForNode",
    expect: ["delayTaking"],
  },
  {
    given: "the same before its delay is over",
    view: aVolumeView(around, { takeInMs: 5 }),
    phase: "untaken",
    reason: "WaitsForNode",
    expect: [],
  },
  {
    given: "the same after its delay",
    view: aVolumeView(around, { takeInMs: 0 }),
    phase: "untaken",
    reason: "Writes",
    expect: ["take"],
  },
  {
    given: "a claim of an immediate class whose call was sent before the node was deselected",
    view: aVolumeView({ ...around, intent: anIntent() }, { takeInMs: 0 }),
    phase: "untaken",
    reason: "Writes",
    expect: ["take"],
  },
  {
    given: "a claim of an immediate class where such claims are not taken",
    view: aVolumeView({ ...around, options: { ...options, ownNode: { ...ownNode, takesImmediate: false } } }),
    phase: "waiting",
    reason: "WaitsForNode",
    expect: [],
  },
  {
    given: "a class that allows the own topology",
    view: aVolumeView({ ...around, storageClass: allowing("a") }, { takeInMs: 0 }),
    phase: "untaken",
    reason: "Writes",
    expect: ["take"],
  },
  {
    given: "a class that allows only the topology of other nodes",
    view: aVolumeView({ ...around, storageClass: allowing("b") }, { takeInMs: 0 }),
    phase: "untaken",
    reason: "NotOurs",
    expect: [],
  },
]);

test("a volume is of the own node if its affinity allows that, or says nothing", () => {
  const affine = (zone: string) => aVolume({ spec: { nodeAffinity: affinityTo(zone) } });
  assert.equal(isAccessible(ownNode, affine("a")), true);
  assert.equal(isAccessible(ownNode, affine("b")), false);
  assert.equal(isAccessible(ownNode, aVolume()), true);
  assert.equal(isAccessible({ ...ownNode, segments: undefined }, affine("b")), true);
});

test("the delay before a claim is taken is random, grows with each lost attempt, and starts anew when it is taken", () => {
  const remembered = createRemembered(
    createVirtualWorld(),
    { startMs: 1, maxMs: 1 },
    { startMs: 20_000, maxMs: 60_000 },
  );
  const first = remembered.delayTaking(volumeName("pvc-1"));
  assert.ok(first > 0 && first <= 20_000, `${first} ms`);
  remembered.delayTaking(volumeName("pvc-1"));
  const third = remembered.delayTaking(volumeName("pvc-1"));
  assert.ok(third > 20_000 && third <= 60_000, `${third} ms`);
  remembered.taken(volumeName("pvc-1"));
  assert.equal(remembered.about(volumeName("pvc-1")).takeInMs, undefined);
  assert.ok(remembered.delayTaking(volumeName("pvc-1")) <= 20_000);
});

test("a node has room if its driver says so for one topology, or does not say", async () => {
  const { call } = anIntent();
  const { signal } = new AbortController();
  const answering = (answer: () => bigint) => ({
    controller: { getCapacity: async () => ({ availableCapacity: answer() }) } as never,
  });
  assert.equal(
    await hasRoom(
      answering(() => BigInt(call.bytes)),
      call,
      signal,
    ),
    true,
  );
  assert.equal(
    await hasRoom(
      answering(() => 7n),
      call,
      signal,
    ),
    false,
  );
  const silent = answering(() => {
    throw new Error("unimplemented");
  });
  assert.equal(await hasRoom(silent, call, signal), true);
});

for (const { given, idOf, left } of [
  { given: "is deleted", idOf: (node: string, name: string) => `${node}-${name}`, left: 0 },
  // A driver that would reach the volume of the other node by this id must not be asked to delete it.
  { given: "is left if ids are the same on all nodes", idOf: (_node: string, name: string) => name, left: 1 },
])
  test(`a volume that a call of unknown outcome has created on the node before the claim went to another node ${given}`, async () => {
    const { world, kube, start, stored, nameOf, intents } = await setUpProvisioner({ objects: [selected("n1")] });
    let isSilent = true;
    const driverOf = (node: string, zone: string, mayBeSilent: boolean) =>
      aFakeDriver({
        create: async ({ name }, volumes) => {
          volumes.add(idOf(node, name));
          if (mayBeSilent && isSilent) throw new Fault("DeadlineExceeded", "late");
          return { volumeId: idOf(node, name), accessibleTopology: [{ segments: { zone } }] };
        },
      });
    const [first, second] = [driverOf("n1", "a", true), driverOf("n2", "b", false)];
    const stops = [
      start({ ownNode, csi: first.csi }),
      start({ ownNode: { ...ownNode, name: "n2", segments: { zone: "b" } }, csi: second.csi }),
    ];
    await world.advance(1_000);
    assert.deepEqual([first.volumes.size, stored().length], [1, 0]);
    const [claim] = kube.stored("PersistentVolumeClaim");
    assert.ok(claim !== undefined);
    const annotations = { ...claim.metadata.annotations, [provisioning.selectedNode]: "n2" };
    await kube.replace("PersistentVolumeClaim", { ...claim, metadata: { ...claim.metadata, annotations } });
    await world.advance(60_000);
    assert.deepEqual(
      stored().map(({ metadata, spec }) => [metadata.name, spec?.csi?.volumeHandle]),
      [[nameOf("new"), idOf("n2", nameOf("new"))]],
    );
    isSilent = false;
    await world.advance(600_000);
    assert.deepEqual([first.volumes.size, second.volumes.size, stored().length], [left, 1, 1]);
    assert.deepEqual(intents(), []);
    for (const stop of stops) stop();
  });
