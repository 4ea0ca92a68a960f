/** The two clients, reduced to what is measured. */
import { readFileSync } from "node:fs";
import { silent } from "../../src/base/log.ts";
import { realWorld } from "../../src/base/world.ts";
import { createClient } from "../../src/kube/client.ts";
import { createStore } from "../../src/kube/store.ts";
import { watchInto } from "../../src/kube/stores.ts";
import type { Target } from "../../src/kube/target.ts";
import { createTransport } from "../../src/kube/transport.ts";
import type { Served } from "./served.ts";

export interface Measured {
  readonly name: string;
  get(): Promise<void>;
  patch(): Promise<void>;
  /** Decodes a watch of so many events and says how many came. */
  watch(events: number): Promise<number>;
  /** Lists so many objects and follows as many events of a watch into a cache, as controllers do; says how many came. */
  follow(objects: number): Promise<number>;
  /** Fills a cache by a list of so many objects and says how many it holds. The cache stays alive. */
  fill(objects: number): Promise<number>;
  close(): void;
}

const name = "snapcontent-5f1c8a52-9a0e-4c55-8d0c-000000000000";
const change = { metadata: { annotations: { a: "b" } } };
/** A field selector that the replay server reads as a number. */
const selectorFor = (count: number): string => `metadata.name!=${count}`;

export function ourClient({ url, caFile }: Served): Measured {
  const authority = readFileSync(caFile, "utf8");
  const target: Target = {
    server: new URL(url),
    namespace: "default",
    insecure: false,
    authority: async () => authority,
    credentials: {
      current: async () => ({ headers: { authorization: "Bearer bench" } }),
      refused: () => undefined,
      origin: "bench",
    },
    origin: { server: url, authority: caFile },
  };
  const { handler, close } = createTransport(target);
  const client = createClient({ handler, world: realWorld });
  const ref = { kind: "VolumeSnapshotContent", name } as const;
  const store = createStore("VolumeSnapshotContent");
  return {
    name: "snapkeep",
    get: async () => void (await client.get(ref)),
    patch: async () => void (await client.patch(ref, { type: "merge", body: change })),
    watch: async (events) => {
      let seen = 0;
      const query = { resourceVersion: "1", fieldSelector: selectorFor(events) };
      await client.watch("VolumeSnapshotContent", query, (event) => {
        if (event.kind === "put") seen += 1;
      });
      return seen;
    },
    follow: async (objects) => {
      const stop = new AbortController();
      const followed = createStore("VolumeSnapshotContent");
      let seen = 0;
      followed.onChange(() => {
        seen += 1;
        if (seen === 2 * objects) stop.abort();
      });
      const scope = { fieldSelector: selectorFor(objects) };
      await watchInto(client, followed, { world: realWorld, log: silent, signal: stop.signal, scope });
      return seen;
    },
    fill: async (objects) => {
      const listed = await client.list("VolumeSnapshotContent", { fieldSelector: selectorFor(objects) });
      store.take({ kind: "all", ...listed });
      return store.size();
    },
    close,
  };
}

/** The part of @kubernetes/client-node that is used here. It is loaded by name, as it is not a dependency of snapkeep. */
interface ClientNode {
  KubeConfig: new () => { loadFromOptions(options: object): void; makeApiClient(type: unknown): CustomObjects };
  CustomObjectsApi: unknown;
  Watch: new (
    config: unknown,
  ) => {
    watch(
      path: string,
      query: object,
      onEvent: (type: string, object: object) => void,
      done: (reason: unknown) => void,
    ): Promise<unknown>;
  };
  ListWatch: new (
    path: string,
    watch: unknown,
    list: () => Promise<unknown>,
    autoStart: boolean,
    labelSelector?: string,
    fieldSelector?: string,
  ) => {
    start(): Promise<void>;
    stop(): Promise<void>;
    list(): readonly object[];
    on(what: "change" | "error", callback: (about: unknown) => void): void;
  };
  PatchStrategy: { MergePatch: string };
  setHeaderOptions(name: string, value: string): object;
}
interface CustomObjects {
  getClusterCustomObject(place: object): Promise<object>;
  patchClusterCustomObject(place: object, options: object): Promise<object>;
  listClusterCustomObject(place: object): Promise<{ items: object[]; metadata: object }>;
}

const peer = "@kubernetes/client-node";

export async function theirClient({ url, caFile }: Served): Promise<Measured> {
  const library = (await import(peer)) as ClientNode;
  const config = new library.KubeConfig();
  config.loadFromOptions({
    currentContext: "x",
    contexts: [{ name: "x", cluster: "x", user: "x" }],
    clusters: [{ name: "x", server: url, caFile }],
    users: [{ name: "x", token: "bench" }],
  });
  const api = config.makeApiClient(library.CustomObjectsApi);
  const kind = { group: "snapshot.storage.k8s.io", version: "v1", plural: "volumesnapshotcontents" };
  const path = `/apis/${kind.group}/${kind.version}/${kind.plural}`;
  const merge = library.setHeaderOptions("Content-Type", library.PatchStrategy.MergePatch);
  let cache: InstanceType<ClientNode["ListWatch"]> | undefined;
  return {
    name: `${peer} 2.0.1`,
    get: async () => void (await api.getClusterCustomObject({ ...kind, name })),
    patch: async () => void (await api.patchClusterCustomObject({ ...kind, name, body: change }, merge)),
    watch: (events) =>
      new Promise((resolve, reject) => {
        let seen = 0;
        const onEvent = (type: string): void => {
          if (type === "MODIFIED") seen += 1;
        };
        const done = (reason: unknown): void => (reason && seen < events ? reject(reason) : resolve(seen));
        new library.Watch(config).watch(path, { fieldSelector: selectorFor(events) }, onEvent, done).catch(reject);
      }),
    follow: (objects) =>
      new Promise((resolve, reject) => {
        let seen = 0;
        const fieldSelector = selectorFor(objects);
        const list = () => api.listClusterCustomObject({ ...kind, fieldSelector });
        const informer = new library.ListWatch(path, new library.Watch(config), list, false, undefined, fieldSelector);
        informer.on("change", () => {
          seen += 1;
          if (seen === 2 * objects) informer.stop().then(() => resolve(seen), reject);
        });
        informer.on("error", (reason) => (seen < 2 * objects ? reject(reason) : undefined));
        informer.start().catch(reject);
      }),
    fill: async (objects) => {
      const list = () => api.listClusterCustomObject({ ...kind, fieldSelector: selectorFor(objects) });
      cache = new library.ListWatch(path, new library.Watch(config), list, false);
      await cache.start();
      const count = cache.list().length;
      await cache.stop();
      return count;
    },
    close: () => undefined,
  };
}
