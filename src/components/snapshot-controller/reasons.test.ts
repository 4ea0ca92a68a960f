/** Why a snapshot, a claim or a content is where it is: the code, the sentence, what it waits for, and since when. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim, aClass, aContent, aSnapshot, aVolume, driver } from "../../../test/builders.ts";
import {
  aProtectedView,
  both,
  deletionTimestamp,
  protectedClaim,
  readyContent,
  readyStatus,
} from "../../../test/snapshot-plans.ts";
import { aClaimView, aLoneContentView, type ContentParts, type SnapshotParts } from "../../../test/views.ts";
import { annotations, finalizers, labels } from "../../api/names.ts";
import type { Ref } from "../../api/plan.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import { keyIn } from "../../base/brand.ts";
import { type BlockingCode, reasonsByCode } from "../../rules/snapshot-reasons.ts";
import { noClaimMemory, noSnapshotMemory } from "./memory.ts";
import { planSnapshot } from "./plan.ts";
import { planClaim } from "./plan-claim.ts";
import { planContent } from "./plan-content.ts";
import type { ControllerPlan, SnapshotPlan } from "./plan-steps.ts";
import { type ControllerReason, controllerReasonCodes } from "./reasons.ts";

interface Row {
  readonly given: string;
  readonly plan: ControllerPlan | SnapshotPlan;
  readonly code: ControllerReason["code"];
  readonly says: RegExp;
  readonly waitsFor?: readonly string[];
  readonly since?: string;
}

const name = "snapcontent-uid-snap";
const content = `VolumeSnapshotContent ${name}`;
const claimName = "PersistentVolumeClaim team/data";
const monday = "VolumeSnapshot team/monday";
const bornAt = "2026-01-01T00:00:00Z";
const errorAt = "2026-01-01T00:30:00Z";

const ofSnapshot = (parts: SnapshotParts): SnapshotPlan => planSnapshot(aProtectedView(parts));
const ofContent = (parts: ContentParts): ControllerPlan => planContent(aLoneContentView(parts));
const classless = (defaultClasses: SnapshotParts["defaultClasses"] = []): SnapshotParts => ({
  snapshot: aSnapshot({ spec: { source: { persistentVolumeClaimName: "data" } } }),
  snapshotClass: undefined,
  defaultClasses,
});
const taken = (status: VolumeSnapshotContent["status"], metadata: object = {}) =>
  ofSnapshot({ content: aContent({ metadata, ...(status === undefined ? {} : { status }) }) });
const member = (metadata: object) =>
  aSnapshot({
    metadata: {
      name: `snapshot-${"a".repeat(64)}`,
      ownerReferences: [
        { apiVersion: "groupsnapshot.storage.k8s.io/v1", kind: "VolumeGroupSnapshot", name: "group", uid: "uid-group" },
      ],
      finalizers: [...both, finalizers.snapshotInGroup],
      ...metadata,
    },
  });
const failed = (message: string) => ({ readyToUse: false, error: { message, time: errorAt } });
const beingCreated = { annotations: { [annotations.beingCreated]: "yes" } };
const secretNoted = {
  annotations: { [annotations.deletionSecretName]: "key", [annotations.deletionSecretNamespace]: "vault" },
};

/** What the snapshot shows once it was told. */
const told = (parts: SnapshotParts): SnapshotParts => {
  const { says } = ofSnapshot(parts).reason;
  const snapshot = parts.snapshot ?? aSnapshot({ metadata: { finalizers: both } });
  return {
    ...parts,
    snapshot: { ...snapshot, status: { readyToUse: false, error: { message: says, time: errorAt } } },
  };
};

