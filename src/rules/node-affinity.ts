/** Whether a node is one a volume can be reached from: the required part of a volume's node affinity. */
import { holds, type SelectorRequirement } from "./requirement.ts";

interface Term {
  readonly matchExpressions?: readonly SelectorRequirement[];
  readonly matchFields?: readonly SelectorRequirement[];
}
export interface NodeSelector {
  readonly nodeSelectorTerms: readonly Term[];
}
interface NodeLike {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

/** One term that matches is enough; a term without requirements matches nothing. */
export const nodeMatches = ({ metadata }: NodeLike, { nodeSelectorTerms }: NodeSelector): boolean =>
  nodeSelectorTerms.some(({ matchExpressions = [], matchFields = [] }) => {
    const fields: Readonly<Record<string, string>> = { "metadata.name": metadata.name };
    if (matchExpressions.length + matchFields.length === 0) return false;
    return (
      matchExpressions.every((one) => holds(one, metadata.labels ?? {})) &&
      matchFields.every((one) => holds(one, fields))
    );
  });

/** Where a volume is reached from: any node, one node, or no node now. */
export type VolumePlace =
  | { readonly kind: "anywhere" }
  | { readonly kind: "node"; readonly name: string }
  | { readonly kind: "nowhere" };
export const anywhere: VolumePlace = { kind: "anywhere" };
