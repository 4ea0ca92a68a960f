/**
 * The Secrets and ConfigMaps of mounted volumes, each by a watch of its own: the driver needs no permission for others, and one
 * that cannot be read delays no other.
 *
 * Memory: digest and size per Secret or ConfigMap in use, and the data of some (contents.ts). Lost with the process, and listed again.
 */
import { createHash } from "node:crypto";
import type { ObjectOf } from "../../../api/types.ts";
import { keyIn } from "../../../base/brand.ts";
import { Fault, isFault, loggable } from "../../../base/fault.ts";
import type { Log } from "../../../base/log.ts";
import { type World, withDeadline } from "../../../base/world.ts";
import type { KubeApi } from "../../../kube/api.ts";
import { createStore, type Store } from "../../../kube/store.ts";
import { watchInto } from "../../../kube/stores.ts";
import { createTurns, type Turns } from "../../../runtime/turns.ts";
import { createContents } from "./contents.ts";
import { nodeLimits } from "./limits.ts";
import { keyProblem } from "./plan-files.ts";
import { setBytes, sizesOf } from "./plan-memory.ts";
import {
  type Content,
  type ContentFacts,
  type FileSet,
  type Source,
  type SourceState,
  sourceKey,
  unlisted,
} from "./types.ts";

type SourceObject = ObjectOf<Source["kind"]>;

export interface Sources {
  hold(source: Source): () => void;
  /** What was seen last, also while the API server does not answer. Unknown while the driver may not read it. */
  state(source: Source): SourceState;
  /** For a publish: waits for the first list, and throws what the last request failed with. */
  known(source: Source, signal: AbortSignal): Promise<SourceState>;
  /** The files of a source that is present, of the version that was seen last or of a newer one. */
  read(source: Source): Promise<Content & ContentFacts>;
}

export interface SourcesOptions {
  readonly api: () => KubeApi;
  readonly world: World;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** The bytes of a page of memory. */
  readonly pageBytes: number;
  onChange(source: Source): void;
}

interface Entry {
  readonly store: Store<Source["kind"]>;
  holders: number;
  state: SourceState;
  /** The fault of the last request, if it failed. */
  failure?: Fault | undefined;
  /** It may not be read, and its namespace is gone. */
  lost?: SourceState | undefined;
  isLooking?: boolean;
  readonly listed: PromiseWithResolvers<void>;
  readonly stop: AbortController;
}

const refused: SourceState = { kind: "unknown", isRefused: true };

export function createSources({ api, world, log, signal, pageBytes, onChange }: SourcesOptions): Sources {
  const entries = new Map<string, Entry>();
  const contents = createContents();
  const listing = createTurns(nodeLimits.sourceListsAtOnceMax);
  /** From what a store keeps: the state that follows from the whole object. */
  const states = new WeakMap<SourceObject, SourceState>();
  const reading = new Map<string, Promise<SourceObject>>();

  /** A store keeps no data. */
  const slim = (key: string, object: SourceObject): SourceObject => {
    contents.put(key, object);
    const kept = withoutData(object);
    states.set(kept, stateOf(object, pageBytes));
    return kept;
  };

  const open = (source: Source): Entry => {
    const stop = new AbortController();
    const { kind, namespace, name } = source;
    const scope = { namespace, fieldSelector: `metadata.name=${name}` };
    const transform = (object: SourceObject): SourceObject => slim(sourceKey(source), object);
    const store: Store<Source["kind"]> = createStore<Source["kind"]>(kind, { log, transform });
    const entry: Entry = { store, holders: 0, state: unlisted, listed: Promise.withResolvers(), stop };
    const take = (): void => {
      const kept = store.get(keyIn(namespace, name));
      if (kept === undefined) contents.drop(sourceKey(source));
      const absent: SourceState = store.isSynced() ? { kind: "absent" } : unlisted;
      entry.state = kept === undefined ? absent : (states.get(kept) ?? unlisted);
      onChange(source);
    };
    store.onChange(take);
    const told = (failure: Fault | undefined): void => {
      const isNews = isRefused(failure) !== isRefused(entry.failure);
      entry.failure = failure;
      if (failure === undefined) entry.lost = undefined;
      else entry.listed.resolve();
      if (isNews) onChange(source);
      if (isRefused(failure)) void lookForNamespace(entry, source);
    };
    const watched = watchInto(noting(api(), listing, told), store, {
      world,
      log: log.with({ namespace, name }),
      signal: AbortSignal.any([signal, stop.signal]),
      scope,
      openMsMax: nodeLimits.sourceWatchMsMax,
    });
    watched.catch((reason: unknown) => log.error("watch of a source ended", { reason }));
    // An empty list changes nothing in a store, and says that there is no such object.
    void store.whenSynced.then(take).then(entry.listed.resolve);
    return entry;
  };

  /**
   * Who deletes a namespace deletes the driver's right to read as well, perhaps first: then no watch tells of the Secret's end. Asked
   * whenever the right is refused.
   */
  const lookForNamespace = async (entry: Entry, source: Source): Promise<void> => {
    if (entry.isLooking === true || entry.lost !== undefined) return;
    entry.isLooking = true;
    try {
      await api().get({ kind: "Namespace", name: source.namespace }, { signal: entry.stop.signal });
    } catch (reason) {
      if (isFault(reason, "NotFound") && isRefused(entry.failure)) lose(entry, source);
      else log.debug("cannot look for a namespace", { name: source.namespace, reason: loggable(reason) });
    } finally {
      entry.isLooking = false;
    }
  };
  const lose = (entry: Entry, source: Source): void => {
    entry.lost = { kind: "absent" };
    const key = keyIn(source.namespace, source.name);
    const kept = entry.store.get(key);
    if (kept !== undefined) entry.store.applyDeletion(key, kept.metadata.uid);
    onChange(source);
  };

  /** A list or a watch has failed: a new volume gets what can be read now, and nothing older. */
  const readNow = async (entry: Entry, source: Source, caller: AbortSignal): Promise<SourceState> => {
    try {
      entry.store.applyReply(await api().get(source, { signal: caller }));
      return entry.state;
    } catch (reason) {
      if (isFault(reason, "NotFound")) return { kind: "absent" };
      throw reason;
    }
  };

  /** Once for all volumes that want it at the same time. */
  const fetched = (source: Source): Promise<SourceObject> => {
    const key = sourceKey(source);
    const running = reading.get(key);
    if (running !== undefined) return running;
    const started = api()
      .get(source, { signal })
      .finally(() => reading.delete(key));
    reading.set(key, started);
    return started;
  };

  return {
    hold(source) {
      const key = sourceKey(source);
      const entry = entries.get(key) ?? open(source);
      entries.set(key, entry);
      entry.holders += 1;
      let held = true;
      return () => {
        if (held) entry.holders -= 1;
        held = false;
        if (entry.holders > 0 || entries.get(key) !== entry) return;
        entries.delete(key);
        contents.drop(key);
        entry.stop.abort(new Fault("Cancelled", "no volume needs it any more"));
      };
    },
    state(source) {
      const entry = entries.get(sourceKey(source));
      if (entry === undefined) return unlisted;
      if (entry.lost !== undefined) return entry.lost;
      // Its bytes are no longer ours to hand out. A deletion that was seen stays true.
      return isRefused(entry.failure) && entry.state.kind !== "absent" ? refused : entry.state;
    },
    async known(source, caller) {
      const entry = entries.get(sourceKey(source));
      if (entry === undefined) return unlisted;
      await withDeadline(world, caller, nodeLimits.sourceWaitMsMax, (deadline) =>
        Promise.race([entry.listed.promise, rejection(deadline)]),
      );
      return entry.failure === undefined ? entry.state : readNow(entry, source, caller);
    },
    async read(source) {
      const key = sourceKey(source);
      const object = contents.get(key) ?? (await fetched(source));
      entries.get(key)?.store.applyReply(object);
      const problem = keyProblem(object);
      if (problem !== undefined) throw new Fault("FailedPrecondition", problem);
      return sized(contentOf(filesOf(object)), pageBytes);
    },
  };
}

