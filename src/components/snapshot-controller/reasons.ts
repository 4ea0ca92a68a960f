/**
 * Why the plans of the three controllers do what they do, and what an object waits for. Sentences name the objects; what a rule found is
 * said in the words of its message, and the code of that message tells the reason (rules/snapshot-reasons.ts).
 */
import { refOf } from "../../api/builders.ts";
import { annotations, finalizers } from "../../api/names.ts";
import type { Ref } from "../../api/plan.ts";
import { because, type Reason, type ReasonCode } from "../../api/reasons.ts";
import { keyOf, type PersistentVolumeClaim, type VolumeSnapshot, type VolumeSnapshotContent } from "../../api/types.ts";
import { keyIn, type Millis } from "../../base/brand.ts";
import { printable } from "../../base/printable.ts";
import { millisOf } from "../../base/time.ts";
import type { ContentViolation } from "../../rules/binding-rules.ts";
import { type Blocker, reasonOfError, reasonsByCode } from "../../rules/snapshot-reasons.ts";
import { contentNameOf } from "../../rules/snapshot-source.ts";
import { classOf, type SnapshotViolation } from "../../rules/snapshot-violation.ts";
import { type ContentFacts, claimKeyOf, isBecomingReady, type SnapshotFacts } from "./observe.ts";
import { isGivenUp } from "./phase-content.ts";

/** The reasons that this component has; a test reaches each. */
export const controllerReasonCodes = [
  "Settled",
  "Writes",
  "Released",
  "Invalid",
  "ClaimNotFound",
  "ClaimNotBound",
  "VolumeNotUsable",
  "NodeNotUsable",
  "ClassNotFound",
  "ClassNotUsable",
  "SecretNotUsable",
  "ContentNotFound",
  "ContentLost",
  "ContentNotUsable",
  "SnapshotNotFound",
  "WaitsForProtection",
  "WaitsForSidecar",
  "WaitsForDriver",
  "DriverFailed",
  "OutcomeUnknown",
  "WaitsForContentDeletion",
  "WaitsForDeletionConfirmed",
  "InUseByClaim",
  "InUseBySnapshot",
  "PartOfGroup",
  "WaitsForGrants",
  "WaitsForLists",
] as const satisfies readonly ReasonCode[];

export interface ControllerReason extends Reason {
  readonly code: (typeof controllerReasonCodes)[number];
}

export const why = (
  code: ControllerReason["code"],
  says: string,
  waitsFor: readonly Ref[] = [],
  sinceMs?: Millis,
): ControllerReason => ({ ...because(code, printable(says), waitsFor, sinceMs), code });

const blockersOf: Readonly<Record<Blocker, (facts: SnapshotFacts) => readonly Ref[]>> = {
  object: () => [],
  claim: ({ snapshot: { metadata }, source }) =>
    source.kind === "claim"
      ? [{ kind: "PersistentVolumeClaim", namespace: metadata.namespace, name: source.name }]
      : [],
  volume: ({ claim }) => (claim?.spec?.volumeName ? [{ kind: "PersistentVolume", name: claim.spec.volumeName }] : []),
  class: (facts) => {
    const name = facts.snapshot.spec.volumeSnapshotClassName ?? classOf(facts)?.metadata.name;
    return name ? [{ kind: "VolumeSnapshotClass", name }] : [];
  },
  content: ({ snapshot }) => [{ kind: "VolumeSnapshotContent", name: contentNameOf(snapshot) }],
  // Only a sidecar knows these; the content that has its error leads there.
  secret: () => [],
  driver: () => [],
};

interface WithError {
  readonly status?: { readonly error?: { readonly message?: string; readonly time?: string } };
}
/** Since when the object shows this very error. */
const shownSince = ({ status }: WithError, message: string): Millis | undefined =>
  status?.error?.message === message ? millisOf(status.error.time) : undefined;

/** The rule that the snapshot breaks. */
export function invalidSnapshot(facts: SnapshotFacts, { code, message }: SnapshotViolation): ControllerReason {
  const { reason, blocker } = reasonsByCode[code];
  return why(reason, message, blockersOf[blocker](facts), shownSince(facts.snapshot, message));
}

/** The rule that the content breaks. */
export const invalidContent = (content: VolumeSnapshotContent, { code, message }: ContentViolation): ControllerReason =>
  why(reasonsByCode[code].reason, message, [], shownSince(content, message));

/** The claim's own plan adds the finalizer, or renews it while a request that removes it may be under way. */
export const unprotected = (facts: SnapshotFacts): ControllerReason =>
  why(
    "WaitsForProtection",
    `claim ${claimKeyOf(facts.snapshot)} does not have our finalizer for certain yet`,
    blockersOf.claim(facts),
  );

const nameOf = ({ metadata }: VolumeSnapshotContent): string => `VolumeSnapshotContent ${metadata.name}`;
/** The sidecar that serves the content. */
const sidecarOf = ({ spec }: VolumeSnapshotContent): string => `csi-snapshotter of driver ${spec.driver}`;

