/** A copy of a cluster that runs: the embedded API server with the objects, and the real components beside drivers that only note. */
import { crossNamespaceCrds } from "../../api/crds/cross-namespace.ts";
import { snapshotCrds } from "../../api/crds/index.ts";
import { referenceGrantCrd } from "../../api/crds/reference-grant.ts";
import { type KindName, kindRows } from "../../api/kinds.ts";
import { provisioning } from "../../api/names.ts";
import { type KubeObject, keyOf } from "../../api/types.ts";
import { type ApiObject, createApiServer, type Handler, volumeBinder } from "../../apiserver/index.ts";
import type { Millis } from "../../base/brand.ts";
import { Fault } from "../../base/fault.ts";
import { silent } from "../../base/log.ts";
import { start as startCsiProvisioner } from "../../components/csi-provisioner/start.ts";
import { start as startCsiSnapshotter } from "../../components/csi-snapshotter/start.ts";
import { start as startSnapshotController } from "../../components/snapshot-controller/start.ts";
import type { Unary } from "../../csi/wire.ts";
import type { KubeApi } from "../../kube/api.ts";
import { createClient } from "../../kube/client.ts";
import type { ComponentContext } from "../../runtime/component.ts";
import { createLocalContext } from "../../runtime/context.ts";
import type { Component } from "../../runtime/frame.ts";
import type { VirtualWorld } from "../../runtime/virtual-world.ts";
import { provisionerInProcess, snapshotterInProcess } from "../sidecar-defaults.ts";

export interface RunningCopy {
  /** Speaks to the copy's API server. */
  readonly client: KubeApi;
  /** Whatever is stored of a kind. */
  objects(kind: KindName): readonly KubeObject[];
  start(drivers: ReadonlyMap<string, Unary>): Promise<void>;
  /** Lets time pass until nobody has written or called anything for so long; false: they go on. */
  rest(quietMs?: Millis): Promise<boolean>;
  stop(): void;
}

const definitions = [...snapshotCrds(3), referenceGrantCrd(), ...crossNamespaceCrds()];
const backoff = { startMs: 1_000, maxMs: 60_000 };
/** Longer than the longest pause of anybody who tries again, and than a provisioner keeps what it has stored. */
const quietMs: Millis = 100_000;
const restlessMsMax: Millis = 3_600_000;
const lookEveryMs: Millis = 10_000;

const collectionOf = (kind: KindName): string => {
  const { group, plural } = kindRows[kind];
  return group === "" ? plural : `${group}/${plural}`;
};

export interface CopyOptions {
  readonly world: VirtualWorld;
  readonly objects: readonly KubeObject[];
  /** Ends `rest` early, with a fault. */
  readonly signal?: AbortSignal | undefined;
  /** Every request of a component goes through it. */
  readonly around?: ((handler: Handler) => Handler) | undefined;
}

