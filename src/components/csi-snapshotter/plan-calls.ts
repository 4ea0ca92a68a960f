/** The calls to the driver, computed from facts: the same content always sends the same call. */
import { annotations, parameters } from "../../api/names.ts";
import type { CodedMessage } from "../../api/plan.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import { withCode } from "../../errors/codes.ts";
import type { SecretLookup, SecretRef, Wrong } from "../../rules/secret-template.ts";
import type { ContentErrorCode } from "../../rules/snapshot-reasons.ts";
import { driverParameters, listSecretOf, notedSecretOf, snapshotterSecretOf } from "../../rules/snapshotter-secrets.ts";
import type { ContentFacts, SidecarOptions } from "./observe.ts";

interface WithSecret {
  /** Read right before the call; never kept. */
  readonly secret: SecretRef | undefined;
}
export type SnapshotCall =
  | (WithSecret & {
      readonly method: "create";
      readonly name: string;
      readonly volumeHandle: string;
      readonly parameters: Readonly<Record<string, string>>;
    })
  | (WithSecret & { readonly method: "delete"; readonly handle: string })
  | (WithSecret & { readonly method: "list"; readonly handle: string });

export type PreparedCall = { readonly kind: "call"; readonly call: SnapshotCall } | Wrong<ContentErrorCode>;
const wrong = <Code extends ContentErrorCode>(code: Code, problem: string): Wrong<Code> => ({
  kind: "wrong",
  code,
  problem,
});

export function createCall({ content, snapshotClass, options }: ContentFacts): PreparedCall {
  const { volumeSnapshotClassName: className, volumeSnapshotRef: ref, source } = content.spec;
  if (!ref.uid)
    return wrong(
      "SNAP-511",
      "spec.volumeSnapshotRef.uid is not set: the snapshot's name is made from it, and the snapshot-controller fills it in only where spec.source.snapshotHandle names a snapshot that exists; delete this content, and create a VolumeSnapshot of the claim",
    );
  if (!className && !isIdentified(content))
    return wrong(
      "SNAP-512",
      `spec.volumeSnapshotClassName is not set: a snapshot of spec.source.volumeHandle is taken with the parameters of a class; name one in content ${content.metadata.name}`,
    );
  if (className && snapshotClass === undefined && !isIdentified(content))
    return wrong(
      "SNAP-513",
      `volumesnapshotclass "${className}" not found: its parameters are needed to take the snapshot`,
    );
  const annotated = annotatedSecret(content);
  if (annotated.kind === "wrong") return annotated;
  const { passed, unknown } = driverParameters(snapshotClass?.parameters ?? {});
  if (unknown.length > 0)
    return wrong(
      "SNAP-514",
      `found unknown parameter key ${unknown.map((key) => `"${key}"`).join(", ")} with reserved namespace ${parameters.prefix} in class ${className}: remove it`,
    );
  const extra = options.extraCreateMetadata ? metadataParameters(content) : {};
  return {
    kind: "call",
    call: {
      method: "create",
      name: snapshotName(options, ref.uid),
      volumeHandle: source.volumeHandle ?? "",
      parameters: { ...passed, ...extra },
      secret: secretIn(annotated),
    },
  };
}

/**
 * Whether CreateSnapshot may be repeated without the class. The driver identifies a snapshot by name and volume, so one that was taken
 * can be polled. So can one that may have been taken for a deleted snapshot: nobody would create the class again, and a snapshot that
 * is taken only now, without parameters, is deleted at once or, with Retain, used by nobody.
 */
const isIdentified = ({ metadata, status }: VolumeSnapshotContent): boolean =>
  Boolean(status?.snapshotHandle) ||
  (metadata.annotations?.[annotations.beingCreated] === "yes" &&
    (metadata.deletionTimestamp !== undefined || metadata.annotations?.[annotations.beingDeleted] === "yes"));

/** Depends on the VolumeSnapshot's uid only: every process and every retry sends the same name. */
export const snapshotName = (
  { snapshotNamePrefix: prefix, snapshotNameUuidLength: length }: SidecarOptions,
  uid: string,
): string => `${prefix}-${length < 0 ? uid : uid.replaceAll("-", "").slice(0, length)}`;

