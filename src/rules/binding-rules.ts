/** What must hold at any time between a VolumeSnapshot and its VolumeSnapshotContent. */
import { annotations } from "../api/names.ts";
import type { VolumeSnapshot, VolumeSnapshotContent } from "../api/types.ts";
import { keyOf } from "../api/types.ts";
import { fix, withCode } from "../errors/codes.ts";
import { contentAsSeen } from "./evidence.ts";
import { contentSourceOf } from "./snapshot-source.ts";
import { type SnapshotRule, violation } from "./snapshot-violation.ts";
import { isSet } from "./values.ts";
import type { Violation } from "./violation.ts";

/** Both name the same incarnation of the same snapshot. */
export const pointsAt = (content: VolumeSnapshotContent, snapshot: VolumeSnapshot): boolean =>
  namesIt(content, snapshot) && content.spec.volumeSnapshotRef.uid === snapshot.metadata.uid;

/**
 * Whether the content is deleted with the snapshot. The uid names the incarnation, so that a content is not left behind because
 * somebody has removed the name or the namespace from its reference.
 */
export const belongsTo = ({ spec }: VolumeSnapshotContent, { metadata }: VolumeSnapshot): boolean => {
  const { uid, name, namespace } = spec.volumeSnapshotRef ?? {};
  const isItOrNone = (given: string | undefined, own: string | undefined): boolean => !isSet(given) || given === own;
  return uid === metadata.uid && isItOrNone(name, metadata.name) && isItOrNone(namespace, metadata.namespace);
};

const namesIt = ({ spec }: VolumeSnapshotContent, { metadata }: VolumeSnapshot): boolean =>
  spec.volumeSnapshotRef.name === metadata.name && spec.volumeSnapshotRef.namespace === metadata.namespace;

const hasOneSource: SnapshotRule = ({ source }) =>
  source.kind === "unclear"
    ? violation(
        "SNAP-101",
        "SnapshotValidationError",
        `Exactly one of PersistentVolumeClaimName and VolumeSnapshotContentName should be specified: spec.source names ${
          source.count === 2 ? "both; leave one" : "neither; name one"
        }`,
      )
    : undefined;

/** What was promised to the user once must not be quietly taken again: the data may have changed since. */
const contentIsNotLost: SnapshotRule = (objects) => {
  const { snapshot, content, source } = objects;
  const promised =
    snapshot.status?.readyToUse === true || snapshot.status?.creationTime !== undefined || isKnownLost(snapshot);
  if (source.kind !== "claim" || content !== undefined || !promised) return undefined;
  const name = snapshot.status?.boundVolumeSnapshotContentName ?? "its content";
  const message = `VolumeSnapshotContent is missing: ${name} was removed although the snapshot still needs it; ${fix("SNAP-201", "this VolumeSnapshot")}`;
  return { ...violation("SNAP-201", "SnapshotContentMissing", message, "false", contentAsSeen(objects)), isLoss: true };
};

/** A copy of the snapshot, restored from a backup say, is another one and has another uid. */
const isKnownLost = ({ metadata }: VolumeSnapshot): boolean =>
  metadata.annotations?.[annotations.contentLost] === metadata.uid;

const contentExists: SnapshotRule = (objects) =>
  objects.source.kind === "content" && objects.content === undefined
    ? violation(
        "SNAP-202",
        "SnapshotContentMissing",
        `VolumeSnapshotContent is missing: ${fix("SNAP-202", objects.source.name)}`,
        "false",
        contentAsSeen(objects),
      )
    : undefined;

export interface ContentViolation extends Violation {
  readonly code: "SNAP-111" | "SNAP-117";
}

/** What is wrong with a content by itself. One without a driver has no sidecar: with our finalizer it could never be deleted. */
export function contentViolation({ metadata, spec }: VolumeSnapshotContent): ContentViolation | undefined {
  if (!isSet(spec.driver)) {
    const text = `spec.driver of VolumeSnapshotContent ${metadata.name} is not set, so no sidecar serves it; ${fix("SNAP-117", "it", "the CSI driver")}`;
    return { code: "SNAP-117", reason: "ContentValidationError", message: withCode(text, "SNAP-117") };
  }
  const source = contentSourceOf({ spec });
  if (source.kind !== "unclear") return undefined;
  const [found, remedy] =
    source.count === 2
      ? ["both", "leave one"]
      : ["neither (an empty handle is none)", "give one, that of the volume to cut or of the snapshot that exists"];
  const text = `Exactly one of VolumeHandle and SnapshotHandle should be specified: spec.source of VolumeSnapshotContent ${metadata.name} has ${found}; ${remedy}, or, where the API server refuses the change, delete the content and create it anew`;
  return { code: "SNAP-111", reason: "ContentValidationError", message: withCode(text, "SNAP-111") };
}

const contentHasOneSource: SnapshotRule = (objects) => {
  const found = objects.content && contentViolation(objects.content);
  return found && { ...found, readiness: "false", evidence: contentAsSeen(objects) };
};

const contentIsOfTheRightSort: SnapshotRule = (objects) => {
  const { source, content } = objects;
  if (content === undefined) return undefined;
  const isDynamic = contentSourceOf(content).kind === "volume";
  if (source.kind !== (isDynamic ? "content" : "claim")) return undefined;
  const [found, expected] = isDynamic
    ? ["dynamically provisioned", "a pre-provisioned"]
    : ["pre-provisioned", "a dynamically provisioned"];
  return violation(
    "SNAP-203",
    "SnapshotContentMismatch",
    `VolumeSnapshotContent ${content.metadata.name} is ${found} while expecting ${expected} one`,
    "false",
    contentAsSeen(objects),
  );
};

const contentIsOurs: SnapshotRule = (objects) => {
  const { snapshot, content, source } = objects;
  if (content === undefined) return undefined;
  const mayBind = source.kind === "content" && !content.spec.volumeSnapshotRef.uid && namesIt(content, snapshot);
  if (mayBind || pointsAt(content, snapshot)) return undefined;
  const { namespace, name, uid } = content.spec.volumeSnapshotRef;
  return violation(
    "SNAP-204",
    "SnapshotContentMisbound",
    `VolumeSnapshotContent [${content.metadata.name}] is bound to a different snapshot: its spec.volumeSnapshotRef names ${namespace}/${name}${uid ? ` (uid ${uid})` : ""}, this is ${keyOf(snapshot)} (uid ${snapshot.metadata.uid}); ${fix("SNAP-204")}`,
    "false",
    contentAsSeen(objects),
  );
};

/** Hold for a snapshot at any time. */
export const bindingRules: readonly SnapshotRule[] = [
  hasOneSource,
  contentIsNotLost,
  contentExists,
  contentHasOneSource,
  contentIsOfTheRightSort,
  contentIsOurs,
];
