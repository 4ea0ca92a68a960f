/** What must hold for a VolumeSnapshotContent to be made for a VolumeSnapshot of a claim. */
import { finalizers, snapshotContentNameFor } from "../api/names.ts";
import type { VolumeSnapshot, VolumeSnapshotClass } from "../api/types.ts";
import { fix } from "../errors/codes.ts";
import { absent, allClasses, type Evidence, unchanged } from "./evidence.ts";
import type { SecretLookup, TemplateCode } from "./secret-template.ts";
import type { BlockingCode } from "./snapshot-reasons.ts";
import {
  classOf,
  type SnapshotObjects,
  type SnapshotRule,
  type SnapshotViolation,
  violation,
} from "./snapshot-violation.ts";
import { snapshotterSecretOf } from "./snapshotter-secrets.ts";

/** A failure before the content exists is worded as upstream words it, by whether the user named one. */
const creationFailure = (
  { snapshot }: SnapshotObjects,
  code: BlockingCode,
  detail: string,
  evidence: Evidence = [],
): SnapshotViolation => {
  const [reason, what, readiness] =
    snapshot.spec.volumeSnapshotClassName === undefined
      ? (["SetDefaultSnapshotClassFailed", "set default snapshot class", "kept"] as const)
      : (["SnapshotContentCreationFailed", "create snapshot content", "false"] as const);
  return violation(code, reason, `Failed to ${what} with error ${detail}`, readiness, evidence);
};

const namedClassExists: SnapshotRule = ({ snapshot, snapshotClass }) => {
  const name = snapshot.spec.volumeSnapshotClassName;
  return name !== undefined && snapshotClass === undefined
    ? violation(
        "SNAP-211",
        "GetSnapshotClassFailed",
        `Failed to get snapshot class with error volumesnapshotclass "${name}" not found: ${fix("SNAP-211", "it")}`,
        "kept",
        absent("VolumeSnapshotClass", name),
      )
    : undefined;
};

const claimIsUsable: SnapshotRule = (objects) => {
  const { snapshot, source, claim } = objects;
  const name = source.kind === "claim" ? `${snapshot.metadata.namespace}/${source.name}` : "";
  if (claim === undefined)
    return creationFailure(
      objects,
      "SNAP-221",
      `claim ${name} not found: ${fix("SNAP-221", "it")}`,
      source.kind === "claim" ? absent("PersistentVolumeClaim", source.name, snapshot.metadata.namespace) : [],
    );
  if (claim.status?.phase !== "Bound" || !claim.spec?.volumeName)
    return creationFailure(
      objects,
      "SNAP-222",
      `claim ${name} is not bound to a volume (it is ${claim.status?.phase ?? "Pending"}): a snapshot is taken once it is`,
      unchanged("PersistentVolumeClaim", claim),
    );
  const protectedAlready = claim.metadata.finalizers?.includes(finalizers.claimAsSource) === true;
  return claim.metadata.deletionTimestamp !== undefined && !protectedAlready
    ? creationFailure(
        objects,
        "SNAP-223",
        `claim ${name} is being deleted: no new snapshot can be taken of it`,
        unchanged("PersistentVolumeClaim", claim),
      )
    : undefined;
};

const volumeIsTheClaims: SnapshotRule = (objects) => {
  const { claim, volume } = objects;
  const name = claim?.spec?.volumeName ?? "";
  if (volume === undefined)
    return creationFailure(
      objects,
      "SNAP-224",
      `volume ${name} of the claim not found`,
      absent("PersistentVolume", name),
    );
  const ref = volume.spec?.claimRef;
  const matches =
    ref?.name === claim?.metadata.name &&
    ref?.namespace === claim?.metadata.namespace &&
    (!ref?.uid || ref.uid === claim?.metadata.uid);
  if (!matches)
    return creationFailure(
      objects,
      "SNAP-225",
      `volume ${name} does not point back at the claim (spec.claimRef names ${ref?.namespace}/${ref?.name}): it is bound to another`,
      [...unchanged("PersistentVolumeClaim", claim), ...unchanged("PersistentVolume", volume)],
    );
  return volume.spec?.csi === undefined
    ? creationFailure(
        objects,
        "SNAP-226",
        `snapshotting non-CSI volumes is not supported: volume ${name} has no spec.csi; ${fix("SNAP-226")}`,
        unchanged("PersistentVolume", volume),
      )
    : undefined;
};

/** Its content would carry no node's label, and wait for ever without a word: no sidecar takes one that is not its own. */
const aNodeReachesTheVolume: SnapshotRule = (objects) =>
  objects.place.kind === "nowhere"
    ? creationFailure(
        objects,
        "SNAP-227",
        `no node matches spec.nodeAffinity of volume ${objects.volume?.metadata.name}: ${fix("SNAP-227")}; the snapshot is taken once there is one`,
      )
    : undefined;

const oneDefaultClass: SnapshotRule = (objects) => {
  if (objects.snapshot.spec.volumeSnapshotClassName !== undefined || objects.defaultClasses.length === 1)
    return undefined;
  const driver = objects.volume?.spec?.csi?.driver;
  if (objects.defaultClasses.length === 0)
    return creationFailure(
      objects,
      "SNAP-212",
      `cannot find default snapshot class for driver ${driver}: ${fix("SNAP-212")}`,
      allClasses,
    );
  const names = objects.defaultClasses.map(({ metadata }) => metadata.name).sort();
  return creationFailure(
    objects,
    "SNAP-213",
    `${names.length} default snapshot classes were found for driver ${driver} (${names.join(", ")}): ${fix("SNAP-213")}`,
    allClasses,
  );
};

const classServesDriver: SnapshotRule = (objects) => {
  const driver = objects.volume?.spec?.csi?.driver;
  return objects.snapshotClass !== undefined && objects.snapshotClass.driver !== driver
    ? creationFailure(
        objects,
        "SNAP-214",
        `class ${objects.snapshotClass.metadata.name} is for driver ${objects.snapshotClass.driver}, but the volume belongs to driver ${driver}: ${fix("SNAP-214", "that driver")}`,
        unchanged("VolumeSnapshotClass", objects.snapshotClass),
      )
    : undefined;
};

const secretIsClear: SnapshotRule = (objects) => {
  const chosen = classOf(objects);
  if (chosen === undefined) return undefined;
  const secret = deletionSecretOf(chosen, objects.snapshot);
  return secret.kind === "wrong"
    ? creationFailure(
        objects,
        secret.code,
        `${secret.problem} (class ${chosen.metadata.name})`,
        unchanged("VolumeSnapshotClass", chosen),
      )
    : undefined;
};

/** The one that is noted on the content, so that deleting needs neither class nor snapshot. */
export const deletionSecretOf = (
  snapshotClass: VolumeSnapshotClass,
  { metadata }: VolumeSnapshot,
): SecretLookup<TemplateCode> =>
  snapshotterSecretOf(snapshotClass, {
    contentName: snapshotContentNameFor(metadata.uid),
    snapshotName: metadata.name,
    snapshotNamespace: metadata.namespace,
  });

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