const invalid: readonly Row[] = [
  {
    given: "a snapshot with both sources",
    plan: ofSnapshot({ source: { kind: "unclear", count: 2 } }),
    code: "Invalid",
    says: /names both; leave one \[SNAP-101\]$/,
  },
  {
    given: "a snapshot whose claim is missing",
    plan: ofSnapshot({ claim: undefined }),
    code: "ClaimNotFound",
    says: /claim team\/data not found: create it, .* \[SNAP-221\]$/,
    waitsFor: [claimName],
  },
  {
    given: "a snapshot that says since half past that its claim is missing",
    plan: ofSnapshot(told({ claim: undefined })),
    code: "ClaimNotFound",
    says: /claim team\/data not found/,
    waitsFor: [claimName],
    since: errorAt,
  },
  {
    given: "a snapshot whose claim is being deleted",
    plan: ofSnapshot({ claim: aClaim({ metadata: { deletionTimestamp } }) }),
    code: "ClaimNotFound",
    says: /is being deleted/,
    waitsFor: [claimName],
  },
  {
    given: "a snapshot whose claim has no volume",
    plan: ofSnapshot({ claim: aClaim({ spec: {}, status: { phase: "Pending" } }) }),
    code: "ClaimNotBound",
    says: /claim team\/data is not bound to a volume \(it is Pending\)/,
    waitsFor: [claimName],
  },
  {
    given: "a snapshot of a volume that is not there",
    plan: ofSnapshot({ volume: undefined }),
    code: "VolumeNotUsable",
    says: /volume pv-1 of the claim not found/,
    waitsFor: ["PersistentVolume pv-1"],
  },
  {
    given: "a snapshot of a volume that is not of a CSI driver",
    plan: ofSnapshot({ volume: aVolume({ spec: { claimRef: { namespace: "team", name: "data" } } }) }),
    code: "VolumeNotUsable",
    says: /non-CSI/,
    waitsFor: ["PersistentVolume pv-1"],
  },
  {
    given: "a snapshot of a volume that no node reaches",
    plan: ofSnapshot({ place: { kind: "nowhere" } }),
    code: "NodeNotUsable",
    says: /no node matches spec\.nodeAffinity of volume pv-1/,
    waitsFor: ["PersistentVolume pv-1"],
  },
  {
    given: "a snapshot whose class does not exist",
    plan: ofSnapshot({ snapshotClass: undefined }),
    code: "ClassNotFound",
    says: /volumesnapshotclass "fast" not found/,
    waitsFor: ["VolumeSnapshotClass fast"],
  },
  {
    given: "a snapshot without a class, and no default class",
    plan: ofSnapshot(classless()),
    code: "ClassNotFound",
    says: /cannot find default snapshot class for driver disk\.example\.com/,
  },
  {
    given: "a snapshot without a class, and two default classes",
    plan: ofSnapshot(classless([aClass(), aClass({ metadata: { name: "slow" } })])),
    code: "ClassNotUsable",
    says: /2 default snapshot classes were found/,
  },
  {
    given: "a snapshot whose class is another driver's",
    plan: ofSnapshot({ snapshotClass: aClass({ driver: "tape" }) }),
    code: "ClassNotUsable",
    says: /class fast is for driver tape/,
    waitsFor: ["VolumeSnapshotClass fast"],
  },
  {
    given: "a snapshot whose default class names a secret by half",
    plan: ofSnapshot(classless([aClass({ parameters: { "csi.storage.k8s.io/snapshotter-secret-name": "key" } })])),
    code: "SecretNotUsable",
    says: /snapshotter-secret-namespace is missing or empty/,
    waitsFor: ["VolumeSnapshotClass fast"],
  },
  {
    given: "a snapshot whose content does not exist",
    plan: ofSnapshot({ snapshot: aSnapshot({ spec: { source: { volumeSnapshotContentName: "old" } } }) }),
    code: "ContentNotFound",
    says: /create old/,
    waitsFor: ["VolumeSnapshotContent old"],
  },
  {
    given: "a ready snapshot whose content was deleted",
    plan: ofSnapshot({ snapshot: aSnapshot({ metadata: { finalizers: both }, status: readyStatus }) }),
    code: "ContentLost",
    says: /snapcontent-uid-snap was removed although the snapshot still needs it/,
    waitsFor: [content],
  },
  {
    given: "a snapshot whose content is bound to another one",
    plan: ofSnapshot({
      content: aContent({ spec: { volumeSnapshotRef: { namespace: "team", name: "tuesday", uid: "u" } } }),
    }),
    code: "ContentNotUsable",
    says: /is bound to a different snapshot/,
    waitsFor: [content],
  },
  {
    given: "a snapshot whose content has no driver",
    plan: ofSnapshot({ content: aContent({ spec: { driver: "" } }) }),
    code: "Invalid",
    says: /spec\.driver of VolumeSnapshotContent snapcontent-uid-snap is not set/,
    waitsFor: [content],
  },
];

