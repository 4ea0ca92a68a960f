/** What a decision about one volume needs, from the caches, in one synchronous step. */
import type { CodedMessage } from "../../../api/plan.ts";
import type { ShareKind } from "../../../api/share-lists.ts";
import type { ObjectOf } from "../../../api/types.ts";
import type { JsonObject } from "../../../base/json.ts";
import { withCode } from "../../../rules/error-codes.ts";
import type { AllowLists } from "../../../rules/share-allow-lists.ts";
import { referenceOf, reservedNameProblem } from "../../../rules/shared-resources.ts";
import type { VolumeView } from "./plan.ts";
import { type Source, sourceKinds, type VolumeSpec, type Written } from "./types.ts";

export type ShareState =
  | { readonly kind: "unknown" }
  | { readonly kind: "absent" }
  | { readonly kind: "unusable"; readonly problem: CodedMessage; readonly isReserved: boolean }
  | { readonly kind: "usable"; readonly source: Source };

export interface ShareStore {
  isSynced(): boolean;
  get(name: string): ObjectOf<ShareKind> | undefined;
}

export function observeShare(
  { shareKind, share: name }: Pick<VolumeSpec, "shareKind" | "share">,
  store: ShareStore,
  lists: AllowLists,
): ShareState {
  if (!store.isSynced()) return { kind: "unknown" };
  const share = store.get(name);
  if (share === undefined) return { kind: "absent" };
  const reference = referenceOf(shareKind, share as unknown as JsonObject);
  const reserved = reservedNameProblem(shareKind, name, reference, lists);
  if (reserved !== undefined) return { kind: "unusable", problem: reserved, isReserved: true };
  const kind = sourceKinds[shareKind];
  const problem = referenceProblem(shareKind, name, reference);
  return problem === undefined
    ? { kind: "usable", source: { kind, ...reference } }
    : { kind: "unusable", problem, isReserved: false };
}

/** A name of Kubernetes: nothing else gets into a field selector. */
const isName = (text: string): boolean => text.length <= 253 && /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/.test(text);

function referenceProblem(
  shareKind: ShareKind,
  name: string,
  reference: { readonly namespace: string; readonly name: string },
): CodedMessage | undefined {
  const field = shareKind === "SharedSecret" ? "secretRef" : "configMapRef";
  const odd = (["namespace", "name"] as const).find((part) => !isName(reference[part]));
  return odd === undefined
    ? undefined
    : withCode(
        `${shareKind} ${name}: spec.${field}.${odd} is ${JSON.stringify(reference[odd].slice(0, 300))}, which is no name of Kubernetes: correct it`,
        "SNAP-703",
      );
}

export interface VolumeFacts {
  readonly spec: VolumeSpec;
  readonly written: Written | undefined;
  readonly share: ShareState;
  readonly review: "allowed" | "denied" | undefined;
  readonly source:
    | { readonly kind: "unknown" | "absent" | "unusable" }
    | { readonly kind: "present"; readonly content: { readonly digest: string } };
}

export const observeVolume = ({ spec, written, share, review, source }: VolumeFacts): VolumeView => ({
  share: share.kind,
  review: review ?? "unknown",
  source: source.kind === "present" ? { digest: source.content.digest } : source.kind,
  refresh: spec.refresh,
  written,
});
