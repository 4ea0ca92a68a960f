import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim, aClass, aContent, aSnapshot, aVolume } from "../../../test/builders.ts";
import { aSnapshotView } from "../../../test/views.ts";
import { annotations, finalizers } from "../../api/names.ts";
import type { ClusterAction } from "../../api/plan.ts";
import type { SnapshotView } from "./observe.ts";
import { phaseOf } from "./phase.ts";
import { bindingDelayMs, planSnapshot } from "./plan.ts";

const bornMs = Date.parse("2026-01-01T00:00:00Z");
const both = [finalizers.snapshotAsSource, finalizers.snapshotBound];
const deletionTimestamp = "2026-01-01T01:00:00Z";
const readyStatus = {
  boundVolumeSnapshotContentName: "snapcontent-uid-snap",
  readyToUse: true,
  creationTime: "2026-01-01T00:00:01Z",
  restoreSize: "1Gi",
};
const readyContent = aContent({
  status: {
    readyToUse: true,
    snapshotHandle: "s-1",
    creationTime: 1_767_225_601_123_456_789n,
    restoreSize: 1_073_741_824,
  },
});
const protectedClaim = aClaim({ metadata: { finalizers: [finalizers.claimAsSource] } });

const aView = (change: Partial<SnapshotView> = {}): SnapshotView =>
  aSnapshotView({
    snapshot: aSnapshot({ metadata: { finalizers: both } }),
    claim: protectedClaim,
    standstillMs: Number.POSITIVE_INFINITY,
    nowMs: bornMs + 500,
    ...change,
  });

const brief = (action: ClusterAction): string => {
  switch (action.kind) {
    case "event":
      return `event ${action.event.reason}`;
    case "patch":
      return `patch ${action.ref.kind}${action.subresource === undefined ? "" : "/status"}`;
    default:
      return `${action.kind} ${action.ref.kind}`;
  }
};

