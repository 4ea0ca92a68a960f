/** What the parts of the node driver tell each other. */
import type { ShareKind } from "../../../api/share-lists.ts";

/** The volume of one pod, as the kubelet has asked for it. */
export interface VolumeSpec {
  readonly id: string;
  /** The real path: the mount table knows no symbolic links. */
  readonly target: string;
  readonly shareKind: ShareKind;
  readonly share: string;
  readonly pod: PodInfo;
  /** What the pod asks for. False: the content stays as it was when it was written. The configuration of the driver can say so too. */
  readonly refresh: boolean;
}

export interface PodInfo {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly serviceAccount: string;
}

/** Whose permission on which share is asked for. A SharedSecret and a SharedConfigMap of one name are two shares. */
export interface Subject {
  readonly shareKind: ShareKind;
  readonly share: string;
  readonly namespace: string;
  readonly serviceAccount: string;
}

export const subjectOf = ({ shareKind, share, pod }: Pick<VolumeSpec, "shareKind" | "share" | "pod">): Subject => ({
  shareKind,
  share,
  namespace: pod.namespace,
  serviceAccount: pod.serviceAccount,
});

/** The Secret or ConfigMap of a share. */
export interface Source {
  readonly kind: "Secret" | "ConfigMap";
  readonly namespace: string;
  readonly name: string;
}

export const sourceKinds = { SharedSecret: "Secret", SharedConfigMap: "ConfigMap" } as const satisfies Record<
  ShareKind,
  Source["kind"]
>;

/** Kubernetes names hold no blank, so these texts are unambiguous. */
export const subjectKey = ({ shareKind, share, namespace, serviceAccount }: Subject): string =>
  `${shareKind} ${share} ${namespace} ${serviceAccount}`;
export const shareKey = ({ shareKind, share }: Pick<Subject, "shareKind" | "share">): string => `${shareKind} ${share}`;
export const sourceKey = ({ kind, namespace, name }: Source): string => `${kind} ${namespace} ${name}`;

/** Back from the text of a record; undefined for upstream's records, which do not say it. */
export function parsedSource(text: string): Source | undefined {
  const [kind, namespace, name] = text.split(" ");
  return (kind === "Secret" || kind === "ConfigMap") && namespace !== undefined && name !== undefined
    ? { kind, namespace, name }
    : undefined;
}

/** File names and their bytes. */
export type FileSet = ReadonlyMap<string, Uint8Array>;

export interface Content {
  readonly files: FileSet;
  readonly digest: string;
}

/** What is remembered of a set of files. */
export interface ContentFacts {
  readonly digest: string;
  /** What it takes in the memory of a volume. */
  readonly bytes: number;
}

/** What is in a volume now, and of which Secret or ConfigMap. Without a digest it is a part of a set: writing or emptying has failed. */
export type Written = { readonly digest: string | undefined; readonly source: string };

export type SourceState =
  /** Not listed yet, or the driver may not read it. */
  | { readonly kind: "unknown"; readonly isRefused: boolean }
  | { readonly kind: "absent" }
  /** It is there, and a key of it is no file name. */
  | { readonly kind: "unusable"; readonly problem: string }
  | { readonly kind: "present"; readonly content: ContentFacts };

export const unlisted: SourceState = { kind: "unknown", isRefused: false };
