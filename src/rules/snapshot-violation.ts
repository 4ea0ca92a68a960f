/**
 * Why a VolumeSnapshot cannot go on, judged from it and the objects that it depends on. Rules run in order and the first that finds
 * something is what the user reads, so that mending one thing shows the next. A rule never looks at what a later step has made
 * unnecessary: once the content exists, the class may go.
 */
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from "../api/types.ts";
import { withCode } from "../errors/codes.ts";
import type { Evidence } from "./evidence.ts";
import type { VolumePlace } from "./node-affinity.ts";
import type { BlockingCode } from "./snapshot-reasons.ts";
import type { SnapshotSource } from "./snapshot-source.ts";
import type { Violation } from "./violation.ts";

/** A snapshot and the objects that it depends on; undefined where there is none. */
export interface SnapshotObjects {
  readonly snapshot: VolumeSnapshot;
  readonly source: SnapshotSource;
  /** The content that the snapshot names, or the one that is made for it. */
  readonly content: VolumeSnapshotContent | undefined;
  readonly claim: PersistentVolumeClaim | undefined;
  /** The volume that the claim names. */
  readonly volume: PersistentVolume | undefined;
  /** The class that the snapshot names. */
  readonly snapshotClass: VolumeSnapshotClass | undefined;
  /** Default classes of the volume's driver, for a snapshot that names none. */
  readonly defaultClasses: readonly VolumeSnapshotClass[];
  /** Where the volume is reached from. */
  readonly place: VolumePlace;
}

export interface SnapshotViolation extends Violation {
  /** The code that ends the message. */
  readonly code: BlockingCode;
  /** A wrong object is not ready; an error about a class leaves readiness as it was. */
  readonly readiness: "false" | "kept";
  /** The data that the snapshot was promised to hold is gone, for good. */
  readonly isLoss?: true;
  /** To be confirmed with the server before a user is told. */
  readonly evidence: Evidence;
}
export type SnapshotRule = (objects: SnapshotObjects) => SnapshotViolation | undefined;

export const violation = (
  code: BlockingCode,
  reason: string,
  text: string,
  readiness: SnapshotViolation["readiness"] = "false",
  evidence: Evidence = [],
): SnapshotViolation => ({ code, reason, message: withCode(text, code), readiness, evidence });

/** The class that is named, or the one default. */
export const classOf = ({
  snapshotClass,
  defaultClasses,
}: Pick<SnapshotObjects, "snapshotClass" | "defaultClasses">): VolumeSnapshotClass | undefined =>
  snapshotClass ?? defaultClasses[0];
