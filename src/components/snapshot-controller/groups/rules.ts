/** What must hold for a group to be taken, in the order in which a user should hear of it. */
import type { Ref } from "../../../api/plan.ts";
import type { VolumeGroupSnapshotClass } from "../../../api/types.ts";
import { fix, withCode } from "../../../errors/codes.ts";
import { groupContentSourceOf } from "../../../rules/group-members.ts";
import { selectorProblem } from "../../../rules/label-selector.ts";
import type { groupReasons } from "../../../rules/snapshot-reasons.ts";
import { groupSecretOf } from "../../../rules/snapshotter-secrets.ts";
import type { Violation } from "../../../rules/violation.ts";
import { contentNameOfGroup, type GroupFacts, type SelectedClaim } from "./observe.ts";

export interface GroupViolation extends Violation {
  readonly code: keyof typeof groupReasons;
  readonly waitsFor: readonly Ref[];
}
type GroupRule = (facts: GroupFacts) => GroupViolation | undefined;

const violation = (
  code: GroupViolation["code"],
  reason: string,
  text: string,
  waitsFor: readonly Ref[] = [],
): GroupViolation => ({ code, reason, message: withCode(text, code), waitsFor });

const hasOneSource: GroupRule = ({ group }) => {
  const { selector, volumeGroupSnapshotContentName: content } = group.spec.source ?? {};
  if ((selector !== undefined) === Boolean(content))
    return violation(
      "SNAP-261",
      "GroupSnapshotValidationError",
      `Exactly one of spec.source.selector and spec.source.volumeGroupSnapshotContentName must be set: ${fix("SNAP-261")}`,
    );
  const problem = selector && selectorProblem(selector);
  return problem === undefined
    ? undefined
    : violation("SNAP-261", "GroupSnapshotValidationError", `spec.source.selector ${problem}: ${fix("SNAP-261")}`);
};

/** What was promised to the user once is not quietly taken again: the data may have changed since. */
const contentIsThere: GroupRule = ({ group, content }) => {
  const { status, spec } = group;
  const name = contentNameOfGroup(group);
  const isPromised = status?.boundVolumeGroupSnapshotContentName !== undefined || status?.creationTime !== undefined;
  if (content === undefined)
    return spec.source?.selector === undefined || isPromised
      ? violation(
          "SNAP-266",
          "GroupSnapshotContentMissing",
          `VolumeGroupSnapshotContent ${name} is missing: ${fix("SNAP-266")}`,
        )
      : undefined;
  const { namespace, name: named, uid } = content.spec.volumeGroupSnapshotRef ?? {};
  const isOurs =
    namespace === group.metadata.namespace &&
    named === group.metadata.name &&
    (uid === group.metadata.uid || (!uid && spec.source?.selector === undefined));
  if (!isOurs)
    return violation(
      "SNAP-266",
      "GroupSnapshotContentMisbound",
      `VolumeGroupSnapshotContent ${name} is bound to a different group: its spec.volumeGroupSnapshotRef names ${namespace}/${named}${uid ? ` (uid ${uid})` : ""}; ${fix("SNAP-266")}`,
    );
  const isDynamic = groupContentSourceOf(content).kind === "volumes";
  return isDynamic === (spec.source?.selector !== undefined)
    ? undefined
    : violation(
        "SNAP-266",
        "GroupSnapshotContentMismatch",
        `VolumeGroupSnapshotContent ${name} is ${isDynamic ? "dynamically provisioned" : "pre-provisioned"}, and spec.source expects the other sort: ${fix("SNAP-266")}`,
      );
};

const claimsAreUsable: GroupRule = ({ group, claims }) => {
  if (claims.length === 0)
    return violation(
      "SNAP-262",
      "GroupSnapshotContentCreationFailed",
      `no claim of namespace ${group.metadata.namespace} matches spec.source.selector: ${fix("SNAP-262")}`,
    );
  for (const selected of claims) {
    const problem = claimProblem(selected);
    const { name, namespace } = selected.claim.metadata;
    if (problem !== undefined)
      return violation(
        "SNAP-263",
        "GroupSnapshotContentCreationFailed",
        `claim ${namespace}/${name} ${problem}: ${fix("SNAP-263")}; the group is taken once all of its claims can be`,
        [{ kind: "PersistentVolumeClaim", namespace, name }],
      );
  }
  return undefined;
};

