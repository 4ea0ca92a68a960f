/**
 * The words the parts of the embedded API server share. Types only.
 *
 *   HTTP ─▶ handler ─▶ request ─▶ verbs ─▶ registry ─▶ store ─▶ observers (watch hub, background work, journal)
 *                                  │          │
 *                                  │          ├─ schemas, strategies, patcher     (what an object may look like)
 *                                  │          └─ admission                        (who else has a say)
 *                                  └─ authorizer                                  (who may ask)
 *
 * Two rules carry the design. Every write goes through `Store.commit`, synchronously. And an object that has been stored
 * is never changed: hooks that say "changes its argument" are given a copy of their own.
 */
import type { Millis } from "../base/brand.ts";
import type { HttpRequest, HttpResponse } from "../base/http.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { World } from "../base/world.ts";
import type { ApiObject, NameRule, Shape } from "../schema/contracts.ts";
import type { FieldError } from "../schema/field-error.ts";
import type { StoreEvent } from "./contracts-store.ts";

export type { ApiObject, Metadata, NameRule, OwnerReference, Shape } from "../schema/contracts.ts";
export type { FieldError } from "../schema/field-error.ts";
export type { Change, Page, Store, Stored, StoreEvent } from "./contracts-store.ts";

/** Resources: one row per group, version and kind */

export type Verb = "create" | "delete" | "deletecollection" | "get" | "list" | "patch" | "update" | "watch";

export interface Subresource {
  readonly verbs: readonly Verb[];
  /** When it is not the kind of the resource itself: Binding, Eviction. */
  readonly kind?: { readonly group: string; readonly version: string; readonly kind: string };
}

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown, above that only with `-o wide`. */
  readonly priority?: number;
  cell(object: ApiObject, now: Millis): JsonValue;
}

export interface Resource {
  /** "" for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly scope: "namespace" | "cluster";
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly Verb[];
  /** "status", "binding", … by name. */
  readonly subresources: Readonly<Record<string, Subresource>>;
  /**
   * Which map of the store holds the objects: "pods" in the core group, else "snapshot.storage.k8s.io/volumesnapshots"
   * (`collectionOf` in rows.ts). All versions of a kind share one, and so do the two kinds of Event.
   */
  readonly collection: string;
  /** "snapshot.storage.k8s.io/v1": what apiVersion stored objects carry. */
  readonly storedAs: string;
  /** Between the stored form and this version's; absent where rewriting apiVersion is all there is to do. */
  readonly conversion?: { fromStored(object: ApiObject): ApiObject; toStored(object: ApiObject): ApiObject };
  /** Undefined: the kind is not checked, defaulted or pruned by a schema. Built once, on first use. */
  readonly shape: () => Shape | undefined;
  readonly columns: readonly Column[];
  readonly strategy: Strategy;
  /** The CustomResourceDefinition this row was made from. */
  readonly definition?: ApiObject;
  /** A warning for every request ("… is deprecated"), from the definition. */
  readonly deprecation?: string;
}

/** Strategies: what is particular to one kind */

export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface FeatureGates {
  enabled(name: string): boolean;
}

/** What hooks may look at besides the object. Reading the store is synchronous and sees the newest state. */
export interface Context {
  readonly world: World;
  readonly gates: FeatureGates;
  readonly user: User;
  readonly reader: Reader;
  readonly dryRun: boolean;
  /** "status" when only that part is being written. */
  readonly subresource: string;
}

/** What the path of a write says; the name is "" for a POST. */
export interface WritePlace {
  readonly namespace: string;
  readonly name: string;
}

