/** Volumes that may exist though no claim wants them any more. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  aCreateCall,
  anIntent,
  aPendingClaim,
  aVolumeView,
  created,
  refusal,
  testVolumePlans,
  unsent,
} from "../../../../test/volume-plans.ts";
import { planVolume } from "./plan.ts";

const intent = anIntent();
const secret = { name: "key", namespace: "vault" };
const withSecret = anIntent({ call: aCreateCall({ secret }) });
const leaving = aPendingClaim({ metadata: { deletionTimestamp: "2026-01-01T01:00:00Z" } });
const gone = { claim: undefined, intent };
const restore = anIntent({
  snapshotKey: "team/monday",
  call: aCreateCall({ source: { kind: "snapshot", handle: "s-1" } }),
});
const deletion = { method: "delete", volumeId: "vol-9" } as const;
const undeleted = { claim: undefined, intent: anIntent({ undoes: "vol-9" }) };
const unreadable = refusal("MalformedReply");
testVolumePlans([
  {
    given: "an intent whose claim is gone",
    view: aVolumeView(gone),
    phase: "abandoned",
    reason: "VolumeAbandoned",
    expect: ["logIntent, learn"],
  },
  {
    given: "an intent whose claim is gone, and a PersistentVolume that may still be stored, which nobody would get",
    view: aVolumeView(gone, { lateVolumeMs: 40_000 }),
    phase: "abandoned",
    reason: "VolumeAbandoned",
    expect: ["logIntent, learn"],
  },
  {
    given: "an intent whose claim is being deleted, and a PersistentVolume that may still be stored",
    view: aVolumeView({ claim: leaving, intent }, { lateVolumeMs: 40_000 }),
    phase: "abandoned",
    reason: "VolumeAbandoned",
    expect: [],
  },
  {
    given: "an intent whose claim is being deleted",
    view: aVolumeView({ claim: leaving, intent }),
    phase: "abandoned",
    reason: "VolumeAbandoned",
    expect: ["logIntent, learn"],
  },
  {
    given: "an intent whose claim has another volume",
    view: aVolumeView({ claim: aPendingClaim({ spec: { volumeName: "pv-1" } }), intent }),
    phase: "abandoned",
    reason: "VolumeAbandoned",
    expect: ["logIntent, learn"],
  },
  {
    given: "a call that was stored for a claim that is gone, and never sent",
    view: aVolumeView(gone, { isUncertain: false }),
    phase: "abandoned",
    reason: "Writes",
    expect: ["forgetIntent"],
  },
  {
    given: "a call for a claim that is gone, which was denied before it was sent",
    view: aVolumeView(gone, { isUncertain: false, reply: { kind: "denied" } }),
    phase: "abandoned",
    reason: "Writes",
    expect: ["forgetIntent"],
  },
  {
    given: "a volume that was created for a claim that is gone",
    view: aVolumeView(gone, { reply: created }),
    phase: "abandoned",
    reason: "VolumeAbandoned",
    expect: ["confirm, requireIntent, delete"],
  },
  {
    given: "an abandoned volume that another PersistentVolume has",
    view: aVolumeView({ ...gone, holder: "pv-1" }, { reply: created }),
    phase: "abandoned",
    reason: "Writes",
    expect: ["forgetIntent"],
  },
  {
    given: "an abandoned volume that is deleted",
    view: aVolumeView(gone, { reply: { kind: "deleted" } }),
    phase: "abandoned",
    reason: "Writes",
    expect: ["forgetIntent"],
  },
  {
    given: "an abandoned volume that cannot be deleted",
    view: aVolumeView(gone, { reply: refusal("Internal"), isUndoing: true }),
    phase: "abandoned",
    reason: "DriverFailed",
    expect: ["pause"],
  },
  {
    given: "an abandoned volume that cannot be deleted, whose id was learned",
    view: aVolumeView(gone, { reply: refusal("Internal"), isUndoing: true, repliedTo: deletion }),
    phase: "abandoned",
    reason: "DriverFailed",
    expect: ["logIntent", "pause"],
  },
  {
    given: "an abandoned volume that cannot be deleted, whose id is stored",
    view: aVolumeView(undeleted, { reply: refusal("Internal"), isUndoing: true, repliedTo: deletion }),
    phase: "abandoned",
    reason: "DriverFailed",
    expect: ["pause"],
  },
  {
    given: "an abandoned volume whose id is stored, after a restart",
    view: aVolumeView(undeleted),
    phase: "abandoned",
    reason: "VolumeAbandoned",
    expect: ["confirm, requireIntent, delete"],
  },
  {
    given: "an abandoned volume whose id is stored, and which a PersistentVolume has",
    view: aVolumeView({ ...undeleted, holder: "pv-1" }),
    phase: "abandoned",
    reason: "Writes",
    expect: ["forgetIntent"],
  },
  {
    given: "an abandoned volume whose id is stored, and whose secret is gone",
    view: aVolumeView(
      { claim: undefined, intent: { ...withSecret, undoes: "vol-9" } },
      { reply: unsent("NotFound"), repliedTo: { ...deletion, secret } },
    ),
    phase: "abandoned",
    reason: "VolumeAbandoned",
    expect: ["confirm, requireIntent, delete"],
  },
  {
    given: "a volume that was given up and cannot be deleted, and a claim that is open again",
    view: aVolumeView({ intent: undeleted.intent }),
    phase: "wanted",
    reason: "VolumeAbandoned",
    expect: ["confirm, requireIntent, delete"],
  },
  {
    given: "five replies that cannot be read, to a restore whose claim is gone",
    view: aVolumeView({ claim: undefined, intent: restore }, { reply: unreadable, malformedReplies: 5 }),
    phase: "abandoned",
    reason: "StoredCallUncertain",
    expect: ["VolumeLeftAtDriver SNAP-348", "forgetIntent"],
  },
  {
    given: "four replies that cannot be read, to a restore whose claim is gone",
    view: aVolumeView({ claim: undefined, intent: restore }, { reply: unreadable, malformedReplies: 4 }),
    phase: "abandoned",
    reason: "OutcomeUnknown",
    expect: [],
  },
  {
    given: "five replies that cannot be read, to a call that holds no source",
    view: aVolumeView(gone, { reply: unreadable, malformedReplies: 5 }),
    phase: "abandoned",
    reason: "OutcomeUnknown",
    expect: [],
  },
  {
    given: "a refusal of the only attempt",
    view: aVolumeView(gone, { reply: refusal("InvalidArgument"), isUncertain: false }),
    phase: "abandoned",
    reason: "Writes",
    expect: ["forgetIntent"],
  },
  {
    given: "a refusal after an attempt of unknown outcome, and no claim",
    view: aVolumeView(gone, { reply: refusal("InvalidArgument") }),
    phase: "abandoned",
    reason: "DriverFailed",
    expect: [],
  },
  {
    given: "an attempt of unknown outcome, and no claim",
    view: aVolumeView(gone, { reply: refusal("DeadlineExceeded") }),
    phase: "abandoned",
    reason: "OutcomeUnknown",
    expect: [],
  },
  {
    given: "a secret that went with the claim's namespace",
    view: aVolumeView(
      { claim: undefined, intent: withSecret },
      { reply: unsent("NotFound"), repliedTo: withSecret.call },
    ),
    phase: "abandoned",
    reason: "VolumeAbandoned",
    expect: ["logIntent, learn"],
  },
  {
    given: "a volume whose id was learned without the secret",
    view: aVolumeView({ claim: undefined, intent: withSecret }, { reply: created, repliedTo: aCreateCall() }),
    phase: "abandoned",
    reason: "VolumeAbandoned",
    expect: ["confirm, requireIntent, delete"],
  },
  {
    given: "a volume whose id was learned with the secret",
    view: aVolumeView({ claim: undefined, intent: withSecret }, { reply: created, repliedTo: withSecret.call }),
    phase: "abandoned",
    reason: "VolumeAbandoned",
    expect: ["confirm, requireIntent, delete with key"],
  },
  {
    given: "a secret that cannot be read at the moment, and no claim",
    view: aVolumeView(
      { claim: undefined, intent: withSecret },
      { reply: unsent("Unavailable"), repliedTo: withSecret.call },
    ),
    phase: "abandoned",
    reason: "SecretNotUsable",
    expect: [],
  },
]);

test("an id is learned without the secret that is gone, but the intent keeps its name", () => {
  const view = aVolumeView(
    { claim: undefined, intent: withSecret },
    { reply: unsent("NotFound"), repliedTo: withSecret.call },
  );
  const [action] = planVolume(view).actions;
  assert.ok(action?.kind === "csi");
  assert.deepEqual(action.intent, [{ kind: "logIntent", name: "pvc-u-new", intent: withSecret }]);
});

test("the stored id of a volume that cannot be deleted takes the place of its source", () => {
  const view = aVolumeView(
    { claim: undefined, intent: { ...restore, claimKey: "team/data" } },
    { reply: refusal("FailedPrecondition"), isUndoing: true, repliedTo: deletion },
  );
  const [action] = planVolume(view).actions;
  const { snapshotKey: _, ...rest } = restore;
  assert.deepEqual(action, { kind: "logIntent", name: "pvc-u-new", intent: { ...rest, undoes: "vol-9" } });
});

test("the event about a volume that may be left names the volume, its source and the driver's reply", () => {
  const view = aVolumeView({ claim: undefined, intent: restore }, { reply: unreadable, malformedReplies: 5 });
  const [action] = planVolume(view).actions;
  assert.ok(action?.kind === "reportCall");
  assert.deepEqual(action.about.metadata, { namespace: "team", name: "new", uid: "u-new" });
  assert.match(action.message, /"pvc-u-new".*5 replies of driver .*no: MalformedReply.*"s-1".*\[SNAP-348\]$/);
});