/** What a snapshot waits for that has its content and is not ready: the content leads on. */
export function notReady(content: VolumeSnapshotContent): ControllerReason {
  const { metadata, status, spec } = content;
  const name = nameOf(content);
  const ref = refOf("VolumeSnapshotContent", content);
  const to = [ref];
  const error = errorOf(content, name, ref);
  if (error !== undefined) return error;
  if (isBecomingReady(content) || status?.readyToUse === true)
    return why("WaitsForSidecar", `${name} is ready, and the last write of ${sidecarOf(content)} is to come`, to);
  if (status?.snapshotHandle || status?.creationTime !== undefined)
    return why(
      "WaitsForDriver",
      `driver ${spec.driver} has taken snapshot "${status.snapshotHandle ?? ""}" of ${name}, and it is not ready yet`,
      to,
      takenMsOf(content),
    );
  const createdMs = millisOf(metadata.creationTimestamp);
  return metadata.annotations?.[annotations.beingCreated] === "yes"
    ? why(
        "WaitsForDriver",
        `driver ${spec.driver} is asked for CreateSnapshot for ${name}, and ${noReply}`,
        to,
        createdMs,
      )
    : why("WaitsForSidecar", `no ${sidecarOf(content)} has acted on ${name} yet`, to, createdMs);
}
const noReply = "no reply is in its status yet";

const takenMsOf = ({ status }: VolumeSnapshotContent): Millis | undefined =>
  status?.creationTime === undefined ? undefined : Math.floor(Number(status.creationTime) / 1_000_000);

/** What a sidecar has written into the content's status. */
function errorOf(content: VolumeSnapshotContent, beginning: string, to?: Ref): ControllerReason | undefined {
  const { message, time } = content.status?.error ?? {};
  if (message === undefined) return undefined;
  const { reason, secret } = reasonOfError(content, message);
  return why(reason, `${beginning} has an error: ${message}`, to === undefined ? secret : [to], millisOf(time));
}

/** What the deletion of a snapshot waits for once its content is being deleted. */
export function contentIsLeaving(snapshot: VolumeSnapshot, content: VolumeSnapshotContent): ControllerReason {
  const ref = refOf("VolumeSnapshotContent", content);
  const isOfDeletion = content.status?.error?.message !== snapshot.status?.error?.message;
  return (
    (isOfDeletion ? errorOf(content, nameOf(content), ref) : undefined) ??
    why(
      "WaitsForContentDeletion",
      `${nameOf(content)} is being deleted first, by ${sidecarOf(content)}`,
      [ref],
      millisOf(content.metadata.deletionTimestamp),
    )
  );
}

/** A claim is as it should be while snapshots are taken of it; its deletion waits for them. */
export function inUse({ metadata }: PersistentVolumeClaim, user: SnapshotFacts | undefined): ControllerReason {
  const what =
    user === undefined
      ? "a VolumeSnapshotContent is being created for it"
      : `snapshot ${keyOf(user.snapshot)} is being taken of it`;
  return metadata.deletionTimestamp === undefined
    ? why("Settled", `the claim has our finalizer, because ${what}`)
    : why(
        "InUseBySnapshot",
        `the claim is being deleted, and ${what}`,
        user && [refOf("VolumeSnapshot", user.snapshot)],
        millisOf(metadata.deletionTimestamp),
      );
}

const snapshotRefOf = ({ spec }: VolumeSnapshotContent): Ref => {
  const { namespace, name = "", uid } = spec.volumeSnapshotRef ?? {};
  return { kind: "VolumeSnapshot", namespace, name, uid };
};
const snapshotNameOf = (content: VolumeSnapshotContent): string => {
  const { namespace, name } = snapshotRefOf(content);
  return `VolumeSnapshot ${keyIn(namespace, name)}`;
};

/** A content that waits for its first snapshot. */
export function unbound({ content, snapshot }: ContentFacts): ControllerReason {
  const name = snapshotNameOf(content);
  if (snapshot?.spec.source?.volumeSnapshotContentName === content.metadata.name)
    return why("Settled", `${name} writes its uid into the content when it is valid`);
  const isThere = snapshot === undefined ? "does not exist" : "names another content";
  return why("SnapshotNotFound", `${name}, which the content names, ${isThere}`, [snapshotRefOf(content)]);
}

/** A content whose snapshot was removed by force. Nobody may delete its data unasked, and with Retain nobody has to. */
export function contentIsLeft({ content }: ContentFacts): ControllerReason {
  const { volumeSnapshotRef, deletionPolicy } = content.spec;
  const gone = `${snapshotNameOf(content)} (uid ${volumeSnapshotRef.uid}) is gone`;
  return deletionPolicy === "Retain"
    ? why("Settled", `${gone}, and the deletionPolicy of the content keeps the data`)
    : why("SnapshotNotFound", `${gone}: delete the content if nobody wants its data`, [snapshotRefOf(content)]);
}

/** What the deletion of a content waits for. */
export function contentWaitsToGo({ content }: ContentFacts): ControllerReason {
  const { metadata, status, spec } = content;
  const sinceMs = millisOf(metadata.deletionTimestamp);
  if (!metadata.finalizers?.includes(finalizers.contentBound))
    return why("Released", "the content has no finalizer of ours");
  if (!isGivenUp(content) && spec.volumeSnapshotRef?.uid) {
    const says = `${snapshotNameOf(content)} exists, and the content is deleted with it`;
    return why("WaitsForDeletionConfirmed", says, [snapshotRefOf(content)], sinceMs);
  }
  const error = errorOf(content, "the content");
  if (error !== undefined) return error;
  if (metadata.annotations?.[annotations.beingCreated] !== "yes" || status?.readyToUse === true)
    return why(
      "WaitsForSidecar",
      `${sidecarOf(content)} removes the content, and what its driver keeps for it`,
      [],
      sinceMs,
    );
  const unknown = `driver ${spec.driver} is asked for CreateSnapshot, and only its reply tells what is to be deleted`;
  return why("OutcomeUnknown", unknown, [], sinceMs);
}
