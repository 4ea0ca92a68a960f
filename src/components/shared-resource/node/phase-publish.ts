/**
 * Where a request to publish a volume is:
 *
 *   unreviewed ──▶ unread ──▶ unreviewed ──▶ unmounted ──▶ unfilled ──▶ published
 *       │            │            │              │  │                       ▲
 *       └────────────┴────────────┴──────┐       │  └── mounted before ─────┤
 *                                        ▼       ▼                          │
 *                                       refused ◀┘                        kept
 *
 * unreviewed: it is to be asked whether the pod may use the share: before its Secret or ConfigMap is read, and again when that is done,
 *             because reading it may have taken long.
 * unread:     the Secret or ConfigMap is to be read.
 * unmounted:  nothing speaks against the volume; it is recorded and mounted.
 * unfilled:   it is mounted, and the set of files is to be written.
 * kept:       it was mounted before and shows another set, for which there is no room.
 * published:  it shows what it should.
 * refused:    the pod must not start with it, or cannot now.
 */
import { equal, type JsonValue } from "../../../base/json.ts";
import type { PublishView } from "./observe-publish.ts";
import { wantedSource } from "./phase.ts";
import {
  deniedUse,
  noRoom,
  notReadOnly,
  otherVolume,
  type Refusal,
  reviewFailed,
  shareRefusal,
  sourceFailed,
  sourceRefusal,
} from "./refusals.ts";
import { type ContentFacts, type Source, sourceKey, type VolumeSpec } from "./types.ts";

export const publishPhases = ["unreviewed", "unread", "unmounted", "unfilled", "kept", "published", "refused"] as const;
export type PublishPhase = (typeof publishPhases)[number];

export function phaseOfPublish(view: PublishView): PublishPhase {
  const { review, mount } = view.memory;
  if (refusalIn(view) !== undefined) return "refused";
  if (review === undefined) return "unreviewed";
  const read = readIn(view);
  if (read === undefined) return "unread";
  if (!isReviewedAfterRead(view)) return "unreviewed";
  if (mount === undefined) return "unmounted";
  return mount === "before" ? phaseOfMounted(view, read.content) : "unfilled";
}

/** The order is that of the driver we replace; what is not known yet refuses nothing. */
export function refusalIn(view: PublishView): Refusal | undefined {
  const { facts, memory } = view;
  const { request, share, known } = facts;
  const { review } = memory;
  const ofShare = shareRefusal(request, share);
  if (ofShare !== undefined || review === undefined) return ofShare;
  if (review.kind === "failed") return reviewFailed(request, review.reason);
  if (review.value === "denied") return deniedUse(request);
  if (!request.readOnly) return notReadOnly(request);
  if (known !== undefined && !isSameVolume(known.spec, request)) return otherVolume(known.spec);
  return refusalOfSource(view);
}

function refusalOfSource(view: PublishView): Refusal | undefined {
  const { request, known, full } = view.facts;
  const { source, mount } = view.memory;
  if (source === undefined || !isRead(view)) return undefined;
  if (source.kind === "failed") return sourceFailed(request, source.of, source.reason);
  const refusal = sourceRefusal(request, source.of, source.value);
  if (refusal !== undefined || !isReviewedAfterRead(view)) return refusal;
  const isToBeEmpty = known?.written === undefined && mount === undefined;
  return full !== undefined && isToBeEmpty ? noRoom(full) : undefined;
}

/** What the volume is to be filled from; a volume that is not refreshed keeps what it has, also when the kubelet asks again. */
export const sourceToRead = ({ facts }: PublishView): Source | undefined =>
  wantedSource({ ...facts, written: facts.known?.written });

/** Its share may refer to another one since. What is mounted is looked at again after the request. */
function isRead(view: PublishView): boolean {
  const { source, mount } = view.memory;
  const wanted = sourceToRead(view);
  return source !== undefined && (mount !== undefined || (wanted !== undefined && isSame(source.of, wanted)));
}

/** The Secret or ConfigMap that was read for this request, and what is in it. */
export function readIn(view: PublishView): { readonly source: Source; readonly content: ContentFacts } | undefined {
  const { source } = view.memory;
  if (!isRead(view) || source?.kind !== "answered" || source.value.kind !== "present") return undefined;
  return { source: source.of, content: source.value.content };
}

const isReviewedAfterRead = ({ memory: { review, source } }: PublishView): boolean =>
  review?.after !== undefined && source !== undefined && isSame(review.after, source.of);

function phaseOfMounted({ facts: { known, refresh, full } }: PublishView, content: ContentFacts): PublishPhase {
  const written = known?.written;
  if (written === undefined) return "unfilled";
  if (written.digest !== undefined && (!refresh || written.digest === content.digest)) return "published";
  return full === undefined ? "unfilled" : "kept";
}

const isSame = (one: Source, other: Source): boolean => sourceKey(one) === sourceKey(other);

/** The configuration of the driver may have been another one when the volume was recorded. */
function isSameVolume(one: VolumeSpec, other: VolumeSpec): boolean {
  const comparable = ({ id, target, shareKind, share, pod }: VolumeSpec): JsonValue => ({
    id,
    target,
    shareKind,
    share,
    pod: { ...pod },
  });
  return equal(comparable(one), comparable(other));
}