const rejection = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });

const isRefused = (failure: Fault | undefined): boolean => failure?.code === "PermissionDenied";

/** The same API, which says how each list and watch went. A watch that was refused is followed by one that brings news only if it was not. */
const noting = (api: KubeApi, listing: Turns, told: (failure: Fault | undefined) => void): KubeApi => {
  const note = async <T>(request: Promise<T>, isList: boolean): Promise<T> => {
    try {
      const reply = await request;
      told(undefined);
      return reply;
    } catch (reason) {
      const fault = Fault.from(reason);
      if (fault.code === "PermissionDenied" || fault.code === "Unauthenticated" || isList) told(fault);
      throw reason;
    }
  };
  return {
    ...api,
    list: (kind, query) =>
      note(
        listing(() => api.list(kind, query)),
        true,
      ),
    watch(kind, query, take) {
      const news: typeof take = (event) => {
        told(undefined);
        take(event);
      };
      return note(api.watch(kind, query, news), false);
    },
  };
};

function stateOf(object: SourceObject, pageBytes: number): SourceState {
  const problem = keyProblem(object);
  if (problem !== undefined) return { kind: "unusable", problem };
  const { digest, bytes } = sized(contentOf(filesOf(object)), pageBytes);
  return { kind: "present", content: { digest, bytes } };
}

function withoutData(object: SourceObject): SourceObject {
  const { data: _data, ...rest } = object;
  if (rest.kind === "Secret") return rest;
  const { binaryData: _binary, ...bare } = rest as ObjectOf<"ConfigMap">;
  return bare;
}

function filesOf(object: SourceObject): FileSet {
  const encoded = object.kind === "Secret" ? (object.data ?? {}) : (object.binaryData ?? {});
  const plain = object.kind === "Secret" ? {} : (object.data ?? {});
  return new Map([
    ...Object.entries(encoded).map(([key, value]) => [key, Buffer.from(value, "base64")] as const),
    ...Object.entries(plain).map(([key, value]) => [key, Buffer.from(value, "utf8")] as const),
  ]);
}

export const contentOf = (files: FileSet): Content => ({ files, digest: digestOf(files) });

const sized = (content: Content, pageBytes: number): Content & ContentFacts => ({
  ...content,
  bytes: setBytes(sizesOf(content.files), pageBytes),
});

/** Equal for equal names and bytes, in whatever order they came. */
function digestOf(files: FileSet): string {
  const hash = createHash("sha256");
  for (const [name, bytes] of [...files].sort(([one], [other]) => (one < other ? -1 : 1)))
    hash.update(`${name.length} ${name} ${bytes.length} `).update(bytes);
  return hash.digest("hex");
}
