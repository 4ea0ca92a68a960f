import assert from "node:assert/strict";
import { test } from "node:test";
import { aVolume, driver } from "../../../../test/builders.ts";
import {
  aCreateCall,
  anIntent,
  aPendingClaim,
  aReadyContent,
  aReadySnapshot,
  aStorageClass,
  aVolumeView,
  created,
  driverWith,
  permitted,
  provisionerOptions,
  refusal,
  snapshotFacts,
  testVolumePlans,
  unsent,
} from "../../../../test/volume-plans.ts";
import { provisioning } from "../../../api/names.ts";
import { keyIn } from "../../../base/brand.ts";
import type { VolumeReply } from "../driver/call.ts";
import { planVolume } from "./plan.ts";

const intent = anIntent();
const leaving = aPendingClaim({ metadata: { deletionTimestamp: "2026-01-01T01:00:00Z" } });
const onNode = aPendingClaim({ metadata: { annotations: { [provisioning.selectedNode]: "n1" } } });
const topology = { requisite: [{ zone: "a" }], preferred: [{ zone: "a" }] };
const small: VolumeReply = { kind: "created", volume: { id: "vol-9", bytes: 5n, context: {}, topology: [] } };
const fromSnapshot = anIntent({ call: aCreateCall({ source: { kind: "snapshot", handle: "s-1" } }) });
const madeFrom = (handle: string): VolumeReply => ({
  kind: "created",
  volume: { id: "vol-9", bytes: 0n, context: {}, topology: [], source: { kind: "snapshot", handle } },
});
const stored = ["publishing", "create PersistentVolume", "ProvisioningSucceeded", "count"];

const stray = (reply: VolumeReply = { kind: "none" }) => ({
  reply: created,
  stray: { id: "vol-1", reply, replyLeftMs: reply.kind === "none" ? 0 : 500 },
});