/** All hooks are optional and synchronous. Those named prepare… and default… change their first argument. */
export interface Strategy {
  readonly nameRule?: NameRule;
  /** PUT on a name that does not exist creates it (Lease, Event, …). */
  readonly createOnUpdate?: boolean;
  /** PUT without a resourceVersion overwrites whatever is there (most built-in kinds; custom resources do not). */
  readonly unconditionalUpdate?: boolean;
  /**
   * What metadata.generation counts: nothing (most built-in kinds), changes of the spec (workloads), or changes of anything but
   * metadata (custom resources; a status with a subresource of its own has been put back by then).
   */
  readonly generation?: "none" | "spec" | "allButMetadata";
  /** Versioned defaults, given to every decoded object: request bodies, patch results. */
  defaults?(object: ApiObject, gates: FeatureGates): void;
  /** After mutating admission: throws a Refusal when the user may not write just this (a role that grants more than they have). */
  permitWrite?(object: ApiObject, old: ApiObject | undefined, place: WritePlace, context: Context): void;
  prepareForCreate?(object: ApiObject, context: Context): void;
  validateCreate?(object: ApiObject, context: Context): readonly FieldError[];
  /** What the server makes of an object as soon as it is stored: a second state, which the answer does not show yet. */
  afterCreate?(object: ApiObject, context: Context): ApiObject;
  /** With `context.subresource` "status" the core has already put back everything but the status and metadata. */
  prepareForUpdate?(object: ApiObject, old: ApiObject, context: Context): void;
  validateUpdate?(object: ApiObject, old: ApiObject, context: Context): readonly FieldError[];
  /** Shown to the client as Warning headers. */
  warnings?(object: ApiObject, old: ApiObject | undefined, context: Context): readonly string[];
  /** DELETE answers with the object as it was, instead of a Status (most storage kinds, pods). */
  readonly returnsDeleted?: boolean;
  /** What becomes of dependents when a DELETE does not say; "none" for kinds that never own anything (events). */
  readonly dependents?: "delete" | "orphan" | "none";
  /** A status sent with a create is kept (nodes); everywhere else the status subresource alone writes it. */
  readonly statusOnCreate?: boolean;
  /** Seconds between the request to delete and the end (pods); 0 or absent deletes at once. */
  graceSeconds?(object: ApiObject, asked: number | undefined): number;
  /** Something besides metadata.finalizers keeps an object that is being deleted (a namespace's spec.finalizers). */
  holdsDeletion?(object: ApiObject): boolean;
  /** Called when the deletionTimestamp is set (a namespace becomes Terminating). Changes its argument. */
  prepareForDelete?(object: ApiObject, context: Context): void;
  /** Field selectors beyond metadata.name and metadata.namespace, and where each finds its value: "spec.nodeName" → itself. */
  readonly fields?: Readonly<Record<string, string>>;
  /** A kind that answers and stores nothing (SubjectAccessReview): takes the request, gives the object answered. */
  answer?(object: ApiObject, context: Context): Promise<ApiObject>;
  /** The kind's own action for a POST to a subresource (pods/binding, pods/eviction); returns what is answered. */
  connect?(subresource: string, name: string, namespace: string, body: ApiObject, context: Context): Promise<ApiObject>;
}

/** Schemas: what "schema" builds */

export interface Schemas {
  /** Kinds Kubernetes itself defines; undefined for one without a schema. Cheap to call, cached across servers. */
  builtIn(group: string, version: string, kind: string): Shape | undefined;
  /** One version of a CustomResourceDefinition. */
  custom(definition: ApiObject, version: string): Shape;
  /** How a CustomResourceDefinition object itself is defaulted and judged. */
  readonly definitions: Pick<
    Strategy,
    | "defaults"
    | "prepareForCreate"
    | "afterCreate"
    | "validateCreate"
    | "validateUpdate"
    | "prepareForUpdate"
    | "warnings"
  >;
}

export interface ApplyRequest {
  readonly resource: Resource;
  /** In the version of `resource`; undefined when the object is created by this apply. */
  readonly current: ApiObject | undefined;
  readonly applied: ApiObject;
  readonly manager: string;
  readonly force: boolean;
  readonly subresource: string;
  /** RFC 3339, seconds. */
  readonly time: string;
}

export interface TrackRequest {
  readonly resource: Resource;
  readonly before: ApiObject | undefined;
  readonly after: ApiObject;
  readonly manager: string;
  readonly subresource: string;
  readonly time: string;
}

export interface Patcher {
  /** Returns a new object; refuses a patch that does not fit (400, 422). */
  strategic(resource: Resource, current: ApiObject, patch: JsonObject): ApiObject;
  /** Server-side apply. Returns a new object with its managedFields; conflicts are refused with 409 and causes. */
  apply(request: ApplyRequest): ApiObject;
  /** managedFields after an ordinary write (operation Update): the list to be stored, or undefined for none. */
  track(request: TrackRequest): JsonValue[] | undefined;
}

export interface OpenApi {
  /** /openapi/v2, /openapi/v3, /openapi/v3/… ; undefined for a path it does not have. */
  respond(request: HttpRequest, path: string, resources: readonly Resource[]): HttpResponse | undefined;
}

/** Admission, authorization, decoding: what "around" builds */

export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

export interface Review {
  readonly operation: Operation;
  readonly resource: Resource;
  readonly subresource: string;
  readonly namespace: string;
  /** "" when it will be generated. */
  readonly name: string;
  /** In the version of `resource`. Absent on DELETE. */
  readonly object: ApiObject | undefined;
  readonly oldObject: ApiObject | undefined;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions, with apiVersion and kind. */
  readonly options: JsonObject;
  readonly context: Context;
  /** Sent to the client as a Warning header. */
  warn(text: string): void;
  readonly signal: AbortSignal | undefined;
}

