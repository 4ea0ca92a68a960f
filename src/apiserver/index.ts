/**
 * The door of the embedded Kubernetes API server: the only file of this folder that anything outside imports, published as
 * `snapkeep/apiserver`. Plugins do what is not Kubernetes' own, or not kube-apiserver's; the server imports none of them.
 */
import type { CrdDraft } from "../api/crds/index.ts";
import type { HttpRequest } from "../base/http.ts";
import { type Log, silent } from "../base/log.ts";
import { realWorld, type World } from "../base/world.ts";
import type { User } from "./contracts.ts";
import { type Plugin, partsWith } from "./parts.ts";
import { administrator } from "./rbac/tokens.ts";
import type { ServedApi } from "./serve/https.ts";
import { type AssembledServer, assembleServer, type ServerOptions } from "./server.ts";

export type { Handler, HttpRequest, HttpResponse } from "../base/http.ts";
export { createAdmissionWith } from "./admission/admission.ts";
/** @internal */
export { conditionsHold } from "./admission/match-conditions.ts";
/** @internal */
export type { Webhook } from "./admission/webhook.ts";
export type {
  Admission,
  ApiObject,
  Background,
  BackgroundContext,
  CreateBackground,
  Parts,
  Reader,
  Registry,
  Resource,
  Review,
  Store,
  StoreEvent,
  User,
} from "./contracts.ts";
export type { Plugin } from "./parts.ts";
export { type ClaimRules, claimRules, claimRulesPlugins } from "./plugins/claim-rules.ts";
export { volumeBinder } from "./plugins/volume-binder.ts";
/** @internal */
export { createAuthorizer } from "./rbac/authorize.ts";
/** @internal */
export { parseRequest, verbOf } from "./request.ts";
/** @internal */
export { parseLabelSelector } from "./selectors.ts";
export type { ServedApi } from "./serve/https.ts";
/** @internal */
export { kubeconfigText } from "./serve/kubeconfig.ts";
/** @internal */
export { internal, Refusal } from "./status.ts";

export interface ApiServerOptions extends Partial<Omit<ServerOptions, "parts" | "definitions">> {
  /** CustomResourceDefinitions served from the start. The same objects given to many servers share everything made from them. */
  readonly definitions?: readonly object[];
  /** In their order: of two that say the same, the later one counts. */
  readonly plugins?: readonly Plugin[];
  /** Who sends a request to `handler`; undefined refuses it. Absent: everybody is an administrator (no sockets, no strangers). */
  readonly authenticate?: (request: HttpRequest) => User | undefined;
  readonly world?: World;
  readonly log?: Log;
}

export interface StartOptions {
  /** Absent: loopback only. Empty: every address of the machine. */
  readonly host?: string;
  /** Absent or 0: any free one. */
  readonly port?: number;
  /** More users, in the format of kube-apiserver's --token-auth-file. */
  readonly tokenFile?: string;
}

export interface ApiServer extends Omit<AssembledServer, "handlerFor"> {
  /** Answers a request of this process, without a socket. */
  readonly handler: ReturnType<AssembledServer["handlerFor"]>;
  /** Serves over HTTPS with a certificate and an administrator's token of its own, and does the background work. */
  start(options?: StartOptions): Promise<ServedApi>;
  /** Ends what `start` has begun. */
  stop(): Promise<void>;
}

export function createApiServer(options: ApiServerOptions = {}): ApiServer {
  const { world = realWorld, log = silent, plugins = [], authenticate = () => administrator } = options;
  const { handlerFor, ...server } = assembleServer({
    ...options,
    definitions: options.definitions as readonly CrdDraft[] | undefined,
    world,
    log,
    parts: partsWith(plugins),
  });
  let stop = async (): Promise<void> => undefined;
  return {
    ...server,
    handler: handlerFor(authenticate),
    start: async ({ host = "127.0.0.1", port = 0, tokenFile = "" } = {}) => {
      // Whoever only asks the handler loads no certificates and no sockets.
      const { serveOverHttps } = await import("./serve/https.ts");
      const served = await serveOverHttps({ handlerFor }, { world, log, host, port, tokenFile });
      const stopping = new AbortController();
      const working = server.run(stopping.signal);
      stop = async () => {
        stopping.abort();
        await Promise.all([working, served.close()]);
      };
      return served;
    },
    stop: () => stop(),
  };
}
