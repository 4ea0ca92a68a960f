/** The whole system in one thread: embedded API server, production components, a storage system outside of them, one clock. */
import { crossNamespaceCrds } from "../../src/api/crds/cross-namespace.ts";
import { snapshotCrds } from "../../src/api/crds/index.ts";
import { referenceGrantCrd } from "../../src/api/crds/reference-grant.ts";
import { type KindName, kindRows } from "../../src/api/kinds.ts";
import type { KubeObject } from "../../src/api/types.ts";
import {
  type ApiObject,
  createApiServer,
  type Plugin,
  type Store,
  type StoreEvent,
  volumeBinder,
} from "../../src/apiserver/index.ts";
import { type Key, keyIn } from "../../src/base/brand.ts";
import type { HttpRequest, HttpResponse } from "../../src/base/http.ts";
import { rfc3339 } from "../../src/base/time.ts";
import { uuid } from "../../src/base/world.ts";
import { createClient } from "../../src/kube/client.ts";
import type { ReadText } from "../../src/kube/objects.ts";
import { diceFrom, type VirtualWorld } from "../virtual-world.ts";
import { type Backend, createBackend, driver } from "./backend.ts";
import { createSharedReader } from "./reading.ts";
import { type Actor, createRecorder, type Recorder, type WatchedKind, type Write, watchedKinds } from "./record.ts";
import { createWebhook, type Decide, type FailurePolicy, type Webhook } from "./webhook.ts";
import { isGuarded } from "./wire.ts";

export const canary = "hunter2-canary";
const isTrue = (): boolean => true;
const definitions = snapshotCrds(3);
const withGrants = [...definitions, referenceGrantCrd(), ...crossNamespaceCrds()];
/** The same without the rules of the schema, as CRDs were before they were tightened. */
const looseDefinitions: typeof definitions = JSON.parse(JSON.stringify(definitions), (key, value) =>
  key === "x-kubernetes-validations" ? undefined : value,
);

const collectionOf = (kind: KindName): string => {
  const { group, plural } = kindRows[kind];
  return group === "" ? plural : `${group}/${plural}`;
};
const watched = new Map<string, WatchedKind>(watchedKinds.map((kind) => [collectionOf(kind), kind]));

export interface ClusterOptions {
  /** What stands in the cluster from the start, complete, as it would be stored. */
  readonly objects: readonly ApiObject[];
  /** Whether the API server's own controllers run: binding, protection, namespaces. */
  readonly background: boolean;
  /** Whether ReferenceGrants and VolumeSnapshotLinks are served. */
  readonly grants: boolean;
  /** Whether the CRDs have no rules of their own. */
  readonly loose: boolean;
  /** How the webhook is registered; undefined: it is not. */
  readonly webhook: FailurePolicy | undefined;
  /** A seeded bug of the webhook. */
  readonly decide?: Decide | undefined;
  readonly isAskedAlways?: boolean | undefined;
}

export interface Cluster {
  readonly backend: Backend;
  readonly recorder: Recorder;
  /** How every client here reads what the server sends. */
  readonly read: ReadText;
  readonly user: ReturnType<typeof createClient>;
  readonly webhook: Webhook;
  serve(
    as: { readonly component: Actor; readonly name: string },
    request: HttpRequest,
    decidedMs?: number,
  ): Promise<HttpResponse>;
  olderList(request: HttpRequest, changes: number): Promise<HttpResponse>;
  /** Removes an object whatever finalizers it has, as kube-apiserver does by a delete that read it before they came. */
  snatch(kind: WatchedKind, key: string): void;
}

/** Only the namespaces of what a new server has: roles are for requests that come from strangers. */
const onlyNamespaces: Plugin = { bootstrap: (usual) => usual.filter(({ kind }) => kind === "Namespace") };
const asking = (webhook: Webhook): Plugin => ({
  admission: (usual) => (context) => webhook.around(usual(context)),
});

/** Directly into the store, before any component runs. The same for every seed, so that it is parsed once. */
function furnish(store: Store, world: VirtualWorld, objects: readonly ApiObject[]): void {
  const creationTimestamp = rfc3339(world.now());
  store.commit(
    objects.map((object, index) => ({
      kind: "put",
      collection: collectionOf(object.kind as KindName),
      key: keyIn(object.metadata.namespace, object.metadata.name ?? ""),
      object: {
        ...object,
        metadata: { uid: uuid({ random: diceFrom(index) }), ...object.metadata, creationTimestamp },
      },
      expect: "absent",
    })),
  );
}

