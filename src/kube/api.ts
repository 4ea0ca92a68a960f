/** One API server as a client sees it. Every method throws a `Fault` and nothing else. */
import type { KindName } from "../api/kinds.ts";
import type { Patch, Ref } from "../api/plan.ts";
import type { Draft, ObjectOf } from "../api/types.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Sent at once: neither the rate limit nor other requests that wait for a connection delay it. For renewals of a lease. */
  readonly isUrgent?: boolean | undefined;
}

export interface ListQuery extends CallOptions {
  /** The version of the kind's group; absent: one that the server has. */
  readonly version?: string | undefined;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** "0": any version will do, a cache may answer. Absent: the newest. */
  readonly resourceVersion?: string | undefined;
}

export interface Listed<K extends KindName> {
  readonly objects: readonly ObjectOf<K>[];
  readonly resourceVersion: string;
}

export interface WatchQuery extends CallOptions {
  readonly version?: string | undefined;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly resourceVersion: string;
  readonly timeoutSeconds?: number | undefined;
}

export type WatchEvent<K extends KindName> =
  | { readonly kind: "put"; readonly object: ObjectOf<K> }
  | { readonly kind: "gone"; readonly object: ObjectOf<K> }
  | { readonly kind: "bookmark"; readonly resourceVersion: string };

export interface WriteOptions extends CallOptions {
  /** The version of the kind's group; absent: one that the server has. Only patches read it. */
  readonly version?: string | undefined;
  readonly subresource?: "status" | undefined;
  readonly dryRun?: boolean | undefined;
}

export interface DeleteOptions extends CallOptions {
  /** Delete this incarnation and no other. */
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: "Orphan" | "Background" | "Foreground" | undefined;
}

export type TakeEvent<K extends KindName> = (event: WatchEvent<K>) => void;

export interface KubeApi {
  get<K extends KindName>(ref: Ref<K>, options?: CallOptions): Promise<ObjectOf<K>>;
  /** All pages, as of one version. */
  list<K extends KindName>(kind: K, query?: ListQuery): Promise<Listed<K>>;
  create<K extends KindName>(kind: K, object: Draft, options?: WriteOptions): Promise<ObjectOf<K>>;
  /** PUT; the object carries the resourceVersion it was read at. */
  replace<K extends KindName>(kind: K, object: ObjectOf<K>, options?: WriteOptions): Promise<ObjectOf<K>>;
  patch<K extends KindName>(ref: Ref<K>, patch: Patch, options?: WriteOptions): Promise<ObjectOf<K>>;
  /** Returns the object as the server left it when finalizers hold it, else undefined. NotFound is a Fault. */
  delete<K extends KindName>(ref: Ref<K>, options?: DeleteOptions): Promise<ObjectOf<K> | undefined>;
  /**
   * One watch request: ends when the server ends it, fails with a Fault when it breaks ("Expired" for 410), or with what `take`
   * throws. A callback, for a chain of generators would cost more than what passes through it.
   */
  watch<K extends KindName>(kind: K, query: WatchQuery, take: TakeEvent<K>): Promise<void>;
}

/** A list for whoever looks at each object once and holds no more than a page. */
export interface PageReader {
  /**
   * The pages of a list, each read when it is asked for. An interrupted list goes on where it was: after a broken connection with the
   * same page, and after its token has expired with the rest as it is by then.
   */
  pages<K extends KindName>(kind: K, query?: ListQuery): AsyncGenerator<Listed<K>, void, void>;
}

export interface PathOptions extends CallOptions {
  /** The form of the answer; absent: the whole object as JSON. */
  readonly accept?: string | undefined;
}

/** Forms without spec, status and data: the server sends only the metadata. */
export const metadataOnly = {
  object: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
  list: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
} as const;

/** What has no kind of its own in the table: discovery, health, version. */
export interface PathReader {
  /** The decoded JSON answer to a GET of "/apis/…". */
  getPath(path: string, options?: PathOptions): Promise<JsonValue>;
}

/** For whoever has to know whether a kind is served, before it is read. */
export interface VersionFinder {
  /** Asks the server for the version of the kind that is spoken from now on. Undefined: it does not serve the kind. */
  findVersion(kind: KindName, options?: CallOptions): Promise<string | undefined>;
}

/** What is not JSON: logs, and pages of pods. */
export interface TextReader {
  getText(path: string, options?: CallOptions): Promise<string>;
}

/** Questions that are posted: the server answers, and stores nothing. */
export interface PathAsker {
  /** The decoded JSON answer to a POST to "/apis/…". */
  postPath(path: string, body: JsonObject, options?: CallOptions): Promise<JsonValue>;
}

/** Writes to objects of kinds that are not in the table: those that only an installation has. */
export interface PathWriter {
  /** Server-side apply to "/apis/…/name": creates the object or changes the fields that the body has. */
  applyPath(path: string, body: JsonObject, options: ApplyOptions): Promise<JsonValue>;
  /** PUT; the body carries the resourceVersion it was read at. */
  replacePath(path: string, body: JsonObject, options?: CallOptions): Promise<JsonValue>;
  /** NotFound is a Fault. What the object owns is deleted in the background unless said otherwise. */
  deletePath(path: string, options?: DeletePathOptions): Promise<void>;
}

export interface DeletePathOptions extends CallOptions {
  /** The object stays until what it owns is gone. */
  readonly isForeground?: boolean | undefined;
  /** Delete this incarnation and no other. */
  readonly uid?: string | undefined;
}

export interface ApplyOptions extends CallOptions {
  readonly fieldManager: string;
  /** Takes fields over from other managers. */
  readonly force?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
}
