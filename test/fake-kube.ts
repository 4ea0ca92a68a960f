/**
 * The least API server that a client can be tested against: objects in memory, one version counter, a history that can be
 * forgotten, and a hook that decides for every call whether it fails, and whether before or after it had its effect.
 */
import { apiVersionOf, type KindName, kindRows } from "../src/api/kinds.ts";
import type { Patch, Ref } from "../src/api/plan.ts";
import type { Draft, KubeObject, ObjectOf } from "../src/api/types.ts";
import { keyOf } from "../src/api/types.ts";
import { keyIn } from "../src/base/brand.ts";
import { Fault } from "../src/base/fault.ts";
import { applyMergePatch, equal, type JsonValue } from "../src/base/json.ts";
import type { KubeApi, TakeEvent, WatchEvent, WatchQuery } from "../src/kube/api.ts";

export type Verb = "get" | "list" | "create" | "replace" | "patch" | "delete" | "watch";

export interface FakeCall {
  readonly verb: Verb;
  readonly kind: KindName;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** Called before and after the effect of every call; what it throws is what the caller gets. */
export type Hook = (call: FakeCall, when: "before" | "after") => void | Promise<void>;

interface Entry {
  readonly kind: KindName;
  readonly event: WatchEvent<KindName>;
  readonly version: number;
}

export interface FakeKube extends KubeApi {
  readonly calls: FakeCall[];
  /** What is stored now, by key, oldest first. */
  stored<K extends KindName>(kind: K): readonly ObjectOf<K>[];
  /** Watches from before this moment answer 410 Gone. */
  forgetHistory(): void;
  /** Every open watch ends: in good order, or by this fault. */
  endWatches(fault?: Fault): void;
  /** Sends a bookmark to every open watch. */
  bookmark(): void;
  openWatches(): number;
}

export function createFakeKube(hook: Hook = () => undefined): FakeKube {
  const objects = new Map<string, KubeObject>();
  const calls: FakeCall[] = [];
  const watches = new Set<Inbox>();
  let history: Entry[] = [];
  let forgottenUpTo = 0;
  let version = 100;

  const addressOf = (kind: KindName, key: string): string => `${kind} ${key}`;
  const objectAt = (ref: Ref): KubeObject => {
    const found = objects.get(addressOf(ref.kind, keyIn(ref.namespace, ref.name)));
    if (found === undefined) throw new Fault("NotFound", `${kindRows[ref.kind].plural} "${ref.name}" not found`);
    return found;
  };

  const commit = (kind: KindName, object: KubeObject, effect: "put" | "gone"): KubeObject => {
    version += 1;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    const address = addressOf(kind, keyOf(stored));
    if (effect === "put") objects.set(address, stored);
    else objects.delete(address);
    const entry = { kind, version, event: { kind: effect, object: stored } as WatchEvent<KindName> };
    history.push(entry);
    for (const watch of watches) watch.offer(entry);
    return stored;
  };

  const guarded = (old: KubeObject, wanted: string | undefined): void => {
    if (wanted !== undefined && wanted !== "" && wanted !== old.metadata.resourceVersion)
      throw new Fault(
        "Conflict",
        `the object has been modified: version ${old.metadata.resourceVersion}, not ${wanted}`,
      );
  };

  /** A change that changes nothing is no event; an object whose last finalizer goes while it is being deleted is gone. */
  const store = (kind: KindName, old: KubeObject, object: KubeObject): KubeObject => {
    if (equal(old, object)) return old;
    const { deletionTimestamp, finalizers } = object.metadata;
    return commit(kind, object, deletionTimestamp !== undefined && !finalizers?.length ? "gone" : "put");
  };

  const call = async <T>(made: FakeCall, effect: () => T): Promise<T> => {
    calls.push(made);
    made.signal?.throwIfAborted();
    await hook(made, "before");
    const result = effect();
    await hook(made, "after");
    made.signal?.throwIfAborted();
    return structuredClone(result);
  };

  async function watch<K extends KindName>(kind: K, query: WatchQuery, take: TakeEvent<K>): Promise<void> {
    const made: FakeCall = { verb: "watch", kind, body: query, signal: query.signal };
    calls.push(made);
    await hook(made, "before");
    const since = Number(query.resourceVersion);
    if (since < forgottenUpTo) throw new Fault("Expired", `too old resource version: ${since} (${forgottenUpTo})`);
    const inbox = createInbox(kind, query);
    for (const entry of history) inbox.offer(entry);
    watches.add(inbox);
    try {
      for (;;) {
        const event = await inbox.next();
        if (event === undefined) return;
        await hook(made, "after");
        take(structuredClone(event) as WatchEvent<K>);
      }
    } finally {
      watches.delete(inbox);
    }
  }

  return {
    calls,
    get: (ref, { signal } = {}) =>
      call({ verb: "get", kind: ref.kind, body: ref, signal }, () => objectAt(ref) as ObjectOf<typeof ref.kind>),
    list: (kind, { signal, namespace } = {}) =>
      call({ verb: "list", kind, signal }, () => ({
        objects: ofKind<typeof kind>(objects, kind).filter(
          (o) => namespace === undefined || o.metadata.namespace === namespace,
        ),
        resourceVersion: String(version),
      })),
    create: (kind, draft, { signal } = {}) =>
      call({ verb: "create", kind, body: draft, signal }, () => {
        const object = createdFrom(kind, draft, version);
        if (objects.has(addressOf(kind, keyOf(object))))
          throw new Fault("AlreadyExists", `${kindRows[kind].plural} "${object.metadata.name}" already exists`);
        return commit(kind, object, "put") as ObjectOf<typeof kind>;
      }),
    replace: (kind, object, { signal } = {}) =>
      call({ verb: "replace", kind, body: object, signal }, () => {
        const old = objectAt({ kind, ...object.metadata });
        guarded(old, object.metadata.resourceVersion);
        return store(kind, old, object) as ObjectOf<typeof kind>;
      }),
    patch: (ref, patch, { signal } = {}) =>
      call({ verb: "patch", kind: ref.kind, body: patch, signal }, () => {
        const old = objectAt(ref);
        const changed = merged(old, patch);
        guarded(old, changed.metadata.resourceVersion);
        return store(ref.kind, old, changed) as ObjectOf<typeof ref.kind>;
      }),
    delete: (ref, { signal, uid } = {}) =>
      call({ verb: "delete", kind: ref.kind, body: ref, signal }, () => {
        const old = objectAt(ref);
        if (uid !== undefined && uid !== old.metadata.uid)
          throw new Fault("Conflict", `the uid is ${old.metadata.uid}`);
        if (!old.metadata.finalizers?.length) {
          commit(ref.kind, old, "gone");
          return undefined;
        }
        const deletionTimestamp = old.metadata.deletionTimestamp ?? "2025-06-15T15:06:40Z";
        return store(ref.kind, old, { ...old, metadata: { ...old.metadata, deletionTimestamp } }) as ObjectOf<
          typeof ref.kind
        >;
      }),
    watch,
    stored: (kind) => ofKind(objects, kind),
    forgetHistory: () => {
      forgottenUpTo = version;
      history = [];
    },
    endWatches: (fault) => {
      for (const inbox of watches) inbox.end(fault);
    },
    bookmark: () => {
      for (const inbox of watches) inbox.push({ kind: "bookmark", resourceVersion: String(version) });
    },
    openWatches: () => watches.size,
  };
}

function ofKind<K extends KindName>(objects: ReadonlyMap<string, KubeObject>, kind: K): readonly ObjectOf<K>[] {
  return [...objects].filter(([address]) => address.startsWith(`${kind} `)).map(([, object]) => object as ObjectOf<K>);
}

function createdFrom(kind: KindName, draft: Draft, version: number): KubeObject {
  const { generateName, name = `${generateName}${version}`, ...metadata } = draft.metadata;
  const born = { uid: `uid-${version}`, resourceVersion: "", creationTimestamp: "2025-06-15T15:06:40Z" };
  return { ...structuredClone(draft), apiVersion: apiVersionOf(kind), kind, metadata: { ...metadata, ...born, name } };
}

function merged(object: KubeObject, patch: Patch): KubeObject {
  if (patch.type === "json") throw new Fault("UnsupportedMediaType", "this fake knows merge patches only");
  return applyMergePatch(object as unknown as JsonValue, patch.body) as unknown as KubeObject;
}

type Inbox = ReturnType<typeof createInbox>;

/** Events wait here until the watcher comes for them. */
function createInbox(kind: KindName, { namespace, signal, resourceVersion }: WatchQuery) {
  const waiting: WatchEvent<KindName>[] = [];
  let over: { readonly fault: Fault | undefined } | undefined;
  let trigger = (): void => undefined;
  const end = (fault?: Fault): void => {
    over ??= { fault };
    trigger();
  };
  signal?.addEventListener("abort", () => end(Fault.from(signal.reason)), { once: true });
  if (signal?.aborted) end(Fault.from(signal.reason));
  const push = (event: WatchEvent<KindName>): void => {
    waiting.push(event);
    trigger();
  };
  return {
    push,
    end,
    offer: (entry: Entry): void => {
      if (entry.kind !== kind || entry.event.kind === "bookmark" || entry.version <= Number(resourceVersion)) return;
      if (namespace === undefined || entry.event.object.metadata.namespace === namespace) push(entry.event);
    },
    next: async (): Promise<WatchEvent<KindName> | undefined> => {
      while (waiting.length === 0 && over === undefined) {
        await new Promise<void>((resolve) => {
          trigger = resolve;
        });
      }
      const event = waiting.shift();
      if (event === undefined && over?.fault !== undefined) throw over.fault;
      return event;
    },
  };
}