const cases: readonly { given: string; view: SnapshotView; phase: string; expect: readonly string[] }[] = [
  {
    given: "a new snapshot whose claim is not protected yet",
    view: aView({ snapshot: aSnapshot(), claim: aClaim() }),
    phase: "unprotected",
    expect: ["patch VolumeSnapshot"],
  },
  {
    given: "finalizers on the snapshot but not yet on the claim",
    view: aView({ claim: aClaim() }),
    phase: "unprotected",
    expect: [],
  },
  {
    given: "a protected claim and no content yet",
    view: aView(),
    phase: "unbound",
    expect: ["confirm VolumeSnapshot", "create VolumeSnapshotContent", "event CreatingSnapshot"],
  },
  {
    given: "a claim that another snapshot already protects",
    view: aView({ snapshot: aSnapshot() }),
    phase: "unbound",
    expect: ["patch VolumeSnapshot", "create VolumeSnapshotContent", "event CreatingSnapshot"],
  },
  { given: "a content that was made a moment ago", view: aView({ content: aContent() }), phase: "waiting", expect: [] },
  {
    given: "a content that the driver takes long for",
    view: aView({ content: aContent(), nowMs: bornMs + bindingDelayMs }),
    phase: "waiting",
    expect: ["patch VolumeSnapshot/status"],
  },
  {
    given: "a content from the future, as our clock was set back",
    view: aView({ content: aContent(), nowMs: bornMs - 3_600_000 }),
    phase: "waiting",
    expect: ["patch VolumeSnapshot/status"],
  },
  {
    given: "a content in a line that moves",
    view: aView({ content: aContent(), standstillMs: 300, nowMs: bornMs + bindingDelayMs }),
    phase: "waiting",
    expect: [],
  },
  {
    given: "a content in a line that has not moved for ten seconds",
    view: aView({ content: aContent(), standstillMs: 10_000, nowMs: bornMs + 11_000 }),
    phase: "waiting",
    expect: ["patch VolumeSnapshot/status"],
  },
  {
    given: "a content that has waited a minute, although the line moves",
    view: aView({ content: aContent(), standstillMs: 0, nowMs: bornMs + 60_000 }),
    phase: "waiting",
    expect: ["patch VolumeSnapshot/status"],
  },
  {
    given: "a content that is ready",
    view: aView({ content: readyContent }),
    phase: "waiting",
    expect: ["patch VolumeSnapshot/status", "event SnapshotCreated", "event SnapshotReady"],
  },
  {
    given: "everything already settled",
    view: aView({
      snapshot: aSnapshot({ metadata: { finalizers: both }, status: readyStatus }),
      content: readyContent,
    }),
    phase: "ready",
    expect: [],
  },
  {
    given: "a ready snapshot whose class, claim and volume are gone",
    view: aView({
      snapshot: aSnapshot({ metadata: { finalizers: both }, status: readyStatus }),
      content: readyContent,
      snapshotClass: undefined,
      claim: undefined,
      volume: undefined,
    }),
    phase: "ready",
    expect: [],
  },
  {
    given: "an error of the content that the snapshot already tells",
    view: aView({
      snapshot: aSnapshot({
        metadata: { finalizers: both },
        status: {
          boundVolumeSnapshotContentName: "snapcontent-uid-snap",
          readyToUse: false,
          error: { message: "no space", time: "2026-01-01T00:00:02Z" },
        },
      }),
      content: aContent({
        status: { readyToUse: false, error: { message: "no space", time: "2026-01-01T00:00:09Z" } },
      }),
      nowMs: bornMs + 60_000,
    }),
    phase: "waiting",
    expect: [],
  },
  {
    given: "a ready snapshot that an old error about its class was left on",
    view: aView({
      snapshot: aSnapshot({
        metadata: { finalizers: both },
        status: { ...readyStatus, error: { message: 'volumesnapshotclass "fast" not found' } },
      }),
      content: readyContent,
      snapshotClass: undefined,
    }),
    phase: "ready",
    expect: ["patch VolumeSnapshot/status"],
  },
  {
    given: "a ready snapshot whose content vanished",
    view: aView({ snapshot: aSnapshot({ metadata: { finalizers: both }, status: readyStatus }) }),
    phase: "invalid",
    expect: ["confirm VolumeSnapshotContent", "patch VolumeSnapshot/status", "event SnapshotContentMissing"],
  },
  {
    given: "a ready snapshot whose content names another one",
    view: aView({
      snapshot: aSnapshot({ metadata: { finalizers: both }, status: readyStatus }),
      content: aContent({ spec: { volumeSnapshotRef: { namespace: "team", name: "monday", uid: "uid-before" } } }),
    }),
    phase: "invalid",
    expect: ["confirm VolumeSnapshotContent", "patch VolumeSnapshot/status", "event SnapshotContentMisbound"],
  },
  {
    given: "a snapshot that was cut, but not ready, when its content vanished",
    view: aView({
      snapshot: aSnapshot({ metadata: { finalizers: both }, status: { ...readyStatus, readyToUse: false } }),
    }),
    phase: "invalid",
    expect: ["patch VolumeSnapshot/status", "event SnapshotContentMissing"],
  },
  {
    given: "a snapshot being deleted whose content remains",
    view: aView({
      snapshot: aSnapshot({ metadata: { finalizers: both, deletionTimestamp }, status: readyStatus }),
      content: readyContent,
    }),
    phase: "deleting",
    expect: ["patch VolumeSnapshotContent", "delete VolumeSnapshotContent"],
  },
  {
    given: "a snapshot being deleted whose content is on its way out",
    view: aView({
      snapshot: aSnapshot({ metadata: { finalizers: both, deletionTimestamp } }),
      content: aContent({ metadata: { deletionTimestamp, annotations: { [annotations.beingDeleted]: "yes" } } }),
    }),
    phase: "deleting",
    expect: [],
  },
  {
    given: "a snapshot being deleted whose content is gone",
    view: aView({ snapshot: aSnapshot({ metadata: { finalizers: both, deletionTimestamp }, status: readyStatus }) }),
    phase: "deleting",
    expect: ["confirm VolumeSnapshotContent", "patch VolumeSnapshot"],
  },
  {
    given: "a snapshot being deleted with Retain",
    view: aView({
      snapshot: aSnapshot({ metadata: { finalizers: both, deletionTimestamp } }),
      content: aContent({ spec: { deletionPolicy: "Retain" } }),
    }),
    phase: "deleting",
    expect: ["patch VolumeSnapshotContent", "patch VolumeSnapshot"],
  },
  {
    given: "a snapshot being deleted while a claim of another namespace restores from it",
    view: aView({
      snapshot: aSnapshot({ metadata: { finalizers: both, deletionTimestamp } }),
      content: readyContent,
      restoring: [aClaim({ metadata: { namespace: "other", name: "copy" } })],
    }),
    phase: "deleting",
    expect: ["event SnapshotDeletePending"],
  },
  {
    given: "a snapshot being deleted that was never ready, and a claim that waits for it",
    view: aView({
      snapshot: aSnapshot({ metadata: { finalizers: both, deletionTimestamp } }),
      content: aContent(),
      restoring: [aClaim()],
    }),
    phase: "deleting",
    expect: ["patch VolumeSnapshotContent", "delete VolumeSnapshotContent"],
  },
  {
    given: "a snapshot being deleted whose namesake's content is of another uid",
    view: aView({
      snapshot: aSnapshot({ metadata: { finalizers: both, deletionTimestamp } }),
      content: aContent({ spec: { volumeSnapshotRef: { namespace: "team", name: "monday", uid: "other" } } }),
    }),
    phase: "deleting",
    expect: ["confirm VolumeSnapshotContent", "patch VolumeSnapshot"],
  },
  {
    given: "a snapshot being deleted whose class cannot be told, nor its source",
    view: aView({
      snapshot: aSnapshot({ metadata: { finalizers: both, deletionTimestamp }, spec: { source: {} } }),
      content: readyContent,
      snapshotClass: undefined,
      defaultClasses: [aClass(), aClass({ metadata: { name: "also" } })],
    }),
    phase: "deleting",
    expect: ["patch VolumeSnapshotContent", "delete VolumeSnapshotContent"],
  },
  {
    given: "a snapshot being deleted that only others' finalizers hold",
    view: aView({ snapshot: aSnapshot({ metadata: { finalizers: ["x/y"], deletionTimestamp } }) }),
    phase: "deleting",
    expect: [],
  },
  {
    given: "a pre-provisioned content that does not know its snapshot yet",
    view: aView({
      snapshot: aSnapshot({ spec: { source: { volumeSnapshotContentName: "old" } } }),
      content: aContent({
        metadata: { name: "old", finalizers: [] },
        spec: { source: { snapshotHandle: "s-9" }, volumeSnapshotRef: { namespace: "team", name: "monday" } },
      }),
    }),
    phase: "unbound",
    expect: ["patch VolumeSnapshot", "patch VolumeSnapshotContent"],
  },
  {
    given: "a pre-provisioned content that is bound, not ready, and without the class that its snapshot names",
    view: aView({
      snapshot: aSnapshot({
        metadata: { finalizers: both },
        spec: { source: { volumeSnapshotContentName: "old" }, volumeSnapshotClassName: "fast" },
        status: { boundVolumeSnapshotContentName: "old", readyToUse: false },
      }),
      content: aContent({
        metadata: { name: "old" },
        spec: { source: { snapshotHandle: "s-9" }, volumeSnapshotClassName: undefined as never },
      }),
    }),
    phase: "waiting",
    expect: [],
  },
];
for (const { given, view, phase, expect } of cases)
  test(`given ${given}, it is ${phase} and the plan is: ${expect.join(", ") || "nothing"}`, () => {
    assert.equal(phaseOf(view), phase);
    assert.deepEqual(planSnapshot(view).actions.map(brief), expect);
  });

