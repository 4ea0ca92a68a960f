/** What planners look at, in tests: an ordinary case, of which each test says what is different. */
import type { CreateAttempt } from "../src/components/csi-snapshotter/create-attempts.ts";
import type { ContentMemory } from "../src/components/csi-snapshotter/memory.ts";
import type { ContentFacts, ContentView } from "../src/components/csi-snapshotter/observe.ts";
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

/** Facts and memory of the sidecar about a content in one row, as tables state them. */
export type ContentSituation = ContentFacts & Omit<ContentMemory, "attempt"> & CreateAttempt;

/** A content of our driver that this process has sent CreateSnapshot for before; a reply counts for another second. */
export const aContentView = (change: Partial<ContentSituation> = {}): ContentView => {
  const { content, snapshotClass, canListSnapshots, options, nowMs, ...memory }: ContentSituation = {
    content: aContent(),
    snapshotClass: aClass(),
    driver,
    canListSnapshots: true,
    options: { snapshotNamePrefix: "snapshot", snapshotNameUuidLength: -1, extraCreateMetadata: false },
    nowMs: 0,
    reply: { kind: "none" },
    isFirstAttempt: change.reply === undefined,
    malformedReplies: 0,
    replyLeftMs: change.reply === undefined ? 0 : 1_000,
    sinceReplyMs: 0,
    sinceAnyReplyMs: 0,
    sidecarId: "our-id",
    createSent: "sent",
    isRemovalPending: false,
    ...change,
  };
  const { sidecarId, createSent, isRemovalPending, driver: name, ...reply } = memory;
  return {
    facts: { content, snapshotClass, driver: name, canListSnapshots, options, nowMs },
    memory: { ...reply, attempt: { sidecarId, createSent, isRemovalPending } },
  };
};