export function createCluster(world: VirtualWorld, options: ClusterOptions): Cluster {
  const { objects, background, grants, loose } = options;
  const webhook = createWebhook({
    policy: options.webhook,
    decide: options.decide,
    isAskedAlways: options.isAskedAlways,
    note: (entry) => recorder.take({ type: "admission", atMs: world.elapsed(), ...entry }),
  });
  const strict = grants ? withGrants : definitions;
  const server = createApiServer({
    world,
    definitions: loose ? looseDefinitions : strict,
    featureGates: { CrossNamespaceVolumeDataSource: grants },
    managedFields: false,
    plugins: [volumeBinder, onlyNamespaces, asking(webhook)],
  });
  furnish(server.store, world, objects);
  const backend = createBackend(world);
  const { snapshots: storage, creations } = backend;
  const recorder = createRecorder({
    driver,
    storage,
    creations,
    volumes: backend.volumes.stored,
    busy: backend.busy,
    secrets: objects.some(({ kind }) => kind === "Secret") ? [canary] : [],
  });
  const { read, learn } = createSharedReader();
  const events: StoreEvent[] = [];
  let current: { component: Actor; name: string; request: HttpRequest; decidedMs: number } | undefined;
  /** What the request now being served has written already. A second write of the same object is that of a controller. */
  let written = "";

  /** The request now being served wrote it, if it concerns what the request names; else a controller of the server did. */
  const writerOf = ({
    collection,
    key,
    now,
  }: StoreEvent): Pick<Write, "actor" | "process" | "guarded" | "verb" | "decidedMs"> => {
    const { name = "" } = now.object.metadata;
    const request = current?.request;
    const path = request?.path ?? "";
    const plural = collection.slice(collection.lastIndexOf("/") + 1);
    const isIts =
      written !== `${collection} ${key}` &&
      path.includes(`/${plural}`) &&
      (request?.method === "POST" || path.includes(`/${name}`));
    if (isIts) written = `${collection} ${key}`;
    return current !== undefined && request !== undefined && isIts
      ? {
          actor: current.component,
          process: current.name,
          guarded: () => isGuarded(request),
          verb: path.includes("/status") ? `${request.method} status` : request.method,
          decidedMs: current.decidedMs,
        }
      : { actor: "server", process: "server", guarded: isTrue, verb: "server", decidedMs: world.elapsed() };
  };
  const note = (event: StoreEvent): void => {
    events.push(event);
    learn(event.now);
    const kind = watched.get(event.collection);
    if (kind === undefined) return;
    const { actor, process, guarded, verb, decidedMs } = writerOf(event);
    recorder.take({
      type: "write",
      atMs: world.elapsed(),
      actor,
      process,
      verb,
      kind,
      key: event.key,
      guarded,
      decidedMs,
      version: event.now.version,
      before: event.before?.object as unknown as KubeObject | undefined,
      after: event.type === "DELETED" ? undefined : (event.now.object as unknown as KubeObject),
    });
  };

  const served = (response: HttpResponse): HttpResponse => {
    current = undefined;
    return response;
  };
  // Whatever goes wrong in the server, its handler answers.
  const serve: Cluster["serve"] = ({ component, name }, request, decidedMs = world.elapsed()) => {
    current = { component, name, request, decidedMs };
    written = "";
    return server.handler(request).then(served);
  };

  const olderList: Cluster["olderList"] = async (request, changes) => {
    const place = (request.path.split("?", 1)[0] ?? "").split("/").at(-1) ?? "";
    const collection = [...watched.keys()].find((name) => name.split("/").at(-1) === place) ?? place;
    const own = events.filter((event) => event.collection === collection);
    const kept = own.slice(0, Math.max(0, own.length - changes));
    const version = own[kept.length] === undefined ? server.store.version() : (own[kept.length]?.now.version ?? 1) - 1;
    const state = new Map<string, StoreEvent>(initial.get(collection));
    for (const event of kept) {
      if (event.type === "DELETED") state.delete(event.key);
      else state.set(event.key, event);
    }
    const items = [...state.values()].map(({ now }) => now.text()).join(",");
    const kind = `${watched.get(collection)}List`;
    const apiVersion = collection.includes("/") ? `${collection.split("/")[0]}/v1` : "v1";
    const body = `{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":{"resourceVersion":"${version}"},"items":[${items}]}`;
    return { status: 200, headers: { "content-type": "application/json" }, body };
  };

  const initial = new Map(
    [...watched.keys()].map((collection) => [
      collection,
      new Map(
        server.store
          .list(collection)
          .map((now) => [
            `${now.object.metadata.namespace ?? ""}/${now.object.metadata.name}`.replace(/^\//, ""),
            { type: "ADDED", collection, key: "", now, before: undefined } as unknown as StoreEvent,
          ]),
      ),
    ]),
  );
  for (const [collection, kind] of watched)
    for (const [key, { now }] of initial.get(collection) ?? [])
      recorder.take({
        type: "write",
        atMs: 0,
        actor: "user",
        process: "user",
        verb: "furnish",
        kind,
        key,
        guarded: isTrue,
        decidedMs: 0,
        version: now.version,
        before: undefined,
        after: now.object as unknown as KubeObject,
      });
  server.store.onCommit((committed) => committed.forEach(note));
  if (background) void server.run(new AbortController().signal);

  const asUser = { component: "user", name: "user" } as const;
  return {
    backend,
    recorder,
    read,
    webhook,
    user: createClient({ handler: (request) => serve(asUser, request), world, userAgent: "user", read }),
    serve,
    olderList,
    snatch: (kind, key) =>
      void server.store.commit([{ kind: "remove", collection: collectionOf(kind), key: key as Key, expect: "any" }]),
  };
}