const taking: readonly Row[] = [
  {
    given: "a new snapshot with a wrong label",
    plan: ofSnapshot({ snapshot: aSnapshot({ metadata: { labels: { [labels.invalidSnapshot]: "" } } }) }),
    code: "Writes",
    says: /label/,
  },
  {
    given: "a snapshot whose claim is not protected",
    plan: ofSnapshot({ claim: aClaim() }),
    code: "WaitsForProtection",
    says: /claim team\/data does not have our finalizer/,
    waitsFor: [claimName],
  },
  {
    given: "a snapshot whose claim may lose its protection any moment",
    plan: ofSnapshot({ protection: "doubtful" }),
    code: "WaitsForProtection",
    says: /claim team\/data does not have our finalizer for certain/,
    waitsFor: [claimName],
  },
  {
    given: "the same, of which a process has just started and remembers nothing",
    plan: planSnapshot({ ...aProtectedView(), memory: noSnapshotMemory }),
    code: "WaitsForProtection",
    says: /for certain/,
    waitsFor: [claimName],
  },
  {
    given: "a snapshot whose claim is protected",
    plan: ofSnapshot({}),
    code: "Writes",
    says: /VolumeSnapshotContent snapcontent-uid-snap is created/,
  },
  {
    given: "a content on which no sidecar has acted, because none runs",
    plan: taken(undefined),
    code: "WaitsForSidecar",
    says: new RegExp(`^no csi-snapshotter of driver ${driver} has acted on ${content}`),
    waitsFor: [content],
    since: bornAt,
  },
  {
    given: "a content for which the driver is asked",
    plan: taken(undefined, beingCreated),
    code: "WaitsForDriver",
    says: new RegExp(`^driver ${driver} is asked for CreateSnapshot for ${content}, and no reply`),
    waitsFor: [content],
    since: bornAt,
  },
  {
    given: "a content that is taken and not ready",
    plan: taken({ snapshotHandle: "s-1", readyToUse: false, creationTime: 1_767_225_605_000_000_000n }),
    code: "WaitsForDriver",
    says: new RegExp(`^driver ${driver} has taken snapshot "s-1" of ${content}, and it is not ready`),
    waitsFor: [content],
    since: "2026-01-01T00:00:05Z",
  },
  {
    given: "the same, without its creation time",
    plan: taken({ snapshotHandle: "s-1", readyToUse: false }),
    code: "WaitsForDriver",
    says: /has taken snapshot "s-1"/,
    waitsFor: [content],
  },
  {
    given: "a content that is ready, and its sidecar has one write to do",
    plan: ofSnapshot({ content: { ...readyContent, metadata: { ...readyContent.metadata, ...beingCreated } } }),
    code: "WaitsForSidecar",
    says: /is ready, and the last write of csi-snapshotter/,
    waitsFor: [content],
  },
  {
    given: "a content for which the driver failed",
    plan: taken(failed('Failed to create snapshot: "pool is full" [SNAP-501]')),
    code: "DriverFailed",
    says: /has an error: .*pool is full/,
    waitsFor: [content],
    since: errorAt,
  },
  {
    given: "a content for which the driver of another sidecar failed",
    plan: taken(failed("rpc error: code = Internal")),
    code: "DriverFailed",
    says: /rpc error: code = Internal/,
    waitsFor: [content],
    since: errorAt,
  },
  {
    given: "a content with an error that has no time",
    plan: taken({ readyToUse: false, error: { message: "no space", time: "then" } }),
    code: "DriverFailed",
    says: /no space/,
    waitsFor: [content],
  },
  {
    given: "a content whose class is gone",
    plan: taken(failed('volumesnapshotclass "fast" not found [SNAP-513]')),
    code: "ClassNotFound",
    says: /"fast" not found/,
    waitsFor: [content],
    since: errorAt,
  },
  {
    given: "a content whose secret cannot be read",
    plan: taken(failed("secret vault/key cannot be read [SNAP-516]"), secretNoted),
    code: "SecretNotUsable",
    says: /vault\/key/,
    waitsFor: [content],
    since: errorAt,
  },
  { given: "a content that is ready", plan: ofSnapshot({ content: readyContent }), code: "Writes", says: /status/ },
  {
    given: "a snapshot that is ready",
    plan: ofSnapshot({
      snapshot: aSnapshot({ metadata: { finalizers: both }, status: readyStatus }),
      content: readyContent,
    }),
    code: "Settled",
    says: /is ready/,
  },
];

