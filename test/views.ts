/** What planners look at, in tests: an ordinary case, of which each test says what is different. */

import type { PersistentVolumeClaim } from "../src/api/types.ts";
import type { CreateAttempt } from "../src/components/csi-snapshotter/create-attempts.ts";
import { type ContentMemory, noMemory } from "../src/components/csi-snapshotter/memory.ts";
import type { ContentFacts, ContentView } from "../src/components/csi-snapshotter/observe.ts";
import {
  type ClaimMemory,
  type ContentMemory as ControllerContentMemory,
  noClaimMemory,
  noContentMemory,
  noSnapshotMemory,
  type SnapshotMemory,
} from "../src/components/snapshot-controller/memory.ts";
import {
  type ClaimView,
  type ContentFacts as ControllerContentFacts,
  type ContentView as ControllerContentView,
  hasFinalizer,
  type SnapshotFacts,
  type SnapshotView,
} from "../src/components/snapshot-controller/observe.ts";
import { anywhere } from "../src/rules/node-affinity.ts";
import { sourceOf } from "../src/rules/snapshot-source.ts";
import { aClass, aContent, aSnapshot, aVolume, driver } from "./builders.ts";

/** Facts, memories and the time in one row: their names differ, and a test changes few of them. */
export type SnapshotParts = Partial<SnapshotFacts & SnapshotMemory & Pick<SnapshotView, "nowMs">>;

/** A snapshot of a bound volume, without a content yet. */
export const aSnapshotView = (change: SnapshotParts = {}): SnapshotView => {
  const { protection, missingClaims, areClaimsRead, queueIdleMs = 0, activeSidecar, nowMs = 0, ...facts } = change;
  const snapshot = change.snapshot ?? aSnapshot();
  const isProtected = change.claim !== undefined && hasFinalizer(change.claim);
  return {
    facts: {
      snapshot,
      source: sourceOf(snapshot),
      content: undefined,
      claim: undefined,
      volume: aVolume(),
      snapshotClass: aClass(),
      defaultClasses: [],
      restoring: [],
      isRestoringUndecided: false,
      place: anywhere,
      group: { kind: "none" },
      keepsVolumeMode: true,
      ...facts,
    },
    memory: {
      protection: protection ?? (isProtected ? "certain" : "none"),
      missingClaims: missingClaims ?? noSnapshotMemory.missingClaims,
      areClaimsRead: areClaimsRead ?? noSnapshotMemory.areClaimsRead,
      queueIdleMs,
      activeSidecar,
    },
    nowMs,
  };
};

/** A claim with its snapshots, three seconds after the last need of it. */
export const aClaimView = (
  claim: PersistentVolumeClaim,
  snapshots: readonly SnapshotParts[],
  memory: Partial<ClaimMemory> = {},
): ClaimView => ({
  facts: { claim, snapshots: snapshots.map((change) => aSnapshotView({ claim, ...change }).facts) },
  memory: { ...noClaimMemory, idleMs: 3_000, ...memory },
  nowMs: 0,
});

export type ContentParts = Partial<
  ControllerContentFacts & ControllerContentMemory & Pick<ControllerContentView, "nowMs">
>;

/** A content whose snapshot is gone. */
export const aLoneContentView = ({
  wasSnapshotDeletedUnready = noContentMemory.wasSnapshotDeletedUnready,
  nowMs = 0,
  ...facts
}: ContentParts = {}): ControllerContentView => ({
  facts: { content: aContent(), snapshot: undefined, isNamed: false, isBeingCreatedWithoutClass: false, ...facts },
  memory: { wasSnapshotDeletedUnready },
  nowMs,
});

/** Facts and memory of the sidecar about a content, and the time, in one row, as tables state them. */
export type ContentSituation = ContentFacts &
  Omit<ContentMemory, "attempt"> &
  CreateAttempt &
  Pick<ContentView, "nowMs">;

/** A content of our driver that this process has sent CreateSnapshot for before; a reply counts for another second. */
export const aContentView = (change: Partial<ContentSituation> = {}): ContentView => {
  const { attempt: noAttempt, ...noReply } = noMemory;
  const { content, snapshotClass, canListSnapshots, options, nowMs, ...memory }: ContentSituation = {
    content: aContent(),
    snapshotClass: aClass(),
    driver,
    canListSnapshots: true,
    options: { snapshotNamePrefix: "snapshot", snapshotNameUuidLength: -1, extraCreateMetadata: false },
    nowMs: 0,
    ...noReply,
    isFirstAttempt: change.reply === undefined,
    replyLeftMs: change.reply === undefined ? 0 : 1_000,
    ...noAttempt,
    sidecarId: "our-id",
    createSent: "sent",
    ...change,
  };
  const { sidecarId, createSent, isRemovalPending, driver: name, ...reply } = memory;
  return {
    facts: { content, snapshotClass, driver: name, canListSnapshots, options },
    memory: { ...reply, attempt: { sidecarId, createSent, isRemovalPending } },
    nowMs,
  };
};
