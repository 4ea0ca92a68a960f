/** What the stored objects and their events tell of a life, in the order in which it happened. Pure. */
import type { Ref } from "../../api/plan.ts";
import type {
  Event,
  KubeObject,
  PersistentVolumeClaim,
  VolumeSnapshot,
  VolumeSnapshotContent,
} from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import { millisOf } from "../../base/time.ts";
import { contentNameOf } from "../../rules/snapshot-source.ts";
import type { ClusterCopy } from "../explain/cluster-copy.ts";
import { createdMs, deletedMs, refTo } from "../explain/finding.ts";
import { eventsAbout } from "../explain/outer.ts";
import type { Moment } from "./view.ts";
import { writtenAt } from "./written-at.ts";

/** Undefined where no date is known: a moment that nobody has noted is left out. */
type Told = Omit<Moment, "atMs"> & { readonly atMs: Millis | undefined };
const dated = (drafts: readonly (Told | undefined)[]): readonly Moment[] =>
  drafts.filter((draft): draft is Moment => draft?.atMs !== undefined).toSorted(inOrder);

/** Most dates are of whole seconds: within one, moments are in the order of a life. */
const order: readonly Moment["code"][] = [
  "requested",
  "contentCreated",
  "taken",
  "reported",
  "ready",
  "volumeCreated",
  "bound",
  "failed",
  "restored",
  "deletionAsked",
  "contentDeletionAsked",
];
const second = ({ atMs }: Moment): number => Math.floor(atMs / 1_000);
const inOrder = (a: Moment, b: Moment): number =>
  second(a) - second(b) || order.indexOf(a.code) - order.indexOf(b.code) || a.atMs - b.atMs;

/** Undefined: there is no such object. */
export function momentsOf(copy: ClusterCopy, ref: Ref): readonly Moment[] | undefined {
  if (ref.kind === "PersistentVolumeClaim") {
    const claim = copy.get("PersistentVolumeClaim", ref.namespace, ref.name);
    return claim && dated([...claimMoments(copy, claim), ...failures(copy, claim)]);
  }
  const content = ref.kind === "VolumeSnapshotContent" ? copy.get(ref.kind, undefined, ref.name) : undefined;
  const { namespace, name } = content?.spec.volumeSnapshotRef ?? ref;
  const snapshot =
    content === undefined && ref.kind === "VolumeSnapshotContent"
      ? undefined
      : ofContent(copy, content, namespace, name ?? "");
  const own = content ?? (snapshot && contentOf(copy, snapshot));
  if (snapshot === undefined && own === undefined) return undefined;
  return dated([
    ...(snapshot === undefined ? [] : [...snapshotMoments(copy, snapshot), ...failures(copy, snapshot)]),
    ...(own === undefined ? [] : [...contentMoments(own), ...failures(copy, own)]),
  ]);
}

/** One of the same name may have come after it. */
function ofContent(
  copy: ClusterCopy,
  content: VolumeSnapshotContent | undefined,
  namespace: string | undefined,
  name: string,
) {
  const snapshot = copy.get("VolumeSnapshot", namespace, name);
  const uid = content?.spec.volumeSnapshotRef?.uid;
  return uid === undefined || snapshot?.metadata.uid === uid ? snapshot : undefined;
}

const contentOf = (copy: ClusterCopy, snapshot: VolumeSnapshot): VolumeSnapshotContent | undefined =>
  copy.get(
    "VolumeSnapshotContent",
    undefined,
    snapshot.status?.boundVolumeSnapshotContentName ?? contentNameOf(snapshot),
  );

function snapshotMoments(copy: ClusterCopy, snapshot: VolumeSnapshot): readonly (Told | undefined)[] {
  const object = refTo(snapshot);
  const { namespace, name } = snapshot.metadata;
  const restored = copy
    .list("PersistentVolumeClaim", { namespace })
    .filter(({ spec }) => spec?.dataSourceRef?.kind === "VolumeSnapshot" && spec.dataSourceRef.name === name)
    .filter((claim) => createdMs(claim) >= createdMs(snapshot));
  return [
    { code: "requested", atMs: createdMs(snapshot), says: "requested", object, from: "metadata.creationTimestamp" },
    snapshot.status?.readyToUse === true
      ? { code: "ready", ...readyAt(copy, snapshot), says: "ready", object, side: "controller" }
      : undefined,
    ...restored.map(
      (claim): Told => ({
        code: "restored",
        atMs: createdMs(claim),
        says: `restore asked by PersistentVolumeClaim ${claim.metadata.name}`,
        object: refTo(claim),
        from: "metadata.creationTimestamp",
      }),
    ),
    {
      code: "deletionAsked",
      atMs: deletedMs(snapshot),
      says: "deletion asked",
      object,
      from: "metadata.deletionTimestamp",
    },
  ];
}

