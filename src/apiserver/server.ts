/**
 * The embedded API server, put together from its parts. It costs next to nothing after the first one of a process: rows, schemas and
 * discovery are made on first use and shared. Everything works on handlers; sockets are somebody else's.
 */
import type { CrdDraft } from "../api/crds/index.ts";
import type { Handler, HttpRequest } from "../base/http.ts";
import type { Log } from "../base/log.ts";
import type { World } from "../base/world.ts";
import { runBackground } from "./background.ts";
import type { ApiObject, BackgroundContext, FeatureGates, Parts, Registry, Store, User } from "./contracts.ts";
import { createDefinitionCleanup } from "./definitions.ts";
import { createDirectory } from "./directory.ts";
import { discoveryPage, healthPage, versionPage } from "./discovery.ts";
import { createGarbageCollector } from "./garbage.ts";
import { createHandler } from "./handler.ts";
import { preload } from "./preload.ts";
import { createRegistry } from "./registry.ts";
import type { Parsed } from "./request.ts";
import { createStore } from "./store.ts";
import { createWatchHub } from "./watch.ts";

export interface ServerOptions {
  readonly world: World;
  readonly log: Log;
  /** Gates that differ from Kubernetes' defaults: { CrossNamespaceVolumeDataSource: true }. */
  readonly featureGates?: Readonly<Record<string, boolean>>;
  readonly parts: Parts;
  /** Definitions served from the start. The same objects given to many servers share everything made from them. */
  readonly definitions?: readonly CrdDraft[] | undefined;
  /** Whether writes are recorded in metadata.managedFields; apply needs it. */
  readonly managedFields?: boolean;
  readonly historyMax?: number;
  readonly version?: string;
}

/** Who sends a request; undefined refuses it. */
export type Authenticate = (request: HttpRequest) => User | undefined;

export interface AssembledServer {
  handlerFor(authenticate: Authenticate): Handler;
  readonly registry: Registry;
  readonly store: Store;
  /** Watches now open. */
  watches(): number;
  /** Background work (garbage, definitions, volume binding, namespaces), until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

function gatesOf(given: Readonly<Record<string, boolean>>): FeatureGates {
  return { enabled: (name) => given[name] ?? false };
}

export function assembleServer(options: ServerOptions): AssembledServer {
  const { world, parts, log } = options;
  const gates = gatesOf(options.featureGates ?? {});
  const store = createStore(options.historyMax === undefined ? {} : { historyMax: options.historyMax });
  const directory = createDirectory(store, parts);
  const registry = createRegistry({
    store,
    directory,
    world,
    gates,
    patcher: parts.patcher,
    createAdmission: (registry) => parts.createAdmission({ registry, world, gates, log }),
    managedFields: options.managedFields ?? true,
  });
  const context: BackgroundContext = { registry, world, gates, log };
  preload(store, directory, world, {
    objects: parts.bootstrap(),
    definitions: (options.definitions ?? []) as unknown as readonly ApiObject[],
  });
  const watches = createWatchHub(store, world);

  function page(request: HttpRequest, { path, query }: Parsed) {
    const bare = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
    if (bare === "/version") return versionPage(options.version ?? "0");
    if (bare.startsWith("/openapi/")) return parts.openApi.respond(request, bare, directory.all());
    return healthPage(bare, query) ?? discoveryPage(request, bare, directory.all());
  }

  const authorizer = parts.createAuthorizer(registry);
  return {
    handlerFor: (authenticate) =>
      createHandler({
        registry,
        gates,
        patcher: parts.patcher,
        decodeProtobuf: parts.decodeProtobuf,
        world,
        watches,
        authorizer,
        authenticate,
        page,
      }),
    registry,
    store,
    watches: watches.count,
    run(signal) {
      const works = [createGarbageCollector, createDefinitionCleanup, ...parts.background].map((create) =>
        create(context),
      );
      const collections = [...new Set(directory.all().map(({ collection }) => collection))];
      return runBackground(works, { store, world, log }, signal, collections);
    },
  };
}