const leaving = aSnapshot({ metadata: { finalizers: both, deletionTimestamp }, status: readyStatus });
const going = { deletionTimestamp, annotations: { [annotations.beingDeleted]: "yes" } };
const restored = aClaim({ metadata: { namespace: "other", name: "copy" } });
const leavingWith = (status: object | undefined, snapshot = leaving) =>
  ofSnapshot({ snapshot, content: aContent({ metadata: going, status: status as never }) });

const deleting: readonly Row[] = [
  {
    given: "a deleted snapshot that a claim is being restored from",
    plan: ofSnapshot({
      snapshot: leaving,
      content: readyContent,
      restoring: [{ claim: aClaim({ metadata: { name: "copy" } }), grant: undefined }],
    }),
    code: "InUseByClaim",
    says: /restore a PVC: team\/copy/,
    waitsFor: ["PersistentVolumeClaim team/copy"],
    since: deletionTimestamp,
  },
  {
    given: "a deleted snapshot that a claim of another namespace is being restored from",
    plan: ofSnapshot({ snapshot: leaving, content: readyContent, restoring: [{ claim: restored, grant: "lend" }] }),
    code: "InUseByClaim",
    says: /other\/copy, which ReferenceGrant team\/lend permits/,
    waitsFor: ["PersistentVolumeClaim other/copy", "ReferenceGrant team/lend"],
    since: deletionTimestamp,
  },
  {
    given: "a deleted snapshot while grants are not known",
    plan: ofSnapshot({ snapshot: leaving, content: readyContent, isRestoringUndecided: true }),
    code: "WaitsForGrants",
    says: /ReferenceGrant/,
    since: deletionTimestamp,
  },
  {
    given: "a deleted snapshot before the claims were listed",
    plan: ofSnapshot({ snapshot: leaving, content: readyContent }),
    code: "WaitsForLists",
    says: /claims of namespace team are listed/,
    since: deletionTimestamp,
  },
  {
    given: "a deleted snapshot whose content is being deleted",
    plan: leavingWith({ readyToUse: true }),
    code: "WaitsForContentDeletion",
    says: new RegExp(`^${content} is being deleted first, by csi-snapshotter of driver ${driver}`),
    waitsFor: [content],
    since: deletionTimestamp,
  },
  {
    given: "a deleted snapshot whose driver does not delete",
    plan: leavingWith(failed('Failed to delete snapshot: "in use" [SNAP-531]')),
    code: "DriverFailed",
    says: /Failed to delete snapshot: "in use"/,
    waitsFor: [content],
    since: errorAt,
  },
  {
    given: "a deleted snapshot whose content has the error of its creation",
    plan: leavingWith(
      failed("no space"),
      aSnapshot({ metadata: leaving.metadata, status: { readyToUse: false, error: { message: "no space" } } }),
    ),
    code: "WaitsForContentDeletion",
    says: /is being deleted first/,
    waitsFor: [content],
    since: deletionTimestamp,
  },
  {
    given: "a deleted snapshot whose content is not given up yet",
    plan: ofSnapshot({ snapshot: leaving, content: readyContent, areClaimsRead: true }),
    code: "Writes",
    says: /being-deleted annotation/,
  },
  {
    given: "a deleted snapshot whose content is given up",
    plan: ofSnapshot({ snapshot: leaving, content: aContent({ metadata: { annotations: going.annotations } }) }),
    code: "Writes",
    says: /VolumeSnapshotContent snapcontent-uid-snap is deleted/,
  },
  {
    given: "a deleted snapshot whose content is retained",
    plan: ofSnapshot({ snapshot: leaving, content: aContent({ spec: { deletionPolicy: "Retain" } }) }),
    code: "Released",
    says: /is kept, as its deletionPolicy Retain says/,
  },
  {
    given: "a deleted snapshot whose content is gone",
    plan: ofSnapshot({ snapshot: leaving }),
    code: "Released",
    says: /snapcontent-uid-snap is gone/,
  },
  {
    given: "a deleted snapshot with only foreign finalizers",
    plan: ofSnapshot({ snapshot: aSnapshot({ metadata: { finalizers: ["x/y"], deletionTimestamp } }) }),
    code: "Released",
    says: /no finalizer of the snapshot-controller/,
  },
];