/** Claim and volume must name each other: else a user could snapshot the volume of somebody else (CVE-2019-11255). */
function claimProblem({ claim, volume }: SelectedClaim): string | undefined {
  const { metadata, spec, status } = claim;
  if (metadata.deletionTimestamp !== undefined) return "is being deleted";
  if (status?.phase !== "Bound" || !spec?.volumeName) return "is not bound to a volume";
  if (volume === undefined) return `names volume ${spec.volumeName}, which does not exist`;
  const ref = volume.spec?.claimRef;
  if (ref === undefined) return `names volume ${spec.volumeName}, which has no spec.claimRef`;
  if (ref.name !== metadata.name || ref.namespace !== metadata.namespace || (ref.uid && ref.uid !== metadata.uid))
    return `names volume ${spec.volumeName}, which belongs to claim ${ref.namespace}/${ref.name}`;
  return volume.spec?.csi === undefined ? `has volume ${spec.volumeName}, which is not of a CSI driver` : undefined;
}

const volumesAreDistinct: GroupRule = ({ claims }) => {
  const byHandle = new Map<string, string>();
  for (const { claim, volume } of claims) {
    const handle = volume?.spec?.csi?.volumeHandle ?? "";
    const other = byHandle.get(handle);
    if (other !== undefined)
      return violation(
        "SNAP-264",
        "GroupSnapshotContentCreationFailed",
        `the volumes of claims ${other} and ${claim.metadata.name} have one volumeHandle, "${handle}": ${fix("SNAP-264")}`,
      );
    byHandle.set(handle, claim.metadata.name);
  }
  return undefined;
};

export const driverOf = ({ claims }: GroupFacts): string => claims[0]?.volume?.spec?.csi?.driver ?? "";

/** The class that is named, or the one default of the volumes' driver. */
export function classOfGroup(facts: GroupFacts): VolumeGroupSnapshotClass | undefined {
  return facts.groupClass ?? defaultsFor(facts)[0];
}
const defaultsFor = (facts: GroupFacts): readonly VolumeGroupSnapshotClass[] =>
  facts.defaultClasses.filter(({ driver }) => driver === driverOf(facts));

const classIsUsable: GroupRule = (facts) => {
  const name = facts.group.spec.volumeGroupSnapshotClassName;
  const driver = driverOf(facts);
  const problem = (reason: string, text: string): GroupViolation =>
    violation(
      "SNAP-265",
      reason,
      `${text}: ${fix("SNAP-265")}`,
      name ? [{ kind: "VolumeGroupSnapshotClass", name }] : [],
    );
  if (name && facts.groupClass === undefined)
    return problem("GetGroupSnapshotClassFailed", `volumegroupsnapshotclass "${name}" not found`);
  if (!name && defaultsFor(facts).length !== 1)
    return problem(
      "SetDefaultGroupSnapshotClassFailed",
      `${defaultsFor(facts).length} default group snapshot classes were found for driver ${driver}`,
    );
  const chosen = classOfGroup(facts);
  const foreign = facts.claims.find(({ volume }) => volume?.spec?.csi?.driver !== chosen?.driver);
  return foreign === undefined
    ? undefined
    : problem(
        "GroupSnapshotContentCreationFailed",
        `class ${chosen?.metadata.name} is for driver ${chosen?.driver}, and the volume of claim ${foreign.claim.metadata.name} is of driver ${foreign.volume?.spec?.csi?.driver}`,
      );
};

const secretIsClear: GroupRule = (facts) => {
  const chosen = classOfGroup(facts);
  const { name, namespace } = facts.group.metadata;
  const found = groupSecretOf(chosen ?? {}, { contentName: contentNameOfGroup(facts.group), name, namespace });
  return found.kind === "wrong"
    ? violation(found.code, "GroupSnapshotContentCreationFailed", `${found.problem} (class ${chosen?.metadata.name})`)
    : undefined;
};

/** Hold at any time. */
export const groupBindingRules: readonly GroupRule[] = [hasOneSource, contentIsThere];
/** Must hold for a content to be made. Once there is one, claims and class no longer matter. */
export const groupCreationRules: readonly GroupRule[] = [
  claimsAreUsable,
  volumesAreDistinct,
  classIsUsable,
  secretIsClear,
];
