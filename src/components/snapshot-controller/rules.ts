/**
 * Why a snapshot cannot go on. Rules run in order and the first that speaks is what the user reads, so that mending one thing
 * shows the next. A rule never looks at what a later step has made unnecessary: once the content exists, the class may go.
 */

import { annotations, finalizers } from "../../api/names.ts";
import type { ClusterAction } from "../../api/plan.ts";
import type { VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent } from "../../api/types.ts";
import { keyOf } from "../../api/types.ts";
import { secretFor, snapshotterSecretKeys } from "../../rules/secret-template.ts";
import type { Violation } from "../../rules/violation.ts";
import type { SnapshotView } from "./observe.ts";
import { absent, allClasses, contentAsSeen, unchanged } from "./rules-evidence.ts";

export interface SnapshotViolation extends Violation {
  /** A wrong object is not ready; trouble with a class leaves readiness as it was. */
  readonly readiness: "false" | "kept";
  /** What the snapshot was promised to hold is gone, for good. */
  readonly isLoss?: true;
  /** What the verdict rests on, to be confirmed with the server before a user is told: a cache is behind right after a change. */
  readonly evidence: readonly ClusterAction[];
}
type SnapshotRule = (view: SnapshotView) => SnapshotViolation | undefined;

const violation = (
  reason: string,
  message: string,
  readiness: SnapshotViolation["readiness"] = "false",
  evidence: readonly ClusterAction[] = [],
): SnapshotViolation => ({ reason, message, readiness, evidence });

/** Both name the same incarnation of the same snapshot. */
export const pointsAt = (content: VolumeSnapshotContent, snapshot: VolumeSnapshot): boolean =>
  namesIt(content, snapshot) && content.spec.volumeSnapshotRef.uid === snapshot.metadata.uid;

const namesIt = ({ spec }: VolumeSnapshotContent, { metadata }: VolumeSnapshot): boolean =>
  spec.volumeSnapshotRef.name === metadata.name && spec.volumeSnapshotRef.namespace === metadata.namespace;

const hasOneSource: SnapshotRule = ({ source }) =>
  source.kind === "unclear"
    ? violation(
        "SnapshotValidationError",
        `Exactly one of PersistentVolumeClaimName and VolumeSnapshotContentName should be specified: spec.source names ${
          source.count === 2 ? "both; leave one" : "neither; name one"
        }`,
      )
    : undefined;

/** What was promised to the user once must not be quietly taken again: the data may have changed since. */
const contentIsNotLost: SnapshotRule = (view) => {
  const { snapshot, content, source } = view;
  const promised =
    snapshot.status?.readyToUse === true || snapshot.status?.creationTime !== undefined || isKnownLost(snapshot);
  if (source.kind !== "claim" || content !== undefined || !promised) return undefined;
  const name = snapshot.status?.boundVolumeSnapshotContentName ?? "its content";
  const message = `VolumeSnapshotContent is missing: ${name} was removed although the snapshot still needs it; delete this VolumeSnapshot and take a new one`;
  return { ...violation("SnapshotContentMissing", message, "false", contentAsSeen(view)), isLoss: true };
};

/** A copy of the snapshot, restored from a backup say, is another one and has another uid. */
const isKnownLost = ({ metadata }: VolumeSnapshot): boolean =>
  metadata.annotations?.[annotations.contentLost] === metadata.uid;

const contentExists: SnapshotRule = (view) =>
  view.source.kind === "content" && view.content === undefined
    ? violation(
        "SnapshotContentMissing",
        `VolumeSnapshotContent is missing: create ${view.source.name}, or name another in spec.source.volumeSnapshotContentName`,
        "false",
        contentAsSeen(view),
      )
    : undefined;

/** What is wrong with a content by itself. An empty handle is none, though the CRD's rules take it for one. */
export function contentMistake({ metadata, spec }: VolumeSnapshotContent): string | undefined {
  const { volumeHandle, snapshotHandle } = spec.source ?? {};
  if (Boolean(volumeHandle) !== Boolean(snapshotHandle)) return undefined;
  const [found, remedy] = volumeHandle
    ? ["both", "leave one"]
    : ["neither (an empty handle is none)", "give one, that of the volume to cut or of the snapshot that exists"];
  return `Exactly one of VolumeHandle and SnapshotHandle should be specified: spec.source of VolumeSnapshotContent ${metadata.name} has ${found}; ${remedy}, or, where the API server refuses the change, delete the content and create it anew`;
}