const ofClaim = (claim: Parameters<typeof aClaim>[0], snapshots: readonly SnapshotParts[], memory = {}) =>
  planClaim(aClaimView(aClaim(claim), snapshots, { protection: "certain", ...memory }));
const held = { finalizers: ["x/y", ...(protectedClaim.metadata.finalizers ?? [])] };
const beingTaken = [{ content: aContent() }];

const claims: readonly Row[] = [
  { given: "a claim without snapshots", plan: ofClaim({}, []), code: "Settled", says: /no snapshot is being taken/ },
  { given: "a claim with a new snapshot", plan: ofClaim({}, [{}]), code: "Writes", says: /gets our finalizer/ },
  {
    given: "a claim that is being deleted without our finalizer, and a content is being created for it",
    plan: ofClaim({ metadata: { deletionTimestamp } }, [], { isCreationUnderWay: true }),
    code: "Settled",
    says: /being deleted/,
  },
  {
    given: "a claim whose finalizer may be removed, with a new snapshot",
    plan: ofClaim({ metadata: held }, [{}], { protection: "doubtful" }),
    code: "Writes",
    says: /our finalizer is renewed/,
  },
  {
    given: "the same with a snapshot that is being taken",
    plan: ofClaim({ metadata: held }, beingTaken, { protection: "doubtful" }),
    code: "Settled",
    says: /snapshot team\/monday is being taken/,
  },
  {
    given: "a protected claim with a snapshot that is being taken",
    plan: ofClaim({ metadata: held }, beingTaken),
    code: "Settled",
    says: /because snapshot team\/monday is being taken of it/,
  },
  {
    given: "the same, read from a cluster by somebody who remembers nothing",
    plan: ofClaim({ metadata: held }, beingTaken, noClaimMemory),
    code: "Settled",
    says: /because snapshot team\/monday is being taken of it/,
  },
  {
    given: "a protected claim that is being deleted while a snapshot is taken of it",
    plan: ofClaim({ metadata: { ...held, deletionTimestamp } }, beingTaken),
    code: "InUseBySnapshot",
    says: /snapshot team\/monday is being taken of it/,
    waitsFor: [monday],
    since: deletionTimestamp,
  },
  {
    given: "a protected claim that is being deleted while a content is created for it",
    plan: ofClaim({ metadata: { ...held, deletionTimestamp } }, [], { isCreationUnderWay: true }),
    code: "InUseBySnapshot",
    says: /a VolumeSnapshotContent is being created for it/,
    since: deletionTimestamp,
  },
  {
    given: "a claim that was needed a second ago",
    plan: ofClaim({ metadata: held }, [], { idleMs: 1_000 }),
    code: "Settled",
    says: /removed soon/,
  },
  { given: "a claim that nothing needs", plan: ofClaim({ metadata: held }, []), code: "Released", says: /is removed$/ },
];