export function createCopy({ world, objects, signal, around = (handler) => handler }: CopyOptions): RunningCopy {
  const server = createApiServer({
    world,
    definitions,
    featureGates: { AnyVolumeDataSource: true, CrossNamespaceVolumeDataSource: true },
    managedFields: false,
    plugins: [volumeBinder],
  });
  server.store.commit(
    [...namespacesOf(objects), ...objects].map((object) => ({
      kind: "put",
      collection: collectionOf(object.kind as KindName),
      key: keyOf(object),
      object: object as unknown as ApiObject,
      expect: "any",
    })),
  );
  const stop = new AbortController();
  let actedAt = world.elapsed();
  const act = (): void => {
    actedAt = world.elapsed();
  };
  server.store.onCommit((events) => {
    if (events.some(({ collection }) => !restless.has(collection))) act();
  });
  const handler = around(withoutSecrets(server.handler));
  const contextFor = (name: string): ComponentContext => ({
    ...createLocalContext({
      name,
      api: createClient({ handler, world, userAgent: name }),
      world,
      log: silent,
      signal: stop.signal,
      workers: 10,
      backoff,
    }),
    recordAs: () => () => undefined,
  });
  const acting =
    (calls: Unary): Unary =>
    (call, signal) => {
      if (/^(Create|Delete)/.test(call.method.name)) act();
      return calls(call, signal);
    };
  return {
    client: createClient({ handler: server.handler, world, userAgent: "snapkeep-what-if" }),
    objects: (kind) => server.store.list(collectionOf(kind)).map(({ object }) => object as unknown as KubeObject),
    start: async (drivers) => {
      void server.run(stop.signal).catch(() => undefined);
      const starting: Promise<Component>[] = [
        startSnapshotController(contextFor("snapshot-controller"), {
          enableDistributedSnapshotting: false,
          preventVolumeModeConversion: true,
        }),
      ];
      for (const [name, calls] of drivers) {
        starting.push(startSidecar(contextFor("csi-snapshotter"), acting(calls)));
        starting.push(startProvisioner(contextFor(`csi-provisioner-${name}`), acting(calls)));
      }
      const components = await world.run(Promise.all(starting));
      for (const component of components)
        void Promise.all([component.watch?.(stop.signal), component.run(stop.signal)]).catch(() => undefined);
    },
    rest: async (forMs = quietMs) => {
      act();
      const startedAt = world.elapsed();
      while (world.elapsed() - actedAt < forMs) {
        if (signal?.aborted === true) throw new Fault("Cancelled", "stopped");
        if (world.elapsed() - startedAt > restlessMsMax) return false;
        await world.advance(Math.min(lookEveryMs, forMs));
      }
      return true;
    },
    stop: () => stop.abort(),
  };
}

/** Written again and again, whatever happens. */
const restless: ReadonlySet<string> = new Set([collectionOf("Lease"), collectionOf("Event")]);

const startSidecar = (context: ComponentContext, calls: Unary): Promise<Component> =>
  startCsiSnapshotter(context, snapshotterInProcess, { calls });

const startProvisioner = (context: ComponentContext, calls: Unary): Promise<Component> =>
  startCsiProvisioner(
    context,
    provisionerInProcess,
    // Written into volumes: it tells one process from another.
    { calls, identity: "what-if" },
  );

/** Secrets of the cluster are not read: the drivers of the copy need none. */
const withoutSecrets =
  (handler: Handler): Handler =>
  async (request) => {
    const [, namespace, name] = /^\/api\/v1\/namespaces\/([^/]+)\/secrets\/([^/?]+)$/.exec(request.path) ?? [];
    if (request.method !== "GET" || name === undefined) return handler(request);
    const metadata = { namespace, name, uid: name, resourceVersion: "1" };
    const body = JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata, data: {} });
    return { status: 200, headers: { "content-type": "application/json" }, body };
  };

/** Objects may only be created in a namespace that exists. */
function namespacesOf(objects: readonly KubeObject[]): readonly KubeObject[] {
  const known = new Set(objects.filter(({ kind }) => kind === "Namespace").map(({ metadata }) => metadata.name));
  const named = new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? []));
  return [...named]
    .filter((name) => !known.has(name))
    .map(
      (name) =>
        ({
          apiVersion: "v1",
          kind: "Namespace",
          metadata: { name, uid: `namespace-${name}`, labels: { "kubernetes.io/metadata.name": name } },
          spec: { finalizers: ["kubernetes"] },
          status: { phase: "Active" },
        }) as unknown as KubeObject,
    );
}

/** The drivers whose components may have something to do. */
export const driversOf = (objects: readonly KubeObject[]): ReadonlySet<string> =>
  new Set(
    objects.flatMap((object) => {
      const { driver, provisioner, spec } = object as KubeObject & {
        readonly driver?: string;
        readonly provisioner?: string;
        readonly spec?: { readonly driver?: string; readonly csi?: { readonly driver?: string } };
      };
      const asked = object.metadata.annotations?.[provisioning.storageProvisioner];
      return [driver, provisioner, spec?.driver, spec?.csi?.driver, asked].filter((name) => name !== undefined);
    }),
  );