testVolumePlans([
  {
    given: "a driver that has answered another id before",
    view: aVolumeView({ intent }, stray()),
    phase: "wanted",
    reason: "VolumeAbandoned",
    expect: ["ProvisioningFailed SNAP-347", "confirm, delete", ...stored],
  },
  {
    given: "the same with the later volume stored",
    view: aVolumeView({ volume: aVolume() }, stray()),
    phase: "stored",
    reason: "VolumeAbandoned",
    expect: ["ProvisioningFailed SNAP-347", "delete"],
  },
  {
    given: "the same when a PersistentVolume has the earlier volume",
    view: aVolumeView({ volume: aVolume(), isStrayHeld: true }, stray()),
    phase: "stored",
    reason: "Settled",
    expect: ["forgetStray"],
  },
  {
    given: "the same when the earlier volume cannot be deleted",
    view: aVolumeView({ intent }, stray(refusal("Internal"))),
    phase: "wanted",
    reason: "VolumeAbandoned",
    expect: stored,
  },
  {
    given: "the same when the earlier volume is deleted",
    view: aVolumeView({ claim: undefined }, stray({ kind: "deleted" })),
    phase: "unwanted",
    reason: "Settled",
    expect: ["forgetStray"],
  },
  {
    given: "a class of another provisioner",
    view: aVolumeView({ storageClass: aStorageClass({ provisioner: "kubernetes.io/no-provisioner" }) }),
    phase: "wanted",
    reason: "ClassNotUsable",
    expect: ["ProvisioningFailed SNAP-340"],
  },
  {
    given: "a new claim",
    view: aVolumeView(),
    phase: "wanted",
    reason: "WaitsForDriver",
    expect: ["logIntent, create"],
  },
  {
    given: "a claim that the server has to confirm",
    view: aVolumeView({}, { isUnconfirmed: true }),
    phase: "wanted",
    reason: "WaitsForDriver",
    expect: ["confirm, logIntent, create"],
  },
  {
    given: "a claim of another provisioner",
    view: aVolumeView({
      claim: aPendingClaim({ metadata: { annotations: { [provisioning.storageProvisioner]: "other" } } }),
    }),
    phase: "unwanted",
    reason: "NotOurs",
    expect: [],
  },
  {
    given: "a bound claim",
    view: aVolumeView({ claim: aPendingClaim({ spec: { volumeName: "pv-1" } }) }),
    phase: "unwanted",
    reason: "Settled",
    expect: [],
  },
  {
    given: "a claim that is bound to a volume which the cache has not yet",
    view: aVolumeView({ claim: aPendingClaim({ spec: { volumeName: "pvc-u-new" } }), intent }),
    phase: "stored",
    reason: "Settled",
    expect: ["forgetIntent"],
  },
  {
    given: "a claim that is being deleted",
    view: aVolumeView({ claim: leaving }),
    phase: "unwanted",
    reason: "Settled",
    expect: [],
  },
  {
    given: "a claim that waits for its first consumer",
    view: aVolumeView({ storageClass: aStorageClass({ volumeBindingMode: "WaitForFirstConsumer" }) }),
    phase: "waiting",
    reason: "WaitsForNode",
    expect: [],
  },
  {
    given: "a claim whose first consumer has a node",
    view: aVolumeView({ claim: onNode, storageClass: aStorageClass({ volumeBindingMode: "WaitForFirstConsumer" }) }),
    phase: "wanted",
    reason: "WaitsForDriver",
    expect: ["logIntent, create"],
  },
  {
    given: "a claim for a populator",
    view: aVolumeView({ source: { kind: "foreign", group: "example.com", sourceKind: "Book", name: "b" } }),
    phase: "foreign",
    reason: "NotOurs",
    expect: [],
  },
  {
    given: "a class that does not exist",
    view: aVolumeView({ storageClass: undefined }),
    phase: "wanted",
    reason: "ClassNotFound",
    expect: ["ProvisioningFailed SNAP-331"],
  },
  {
    given: "a stored volume and no intent",
    view: aVolumeView({ volume: aVolume() }),
    phase: "stored",
    reason: "Settled",
    expect: [],
  },
  {
    given: "a stored volume and its intent",
    view: aVolumeView({ volume: aVolume(), intent }),
    phase: "stored",
    reason: "Settled",
    expect: ["forgetIntent"],
  },
  {
    given: "an intent of a predecessor",
    view: aVolumeView({ intent }),
    phase: "wanted",
    reason: "WaitsForDriver",
    expect: ["logIntent, create"],
  },
  {
    given: "an intent and no class any more",
    view: aVolumeView({ intent, storageClass: undefined }),
    phase: "wanted",
    reason: "WaitsForDriver",
    expect: ["logIntent, create"],
  },
  {
    given: "an intent of another claim whose uid begins alike",
    view: aVolumeView({ intent: anIntent({ claim: { namespace: "team", name: "old", uid: "u-old" } }) }),
    phase: "abandoned",
    reason: "VolumeAbandoned",
    expect: ["logIntent, learn"],
  },
  {
    given: "a created volume",
    view: aVolumeView({ intent }, { reply: created }),
    phase: "wanted",
    reason: "Writes",
    expect: stored,
  },
  {
    given: "a volume of the right snapshot",
    view: aVolumeView({ intent: fromSnapshot }, { reply: madeFrom("s-1") }),
    phase: "wanted",
    reason: "Writes",
    expect: stored,
  },
  {
    given: "a volume of another snapshot",
    view: aVolumeView({ intent: fromSnapshot }, { reply: madeFrom("s-2") }),
    phase: "wanted",
    reason: "DriverFailed",
    expect: ["ProvisioningFailed SNAP-343", "confirm, requireIntent, delete"],
  },
  {
    given: "a volume of no source",
    view: aVolumeView({ intent: fromSnapshot }, { reply: created }),
    phase: "wanted",
    reason: "DriverFailed",
    expect: ["ProvisioningFailed SNAP-343", "confirm, requireIntent, delete"],
  },
  {
    given: "a volume that is too small",
    view: aVolumeView({ intent }, { reply: small }),
    phase: "wanted",
    reason: "DriverFailed",
    expect: ["ProvisioningFailed SNAP-342", "confirm, requireIntent, delete"],
  },
  {
    given: "a volume that is too small, and a PersistentVolume that a predecessor may still store",
    view: aVolumeView({ intent }, { reply: small, lateVolumeMs: 40_000 }),
    phase: "wanted",
    reason: "DriverFailed",
    expect: ["ProvisioningFailed SNAP-342"],
  },
  {
    given: "a volume that another PersistentVolume has",
    view: aVolumeView({ intent, holder: "pv-1" }, { reply: created }),
    phase: "wanted",
    reason: "DriverFailed",
    expect: ["ProvisioningFailed SNAP-346", "pause, forgetting the intent"],
  },
  {
    given: "an unusable volume that is deleted",
    view: aVolumeView({ intent }, { reply: { kind: "deleted" }, isUndoing: true }),
    phase: "wanted",
    reason: "DriverFailed",
    expect: ["pause, forgetting the intent"],
  },
  {
    given: "an unusable volume that cannot be deleted",
    view: aVolumeView({ intent }, { reply: refusal("Internal"), isUndoing: true }),
    phase: "wanted",
    reason: "DriverFailed",
    expect: ["ProvisioningFailed SNAP-351", "pause"],
  },
  { given: "a pause", view: aVolumeView({}, { pauseMs: 5_000 }), phase: "wanted", reason: "DriverFailed", expect: [] },
  {
    given: "a first attempt that the driver refuses",
    view: aVolumeView({ intent }, { reply: refusal("InvalidArgument"), isUncertain: false }),
    phase: "wanted",
    reason: "Writes",
    expect: ["ProvisioningFailed SNAP-341", "forgetIntent"],
  },
  {
    given: "a refusal after an attempt of unknown outcome",
    view: aVolumeView({ intent }, { reply: refusal("InvalidArgument"), isUncertain: true, repliedTo: aCreateCall() }),
    phase: "wanted",
    reason: "DriverFailed",
    expect: ["ProvisioningFailed SNAP-341"],
  },
  {
    given: "a refusal after an attempt of unknown outcome, and a class that was corrected",
    view: aVolumeView(
      { intent, storageClass: aStorageClass({ parameters: { tier: "gold" } }) },
      { reply: refusal("InvalidArgument"), isUncertain: true },
    ),
    phase: "wanted",
    reason: "WaitsForDriver",
    expect: ["ProvisioningFailed SNAP-341", "logIntent, create"],
  },
  {
    given: "a volume of this name with other arguments, after an attempt of unknown outcome",
    view: aVolumeView(
      { intent, storageClass: aStorageClass({ parameters: { tier: "gold" } }) },
      { reply: refusal("AlreadyExists"), isUncertain: true },
    ),
    phase: "wanted",
    reason: "DriverFailed",
    expect: ["ProvisioningFailed SNAP-341"],
  },
  ...(["DeadlineExceeded", "Unavailable", "Aborted", "Cancelled", "UnknownOutcome"] as const).map((code) => ({
    given: `an attempt that ended with ${code}`,
    view: aVolumeView({ intent }, { reply: refusal(code) }),
    phase: "wanted",
    reason: code === "Aborted" ? ("WaitsForDriver" as const) : ("OutcomeUnknown" as const),
    expect: ["ProvisioningFailed SNAP-341"],
  })),
  {
    given: "a malformed reply",
    view: aVolumeView({ intent }, { reply: refusal("MalformedReply") }),
    phase: "wanted",
    reason: "OutcomeUnknown",
    expect: ["ProvisioningFailed SNAP-344"],
  },
  {
    given: "a refusal of what is still asked for",
    view: aVolumeView({}, { reply: refusal("InvalidArgument"), repliedTo: aCreateCall() }),
    phase: "wanted",
    reason: "DriverFailed",
    expect: ["ProvisioningFailed SNAP-341"],
  },
  {
    given: "a refusal of what was asked for before the class was corrected",
    view: aVolumeView(
      {},
      { reply: refusal("InvalidArgument"), repliedTo: aCreateCall({ parameters: { tier: "bronze" } }) },
    ),
    phase: "wanted",
    reason: "WaitsForDriver",
    expect: ["logIntent, create"],
  },
  {
    given: "a secret that cannot be read",
    view: aVolumeView({}, { reply: unsent("NotFound"), repliedTo: aCreateCall() }),
    phase: "wanted",
    reason: "SecretNotUsable",
    expect: ["ProvisioningFailed SNAP-338"],
  },
  {
    given: "no room where the selected node is",
    view: aVolumeView(
      { claim: onNode, intent: anIntent({ call: aCreateCall({ topology }) }) },
      { reply: refusal("ResourceExhausted"), isUncertain: false },
    ),
    phase: "wanted",
    reason: "Writes",
    expect: ["ProvisioningFailed SNAP-341", "replace PersistentVolumeClaim", "forgetIntent"],
  },
  {
    given: "no room, and no topology",
    view: aVolumeView({ claim: onNode, intent }, { reply: refusal("ResourceExhausted"), isUncertain: false }),
    phase: "wanted",
    reason: "Writes",
    expect: ["ProvisioningFailed SNAP-341", "forgetIntent"],
  },
  {
    given: "no room on a node that was selected again, which is not taken away without asking the driver",
    view: aVolumeView({ claim: onNode }, { reply: refusal("ResourceExhausted"), repliedTo: aCreateCall() }),
    phase: "wanted",
    reason: "DriverFailed",
    expect: ["ProvisioningFailed SNAP-341"],
  },
]);