const reference = { volumeSnapshotRef: { namespace: "team", name: "monday" } };
const imported = { source: { snapshotHandle: "s-9" }, ...reference };
const marked = { labels: { [labels.invalidContent]: "" } };
const naming = (volumeSnapshotContentName: string) => aSnapshot({ spec: { source: { volumeSnapshotContentName } } });

const contents: readonly Row[] = [
  {
    given: "a content with a wrong label",
    plan: ofContent({ content: aContent({ metadata: marked }) }),
    code: "Writes",
    says: /label/,
  },
  {
    given: "a content without a driver",
    plan: ofContent({ content: aContent({ metadata: marked, spec: { driver: "" } }) }),
    code: "Invalid",
    says: /spec\.driver of VolumeSnapshotContent snapcontent-uid-snap is not set/,
  },
  {
    given: "a content that waits for its first snapshot",
    plan: ofContent({ content: aContent({ spec: imported }) }),
    code: "SnapshotNotFound",
    says: /^VolumeSnapshot team\/monday, which the content names, does not exist$/,
    waitsFor: [monday],
  },
  {
    given: "a content whose snapshot names another content",
    plan: ofContent({ content: aContent({ spec: imported }), snapshot: aSnapshot() }),
    code: "SnapshotNotFound",
    says: /names another content$/,
    waitsFor: [monday],
  },
  {
    given: "a content whose snapshot is about to bind it",
    plan: ofContent({ content: aContent({ metadata: { name: "old" }, spec: imported }), snapshot: naming("old") }),
    code: "Settled",
    says: /writes its uid/,
  },
  {
    given: "a content with its snapshot",
    plan: ofContent({ snapshot: aSnapshot() }),
    code: "Settled",
    says: /has its VolumeSnapshot/,
  },
  {
    given: "a content without our finalizer",
    plan: ofContent({ content: aContent({ metadata: { finalizers: [] } }), snapshot: aSnapshot() }),
    code: "Writes",
    says: /gets our finalizer/,
  },
  {
    given: "a content whose snapshot was removed by force",
    plan: ofContent({}),
    code: "SnapshotNotFound",
    says: /^VolumeSnapshot team\/monday \(uid uid-snap\) is gone: delete the content/,
    waitsFor: [monday],
  },
  {
    given: "a content with Retain whose snapshot was removed by force",
    plan: ofContent({ content: aContent({ spec: { deletionPolicy: "Retain" } }) }),
    code: "Settled",
    says: /is gone, and the deletionPolicy of the content keeps the data/,
  },
  {
    given: "a content whose snapshot was removed by force, and its user never saw that it was taken",
    plan: ofContent({ wasSnapshotDeletedUnready: true }),
    code: "Writes",
    says: /is deleted/,
  },
  {
    given: "the same, with an unknown outcome and without its class",
    plan: ofContent({ isBeingCreatedWithoutClass: true }),
    code: "Writes",
    says: /being-deleted annotation/,
  },
  {
    given: "a deleted content whose snapshot was removed by force",
    plan: ofContent({ content: aContent({ metadata: { deletionTimestamp } }) }),
    code: "Writes",
    says: /being-deleted annotation/,
  },
  {
    given: "a retained content",
    plan: ofContent({ content: aContent({ metadata: { annotations: going.annotations } }) }),
    code: "Settled",
    says: /is kept/,
  },
  {
    given: "a content that is deleted while its snapshot exists",
    plan: ofContent({ content: aContent({ metadata: { deletionTimestamp } }), snapshot: aSnapshot() }),
    code: "WaitsForDeletionConfirmed",
    says: /^VolumeSnapshot team\/monday exists/,
    waitsFor: [monday],
    since: deletionTimestamp,
  },
  {
    given: "a deleted content that its snapshot has given up",
    plan: ofContent({ content: aContent({ metadata: going, status: { readyToUse: true } }) }),
    code: "WaitsForSidecar",
    says: new RegExp(`^csi-snapshotter of driver ${driver} removes the content`),
    since: deletionTimestamp,
  },
  {
    given: "the same with an unknown outcome of CreateSnapshot",
    plan: ofContent({
      content: aContent({
        metadata: { ...going, annotations: { ...going.annotations, ...beingCreated.annotations } },
      }),
    }),
    code: "OutcomeUnknown",
    says: new RegExp(`^driver ${driver} is asked for CreateSnapshot`),
    since: deletionTimestamp,
  },
  {
    given: "a deleted content that the driver does not delete",
    plan: ofContent({ content: aContent({ metadata: going, status: failed("in use [SNAP-531]") }) }),
    code: "DriverFailed",
    says: /in use/,
    since: errorAt,
  },
  {
    given: "a deleted content whose secret cannot be read",
    plan: ofContent({
      content: aContent({
        metadata: { ...going, annotations: { ...going.annotations, ...secretNoted.annotations } },
        status: failed("secret vault/key cannot be read [SNAP-516]"),
      }),
    }),
    code: "SecretNotUsable",
    says: /vault\/key/,
    waitsFor: ["Secret vault/key"],
    since: errorAt,
  },
  {
    given: "a member of a group without its content",
    plan: ofSnapshot({ snapshot: member({}) }),
    code: "PartOfGroup",
    says: /the group of the snapshot makes its content/,
  },
  {
    given: "a member that is deleted while its group exists",
    plan: ofSnapshot({ snapshot: member({ deletionTimestamp }), group: { kind: "held" } }),
    code: "PartOfGroup",
    says: /member of VolumeGroupSnapshot team\/group: delete that VolumeGroupSnapshot.*SNAP-267/,
    waitsFor: ["VolumeGroupSnapshot team/group"],
    since: deletionTimestamp,
  },
  {
    given: "a member that is deleted before the groups are known",
    plan: ofSnapshot({ snapshot: member({ deletionTimestamp }), group: { kind: "unknown" } }),
    code: "PartOfGroup",
    says: /not known yet/,
    since: deletionTimestamp,
  },
  {
    given: "a member that is deleted and whose group is gone",
    plan: ofSnapshot({ snapshot: member({ deletionTimestamp }), group: { kind: "gone", evidence: [] } }),
    code: "Released",
    says: /is gone: our finalizers are removed/,
  },
  {
    given: "a deleted content with only foreign finalizers",
    plan: ofContent({ content: aContent({ metadata: { ...going, finalizers: ["x/y"] } }) }),
    code: "Released",
    says: /no finalizer of ours/,
  },
  {
    given: "a deleted content whose driver was emptied",
    plan: ofContent({ content: aContent({ metadata: { ...going, ...marked }, spec: { driver: "" } }) }),
    code: "Released",
    says: /spec\.driver is empty/,
  },
];

