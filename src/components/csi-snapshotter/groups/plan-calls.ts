/** The calls about groups, computed from facts: the same content always sends the same call. */
import { annotations, parameters } from "../../../api/names.ts";
import type { VolumeGroupSnapshotContent, VolumeSnapshotInfo } from "../../../api/types.ts";
import { groupContentSourceOf, membersOf, snapshotHandlesOf } from "../../../rules/group-members.ts";
import type { SecretLookup, SecretRef, Wrong } from "../../../rules/secret-template.ts";
import type { ContentErrorCode } from "../../../rules/snapshot-reasons.ts";
import { driverParameters, groupGetSecretOf, notedGroupSecretOf } from "../../../rules/snapshotter-secrets.ts";
import type { GroupFacts, GroupOptions } from "./observe.ts";
import { isGroupBeingCreated, isGroupDeletionConfirmed } from "./phase.ts";

interface WithSecret {
  /** Read right before the call; never kept. */
  readonly secret: SecretRef | undefined;
}
export type GroupCall =
  | (WithSecret & {
      readonly method: "create";
      readonly name: string;
      readonly volumeHandles: readonly string[];
      readonly parameters: Readonly<Record<string, string>>;
    })
  | (WithSecret & {
      readonly method: "get";
      readonly handle: string;
      readonly snapshotHandles: readonly string[];
      readonly members: readonly VolumeSnapshotInfo[];
      readonly volumes: readonly string[] | undefined;
    })
  | (WithSecret & { readonly method: "delete"; readonly handle: string; readonly snapshotHandles: readonly string[] });

type PreparedGroupCall = { readonly kind: "call"; readonly call: GroupCall } | Wrong<ContentErrorCode>;
const wrong = (code: ContentErrorCode, problem: string): Wrong<ContentErrorCode> => ({ kind: "wrong", code, problem });

/** Depends on the VolumeGroupSnapshot's uid only: every process and every retry sends the same name. */
export const groupName = (
  { groupsnapshotNamePrefix: prefix, groupsnapshotNameUuidLength: length }: GroupOptions,
  uid: string,
): string => `${prefix}-${length < 0 ? uid : uid.replaceAll("-", "").slice(0, length)}`;

const needsGroups = ({ driver }: GroupFacts): Wrong<ContentErrorCode> =>
  wrong(
    "SNAP-541",
    `driver ${driver} has no group controller (CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT), so it takes no group snapshots: take a VolumeSnapshot of each claim, or use another driver`,
  );

export function createGroupCall(facts: GroupFacts): PreparedGroupCall {
  const { content, groupClass, options } = facts;
  const { volumeGroupSnapshotClassName: className, volumeGroupSnapshotRef: ref } = content.spec;
  const source = groupContentSourceOf(content);
  if (facts.canGroup === false) return needsGroups(facts);
  if (!ref.uid || source.kind !== "volumes")
    return wrong(
      "SNAP-511",
      "spec.volumeGroupSnapshotRef.uid is not set, and the group's name is made from it: delete this content, and create a VolumeGroupSnapshot",
    );
  // A group that nobody wants any more is asked for once more to learn its id; nobody would create its class again.
  const isOnlyAskedFor = isGroupBeingCreated(content) && isGroupDeletionConfirmed(content);
  if (groupClass === undefined && !isOnlyAskedFor)
    return className
      ? wrong(
          "SNAP-513",
          `volumegroupsnapshotclass "${className}" not found: its parameters are needed to take the group`,
        )
      : wrong(
          "SNAP-512",
          "spec.volumeGroupSnapshotClassName is not set: a group is taken with the parameters of a class",
        );
  const annotated = annotatedSecret(content);
  if (annotated.kind === "wrong") return annotated;
  const { passed, unknown } = driverParameters(groupClass?.parameters ?? {});
  if (unknown.length > 0)
    return wrong(
      "SNAP-514",
      `found unknown parameter key ${unknown.map((key) => `"${key}"`).join(", ")} with reserved namespace ${parameters.prefix} in class ${className}: remove it`,
    );
  return {
    kind: "call",
    call: {
      method: "create",
      name: groupName(options, ref.uid),
      volumeHandles: source.handles,
      parameters: { ...passed, ...(options.extraCreateMetadata ? metadataParameters(content) : {}) },
      secret: secretIn(annotated),
    },
  };
}

const metadataParameters = ({ metadata, spec }: VolumeGroupSnapshotContent): Record<string, string> => ({
  [parameters.metadataGroupName]: spec.volumeGroupSnapshotRef.name ?? "",
  [parameters.metadataGroupNamespace]: spec.volumeGroupSnapshotRef.namespace ?? "",
  [parameters.metadataGroupContentName]: metadata.name,
});

export function getGroupCall(facts: GroupFacts): PreparedGroupCall {
  const { content, groupClass } = facts;
  if (facts.canGroup === false) return needsGroups(facts);
  const { name, namespace } = content.spec.volumeGroupSnapshotRef;
  const found = groupGetSecretOf(groupClass ?? {}, { contentName: content.metadata.name, name, namespace });
  if (found.kind === "wrong") return wrong(found.code, `${found.problem} (class ${groupClass?.metadata.name})`);
  const source = groupContentSourceOf(content);
  const handle = content.status?.volumeGroupSnapshotHandle ?? (source.kind === "group" ? source.handle : "");
  const snapshotHandles = snapshotHandlesOf(content);
  return {
    kind: "call",
    call: {
      method: "get",
      handle,
      snapshotHandles,
      members: membersOf(content),
      volumes: source.kind === "volumes" ? source.handles : undefined,
      secret: secretIn(found),
    },
  };
}

type PreparedDeletion =
  | PreparedGroupCall
  | { readonly kind: "none"; readonly says: string }
  /** A user wrote this handle, and the driver never confirmed it. */
  | { readonly kind: "unverified"; readonly handle: string };

export function deleteGroupCall(facts: GroupFacts): PreparedDeletion {
  const { content } = facts;
  const none = (says: string) => ({ kind: "none", says: `DeleteVolumeGroupSnapshot is not called: ${says}` }) as const;
  if (content.spec.deletionPolicy !== "Delete") return none("the deletionPolicy of the content retains the group");
  const handle = content.status?.volumeGroupSnapshotHandle;
  if (!handle) {
    const source = groupContentSourceOf(content);
    return source.kind === "group" ? { kind: "unverified", handle: source.handle } : none("no group was taken");
  }
  if (facts.canGroup === false) return needsGroups(facts);
  const annotated = annotatedSecret(content);
  return annotated.kind === "wrong"
    ? annotated
    : {
        kind: "call",
        call: { method: "delete", handle, snapshotHandles: snapshotHandlesOf(content), secret: secretIn(annotated) },
      };
}

function annotatedSecret(content: VolumeGroupSnapshotContent): SecretLookup<"SNAP-515"> {
  const { name, namespace } = notedGroupSecretOf(content);
  if (name === undefined && namespace === undefined) return { kind: "none" };
  if (name && namespace) return { kind: "secret", secret: { name, namespace } };
  const { groupDeletionSecretName: nameKey, groupDeletionSecretNamespace: namespaceKey } = annotations;
  const [missing, other] = name ? [namespaceKey, nameKey] : [nameKey, namespaceKey];
  return {
    kind: "wrong",
    code: "SNAP-515",
    problem: `annotation ${missing} of group content ${content.metadata.name} is missing or empty, so it is not known which secret the driver needs: set it by kubectl annotate, or remove ${other} if it needs none`,
  };
}
const secretIn = (found: SecretLookup): SecretRef | undefined => (found.kind === "secret" ? found.secret : undefined);