/** Both throw a Refusal to deny. Built-in admission (namespace lifecycle, protection finalizers) and webhooks are both in here. */
export interface Admission {
  /** Returns the object to go on with: the review's own when nothing changed. */
  mutate(review: Review): Promise<ApiObject | undefined>;
  validate(review: Review): Promise<void>;
}

export type Attributes =
  | {
      readonly kind: "resource";
      readonly verb: string;
      readonly group: string;
      readonly version: string;
      readonly resource: string;
      readonly subresource: string;
      readonly namespace: string;
      readonly name: string;
    }
  | { readonly kind: "path"; readonly verb: string; readonly path: string };

export interface Decision {
  readonly allowed: boolean;
  /** Kubernetes' words for why: 'RBAC: allowed by ClusterRoleBinding "…" of ClusterRole "…" to User "…"'. */
  readonly reason: string;
}

export interface Authorizer {
  authorize(user: User, attributes: Attributes): Decision;
}

/** The `k8s\0` envelope → the object as JSON, apiVersion and kind from the envelope. Refuses with 415 what it does not know. */
export type DecodeProtobuf = (bytes: Uint8Array) => JsonObject;

/** Registry: reading and writing objects by the rules, without HTTP */

export interface Reader {
  get(collection: string, namespace: string, name: string): ApiObject | undefined;
  list(collection: string, namespace?: string): readonly ApiObject[];
}

export interface WriteOptions {
  readonly user?: User;
  readonly subresource?: string;
  readonly dryRun?: boolean;
  /** Who is recorded as the author. */
  readonly fieldManager?: string;
  /** What the request itself said of this (fieldManager, fieldValidation): webhooks are shown that, and nothing made up. */
  readonly stated?: JsonObject;
  readonly signal?: AbortSignal;
  readonly warn?: (text: string) => void;
}

export interface DeleteRequest extends WriteOptions {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly graceSeconds?: number;
  readonly propagation?: "Orphan" | "Background" | "Foreground";
}

/**
 * What background work writes through; the HTTP verbs use the same functions. Objects are in the version of the resource
 * given. Everything throws a Refusal, as a client would be answered.
 */
export interface Registry extends Reader {
  /** Every resource served now, built-in and custom. */
  resources(): readonly Resource[];
  resource(group: string, version: string, plural: string): Resource | undefined;
  /** Finds a kind in any version served: for owner references and data sources. */
  byKind(group: string, kind: string): Resource | undefined;
  /** The row whose version is the stored one. */
  ofCollection(collection: string): Resource | undefined;
  create(resource: Resource, object: ApiObject, options?: WriteOptions): Promise<ApiObject>;
  /**
   * Reads, lets `change` return a changed copy (or undefined for "leave it"), writes guarded by version, and tries again
   * when somebody else was faster. Returns the object as it stands afterwards; undefined when it does not exist.
   */
  modify(
    resource: Resource,
    namespace: string,
    name: string,
    change: (current: ApiObject) => ApiObject | undefined,
    options?: WriteOptions,
  ): Promise<ApiObject | undefined>;
  delete(resource: Resource, namespace: string, name: string, options?: DeleteRequest): Promise<void>;
}

/** Background work: what kube-controller-manager does for a real server */

/**
 * A key queue with one worker, run by the core: `keysFor` names the keys that a committed event concerns (synchronously, cheaply);
 * `reconcile` is then called once per key, never twice at the same time for one key. A number returned means "look again after
 * so many milliseconds"; a throw means "again, with backoff".
 */
export interface Background {
  readonly name: string;
  keysFor(event: StoreEvent): readonly string[];
  reconcile(key: string, signal: AbortSignal): Promise<Millis | undefined>;
}

export interface BackgroundContext {
  readonly registry: Registry;
  readonly world: World;
  readonly gates: FeatureGates;
  readonly log: Log;
}

export type CreateBackground = (context: BackgroundContext) => Background;

/** What an API server is put together from; every part has a do-nothing stand-in, so that each can be tested alone. */
export interface Parts {
  readonly schemas: Schemas;
  readonly patcher: Patcher;
  readonly openApi: OpenApi;
  readonly decodeProtobuf: DecodeProtobuf;
  /** "group/Kind" → what is particular to it; "" group: "/Pod". */
  readonly strategies: Readonly<Record<string, Strategy>>;
  /** How the deletion of a CustomResourceDefinition begins. */
  readonly definitionEnd: Pick<Strategy, "prepareForDelete">;
  /** What a new server already has: namespaces, the roles everybody knows. */
  bootstrap(): readonly ApiObject[];
  readonly createAdmission: (context: BackgroundContext) => Admission;
  readonly createAuthorizer: (reader: Reader) => Authorizer;
  readonly background: readonly CreateBackground[];
}