const contentHasOneSource: SnapshotRule = (view) => {
  const mistake = view.content && contentMistake(view.content);
  return mistake === undefined ? undefined : violation("ContentValidationError", mistake, "false", contentAsSeen(view));
};

const contentIsOfTheRightSort: SnapshotRule = (view) => {
  const { source, content } = view;
  if (content === undefined) return undefined;
  const isDynamic = content.spec.source.volumeHandle !== undefined;
  if (source.kind === "content" && isDynamic)
    return violation(
      "SnapshotContentMismatch",
      `VolumeSnapshotContent ${content.metadata.name} is dynamically provisioned while expecting a pre-provisioned one`,
      "false",
      contentAsSeen(view),
    );
  if (source.kind === "claim" && !isDynamic)
    return violation(
      "SnapshotContentMismatch",
      `VolumeSnapshotContent ${content.metadata.name} is pre-provisioned while expecting a dynamically provisioned one`,
      "false",
      contentAsSeen(view),
    );
  return undefined;
};

const contentIsOurs: SnapshotRule = (view) => {
  const { snapshot, content, source } = view;
  if (content === undefined) return undefined;
  const mayBind = source.kind === "content" && !content.spec.volumeSnapshotRef.uid && namesIt(content, snapshot);
  if (mayBind || pointsAt(content, snapshot)) return undefined;
  const { namespace, name, uid } = content.spec.volumeSnapshotRef;
  return violation(
    "SnapshotContentMisbound",
    `VolumeSnapshotContent [${content.metadata.name}] is bound to a different snapshot: its spec.volumeSnapshotRef names ${namespace}/${name}${uid ? ` (uid ${uid})` : ""}, this is ${keyOf(snapshot)} (uid ${snapshot.metadata.uid}); name a content of your own`,
    "false",
    contentAsSeen(view),
  );
};

/** Trouble on the way to a class is worded as upstream words it, by whether the user named one. */
const creationFailure = (
  { snapshot }: SnapshotView,
  detail: string,
  evidence: readonly ClusterAction[] = [],
): SnapshotViolation =>
  snapshot.spec.volumeSnapshotClassName === undefined
    ? violation(
        "SetDefaultSnapshotClassFailed",
        `Failed to set default snapshot class with error ${detail}`,
        "kept",
        evidence,
      )
    : violation(
        "SnapshotContentCreationFailed",
        `Failed to create snapshot content with error ${detail}`,
        "false",
        evidence,
      );

const namedClassExists: SnapshotRule = ({ snapshot, snapshotClass }) => {
  const name = snapshot.spec.volumeSnapshotClassName;
  return name !== undefined && snapshotClass === undefined
    ? violation(
        "GetSnapshotClassFailed",
        `Failed to get snapshot class with error volumesnapshotclass "${name}" not found: create it, or name another in spec.volumeSnapshotClassName`,
        "kept",
        absent("VolumeSnapshotClass", name),
      )
    : undefined;
};

const claimIsUsable: SnapshotRule = (view) => {
  const { snapshot, source, claim } = view;
  const name = source.kind === "claim" ? `${snapshot.metadata.namespace}/${source.name}` : "";
  if (claim === undefined)
    return creationFailure(
      view,
      `claim ${name} not found: create it, or name another in spec.source.persistentVolumeClaimName`,
      source.kind === "claim" ? absent("PersistentVolumeClaim", source.name, snapshot.metadata.namespace) : [],
    );
  if (claim.status?.phase !== "Bound" || !claim.spec?.volumeName)
    return creationFailure(
      view,
      `claim ${name} is not bound to a volume (it is ${claim.status?.phase ?? "Pending"}): a snapshot is taken once it is`,
      unchanged("PersistentVolumeClaim", claim),
    );
  const protectedAlready = claim.metadata.finalizers?.includes(finalizers.claimAsSource) === true;
  return claim.metadata.deletionTimestamp !== undefined && !protectedAlready
    ? creationFailure(
        view,
        `claim ${name} is being deleted: no new snapshot can be taken of it`,
        unchanged("PersistentVolumeClaim", claim),
      )
    : undefined;
};

