import { aClaim, aContent, aSnapshot } from "../../../test/builders.ts";
import { beingCreated } from "../../../test/content-plans.ts";
import {
  aProtectedView as aView,
  bornMs,
  both,
  readyContent,
  readyStatus,
  testPlans,
} from "../../../test/snapshot-plans.ts";
import { bindingDelayMs } from "./plan.ts";

const becomingReady = { ...readyContent, metadata: { ...readyContent.metadata, ...beingCreated } };
const failing = aSnapshot({
  metadata: { finalizers: both },
  status: {
    boundVolumeSnapshotContentName: "snapcontent-uid-snap",
    readyToUse: false,
    error: { message: "no space", time: "2026-01-01T00:00:02Z" },
  },
});

testPlans([
  {
    given: "a new snapshot whose claim is not protected yet",
    view: aView({ snapshot: aSnapshot(), claim: aClaim() }),
    phase: "unprotected",
    reason: "WaitsForProtection",
    expect: ["patch VolumeSnapshot"],
  },
  {
    given: "finalizers on the snapshot but not yet on the claim",
    view: aView({ claim: aClaim() }),
    phase: "unprotected",
    reason: "WaitsForProtection",
    expect: [],
  },
  {
    given: "a protected claim and no content yet",
    view: aView(),
    phase: "unbound",
    reason: "Writes",
    expect: ["confirm VolumeSnapshot", "create VolumeSnapshotContent", "event CreatingSnapshot"],
  },
  {
    given: "a claim that another snapshot already protects",
    view: aView({ snapshot: aSnapshot() }),
    phase: "unbound",
    reason: "Writes",
    expect: ["patch VolumeSnapshot", "create VolumeSnapshotContent", "event CreatingSnapshot"],
  },
  {
    given: "a content that was just created",
    view: aView({ content: aContent() }),
    phase: "waiting",
    reason: "WaitsForSidecar",
    expect: [],
  },
  {
    given: "a content for which the driver is slow",
    view: aView({ content: aContent(), nowMs: bornMs + bindingDelayMs }),
    phase: "waiting",
    reason: "WaitsForSidecar",
    expect: ["patch VolumeSnapshot/status"],
  },
  {
    given: "a content with a creation time in the future, because the clock was set back",
    view: aView({ content: aContent(), nowMs: bornMs - 3_600_000 }),
    phase: "waiting",
    reason: "WaitsForSidecar",
    expect: ["patch VolumeSnapshot/status"],
  },
  {
    given: "a content in a burst that makes progress",
    view: aView({ content: aContent(), queueIdleMs: 300, nowMs: bornMs + bindingDelayMs }),
    phase: "waiting",
    reason: "WaitsForSidecar",
    expect: [],
  },
  {
    given: "a content in a burst without progress for ten seconds",
    view: aView({ content: aContent(), queueIdleMs: 10_000, nowMs: bornMs + 11_000 }),
    phase: "waiting",
    reason: "WaitsForSidecar",
    expect: ["patch VolumeSnapshot/status"],
  },
  {
    given: "a content that has waited a minute in a burst that makes progress",
    view: aView({ content: aContent(), queueIdleMs: 0, nowMs: bornMs + 60_000 }),
    phase: "waiting",
    reason: "WaitsForSidecar",
    expect: ["patch VolumeSnapshot/status"],
  },
  {
    given: "a content that is ready, with the being-created annotation, which its sidecar removes with its last write",
    view: aView({ content: becomingReady }),
    phase: "waiting",
    reason: "WaitsForSidecar",
    expect: [],
  },
  {
    given: "the same, and no write has come for long",
    view: aView({ content: becomingReady, nowMs: bornMs + bindingDelayMs }),
    phase: "waiting",
    reason: "WaitsForSidecar",
    expect: ["patch VolumeSnapshot/status"],
  },
  {
    given: "the same, of a bound snapshot with an error",
    view: aView({ snapshot: failing, content: becomingReady, nowMs: bornMs + 60_000 }),
    phase: "waiting",
    reason: "WaitsForSidecar",
    expect: [],
  },
  {
    given: "the same, of a snapshot that was shown ready before: it stays ready",
    view: aView({
      snapshot: aSnapshot({ metadata: { finalizers: both }, status: readyStatus }),
      content: becomingReady,
    }),
    phase: "ready",
    reason: "Settled",
    expect: [],
  },
  {
    given: "a content that is ready",
    view: aView({ content: readyContent }),
    phase: "waiting",
    reason: "Writes",
    expect: ["patch VolumeSnapshot/status", "event SnapshotCreated", "event SnapshotReady"],
  },
  {
    given: "a ready snapshot without pending changes",
    view: aView({
      snapshot: aSnapshot({ metadata: { finalizers: both }, status: readyStatus }),
      content: readyContent,
    }),
    phase: "ready",
    reason: "Settled",
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
    reason: "Settled",
    expect: [],
  },
  {
    given: "an error of the content that the snapshot already has",
    view: aView({
      snapshot: failing,
      content: aContent({
        status: { readyToUse: false, error: { message: "no space", time: "2026-01-01T00:00:09Z" } },
      }),
      nowMs: bornMs + 60_000,
    }),
    phase: "waiting",
    reason: "DriverFailed",
    expect: [],
  },
  {
    given: "a ready snapshot with an old error about its class",
    view: aView({
      snapshot: aSnapshot({
        metadata: { finalizers: both },
        status: { ...readyStatus, error: { message: 'volumesnapshotclass "fast" not found' } },
      }),
      content: readyContent,
      snapshotClass: undefined,
    }),
    phase: "ready",
    reason: "Writes",
    expect: ["patch VolumeSnapshot/status"],
  },
  {
    given: "a ready snapshot whose content was deleted",
    view: aView({ snapshot: aSnapshot({ metadata: { finalizers: both }, status: readyStatus }) }),
    phase: "invalid",
    reason: "ContentLost",
    expect: ["confirm VolumeSnapshotContent", "patch VolumeSnapshot/status", "event SnapshotContentMissing"],
  },
  {
    given: "a ready snapshot whose content names another one",
    view: aView({
      snapshot: aSnapshot({ metadata: { finalizers: both }, status: readyStatus }),
      content: aContent({ spec: { volumeSnapshotRef: { namespace: "team", name: "monday", uid: "uid-before" } } }),
    }),
    phase: "invalid",
    reason: "ContentNotUsable",
    expect: ["confirm VolumeSnapshotContent", "patch VolumeSnapshot/status", "event SnapshotContentMisbound"],
  },
  {
    given: "a snapshot that was taken, but not ready, when its content was deleted",
    view: aView({
      snapshot: aSnapshot({ metadata: { finalizers: both }, status: { ...readyStatus, readyToUse: false } }),
    }),
    phase: "invalid",
    reason: "ContentLost",
    expect: ["confirm VolumeSnapshotContent", "patch VolumeSnapshot/status", "event SnapshotContentMissing"],
  },
  {
    given: "a pre-provisioned content without its snapshot's uid",
    view: aView({
      snapshot: aSnapshot({ spec: { source: { volumeSnapshotContentName: "old" } } }),
      content: aContent({
        metadata: { name: "old", finalizers: [] },
        spec: { source: { snapshotHandle: "s-9" }, volumeSnapshotRef: { namespace: "team", name: "monday" } },
      }),
    }),
    phase: "unbound",
    reason: "Writes",
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
    reason: "WaitsForSidecar",
    expect: [],
  },
]);
