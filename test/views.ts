/** What planners look at, in tests: an ordinary case, of which each test says what is different. */
import type { ContentView } from "../src/components/csi-snapshotter/observe.ts";
import { anywhere, hasFinalizer, type SnapshotView } from "../src/components/snapshot-controller/observe.ts";
import { sourceOf } from "../src/rules/snapshot-source.ts";
import { aClass, aContent, aSnapshot, aVolume, driver } from "./builders.ts";

/** A snapshot of a bound volume, without a content yet. */
export const aSnapshotView = (change: Partial<SnapshotView> = {}): SnapshotView => {
  const snapshot = change.snapshot ?? aSnapshot();
  return {
    snapshot,
    source: sourceOf(snapshot),
    content: undefined,
    claim: undefined,
    protection: change.claim !== undefined && hasFinalizer(change.claim) ? "certain" : "none",
    volume: aVolume(),
    snapshotClass: aClass(),
    defaultClasses: [],
    restoring: [],
    place: anywhere,
    keepsVolumeMode: true,
    missingClaims: [],
    queueIdleMs: 0,
    activeSidecar: undefined,
    nowMs: 0,
    ...change,
  };
};

/** A content of our driver that this process has asked about before; a reply holds for another second. */
export const aContentView = (change: Partial<ContentView> = {}): ContentView => ({
  content: aContent(),
  snapshotClass: aClass(),
  reply: { kind: "none" },
  isFirstAttempt: change.reply === undefined,
  malformedReplies: 0,
  createSent: "here",
  isAnnotationRemovalPending: false,
  sidecarId: "our-term",
  replyLeftMs: change.reply === undefined ? 0 : 1_000,
  sinceReplyMs: 0,
  lullMs: 0,
  facts: { driver, canListSnapshots: true },
  options: { snapshotNamePrefix: "snapshot", snapshotNameUuidLength: -1, extraCreateMetadata: false },
  nowMs: 0,
  ...change,
});
