import assert from "node:assert/strict";
import { test } from "node:test";
import { driver } from "../../../../test/builders.ts";
import {
  anIntent,
  aPendingClaim,
  aReadyContent,
  aReadySnapshot,
  aStorageClass,
  driverWith,
  nowMs,
  provisionerOptions,
} from "../../../../test/volume-plans.ts";
import type { PersistentVolumeClaim, ReferenceGrant } from "../../../api/types.ts";
import { keyIn } from "../../../base/brand.ts";
import { volumeKey, volumeName } from "../identity.ts";
import { noVolumeMemory } from "./memory.ts";
import { observeVolume, type VolumeContext, type VolumeStores } from "./observe.ts";
import { volumePhaseOf } from "./phase.ts";
import { planVolume } from "./plan.ts";

const name = volumeName("pvc-u-new");

function setUp(claim: PersistentVolumeClaim | undefined, change: Partial<VolumeContext> = {}) {
  const read: string[] = [];
  const none = { get: () => undefined, all: () => [], by: () => [] };
  const stores: VolumeStores = {
    PersistentVolumeClaim: { ...none, by: () => (claim === undefined ? [] : [claim]) },
    PersistentVolume: none,
    StorageClass: { ...none, get: () => aStorageClass() },
  };
  const context: VolumeContext = {
    memory: { about: () => noVolumeMemory },
    intents: { get: () => undefined },
    attributes: { get: () => undefined },
    snapshots: {
      pair: (key, attempt) => {
        read.push(`${key} for ${attempt}`);
        return { snapshot: aReadySnapshot(), content: aReadyContent() };
      },
    },
    grants: { isOn: () => true, find: () => undefined },
    links: undefined,
    driver: driverWith(),
    options: provisionerOptions,
    identity: "me",
    watchesSnapshots: true,
    protectsSnapshots: true,
    nowMs,
    ...change,
  };
  return { read, view: observeVolume(stores, context, volumeKey(name)) };
}
const fromSnapshot = (namespace?: string): PersistentVolumeClaim =>
  aPendingClaim({
    spec: {
      dataSourceRef: {
        apiGroup: "snapshot.storage.k8s.io",
        kind: "VolumeSnapshot",
        name: "monday",
        ...(namespace === undefined ? {} : { namespace }),
      },
    },
  });

test("there is nothing to see of a volume without a claim and without a call", () => {
  assert.equal(setUp(undefined).view, undefined);
  const called = setUp(undefined, { intents: { get: () => anIntent() } }).view;
  assert.equal(called && volumePhaseOf(called), "abandoned");
});

test("with the neutral memory, a claim read from a cluster has a phase and a plan", () => {
  const { view } = setUp(aPendingClaim());
  assert.ok(view !== undefined);
  assert.deepEqual([view.memory, view.nowMs, view.facts.name], [noVolumeMemory, nowMs, name]);
  assert.equal(volumePhaseOf(view), "wanted");
  const { actions, reason } = planVolume(view);
  assert.deepEqual([actions.map(({ kind }) => kind), reason.code], [["csi"], "WaitsForDriver"]);
  assert.match(reason.says, new RegExp(`driver ${driver} is asked to create volume ${name}`));
});

test("of a source in another namespace nothing is read without a grant, and with one it is read for this attempt alone", () => {
  const denied = setUp(fromSnapshot("prod"));
  const { source } = denied.view?.facts ?? {};
  assert.ok(source?.kind === "snapshot");
  assert.deepEqual(
    [source.access.kind, source.snapshot, source.isUnread, denied.read],
    ["denied", undefined, false, []],
  );
  const granted = setUp(fromSnapshot("prod"), { grants: { isOn: () => true, find: () => ({}) as ReferenceGrant } });
  assert.deepEqual(granted.read, [`${keyIn("prod", "monday")} for ${name}`]);
  assert.deepEqual(setUp(fromSnapshot()).read, ["team/monday for undefined"]);
});