const wrongs: readonly { given: string; view: Partial<SnapshotView>; reason: string; says: RegExp }[] = [
  {
    given: "both sources",
    view: { source: { kind: "unclear", count: 2 } },
    reason: "SnapshotValidationError",
    says: /Exactly one of .*: spec\.source names both; leave one/,
  },
  {
    given: "no source",
    view: { source: { kind: "unclear", count: 0 } },
    reason: "SnapshotValidationError",
    says: /Exactly one of .*: spec\.source names neither; name one/,
  },
  {
    given: "a content without a handle",
    view: {
      source: { kind: "content", name: "by-hand" },
      content: aContent({ metadata: { name: "by-hand" }, spec: { source: { snapshotHandle: "" } } }),
    },
    reason: "ContentValidationError",
    says: /spec\.source of VolumeSnapshotContent by-hand has neither \(an empty handle is none\); give one/,
  },
  {
    given: "an unknown class",
    view: { snapshotClass: undefined },
    reason: "GetSnapshotClassFailed",
    says: /"fast" not found: create it/,
  },
  {
    given: "a claim that does not exist",
    view: { claim: undefined },
    reason: "SnapshotContentCreationFailed",
    says: /claim team\/data not found/,
  },
  {
    given: "an unbound claim",
    view: { claim: aClaim({ spec: {}, status: { phase: "Pending" } }) },
    reason: "SnapshotContentCreationFailed",
    says: /not bound to a volume/,
  },
  {
    given: "a claim that names its volume and is not bound yet",
    view: { claim: aClaim({ status: { phase: "Pending" } }) },
    reason: "SnapshotContentCreationFailed",
    says: /claim team\/data is not bound to a volume \(it is Pending\)/,
  },
  {
    given: "a claim on its way out",
    view: { claim: aClaim({ metadata: { deletionTimestamp } }) },
    reason: "SnapshotContentCreationFailed",
    says: /is being deleted/,
  },
  {
    given: "a volume that is no CSI volume",
    view: { volume: aVolume({ spec: { claimRef: { namespace: "team", name: "data" } } }) },
    reason: "SnapshotContentCreationFailed",
    says: /non-CSI/,
  },
  {
    given: "a volume bound to another claim",
    view: {
      volume: aVolume({
        spec: { csi: { driver: "d", volumeHandle: "v" }, claimRef: { namespace: "team", name: "data", uid: "other" } },
      }),
    },
    reason: "SnapshotContentCreationFailed",
    says: /does not point back/,
  },
  {
    given: "a volume that names another claim",
    view: {
      volume: aVolume({
        spec: {
          csi: { driver: "disk.example.com", volumeHandle: "v" },
          claimRef: { namespace: "team", name: "other" },
        },
      }),
    },
    reason: "SnapshotContentCreationFailed",
    says: /does not point back at the claim \(spec\.claimRef names team\/other\)/,
  },
  {
    given: "a class whose secret cannot be worked out",
    view: {
      snapshotClass: aClass({
        parameters: {
          "csi.storage.k8s.io/snapshotter-secret-name": "${pvc.name}",
          "csi.storage.k8s.io/snapshotter-secret-namespace": "vault",
        },
      }),
    },
    reason: "SnapshotContentCreationFailed",
    says: /"\$\{pvc\.name\}" has invalid tokens: "pvc\.name" \(class fast\)/,
  },
  {
    given: "a class of another driver",
    view: { snapshotClass: aClass({ driver: "tape" }) },
    reason: "SnapshotContentCreationFailed",
    says: /class fast is for driver tape/,
  },
  {
    given: "a volume that no node reaches, where snapshots are taken node by node",
    view: { place: { kind: "nowhere" } },
    reason: "SnapshotContentCreationFailed",
    says: /no node matches spec\.nodeAffinity of volume pv-1: bring the node back/,
  },
  {
    given: "no default class",
    view: {
      snapshot: aSnapshot({ spec: { source: { persistentVolumeClaimName: "data" } } }),
      snapshotClass: undefined,
    },
    reason: "SetDefaultSnapshotClassFailed",
    says: /cannot find default snapshot class for driver disk.example.com/,
  },
  {
    given: "two default classes",
    view: {
      snapshot: aSnapshot({ spec: { source: { persistentVolumeClaimName: "data" } } }),
      snapshotClass: undefined,
      defaultClasses: [aClass(), aClass({ metadata: { name: "also" } })],
    },
    reason: "SetDefaultSnapshotClassFailed",
    says: /2 default snapshot classes were found .*\(also, fast\)/,
  },
  {
    given: "a pre-provisioned content that does not exist",
    view: { snapshot: aSnapshot({ spec: { source: { volumeSnapshotContentName: "old" } } }) },
    reason: "SnapshotContentMissing",
    says: /create old/,
  },
  {
    given: "a content that points at a foreign snapshot",
    view: {
      snapshot: aSnapshot({ spec: { source: { volumeSnapshotContentName: "old" } } }),
      content: aContent({
        spec: { source: { snapshotHandle: "h" }, volumeSnapshotRef: { namespace: "a", name: "b" } },
      }),
    },
    reason: "SnapshotContentMisbound",
    says: /names a\/b/,
  },
  {
    given: "a dynamic content where a pre-provisioned one is named",
    view: { snapshot: aSnapshot({ spec: { source: { volumeSnapshotContentName: "old" } } }), content: aContent() },
    reason: "SnapshotContentMismatch",
    says: /expecting a pre-provisioned one/,
  },
];
for (const { given, view: change, reason, says } of wrongs)
  test(`given ${given}, the user reads ${reason} and nothing else is written`, () => {
    const view = aView(change);
    const [write, event, ...rest] = planSnapshot(view).actions;
    assert.equal(phaseOf(view), "invalid");
    assert.deepEqual(rest, []);
    assert.ok(write?.kind === "patch" && event?.kind === "event");
    assert.equal(event.event.reason, reason);
    assert.match(event.event.message, says);
    const { error, ...readiness } = (write.patch.body as { status: { error: { message: string } } }).status;
    assert.equal(error.message, event.event.message);
    // Trouble with a class says nothing about readiness; what is wrong with the snapshot itself does.
    const saysNothing = ["GetSnapshotClassFailed", "SetDefaultSnapshotClassFailed"].includes(reason);
    assert.deepEqual(readiness, saysNothing ? {} : { readyToUse: false });
  });

