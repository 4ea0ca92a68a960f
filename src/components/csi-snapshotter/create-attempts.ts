/**
 * Knows for which contents CreateSnapshot may have been sent (docs/decisions/0014). Plans use two functions of this file; without it
 * they would write the being-created annotation, or read the content, before every call.
 *
 * Each sidecar process has an id. The id is written, next to the being-created annotation, on every content that the process may send
 * CreateSnapshot for, and the snapshot-controller creates contents with the id of an active sidecar. A content that has our id, and that
 * we have sent no CreateSnapshot for, is one that no process has sent CreateSnapshot for, even if the cache is stale. There is one
 * exception: the second content of a snapshot, created after the first was removed by force. The driver knows both by one name.
 */
import { annotations, finalizers } from "../../api/names.ts";
import { edit } from "../../api/patches.ts";
import type { ClusterAction } from "../../api/plan.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import { createLru } from "../../base/lru.ts";
import { createFence, laterOf } from "../../kube/fence.ts";
import { isNewer } from "../../kube/version.ts";
import { sidecarLimits } from "./limits.ts";
import { confirmed, kind, withoutBeingCreated } from "./plan-steps.ts";

/** What is known about the CreateSnapshot calls for one content. */
export interface CreateAttempt {
  /** Id of this process. */
  readonly sidecarId: string;
  /**
   * sent:     by this process
   * never:    by no process
   * released: by no process, and this process has removed the annotation since, so the snapshot may not be wanted any more
   * unknown:  perhaps by a process that no longer runs
   */
  readonly createSent: "sent" | "never" | "released" | "unknown";
  /** Whether a request of this process that removes the annotation from this version may still arrive. */
  readonly isRemovalPending: boolean;
}

/** No CreateSnapshot can be in flight, whatever the annotation says. */
export const isKnownUnsent = ({ createSent }: CreateAttempt): boolean =>
  createSent === "never" || createSent === "released";

/**
 * What has to succeed before CreateSnapshot is sent: the annotation with our id and a missing finalizer, or, where they are there, a
 * read that confirms the cache. Once the handle is known there is something to delete for certain, and the annotation is not needed.
 *
 * Our id replaces a predecessor's. A request of the predecessor that removes the annotation names the version before, so it fails then.
 *
 * Undefined: our own request of that kind may still arrive, and nothing would be written that makes it fail. The annotation has to be
 * removed again first: whatever becomes of the second request, the first one fails afterwards.
 */
export function intentFor(
  content: VolumeSnapshotContent,
  attempt: CreateAttempt,
): readonly ClusterAction[] | undefined {
  if (content.status?.snapshotHandle) return confirmed(content);
  const write = edit(kind, content, {
    addFinalizers: content.metadata.deletionTimestamp === undefined ? [finalizers.contentBound] : [],
    annotations: {
      ...withoutBeingCreated,
      [annotations.beingCreated]: "yes",
      [annotations.snapshotterId]: attempt.sidecarId,
    },
  });
  if (write.length > 0) return write;
  if (attempt.isRemovalPending) return undefined;
  return attempt.createSent === "never" ? [] : confirmed(content);
}

export interface CreateAttempts {
  /** To be called before CreateSnapshot is sent, and before our id is written on the content. */
  willCreate(content: VolumeSnapshotContent): void;
  /** To be called before the annotation is removed, or a content is released: the cache may show an older version afterwards. */
  willRemoveAnnotation(content: VolumeSnapshotContent): void;
  about(content: VolumeSnapshotContent): CreateAttempt;
}

export function createCreateAttempts(
  sidecarId: string,
  sizeMax: number = sidecarLimits.createAttemptsMax,
): CreateAttempts {
  /** The key is the uid of the content. */
  const attempts = createLru<"sent" | "released">(sizeMax);
  /** The mark is the annotation: which removals may still arrive. */
  const fence = createFence(sizeMax);
  /** The key is the uid of the snapshot, which the name in CreateSnapshot is made from. */
  const namesSent = createLru<true>(sizeMax);
  let newest = "";
  /** Contents up to this version may have been forgotten. */
  let floor = "";
  const remember = (
    { metadata: { uid, resourceVersion } }: VolumeSnapshotContent,
    attempt: "sent" | "released",
  ): void => {
    if (attempts.size() >= sizeMax && attempts.get(uid) === undefined) floor = newest;
    newest = laterOf(newest, resourceVersion);
    attempts.set(uid, attempt);
    fence.use(uid);
  };
  const createSentFor = (content: VolumeSnapshotContent): CreateAttempt["createSent"] => {
    const { metadata } = content;
    const known = attempts.get(metadata.uid);
    if (known !== undefined) return known;
    if (namesSent.get(snapshotUidOf(content))) return "unknown";
    const isRemembered = floor === "" || isNewer(metadata.resourceVersion, floor);
    return isRemembered && metadata.annotations?.[annotations.snapshotterId] === sidecarId ? "never" : "unknown";
  };
  return {
    willCreate: (content) => {
      remember(content, "sent");
      namesSent.set(snapshotUidOf(content), true);
    },
    willRemoveAnnotation: (content) => {
      fence.willRemove(content);
      remember(content, attempts.get(content.metadata.uid) ?? "released");
    },
    about: (content) => ({
      sidecarId,
      createSent: createSentFor(content),
      isRemovalPending: fence.mayLand(content),
    }),
  };
}

/** A malformed content may lack the reference. Without a uid CreateSnapshot is never sent. */
const snapshotUidOf = ({ spec }: VolumeSnapshotContent): string => spec.volumeSnapshotRef?.uid ?? "";
