/** What a StorageClass says beside the driver's own parameters: the file system, secrets by role, and what the driver gets to see. */
import type { StorageClass } from "../../../api/types.ts";
import { type SecretLookup, type SecretRef, secretFor, type Wrong } from "../../../rules/secret-template.ts";

const prefix = "csi.storage.k8s.io/";
const fsTypeKey = `${prefix}fstype`;

export const secretRoles = [
  "provisioner",
  "controller-publish",
  "node-stage",
  "node-publish",
  "controller-expand",
  "node-expand",
  "controller-modify",
] as const;
export type SecretRole = (typeof secretRoles)[number];

/** The pair of keys of each role; roles without a pair of their own use the last. */
const pairOf = (role: SecretRole | undefined) => {
  const stem = role === undefined ? `${prefix}secret` : `${prefix}${role}-secret`;
  return { name: `${stem}-name`, namespace: `${stem}-namespace` };
};

/** Un-prefixed keys of CSI 0.x, which are passed on to the driver too. */
const deprecatedPairs: Partial<Record<SecretRole, { readonly name: string; readonly namespace: string }>> = {
  provisioner: { name: "csiProvisionerSecretName", namespace: "csiProvisionerSecretNamespace" },
  "controller-publish": { name: "csiControllerPublishSecretName", namespace: "csiControllerPublishSecretNamespace" },
  "node-stage": { name: "csiNodeStageSecretName", namespace: "csiNodeStageSecretNamespace" },
  "node-publish": { name: "csiNodePublishSecretName", namespace: "csiNodePublishSecretNamespace" },
};

export type Parameters = Readonly<Record<string, string>>;

export interface TemplateNames {
  readonly volumeName: string;
  readonly claimName: string;
  readonly claimNamespace: string;
  readonly claimAnnotations?: Readonly<Record<string, string>> | undefined;
}

/** The secret of one role, of the pair that the class sets for it. */
export function secretOf(role: SecretRole, parameters: Parameters, names: TemplateNames): SecretLookup {
  const own = pairOf(role);
  const deprecated = deprecatedPairs[role];
  const sets = ({ name, namespace }: { readonly name: string; readonly namespace: string }): boolean =>
    parameters[name] !== undefined || parameters[namespace] !== undefined;
  if (deprecated !== undefined && sets(deprecated) && sets(own))
    return {
      kind: "wrong",
      code: "SNAP-332",
      problem: `class parameters ${own.name} and ${deprecated.name} name the same secret: remove ${deprecated.name} and ${deprecated.namespace}`,
    };
  const keys = sets(own) ? own : deprecated !== undefined && sets(deprecated) ? deprecated : pairOf(undefined);
  return secretFor(keys, parameters, tokensFor(names));
}

/** Tokens of the namespace and of the name: the name may also hold what its owner chose, the claim's name and annotations. */
function tokensFor({ volumeName, claimName, claimNamespace, claimAnnotations = {} }: TemplateNames) {
  const namespace = { "pv.name": volumeName, "pvc.namespace": claimNamespace };
  const annotated = Object.fromEntries(
    Object.entries(claimAnnotations).map(([key, value]) => [`pvc.annotations['${key}']`, value]),
  );
  return { namespace, name: { ...namespace, "pvc.name": claimName, ...annotated } };
}

export type SecretsByRole = Partial<Record<SecretRole, SecretRef>>;

/** The secrets of all roles, or the first mistake in them. */
export function secretsOf(
  parameters: Parameters,
  names: TemplateNames,
): { readonly kind: "secrets"; readonly byRole: SecretsByRole } | Wrong {
  const byRole: { [Role in SecretRole]?: SecretRef } = {};
  for (const role of secretRoles) {
    const found = secretOf(role, parameters, names);
    if (found.kind === "wrong") return found;
    if (found.kind === "secret") byRole[role] = found.secret;
  }
  return { kind: "secrets", byRole };
}

const isFsType = (key: string): boolean => key.toLowerCase() === "fstype" || key === fsTypeKey;

export type FsType =
  | { readonly kind: "fsType"; readonly fsType: string }
  | { readonly kind: "wrong"; readonly message: string };

export function fsTypeOf(parameters: Parameters, defaultFsType: string): FsType {
  const keys = Object.keys(parameters).filter(isFsType);
  if (keys.length > 1)
    return {
      kind: "wrong",
      message: `class parameters ${keys.join(" and ")} both set the file system: keep ${fsTypeKey} and remove the other`,
    };
  return { kind: "fsType", fsType: parameters[keys[0] ?? ""] ?? defaultFsType };
}

const knownKeys: ReadonlySet<string> = new Set([
  fsTypeKey,
  ...[undefined, ...secretRoles].flatMap((role) => Object.values(pairOf(role))),
]);

export const metadataKeys = {
  claimName: `${prefix}pvc/name`,
  claimNamespace: `${prefix}pvc/namespace`,
  volumeName: `${prefix}pv/name`,
} as const;

/** What of a class's parameters the driver gets to see, and the keys of the reserved prefix that nobody knows. */
export function classParameters({ parameters = {} }: Pick<StorageClass, "parameters">): {
  readonly passed: Parameters;
  readonly unknown: readonly string[];
} {
  const entries = Object.entries(parameters);
  return {
    passed: Object.fromEntries(entries.filter(([key]) => !key.startsWith(prefix))),
    unknown: entries.map(([key]) => key).filter((key) => key.startsWith(prefix) && !knownKeys.has(key)),
  };
}
