/** What a decision about one volume needs, from the caches, in one synchronous step. */
import type { CodedMessage } from "../../../api/plan.ts";
import { allowListSources, type ShareKind } from "../../../api/share-lists.ts";
import type { ObjectOf } from "../../../api/types.ts";
import type { JsonObject } from "../../../base/json.ts";
import { withCode } from "../../../errors/codes.ts";
import type { AllowLists } from "../../../rules/share-allow-lists.ts";
import { referenceOf, reservedNameProblem } from "../../../rules/shared-resources.ts";
import type { VolumeView } from "./plan.ts";
import { type Source, sourceKinds, type VolumeSpec, type Written } from "./types.ts";

export type ShareState =
  /** With the source, if only the permission for the name of the share is not known. */
  | { readonly kind: "unknown"; readonly because: string; readonly source?: Source }
  | { readonly kind: "absent" }
  | { readonly kind: "unusable"; readonly problem: CodedMessage; readonly isReserved: boolean }
  | { readonly kind: "usable"; readonly source: Source };

export interface ShareStore {
  isSynced(): boolean;
  get(name: string): ObjectOf<ShareKind> | undefined;
}

/** As far as they have been read. */
export interface KnownLists {
  current(): AllowLists;
  isRead(): boolean;
}

export const notListed: ShareState = { kind: "unknown", because: "the shares have not been listed yet" };

export function observeShare(
  { shareKind, share: name }: Pick<VolumeSpec, "shareKind" | "share">,
  store: ShareStore,
  lists: KnownLists,
): ShareState {
  if (!store.isSynced()) return notListed;
  const share = store.get(name);
  if (share === undefined) return { kind: "absent" };
  const reference = referenceOf(shareKind, share as unknown as JsonObject);
  const source = { kind: sourceKinds[shareKind], ...reference };
  const problem = referenceProblem(shareKind, name, reference);
  const reserved = reservedNameProblem(shareKind, name, reference, lists.current());
  if (reserved !== undefined && lists.isRead()) return { kind: "unusable", problem: reserved, isReserved: true };
  if (problem !== undefined) return { kind: "unusable", problem, isReserved: false };
  return reserved === undefined ? { kind: "usable", source } : { kind: "unknown", because: notRead(shareKind), source };
}

/** A list that is not read refuses nothing: it would empty volumes of shares that it may hold. */
const notRead = (kind: ShareKind): string =>
  `its name is reserved, and ConfigMap ${allowListSources[kind].configMap}, which lists such shares, could not be read yet: let the service account of the driver get it`;

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
  readonly refresh: boolean;
  readonly written: Written | undefined;
  readonly share: ShareState;
  readonly review: "allowed" | "denied" | undefined;
  readonly source:
    | { readonly kind: "unknown" | "absent" | "unusable" }
    | { readonly kind: "present"; readonly content: { readonly digest: string } };
}

export const observeVolume = ({ refresh, written, share, review, source }: VolumeFacts): VolumeView => ({
  share: share.kind,
  review: review ?? "unknown",
  source: source.kind === "present" ? { digest: source.content.digest } : source.kind,
  refresh,
  written,
});
