/**
 * The Secrets and ConfigMaps of mounted volumes, each by a watch of its own: the driver needs no permission for others, and one
 * that cannot be read delays no other.
 *
 * Memory: one object per Secret or ConfigMap in use, with its files. Lost with the process, and listed again.
 */
import { createHash } from "node:crypto";
import type { ObjectOf } from "../../../api/types.ts";
import { keyIn } from "../../../base/brand.ts";
import { Fault, isFault } from "../../../base/fault.ts";
import type { Log } from "../../../base/log.ts";
import { type World, withDeadline } from "../../../base/world.ts";
import type { KubeApi } from "../../../kube/api.ts";
import { createStore, type Store } from "../../../kube/store.ts";
import { watchInto } from "../../../kube/stores.ts";
import { nodeLimits } from "./limits.ts";
import { keyProblem } from "./plan-files.ts";
import { type Content, type FileSet, type Source, sourceKey } from "./types.ts";

export type SourceState =
  /** Not listed yet. */
  | { readonly kind: "unknown" }
  | { readonly kind: "absent" }
  /** It is there, and a key of it is no file name. */
  | { readonly kind: "unusable"; readonly problem: string }
  | { readonly kind: "present"; readonly content: Content };

export interface Sources {
  hold(source: Source): () => void;
  /** What was seen last, also while the API server does not answer. Unknown while the driver may not read it. */
  state(source: Source): SourceState;
  /** For a publish: waits for the first list, and throws what the last request failed with. */
  known(source: Source, signal: AbortSignal): Promise<SourceState>;
}

export interface SourcesOptions {
  readonly api: () => KubeApi;
  readonly world: World;
  readonly log: Log;
  readonly signal: AbortSignal;
  onChange(source: Source): void;
}

interface Entry {
  readonly store: Store<Source["kind"]>;
  holders: number;
  state: SourceState;
  /** Of the last request, if it failed. */
  failure?: Fault | undefined;
  readonly listed: PromiseWithResolvers<void>;
  readonly stop: AbortController;
}

const unknown: SourceState = { kind: "unknown" };

export function createSources({ api, world, log, signal, onChange }: SourcesOptions): Sources {
  const entries = new Map<string, Entry>();

  const open = (source: Source): Entry => {
    const stop = new AbortController();
    const { kind, namespace, name } = source;
    const scope = { namespace, fieldSelector: `metadata.name=${name}` };
    const store: Store<Source["kind"]> = createStore(kind, { log });
    const entry: Entry = { store, holders: 0, state: unknown, listed: Promise.withResolvers(), stop };
    const take = (): void => {
      entry.state = stateOf(store.get(keyIn(namespace, name)), store.isSynced());
      onChange(source);
    };
    store.onChange(take);
    const told = (failure: Fault | undefined): void => {
      const isNews = isRefused(failure) !== isRefused(entry.failure);
      entry.failure = failure;
      if (failure !== undefined) entry.listed.resolve();
      if (isNews) onChange(source);
    };
    const watched = watchInto(noting(api(), told), store, {
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
        entry.stop.abort(new Fault("Cancelled", "no volume needs it any more"));
      };
    },
    state(source) {
      const entry = entries.get(sourceKey(source));
      if (entry === undefined) return unknown;
      // Its bytes are no longer ours to hand out. A deletion that was seen stays true.
      return isRefused(entry.failure) && entry.state.kind !== "absent" ? unknown : entry.state;
    },
    async known(source, caller) {
      const entry = entries.get(sourceKey(source));
      if (entry === undefined) return unknown;
      await withDeadline(world, caller, nodeLimits.sourceWaitMsMax, (deadline) =>
        Promise.race([entry.listed.promise, rejection(deadline)]),
      );
      return entry.failure === undefined ? entry.state : readNow(entry, source, caller);
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
const noting = (api: KubeApi, told: (failure: Fault | undefined) => void): KubeApi => {
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
    list: (kind, query) => note(api.list(kind, query), true),
    watch(kind, query, take) {
      const news: typeof take = (event) => {
        told(undefined);
        take(event);
      };
      return note(api.watch(kind, query, news), false);
    },
  };
};

function stateOf(object: ObjectOf<Source["kind"]> | undefined, isSynced: boolean): SourceState {
  if (object === undefined) return isSynced ? { kind: "absent" } : unknown;
  const problem = keyProblem(object);
  return problem === undefined
    ? { kind: "present", content: contentOf(filesOf(object)) }
    : { kind: "unusable", problem };
}

function filesOf(object: ObjectOf<Source["kind"]>): FileSet {
  const encoded = object.kind === "Secret" ? (object.data ?? {}) : (object.binaryData ?? {});
  const plain = object.kind === "Secret" ? {} : (object.data ?? {});
  return new Map([
    ...Object.entries(encoded).map(([key, value]) => [key, Buffer.from(value, "base64")] as const),
    ...Object.entries(plain).map(([key, value]) => [key, Buffer.from(value, "utf8")] as const),
  ]);
}

export const contentOf = (files: FileSet): Content => ({ files, digest: digestOf(files) });

/** Equal for equal names and bytes, in whatever order they came. */
function digestOf(files: FileSet): string {
  const hash = createHash("sha256");
  for (const [name, bytes] of [...files].sort(([one], [other]) => (one < other ? -1 : 1)))
    hash.update(`${name.length} ${name} ${bytes.length} `).update(bytes);
  return hash.digest("hex");
}