const rows = [...invalid, ...taking, ...deleting, ...claims, ...contents];
const idOf = ({ kind, namespace, name: of }: Ref): string => `${kind} ${keyIn(namespace, of)}`;
for (const { given, plan, code, says, waitsFor = [], since } of rows)
  test(`given ${given}, the reason is ${code}`, () => {
    const { reason } = plan;
    assert.equal(reason.code, code);
    assert.match(reason.says, says);
    assert.deepEqual(reason.waitsFor.map(idOf), waitsFor);
    assert.equal(reason.sinceMs, since === undefined ? undefined : Date.parse(since));
  });

test("each reason of the component is the reason of a row", () => {
  const reached = new Set(rows.map(({ code }) => code));
  assert.deepEqual(
    controllerReasonCodes.filter((code) => !reached.has(code)),
    [],
  );
});

test("a reason from a rule is that of its code, in the words of its message", () => {
  for (const { plan } of invalid) {
    const [, code] = /\[(SNAP-\d+)\]$/.exec(plan.reason.says) ?? [];
    assert.equal(plan.reason.code, reasonsByCode[code as BlockingCode].reason);
  }
});

test("control characters in what others wrote are not repeated in a reason", () => {
  const { reason } = taken(failed("no \u001b[2J space"));
  assert.match(reason.says, /no \\u001b\[2J space/);
});
