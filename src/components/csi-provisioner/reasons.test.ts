import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { aClaim, aVolume, driver } from "../../../test/builders.ts";
import { root } from "../../../test/sources.ts";
import {
  aCreateCall,
  anIntent,
  aPendingClaim,
  aReadyContent,
  aReadySnapshot,
  aStorageClass,
  aVolumeView,
  driverWith,
  nowMs,
  permitted,
  provisionerOptions,
  refusal,
  snapshotFacts,
  unsent,
} from "../../../test/volume-plans.ts";
import { finalizers, provisioning } from "../../api/names.ts";
import type { PersistentVolumeClaim, VolumeAttachment } from "../../api/types.ts";
import { keyIn } from "../../base/brand.ts";
import type { ErrorCode } from "../../errors/codes.ts";
import { codeOfRefusal, type ProvisionerReason, type ProvisionerReasonCode } from "./reasons.ts";
import { planSource } from "./sources/plan.ts";
import { noStoredMemory } from "./stored-volumes/memory.ts";
import { planStored } from "./stored-volumes/plan.ts";
import type { VolumeMemory } from "./volumes/memory.ts";
import type { SourceFacts, VolumeFacts } from "./volumes/observe.ts";
import { planVolume } from "./volumes/plan.ts";

const why = (facts: Partial<VolumeFacts> = {}, memory: Partial<VolumeMemory> = {}): ProvisionerReason =>
  planVolume(aVolumeView(facts, memory)).reason;

const deletionTimestamp = "2026-01-01T11:00:00Z";
const elsewhere = {
  namespace: "prod",
  referrer: { group: "", kind: "PersistentVolumeClaim", namespace: "team" },
} as const;
const denied = (reason: "no grant" | "off" | "unreadable") =>
  snapshotFacts({ ...permitted("snapshot", elsewhere), access: { kind: "denied", why: reason } });
const clone = (claim: PersistentVolumeClaim | undefined): SourceFacts => ({
  ...permitted("claim", { name: "data" }),
  kind: "claim",
  key: keyIn("team", "data"),
  claim,
  volume: undefined,
});
const released = {
  volume: {
    ...aVolume({ spec: { csi: { driver, volumeHandle: "vol-1" }, persistentVolumeReclaimPolicy: "Delete" } }),
    status: { phase: "Released" },
  },
  storageClass: undefined,
  attachments: [{ metadata: { name: "csi-1" } } as VolumeAttachment],
  driver: driverWith(["PUBLISH_UNPUBLISH_VOLUME"]),
};
const restoring = aReadySnapshot({ finalizers: [finalizers.snapshotRestoring], deletionTimestamp });
const secret = { namespace: "vault", name: "key" };
const withSecret = aStorageClass({
  parameters: {
    "csi.storage.k8s.io/provisioner-secret-name": secret.name,
    "csi.storage.k8s.io/provisioner-secret-namespace": secret.namespace,
  },
});

