/** What a decision about one volume needs, from the caches, in one synchronous step. */
import type { CodedMessage } from "../../../api/plan.ts";
import type { ReasonCode } from "../../../api/reasons.ts";
import { allowListSources, type ShareKind } from "../../../api/share-lists.ts";
import type { ObjectOf } from "../../../api/types.ts";
import { type Key, keyIn, type Millis } from "../../../base/brand.ts";
import type { JsonObject } from "../../../base/json.ts";
import { withCode } from "../../../errors/codes.ts";
import type { AllowLists } from "../../../rules/share-allow-lists.ts";
import { referenceOf, reservedNameProblem } from "../../../rules/shared-resources.ts";
import type { VolumeMemory } from "./memory.ts";
import type { Verdict } from "./reviews.ts";
import {
  type Source,
  type SourceState,
  type Subject,
  sourceKinds,
  subjectOf,
  unlisted,
  type VolumeSpec,
  type Written,
} from "./types.ts";

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
/** The other thing that cannot be known of a share is whether an allow-list holds it. */
export const codeOfUnknown = (share: ShareState): ReasonCode =>
  share === notListed ? "ServerUnreachable" : "NotPermitted";

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

/** What is in the process of a mounted volume. */
export interface KnownVolume {
  readonly spec: VolumeSpec;
  readonly written: Written | undefined;
  readonly follows?: { readonly source: Source } | undefined;
}

export interface VolumeFacts {
  readonly spec: VolumeSpec;
  /** The pod and the configuration of the driver both want its content to follow. */
  readonly refresh: boolean;
  readonly share: ShareState;
  /** "allowed" only while the review is fresh. */
  readonly review: Verdict | undefined;
  /** What is known of the Secret or ConfigMap that the volume follows. */
  readonly source: SourceState;
  /** Why the set of that source must not be written: there is no room for it. */
  readonly full: CodedMessage | undefined;
}

export interface VolumeView {
  readonly facts: VolumeFacts;
  readonly memory: VolumeMemory;
  readonly nowMs: Millis;
}

/** The caches of the shares. */
export type ShareStores = {
  readonly [K in ShareKind]: { readonly isSynced: () => boolean; get(key: Key): ObjectOf<K> | undefined };
};

export interface VolumeContext {
  readonly refreshResources: boolean;
  /** Undefined: there is no API server yet. */
  readonly lists: KnownLists | undefined;
  readonly volumes: { get(id: string): KnownVolume | undefined };
  readonly reviews: { current(subject: Subject): Verdict | undefined };
  readonly sources: { state(source: Source): SourceState };
  readonly shareReads: { isRead(since: SourceState, spec: VolumeSpec): boolean };
  readonly memoryUse: { refusal(id: string, namespace: string, setBytes: number): CodedMessage | undefined };
  readonly nowMs: Millis;
}

export function observeVolume(stores: ShareStores, context: VolumeContext, key: Key): VolumeView | undefined {
  const known = context.volumes.get(key);
  if (known === undefined) return undefined;
  const { spec, written } = known;
  const follows = known.follows?.source;
  const source = follows === undefined ? unlisted : context.sources.state(follows);
  const content = source.kind === "present" ? source.content : undefined;
  return {
    facts: {
      spec,
      refresh: spec.refresh && context.refreshResources,
      share: shareOf(spec, stores, context),
      review: context.reviews.current(subjectOf(spec)),
      source,
      full: content && context.memoryUse.refusal(spec.id, spec.pod.namespace, content.bytes),
    },
    memory: { written, follows, isShareRead: context.shareReads.isRead(source, spec) },
    nowMs: context.nowMs,
  };
}

/** The share of a volume, or of a request for one. */
export function shareOf(
  spec: Pick<VolumeSpec, "shareKind" | "share">,
  stores: ShareStores,
  { lists }: Pick<VolumeContext, "lists">,
): ShareState {
  if (lists === undefined) return notListed;
  const store = stores[spec.shareKind];
  const found = { isSynced: store.isSynced, get: (name: string) => store.get(keyIn(undefined, name)) };
  return observeShare(spec, found, lists);
}