const metadataParameters = ({ metadata, spec }: VolumeSnapshotContent): Record<string, string> => ({
  [parameters.metadataSnapshotName]: spec.volumeSnapshotRef.name ?? "",
  [parameters.metadataSnapshotNamespace]: spec.volumeSnapshotRef.namespace ?? "",
  [parameters.metadataContentName]: metadata.name,
});

function annotatedSecret(content: VolumeSnapshotContent): SecretLookup<"SNAP-515"> {
  const { name, namespace } = notedSecretOf(content);
  if (name === undefined && namespace === undefined) return { kind: "none" };
  if (name && namespace) return { kind: "secret", secret: { name, namespace } };
  const { deletionSecretName: nameKey, deletionSecretNamespace: namespaceKey } = annotations;
  const [missing, other] = name ? [namespaceKey, nameKey] : [nameKey, namespaceKey];
  return wrong(
    "SNAP-515",
    `annotation ${missing} of content ${content.metadata.name} is missing or empty, so it is not known which secret the driver needs: set it by kubectl annotate, or remove ${other} if it needs none`,
  );
}
const secretIn = (found: SecretLookup): SecretRef | undefined => (found.kind === "secret" ? found.secret : undefined);

export function listCall({ content, snapshotClass }: ContentFacts): PreparedCall {
  const found = listSecretOf(snapshotClass ?? {}, content.metadata.name);
  if (found.kind === "wrong") return wrong(found.code, `${found.problem} (class ${snapshotClass?.metadata.name})`);
  const handle = content.spec.source.snapshotHandle ?? "";
  return { kind: "call", call: { method: "list", handle, secret: secretIn(found) } };
}

export type PreparedDeletion =
  | PreparedCall
  /** No call. */
  | { readonly kind: "none"; readonly says: string }
  /** A user wrote this handle, and the driver never confirmed it. */
  | { readonly kind: "unverified"; readonly handle: string };

export function deleteCall(content: VolumeSnapshotContent): PreparedDeletion {
  const none = (says: string) => ({ kind: "none", says: `DeleteSnapshot is not called: ${says}` }) as const;
  if (content.spec.deletionPolicy !== "Delete") return none("the deletionPolicy of the content retains the snapshot");
  if (
    content.status?.volumeGroupSnapshotHandle !== undefined ||
    content.metadata.annotations?.[annotations.groupSnapshotHandle] !== undefined
  )
    return none("the snapshot belongs to a group snapshot");
  const handle = content.status?.snapshotHandle;
  if (!handle) {
    const { snapshotHandle } = content.spec.source ?? {};
    return snapshotHandle ? { kind: "unverified", handle: snapshotHandle } : none("no snapshot was taken");
  }
  const annotated = annotatedSecret(content);
  return annotated.kind === "wrong"
    ? annotated
    : { kind: "call", call: { method: "delete", handle, secret: secretIn(annotated) } };
}

/**
 * A user who may write to a content chooses, by its annotations, which of the sidecar's readable secrets the driver gets. If they name
 * another secret than the class would, the user gets a warning. Undefined: they agree, or the class's secret is not known.
 */
export function secretMismatch({ content, snapshotClass }: ContentFacts): CodedMessage | undefined {
  const { metadata, spec } = content;
  if (snapshotClass === undefined || !spec.source.volumeHandle) return undefined;
  const expected = snapshotterSecretOf(snapshotClass, {
    contentName: metadata.name,
    snapshotName: spec.volumeSnapshotRef.name,
    snapshotNamespace: spec.volumeSnapshotRef.namespace,
  });
  const annotated = annotatedSecret(content);
  if (expected.kind === "wrong" || annotated.kind === "wrong" || nameOf(expected) === nameOf(annotated))
    return undefined;
  return withCode(
    `The deletion-secret annotations of content ${metadata.name} name ${nameOf(annotated)}, class ${snapshotClass.metadata.name} names ${nameOf(expected)}: the snapshot is deleted with ${nameOf(annotated)}; find out who changed the annotations, unless the class was changed since`,
    "SNAP-534",
  );
}
const nameOf = (found: SecretLookup): string =>
  found.kind === "secret" ? `secret ${found.secret.namespace}/${found.secret.name}` : "no secret";