test("an error that is already told is not told again", () => {
  const first = aView({ claim: undefined });
  const [write] = planSnapshot(first).actions;
  assert.ok(write?.kind === "patch");
  const { status } = write.patch.body as unknown as { status: NonNullable<SnapshotView["snapshot"]["status"]> };
  assert.deepEqual(
    planSnapshot(
      aView({
        claim: undefined,
        snapshot: aSnapshot({ metadata: { finalizers: both }, status }),
        nowMs: bornMs + 60_000,
      }),
    ).actions,
    [],
  );
});

test("one default class is written into the snapshot together with the finalizers", () => {
  const view = aView({
    snapshot: aSnapshot({ spec: { source: { persistentVolumeClaimName: "data" } } }),
    snapshotClass: undefined,
    defaultClasses: [aClass({ deletionPolicy: "Retain" })],
  });
  const [protect] = planSnapshot(view).actions;
  assert.ok(protect?.kind === "patch");
  assert.deepEqual(protect.patch.body, {
    metadata: { resourceVersion: "1", finalizers: [finalizers.snapshotAsSource] },
    spec: { volumeSnapshotClassName: "fast" },
  });
});

test("the content is born with its finalizer, its uid-bound name, its secret and the volume's mode", () => {
  const secretClass = aClass({
    parameters: {
      "csi.storage.k8s.io/snapshotter-secret-name": "${volumesnapshot.name}",
      "csi.storage.k8s.io/snapshotter-secret-namespace": "vault",
    },
  });
  const create = planSnapshot(
    aView({ snapshotClass: secretClass, place: { kind: "node", name: "node-7" } }),
  ).actions.find((action) => action.kind === "create");
  assert.deepEqual(create?.object, {
    apiVersion: "snapshot.storage.k8s.io/v1",
    kind: "VolumeSnapshotContent",
    metadata: {
      name: "snapcontent-uid-snap",
      finalizers: [finalizers.contentBound],
      annotations: { [annotations.deletionSecretName]: "monday", [annotations.deletionSecretNamespace]: "vault" },
      labels: { "snapshot.storage.kubernetes.io/managed-by": "node-7" },
    },
    spec: {
      volumeSnapshotRef: {
        apiVersion: "snapshot.storage.k8s.io/v1",
        kind: "VolumeSnapshot",
        namespace: "team",
        name: "monday",
        uid: "uid-snap",
        resourceVersion: "1",
      },
      source: { volumeHandle: "vol-1" },
      volumeSnapshotClassName: "fast",
      deletionPolicy: "Delete",
      driver: "disk.example.com",
      sourceVolumeMode: "Filesystem",
    },
  });
});