const volumeIsTheClaims: SnapshotRule = (view) => {
  const { claim, volume } = view;
  const name = claim?.spec?.volumeName ?? "";
  if (volume === undefined)
    return creationFailure(view, `volume ${name} of the claim not found`, absent("PersistentVolume", name));
  const ref = volume.spec?.claimRef;
  const matches =
    ref?.name === claim?.metadata.name &&
    ref?.namespace === claim?.metadata.namespace &&
    (!ref?.uid || ref.uid === claim?.metadata.uid);
  if (!matches)
    return creationFailure(
      view,
      `volume ${name} does not point back at the claim (spec.claimRef names ${ref?.namespace}/${ref?.name}): it is bound to another`,
      [...unchanged("PersistentVolumeClaim", claim), ...unchanged("PersistentVolume", volume)],
    );
  return volume.spec?.csi === undefined
    ? creationFailure(
        view,
        `snapshotting non-CSI volumes is not supported: volume ${name} has no spec.csi; name a claim of a CSI driver`,
        unchanged("PersistentVolume", volume),
      )
    : undefined;
};

/** Its content would carry no node's label, and wait for ever without a word: no sidecar takes one that is not its own. */
const aNodeReachesTheVolume: SnapshotRule = (view) =>
  view.place.kind === "nowhere"
    ? creationFailure(
        view,
        `no node matches spec.nodeAffinity of volume ${view.volume?.metadata.name}: bring the node back, or correct its labels; the snapshot is taken once there is one`,
      )
    : undefined;

const oneDefaultClass: SnapshotRule = (view) => {
  if (view.snapshot.spec.volumeSnapshotClassName !== undefined || view.defaultClasses.length === 1) return undefined;
  const driver = view.volume?.spec?.csi?.driver;
  const remedy =
    'annotate one class with snapshot.storage.kubernetes.io/is-default-class: "true", or name one in spec.volumeSnapshotClassName';
  if (view.defaultClasses.length === 0)
    return creationFailure(view, `cannot find default snapshot class for driver ${driver}: ${remedy}`, allClasses);
  const names = view.defaultClasses.map(({ metadata }) => metadata.name).sort();
  return creationFailure(
    view,
    `${names.length} default snapshot classes were found for driver ${driver} (${names.join(", ")}): leave one, or name one in spec.volumeSnapshotClassName`,
    allClasses,
  );
};

const classServesDriver: SnapshotRule = (view) => {
  const driver = view.volume?.spec?.csi?.driver;
  return view.snapshotClass !== undefined && view.snapshotClass.driver !== driver
    ? creationFailure(
        view,
        `class ${view.snapshotClass.metadata.name} is for driver ${view.snapshotClass.driver}, but the volume belongs to driver ${driver}: name a class of that driver`,
        unchanged("VolumeSnapshotClass", view.snapshotClass),
      )
    : undefined;
};

const secretIsClear: SnapshotRule = (view) => {
  const chosen = classOf(view);
  if (chosen === undefined) return undefined;
  const secret = deletionSecretOf(view, chosen);
  return secret.kind === "wrong"
    ? creationFailure(
        view,
        `${secret.message} (class ${chosen.metadata.name})`,
        unchanged("VolumeSnapshotClass", chosen),
      )
    : undefined;
};

/** The class that is named, or the one default. */
export const classOf = ({ snapshotClass, defaultClasses }: SnapshotView): VolumeSnapshotClass | undefined =>
  snapshotClass ?? defaultClasses[0];

export const deletionSecretOf = ({ snapshot }: SnapshotView, { parameters = {} }: VolumeSnapshotClass) =>
  secretFor(snapshotterSecretKeys, parameters, {
    contentName: `snapcontent-${snapshot.metadata.uid}`,
    snapshotName: snapshot.metadata.name,
    snapshotNamespace: snapshot.metadata.namespace,
  });

/** Hold for a snapshot at any time. */
export const bindingRules: readonly SnapshotRule[] = [
  hasOneSource,
  contentIsNotLost,
  contentExists,
  contentHasOneSource,
  contentIsOfTheRightSort,
  contentIsOurs,
];
/** Must hold for a content to be made. */
export const creationRules: readonly SnapshotRule[] = [
  namedClassExists,
  claimIsUsable,
  volumeIsTheClaims,
  oneDefaultClass,
  classServesDriver,
  aNodeReachesTheVolume,
  secretIsClear,
];