// Sources.
const youngClaim = aPendingClaim({ metadata: { creationTimestamp: "2026-01-02T00:00:00Z" } });
testVolumePlans([
  {
    given: "a snapshot that is not read",
    view: aVolumeView({ source: snapshotFacts({ isUnread: true }) }),
    phase: "wanted",
    reason: "Writes",
    expect: ["readSnapshot"],
  },
  {
    given: "a ready snapshot",
    view: aVolumeView({ source: snapshotFacts() }),
    phase: "wanted",
    reason: "WaitsForDriver",
    expect: ["protectSource, logIntent, create"],
  },
  {
    given: "a ready snapshot that may not be changed",
    view: aVolumeView({ source: snapshotFacts(), protectsSnapshots: false }),
    phase: "wanted",
    reason: "WaitsForDriver",
    expect: ["logIntent, create"],
  },
  {
    given: "a missing snapshot",
    view: aVolumeView({ source: snapshotFacts({ snapshot: undefined }) }),
    phase: "wanted",
    reason: "SnapshotNotFound",
    expect: ["ProvisioningFailed SNAP-301"],
  },
  {
    given: "a snapshot deleted before the claim came",
    view: aVolumeView({
      claim: youngClaim,
      source: snapshotFacts({ snapshot: aReadySnapshot({ deletionTimestamp: "2026-01-01T01:00:00Z" }) }),
    }),
    phase: "wanted",
    reason: "SourceNotUsable",
    expect: ["ProvisioningFailed SNAP-302"],
  },
  {
    given: "a started restore whose snapshot is gone",
    view: aVolumeView({ intent: fromSnapshot, source: snapshotFacts({ snapshot: undefined }) }),
    phase: "wanted",
    reason: "WaitsForDriver",
    expect: ["protectSource, logIntent, create"],
  },
  {
    given: "a source without a name",
    view: aVolumeView({ source: { kind: "nameless" } }),
    phase: "wanted",
    reason: "Invalid",
    expect: ["ProvisioningFailed SNAP-133"],
  },
  {
    given: "a claim to clone that does not exist",
    view: aVolumeView({
      source: {
        ...permitted("claim", { name: "data" }),
        kind: "claim",
        key: keyIn("team", "data"),
        claim: undefined,
        volume: undefined,
      },
    }),
    phase: "wanted",
    reason: "ClaimNotFound",
    expect: ["ProvisioningFailed SNAP-321"],
  },
]);