/** The event is of the moment itself; the field may have been written again. */
function readyAt(copy: ClusterCopy, snapshot: VolumeSnapshot): Pick<Told, "atMs" | "from"> {
  const event = eventsAbout(copy, snapshot).findLast(({ reason }) => reason === "SnapshotReady");
  const field = writtenAt(snapshot, "status", "readyToUse");
  return event === undefined
    ? { atMs: field, from: "metadata.managedFields of status.readyToUse" }
    : { atMs: firstSeen(event), from: "event SnapshotReady" };
}

const firstSeen = ({ firstTimestamp, eventTime, metadata }: Event): Millis | undefined =>
  millisOf(String(firstTimestamp ?? eventTime ?? metadata.creationTimestamp ?? ""));

function contentMoments(content: VolumeSnapshotContent): readonly (Told | undefined)[] {
  const object = refTo(content);
  const { status = {}, spec } = content;
  const takenNs = status.creationTime;
  return [
    {
      code: "contentCreated",
      atMs: createdMs(content),
      says: `${content.metadata.name} created`,
      object,
      from: "metadata.creationTimestamp",
      side: "controller",
    },
    takenNs === undefined || spec.source?.snapshotHandle !== undefined
      ? undefined
      : {
          code: "taken",
          atMs: Number(BigInt(takenNs) / 1_000_000n),
          says: "taken, by the clock of the driver",
          object,
          from: "status.creationTime",
          side: "driver",
        },
    status.readyToUse === true
      ? {
          code: "reported",
          atMs: writtenAt(content, "status", "readyToUse"),
          says: "its handle stored as ready",
          object,
          from: "metadata.managedFields of status.readyToUse",
          side: "sidecar",
        }
      : undefined,
    {
      code: "contentDeletionAsked",
      atMs: deletedMs(content),
      says: `deletion of ${content.metadata.name} asked`,
      object,
      from: "metadata.deletionTimestamp",
      side: "controller",
    },
  ];
}

function claimMoments(copy: ClusterCopy, claim: PersistentVolumeClaim): readonly (Told | undefined)[] {
  const object = refTo(claim);
  const volume = claim.spec?.volumeName ? copy.get("PersistentVolume", undefined, claim.spec.volumeName) : undefined;
  const isBound = claim.status?.phase === "Bound";
  return [
    { code: "requested", atMs: createdMs(claim), says: "requested", object, from: "metadata.creationTimestamp" },
    volume === undefined || createdMs(volume) < createdMs(claim)
      ? undefined
      : {
          code: "volumeCreated",
          atMs: createdMs(volume),
          says: `volume ${volume.metadata.name} created`,
          object: refTo(volume),
          from: "metadata.creationTimestamp",
          side: "driver",
        },
    isBound
      ? {
          code: "bound",
          atMs: writtenAt(claim, "status", "phase"),
          says: "bound",
          object,
          from: "metadata.managedFields of status.phase",
          side: "API server",
        }
      : undefined,
    {
      code: "deletionAsked",
      atMs: deletedMs(claim),
      says: "deletion asked",
      object,
      from: "metadata.deletionTimestamp",
    },
  ];
}

/** Warnings of the last hour: what was tried, and failed. */
const failures = (copy: ClusterCopy, object: KubeObject): readonly Told[] =>
  eventsAbout(copy, object)
    .filter(({ type }) => type === "Warning")
    .map((event) => ({
      code: "failed",
      atMs: firstSeen(event),
      says: `${event.reason}${(event.count ?? 1) > 1 ? ` (${event.count} times)` : ""}: ${event.message}`,
      object: refTo(object),
      from: `event ${event.reason}`,
    }));