test("where volume modes may be converted, the content says nothing of the volume's mode", () => {
  const create = planSnapshot(aView({ keepsVolumeMode: false })).actions.find((action) => action.kind === "create");
  assert.ok(create !== undefined);
  assert.ok(!("sourceVolumeMode" in (create.object as ReturnType<typeof aContent>).spec));
});

test("a pre-provisioned content gets the snapshot's uid and class, and nothing else of its spec changes", () => {
  const content = aContent({
    metadata: { name: "old", finalizers: ["x/keep"] },
    spec: { source: { snapshotHandle: "s" }, volumeSnapshotRef: { namespace: "team", name: "monday" } },
  });
  const { volumeSnapshotClassName: _, ...spec } = content.spec;
  const view = aView({
    snapshot: aSnapshot({
      metadata: { finalizers: both },
      spec: { source: { volumeSnapshotContentName: "old" }, volumeSnapshotClassName: "fast" },
    }),
    content: { ...content, spec },
  });
  const [bind] = planSnapshot(view).actions;
  assert.ok(bind?.kind === "patch");
  assert.deepEqual(bind.patch.body, {
    metadata: { resourceVersion: "1", finalizers: ["x/keep", finalizers.contentBound] },
    spec: { volumeSnapshotRef: { uid: "uid-snap" }, volumeSnapshotClassName: "fast" },
  });
});

test("the ready status carries exact times and sizes and clears an old error", () => {
  const snapshot = aSnapshot({
    metadata: { finalizers: both },
    status: { error: { message: "earlier" }, volumeGroupSnapshotName: "kept" },
  });
  const [write] = planSnapshot(aView({ snapshot, content: readyContent })).actions;
  assert.ok(write?.kind === "patch");
  assert.deepEqual(write.patch.body, {
    metadata: { resourceVersion: "1" },
    status: {
      error: null,
      boundVolumeSnapshotContentName: "snapcontent-uid-snap",
      readyToUse: true,
      creationTime: "2026-01-01T00:00:01Z",
      restoreSize: "1Gi",
    },
  });
});

test("a driver that takes readiness back is not believed", () => {
  const content = aContent({
    status: {
      readyToUse: false,
      snapshotHandle: "s-1",
      creationTime: 1_767_225_601_123_456_789n,
      restoreSize: 1_073_741_824,
      error: { message: "flap" },
    },
  });
  assert.deepEqual(
    planSnapshot(aView({ snapshot: aSnapshot({ metadata: { finalizers: both }, status: readyStatus }), content }))
      .actions,
    [],
  );
});