test("a call is repeated with the arguments that are stored, whatever the class says now", () => {
  const stale = anIntent({ call: aCreateCall({ parameters: { tier: "bronze" } }) });
  const [action] = planVolume(
    aVolumeView({ intent: stale, storageClass: aStorageClass({ parameters: { tier: "gold" } }) }),
  ).actions;
  assert.ok(action?.kind === "csi" && action.call.method === "create");
  assert.deepEqual(action.call.parameters, { tier: "bronze" });
});

test("what cannot be seen to change is looked at again after a while, the rest when it changes", () => {
  const nextOf = (view: Parameters<typeof planVolume>[0]): string => planVolume(view).next.kind;
  const missing = snapshotFacts({ snapshot: undefined });
  assert.equal(nextOf(aVolumeView({ source: missing })), "settled");
  assert.equal(nextOf(aVolumeView({ source: missing, watchesSnapshots: false })), "after");
  const otherMode = snapshotFacts({ content: aReadyContent({ sourceVolumeMode: "Block" }) });
  assert.equal(nextOf(aVolumeView({ source: otherMode })), "after");
  assert.equal(nextOf(aVolumeView({ source: snapshotFacts({ content: undefined }) })), "after");
});

test("a node that is gone is taken off the claim, by replacing it", () => {
  const { actions } = planVolume(
    aVolumeView({
      claim: onNode,
      driver: driverWith([], ["VOLUME_ACCESSIBILITY_CONSTRAINTS"]),
      options: provisionerOptions,
    }),
  );
  const [, replaced] = actions;
  assert.ok(replaced?.kind === "replace");
  assert.deepEqual(replaced.object.metadata.annotations, { [provisioning.storageProvisioner]: driver });
});

test("the PersistentVolume is made of what was stored with the call, not of what the class says now", () => {
  const kept = anIntent({ reclaimPolicy: "Retain", mountOptions: ["noatime"] });
  const view = aVolumeView({ intent: kept, storageClass: undefined }, { reply: created });
  const [note, action] = planVolume(view).actions;
  assert.deepEqual(note, { kind: "publishing", name: "pvc-u-new", id: "vol-9" });
  assert.ok(action?.kind === "create");
  const { spec } = action.object as { spec?: { persistentVolumeReclaimPolicy?: string; mountOptions?: string[] } };
  assert.deepEqual([spec?.persistentVolumeReclaimPolicy, spec?.mountOptions], ["Retain", ["noatime"]]);
});

test("a claim is confirmed by asking the server, even where the cache has what it answered before", () => {
  const [action] = planVolume(aVolumeView({}, { isUnconfirmed: true })).actions;
  const [confirm] = action?.kind === "csi" ? action.intent : [];
  assert.ok(confirm?.kind === "confirm");
  assert.equal(confirm.trustsReplies, undefined);
});
