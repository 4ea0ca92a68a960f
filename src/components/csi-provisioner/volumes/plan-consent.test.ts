/** Restores from other namespaces: what is decided with a grant, without one, and after it was revoked. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  aCreateCall,
  anIntent,
  aReadyContent,
  aVolumeView,
  created,
  permitted,
  refusal,
  snapshotFacts,
  testVolumePlans,
} from "../../../../test/volume-plans.ts";
import { keyIn } from "../../../base/brand.ts";
import type { Denied } from "../../../rules/source-access.ts";
import type { VolumeReply } from "../driver/call.ts";
import type { VolumeFacts } from "./observe.ts";
import { planVolume } from "./plan.ts";

const claims = { group: "", kind: "PersistentVolumeClaim", namespace: "team" };
const place = { namespace: "prod", referrer: claims } as const;
const granted = (change: object = {}): VolumeFacts["source"] =>
  snapshotFacts({ ...permitted("snapshot", place), key: keyIn("prod", "monday"), ...change });
const denied = (why: Denied["why"] = "no grant"): VolumeFacts["source"] =>
  granted({ access: { kind: "denied", why }, snapshot: undefined, content: undefined });
const from = claims;
const to = { group: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", namespace: "prod", name: "monday" };
const consent = { from, to, uid: "uid-snap" };
const call = aCreateCall({ source: { kind: "snapshot", handle: "s-1" }, consent });
const intent = anIntent({ call, snapshotKey: "prod/monday" });
const restored: VolumeReply = {
  kind: "created",
  volume: { id: "vol-9", bytes: 0n, context: {}, topology: [], source: { kind: "snapshot", handle: "s-1" } },
};
const uncertain = { isUncertain: true };
/** A predecessor may have sent the PersistentVolume while there was consent. */
const late = { ...uncertain, lateVolumeMs: 40_000 };

testVolumePlans([
  {
    given: "a grant and a ready snapshot",
    view: aVolumeView({ source: granted() }),
    phase: "wanted",
    reason: "WaitsForDriver",
    expect: ["protectSource, logIntent, create"],
  },
  {
    given: "a grant and a content that is yet to be read",
    view: aVolumeView({ source: granted({ isUnread: true }) }),
    phase: "wanted",
    reason: "Writes",
    expect: ["readSnapshot"],
  },
  {
    given: "no grant",
    view: aVolumeView({ source: denied() }),
    phase: "wanted",
    reason: "NotGranted",
    expect: ["ProvisioningFailed SNAP-361"],
  },
  {
    given: "the feature off",
    view: aVolumeView({ source: denied("off") }),
    phase: "wanted",
    reason: "SourceNotServed",
    expect: ["ProvisioningFailed SNAP-336"],
  },
  {
    given: "grants that cannot be read",
    view: aVolumeView({ source: denied("unreadable") }),
    phase: "wanted",
    reason: "WaitsForGrants",
    expect: ["ProvisioningFailed SNAP-362"],
  },
  {
    given: "a grant that the server does not have, when the call was about to be sent",
    view: aVolumeView({ source: granted(), intent }, { reply: { kind: "denied" }, isUncertain: false }),
    phase: "wanted",
    reason: "NotGranted",
    expect: ["ProvisioningFailed SNAP-361", "forgetIntent"],
  },
  {
    given: "a denial that still counts, and nothing sent",
    view: aVolumeView({ source: granted() }, { reply: { kind: "denied" } }),
    phase: "wanted",
    reason: "NotGranted",
    expect: ["ProvisioningFailed SNAP-361"],
  },
  {
    given: "a stored call that was never sent, and a grant that was revoked",
    view: aVolumeView({ source: denied(), intent }, { isUncertain: false }),
    phase: "wanted",
    reason: "NotGranted",
    expect: ["ProvisioningFailed SNAP-361", "forgetIntent"],
  },
  {
    given: "a call of unknown outcome, and the grant",
    view: aVolumeView({ source: granted(), intent }, uncertain),
    phase: "wanted",
    reason: "WaitsForDriver",
    expect: ["protectSource, logIntent, create"],
  },
  {
    given: "a call of unknown outcome, and a grant that was revoked",
    view: aVolumeView({ source: denied(), intent }, uncertain),
    phase: "wanted",
    reason: "NotGranted",
    expect: ["ProvisioningFailed SNAP-361", "logIntent, learn"],
  },
  {
    given: "a predecessor's call, a grant that was revoked, and a PersistentVolume that may still be stored",
    view: aVolumeView({ source: denied(), intent }, late),
    phase: "wanted",
    reason: "NotGranted",
    expect: ["ProvisioningFailed SNAP-361"],
  },
  {
    given: "a predecessor's call, grants that cannot be read, and a PersistentVolume that may still be stored",
    view: aVolumeView({ source: denied("unreadable"), intent }, late),
    phase: "wanted",
    reason: "WaitsForGrants",
    expect: ["ProvisioningFailed SNAP-362"],
  },
  {
    given: "a predecessor's call, the grant, and a PersistentVolume that may still be stored",
    view: aVolumeView({ source: granted(), intent }, late),
    phase: "wanted",
    reason: "WaitsForDriver",
    expect: ["protectSource, logIntent, create"],
  },
  {
    given: "the id of a predecessor's volume, a new grant, and a PersistentVolume that may still be stored",
    view: aVolumeView({ source: granted(), intent }, { reply: restored, isLearning: true, ...late }),
    phase: "wanted",
    reason: "NotGranted",
    expect: ["ProvisioningFailed SNAP-361"],
  },
  {
    given: "a call of unknown outcome, and a denial of the server that the cache does not know of",
    view: aVolumeView({ source: granted(), intent }, { reply: { kind: "denied" }, ...uncertain }),
    phase: "wanted",
    reason: "NotGranted",
    expect: ["ProvisioningFailed SNAP-361", "logIntent, learn"],
  },
  {
    given: "a call of unknown outcome, and the feature turned off",
    view: aVolumeView({ source: denied("off"), intent }, uncertain),
    phase: "wanted",
    reason: "SourceNotServed",
    expect: ["ProvisioningFailed SNAP-336", "logIntent, learn"],
  },
  {
    given: "a volume that was created with consent, which was revoked meanwhile",
    view: aVolumeView({ source: denied(), intent }, { reply: restored, ...uncertain }),
    phase: "wanted",
    reason: "Writes",
    expect: ["publishing", "create PersistentVolume", "ProvisioningSucceeded", "count"],
  },
  {
    given: "a volume whose id was asked for after the revocation",
    view: aVolumeView({ source: denied(), intent }, { reply: restored, isLearning: true, ...uncertain }),
    phase: "wanted",
    reason: "NotGranted",
    expect: ["ProvisioningFailed SNAP-361", "confirm, requireIntent, delete"],
  },
  {
    given: "a volume whose id was asked for after the revocation, and a new grant",
    view: aVolumeView({ source: granted(), intent }, { reply: restored, isLearning: true, ...uncertain }),
    phase: "wanted",
    reason: "NotGranted",
    expect: ["ProvisioningFailed SNAP-361", "confirm, requireIntent, delete"],
  },
  {
    given: "that volume deleted",
    view: aVolumeView({ source: denied(), intent }, { reply: { kind: "deleted" }, isUndoing: true, ...uncertain }),
    phase: "wanted",
    reason: "NotGranted",
    expect: ["ProvisioningFailed SNAP-361", "forgetIntent"],
  },
  {
    given: "a driver that did not create it, as it says when it is asked for the id",
    view: aVolumeView(
      { source: denied(), intent },
      { reply: refusal("NotFound"), isLearning: true, isUncertain: false },
    ),
    phase: "wanted",
    reason: "NotGranted",
    expect: ["ProvisioningFailed SNAP-361", "forgetIntent"],
  },
  {
    given: "a stored call without the consent that its claim needs",
    view: aVolumeView({ source: granted(), intent: anIntent() }, { reply: created, ...uncertain }),
    phase: "wanted",
    reason: "NotGranted",
    expect: ["ProvisioningFailed SNAP-361", "confirm, requireIntent, delete"],
  },
]);