/** Each reason that this component has, by the plan that gives it. */
const given: Readonly<Record<ProvisionerReasonCode, () => ProvisionerReason>> = {
  Settled: () => why({ volume: aVolume() }),
  NotOurs: () => why({ source: { kind: "foreign", group: "example.com", sourceKind: "Book", name: "b" } }),
  Writes: () => why({ source: snapshotFacts({ isUnread: true }) }),
  Released: () =>
    planStored({
      facts: {
        ...released,
        volume: aVolume({ metadata: { deletionTimestamp, finalizers: [provisioning.volumeFinalizer] } }),
      },
      memory: { ...noStoredMemory, reply: { kind: "deleted" } },
      nowMs,
    }).reason,
  Invalid: () => why({ source: { kind: "nameless" } }),
  ClaimNotFound: () => why({ source: clone(undefined) }),
  ClaimNotBound: () => why({ source: clone(aClaim({ status: { phase: "Pending" } })) }),
  ClassNotFound: () => why({ storageClass: undefined }),
  ClassNotUsable: () => why({ storageClass: aStorageClass({ provisioner: "other" }) }),
  SecretNotUsable: () =>
    why({ storageClass: withSecret }, { reply: unsent("NotFound"), repliedTo: aCreateCall({ secret }) }),
  ContentNotFound: () => why({ source: snapshotFacts({ content: undefined }) }),
  ContentNotUsable: () =>
    why({
      source: snapshotFacts({
        content: aReadyContent({ volumeSnapshotRef: { namespace: "team", name: "tuesday", uid: "uid-other" } }),
      }),
    }),
  SnapshotNotFound: () => why({ source: snapshotFacts({ snapshot: undefined }) }),
  SnapshotNotReady: () => why({ source: snapshotFacts({ snapshot: aReadySnapshot({}, { readyToUse: false }) }) }),
  SourceNotUsable: () => why({ source: snapshotFacts({ content: aReadyContent({ driver: "other" }) }) }),
  SourceNotServed: () => why({ source: denied("off") }),
  NotGranted: () => why({ source: denied("no grant") }),
  WaitsForGrants: () => why({ source: denied("unreadable") }),
  NotPermitted: () => why({ source: { kind: "unlinked", key: keyIn("team", "abroad"), why: "unreadable" } }),
  WaitsForNode: () => why({ storageClass: aStorageClass({ volumeBindingMode: "WaitForFirstConsumer" }) }),
  NodeNotUsable: () =>
    why({
      claim: aPendingClaim({ metadata: { annotations: { [provisioning.selectedNode]: "n1" } } }),
      driver: driverWith([], ["VOLUME_ACCESSIBILITY_CONSTRAINTS"]),
    }),
  WaitsForDriver: () => why(),
  DriverFailed: () => why({}, { reply: refusal("Internal"), repliedTo: aCreateCall() }),
  OutcomeUnknown: () => why({ intent: anIntent() }, { reply: refusal("DeadlineExceeded") }),
  StoredCallDiffers: () => why({ intent: anIntent({ mountOptions: ["suid"] }) }, { isAdopted: true }),
  StoredCallUncertain: () => why({ claim: undefined, intent: anIntent() }, { mayBePublished: true }),
  VolumeAbandoned: () => why({ claim: undefined, intent: anIntent() }),
  VolumeInUse: () =>
    planStored({
      facts: released,
      memory: noStoredMemory,
      nowMs,
    }).reason,
  InUseByClaim: () =>
    planSource({
      facts: {
        source: { kind: "snapshot", key: keyIn("team", "monday") },
        object: restoring,
        driver,
        pair: undefined,
        volume: undefined,
      },
      memory: { isUsed: true },
      nowMs,
    }).reason,
};
for (const [code, reasonOf] of Object.entries(given))
  test(`the reason ${code} is given, with a sentence that names an object`, () => {
    const { code: found, says } = reasonOf();
    assert.equal(found, code);
    assert.match(says, /pv-1|pvc-u-new|team\//);
  });

test("whatever a rule refuses a claim with has a reason of its own", () => {
  const rules = ["restore-rules", "secret-template", "source-access"].map((name) => `src/rules/${name}.ts`);
  const own = ["claims/prepare", "claims/parameters", "volumes/request"].map(
    (name) => `src/components/csi-provisioner/${name}.ts`,
  );
  const codes = [...rules, ...own].flatMap((path) => readFileSync(`${root}/${path}`, "utf8").match(/SNAP-\d+/g) ?? []);
  assert.ok(codes.length > 30);
  assert.deepEqual(
    codes.filter((code) => codeOfRefusal(code as ErrorCode) === undefined),
    [],
  );
});

test("a VolumeAttributesClass that is missing is told from one of another driver", () => {
  const claim = aPendingClaim({ spec: { volumeAttributesClassName: "gold" } });
  const options = { ...provisionerOptions, usesAttributesClasses: true };
  const named = { claim, options, driver: driverWith(["MODIFY_VOLUME"]) };
  const other = { kind: "class", driverName: "other", parameters: {} } as const;
  assert.equal(why({ ...named, attributes: { kind: "missing" } }).code, "ClassNotFound");
  assert.equal(why({ ...named, attributes: other }).code, "ClassNotUsable");
  assert.match(why(named).says, /VolumeAttributesClass gold is read/);
});

test("a reason names what has to change first", () => {
  const names = (reason: ProvisionerReason) =>
    reason.waitsFor.map(({ kind, namespace, name }) => [kind, namespace, name]);
  assert.deepEqual(names(given.ClassNotFound()), [["StorageClass", undefined, "fast"]]);
  assert.deepEqual(names(given.SnapshotNotReady()), [["VolumeSnapshot", "team", "monday"]]);
  assert.deepEqual(names(given.ContentNotFound()), [["VolumeSnapshotContent", undefined, "snapcontent-uid-snap"]]);
  assert.deepEqual(names(given.ClaimNotBound()), [["PersistentVolumeClaim", "team", "data"]]);
  assert.deepEqual(names(given.NodeNotUsable()), [["Node", undefined, "n1"]]);
  assert.deepEqual(names(given.SecretNotUsable()), [["Secret", "vault", "key"]]);
  assert.deepEqual(names(given.VolumeInUse()), [["VolumeAttachment", undefined, "csi-1"]]);
});

test("a refusal's reason has the words of its event", () => {
  const { actions, reason } = planVolume(aVolumeView({ storageClass: undefined }));
  const [error] = actions;
  assert.ok(error?.kind === "reportError");
  assert.equal(reason.says, `claim team/new: ${error.message}`);
});

test("a call says since when it is under way, and a failed one its error and when it is repeated", () => {
  assert.equal(given.WaitsForDriver().sinceMs, nowMs);
  const { says, sinceMs } = why({}, { reply: refusal("Internal"), repliedTo: aCreateCall(), sentAtMs: nowMs - 5_000 });
  assert.equal(sinceMs, nowMs - 5_000);
  assert.match(says, /"no: Internal" \[SNAP-341\]; the next attempt is at 2026-01-01T12:00:01Z$/);
  assert.equal(given.InUseByClaim().sinceMs, Date.parse(deletionTimestamp));
});

test("a claim that waits for a grant names it by both sides, and nothing else of the other namespace", () => {
  const { says, waitsFor } = given.NotGranted();
  assert.match(
    says,
    /no ReferenceGrant in namespace prod lets PersistentVolumeClaims of namespace team use VolumeSnapshot prod\/monday/,
  );
  assert.deepEqual(waitsFor, []);
});

test("of a source in another namespace, the reason says the same whatever state the source is in", () => {
  const states = [
    { snapshot: undefined },
    { snapshot: aReadySnapshot({}, { readyToUse: false }) },
    { snapshot: aReadySnapshot({}, { boundVolumeSnapshotContentName: undefined }) },
    { snapshot: aReadySnapshot({}, { restoreSize: "5Gi" }) },
    { content: undefined },
    { content: aReadyContent({ driver: "other" }) },
    { content: aReadyContent({ sourceVolumeMode: "Block" }) },
  ];
  const inPlace = (change: object) => ({
    ...permitted("snapshot", elsewhere),
    key: keyIn("prod", "monday"),
    ...change,
  });
  const codes = new Set<string>();
  for (const state of states) {
    const { actions, reason } = planVolume(aVolumeView({ source: snapshotFacts(inPlace(state)) }));
    const [error] = actions;
    assert.ok(error?.kind === "reportError");
    codes.add(error.message);
    assert.deepEqual(reason, {
      code: "SourceNotUsable",
      says: "claim team/new: VolumeSnapshot prod/monday cannot be used as it is; an event of the claim says why, as long as a ReferenceGrant allows it",
      waitsFor: [{ kind: "VolumeSnapshot", namespace: "prod", name: "monday" }],
    });
  }
  assert.equal(codes.size, states.length, "the states differ");
});
