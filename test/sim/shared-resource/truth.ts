/** What is true at the API server, as the simulated users have made it, with the past that the monitors need. */

import type { ShareKind } from "../../../src/api/share-lists.ts";
import { sourceKinds, type VolumeSpec } from "../../../src/components/shared-resource/node/types.ts";

export interface Reference {
  readonly namespace: string;
  readonly name: string;
}

export interface Truth {
  readonly shares: Map<string, Reference>;
  /** The keys are "Secret ns/name". The text is that of its version, which all its keys carry. */
  readonly sources: Map<string, string>;
  readonly permitted: Set<string>;
  /** Every version that a source ever had. */
  readonly versions: Map<string, Set<string>>;
  /** Every reference that a share ever had. */
  readonly references: Map<string, Set<string>>;
  /** When the truth about a volume's content changed last. */
  changedMs: number;
}

export const createTruth = (): Truth => ({
  shares: new Map(),
  sources: new Map(),
  permitted: new Set(),
  versions: new Map(),
  references: new Map(),
  changedMs: 0,
});

export const shareId = (kind: ShareKind, name: string): string => `${kind} ${name}`;
export const sourceId = (kind: ShareKind, { namespace, name }: Reference): string =>
  `${sourceKinds[kind]} ${namespace}/${name}`;
export const useId = (kind: ShareKind, share: string, namespace: string): string => `${kind} ${share} ${namespace}`;

/** The version that the volume should show now; undefined: nothing. What is not refreshed stays with what it was filled from. */
export function wantedIn(truth: Truth, spec: VolumeSpec, shown?: string): string | undefined {
  const { shareKind, share, pod, refresh } = spec;
  const reference = truth.shares.get(shareId(shareKind, share));
  if (reference === undefined || !truth.permitted.has(useId(shareKind, share, pod.namespace))) return undefined;
  const current = truth.sources.get(sourceId(shareKind, reference));
  if (refresh || shown === undefined) return current;
  const [filledFrom] = [...truth.versions].find(([, versions]) => versions.has(shown)) ?? [""];
  return truth.sources.has(filledFrom) ? shown : undefined;
}

/** All files of a version; their number differs from version to version, so that a mix shows. */
export function filesOf(version: string): Readonly<Record<string, string>> {
  const count = 1 + (version.length % 2) + (Number(version.split(".").at(-1)) % 3);
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, version]));
}
