/** The secrets that a VolumeSnapshotClass names for the driver, and which of its parameters the driver gets to see. */
import { annotations, parameters } from "../api/names.ts";
import type { VolumeGroupSnapshotContent, VolumeSnapshotContent } from "../api/types.ts";
import {
  type SecretKeys,
  type SecretLookup,
  type SecretRef,
  secretFor,
  type TemplateCode,
  type TemplateTokens,
} from "./secret-template.ts";

const snapshotterKeys: SecretKeys = {
  name: parameters.snapshotterSecretName,
  namespace: parameters.snapshotterSecretNamespace,
};
const listKeys: SecretKeys = {
  name: parameters.snapshotterListSecretName,
  namespace: parameters.snapshotterListSecretNamespace,
};

interface WithParameters {
  readonly parameters?: Readonly<Record<string, string>> | undefined;
}

export interface SnapshotNames {
  readonly contentName: string;
  readonly snapshotName: string | undefined;
  readonly snapshotNamespace: string | undefined;
}

/** For creating and deleting. */
export const snapshotterSecretOf = (snapshotClass: WithParameters, names: SnapshotNames): SecretLookup<TemplateCode> =>
  secretFor(snapshotterKeys, snapshotClass.parameters ?? {}, snapshotTokens(names));

/** The name may also be made from what its owner chose, the snapshot's name. */
function snapshotTokens({ contentName, snapshotName, snapshotNamespace }: SnapshotNames): TemplateTokens {
  const namespace = { "volumesnapshotcontent.name": contentName, "volumesnapshot.namespace": snapshotNamespace };
  return { namespace, name: { ...namespace, "volumesnapshot.name": snapshotName } };
}

/** The one that the snapshot-controller has noted on a content, so that its calls need neither class nor snapshot. */
export function notedSecretOf({ metadata }: Pick<VolumeSnapshotContent, "metadata">): Partial<SecretRef> {
  const { deletionSecretName: nameKey, deletionSecretNamespace: namespaceKey } = annotations;
  const { [nameKey]: name, [namespaceKey]: namespace } = metadata.annotations ?? {};
  return { ...(name !== undefined && { name }), ...(namespace !== undefined && { namespace }) };
}

/** For listing: a content that was made by hand may have no VolumeSnapshot, so only its own name can be filled in. */
export function listSecretOf(snapshotClass: WithParameters, contentName: string): SecretLookup<TemplateCode> {
  const tokens = { "volumesnapshotcontent.name": contentName };
  return secretFor(listKeys, snapshotClass.parameters ?? {}, { namespace: tokens, name: tokens });
}

const groupKeys: SecretKeys = {
  name: parameters.groupSnapshotterSecretName,
  namespace: parameters.groupSnapshotterSecretNamespace,
};
const groupGetKeys: SecretKeys = {
  name: parameters.groupSnapshotterGetSecretName,
  namespace: parameters.groupSnapshotterGetSecretNamespace,
};

interface GroupNames {
  readonly contentName: string;
  readonly name: string | undefined;
  readonly namespace: string | undefined;
}
const groupTokens = ({ contentName, name, namespace: own }: GroupNames): TemplateTokens => {
  const namespace = { "volumegroupsnapshotcontent.name": contentName, "volumegroupsnapshot.namespace": own };
  return { namespace, name: { ...namespace, "volumegroupsnapshot.name": name } };
};

/** For creating and deleting a group. */
export const groupSecretOf = (groupClass: WithParameters, names: GroupNames): SecretLookup<TemplateCode> =>
  secretFor(groupKeys, groupClass.parameters ?? {}, groupTokens(names));

/** For asking whether a group is ready. */
export const groupGetSecretOf = (groupClass: WithParameters, names: GroupNames): SecretLookup<TemplateCode> =>
  secretFor(groupGetKeys, groupClass.parameters ?? {}, groupTokens(names));

/** The one that the snapshot-controller has noted on a group content. */
export function notedGroupSecretOf({ metadata }: Pick<VolumeGroupSnapshotContent, "metadata">): Partial<SecretRef> {
  const { groupDeletionSecretName: nameKey, groupDeletionSecretNamespace: namespaceKey } = annotations;
  const { [nameKey]: name, [namespaceKey]: namespace } = metadata.annotations ?? {};
  return { ...(name !== undefined && { name }), ...(namespace !== undefined && { namespace }) };
}

const secretKeys: ReadonlySet<string> = new Set([
  parameters.snapshotterSecretName,
  parameters.snapshotterSecretNamespace,
  parameters.snapshotterListSecretName,
  parameters.snapshotterListSecretNamespace,
  parameters.groupSnapshotterSecretName,
  parameters.groupSnapshotterSecretNamespace,
  parameters.groupSnapshotterGetSecretName,
  parameters.groupSnapshotterGetSecretNamespace,
]);

/** What of a class's parameters the driver gets to see, and the keys of our prefix that nobody knows. */
export function driverParameters(classParameters: Readonly<Record<string, string>>): {
  readonly passed: Readonly<Record<string, string>>;
  readonly unknown: readonly string[];
} {
  const rest = Object.entries(classParameters).filter(([key]) => !secretKeys.has(key));
  return {
    passed: Object.fromEntries(rest.filter(([key]) => !key.startsWith(parameters.prefix))),
    unknown: rest.map(([key]) => key).filter((key) => key.startsWith(parameters.prefix)),
  };
}