test("a call that is not undone yet, because its PersistentVolume may still be stored, is looked at when it cannot be", () =>
  assert.deepEqual(planVolume(aVolumeView({ source: denied(), intent }, late)).next, { kind: "after", ms: 40_000 }));

test("the call names whose consent it needs, and the source that was looked at", () => {
  const [action] = planVolume(aVolumeView({ source: granted() })).actions;
  assert.ok(action?.kind === "csi" && action.call.method === "create");
  assert.deepEqual(action.call.consent, consent);
});

test("a call within a namespace needs no consent", () => {
  const [action] = planVolume(aVolumeView({ source: snapshotFacts() })).actions;
  assert.ok(action?.kind === "csi" && action.call.method === "create");
  assert.equal(action.call.consent, undefined);
});

test("a call that only learns an id has no consent and is not one that creates", () => {
  const [, action] = planVolume(aVolumeView({ source: denied(), intent }, uncertain)).actions;
  assert.ok(action?.kind === "csi" && action.call.method === "learn");
  assert.equal("consent" in action.call, false);
});

test("what is wrong with a source of another namespace is told only to who still has a grant", () => {
  const content = aReadyContent({ driver: "other" });
  const [error] = planVolume(aVolumeView({ source: granted({ content }) })).actions;
  assert.ok(error?.kind === "reportError");
  assert.match(error.message, /SNAP-306/);
  assert.deepEqual([error.consent?.from, error.consent?.to], [from, to]);
  assert.match(error.consent?.otherwise ?? "", /SNAP-361/);
});

test("a denial says the same whatever is in the other namespace", () => {
  const messages = [denied(), denied()].map((source) => {
    const [error] = planVolume(aVolumeView({ source })).actions;
    return error?.kind === "reportError" ? error.message : undefined;
  });
  assert.equal(messages[0], messages[1]);
  assert.doesNotMatch(messages[0] ?? "", /exist|ready|driver/);
});
