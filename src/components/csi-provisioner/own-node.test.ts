import assert from "node:assert/strict";
import { test } from "node:test";
import { aVolume } from "../../../test/builders.ts";
import { createVirtualWorld } from "../../../test/virtual-world.ts";
import {
  anIntent,
  aPendingClaim,
  aStorageClass,
  aVolumeView,
  driverWith,
  provisionerOptions,
  testVolumePlans,
} from "../../../test/volume-plans.ts";
import { provisioning } from "../../api/names.ts";
import { hasRoom } from "./act.ts";
import { isAccessible, nodesAround, type OwnNode } from "./own-node.ts";
import { createRemembered } from "./remembered.ts";

const ownNode: OwnNode = { name: "n1", segments: { zone: "a" }, takesImmediate: true };
const options = { ...provisionerOptions, ownNode };
const driver = driverWith([], ["VOLUME_ACCESSIBILITY_CONSTRAINTS"]);
const around = { options, driver, ...nodesAround(driver.name, ownNode) };
const selected = (node: string) => aPendingClaim({ metadata: { annotations: { [provisioning.selectedNode]: node } } });
const lateClass = aStorageClass({ volumeBindingMode: "WaitForFirstConsumer" });
const allowing = (zone: string) =>
  aStorageClass({ allowedTopologies: [{ matchLabelExpressions: [{ key: "zone", values: [zone] }] }] });

testVolumePlans([
  {
    given: "a claim of the own node",
    view: aVolumeView({ ...around, claim: selected("n1"), storageClass: lateClass }),
    phase: "wanted",
    expect: ["logIntent, create"],
  },
  {
    given: "a claim of another node",
    view: aVolumeView({ ...around, claim: selected("n2") }),
    phase: "unwanted",
    expect: [],
  },
  {
    given: "a claim that went to another node after CreateVolume was sent",
    view: aVolumeView({ ...around, claim: selected("n2"), intent: anIntent() }),
    phase: "abandoned",
    expect: ["logIntent, learn"],
  },
  {
    given: "a claim that waits for its first consumer, on a node",
    view: aVolumeView({ ...around, storageClass: lateClass }),
    phase: "waiting",
    expect: [],
  },
  {
    given: "a claim of an immediate class, on a node",
    view: aVolumeView(around),
    phase: "untaken",
    expect: ["delayTaking"],
  },
  {
    given: "the same before its delay is over",
    view: aVolumeView(around, { takeInMs: 5 }),
    phase: "untaken",
    expect: [],
  },
  {
    given: "the same after its delay",
    view: aVolumeView(around, { takeInMs: 0 }),
    phase: "untaken",
    expect: ["take"],
  },
  {
    given: "a claim of an immediate class whose call was sent before the node was deselected",
    view: aVolumeView({ ...around, intent: anIntent() }, { takeInMs: 0 }),
    phase: "untaken",
    expect: ["take"],
  },
  {
    given: "a claim of an immediate class where such claims are not taken",
    view: aVolumeView({ ...around, options: { ...options, ownNode: { ...ownNode, takesImmediate: false } } }),
    phase: "waiting",
    expect: [],
  },
  {
    given: "a class that allows the own topology",
    view: aVolumeView({ ...around, storageClass: allowing("a") }, { takeInMs: 0 }),
    phase: "untaken",
    expect: ["take"],
  },
  {
    given: "a class that allows only the topology of other nodes",
    view: aVolumeView({ ...around, storageClass: allowing("b") }, { takeInMs: 0 }),
    phase: "untaken",
    expect: [],
  },
]);

test("a volume is of the own node if its affinity allows that, or says nothing", () => {
  const affine = (value: string) =>
    aVolume({
      spec: {
        nodeAffinity: {
          required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator: "In", values: [value] }] }] },
        },
      },
    });
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
  const first = remembered.delayTaking("pvc-1");
  assert.ok(first > 0 && first <= 20_000, `${first} ms`);
  remembered.delayTaking("pvc-1");
  const third = remembered.delayTaking("pvc-1");
  assert.ok(third > 20_000 && third <= 60_000, `${third} ms`);
  remembered.taken("pvc-1");
  assert.equal(remembered.memoryOf("pvc-1").takeInMs, undefined);
  assert.ok(remembered.delayTaking("pvc-1") <= 20_000);
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
