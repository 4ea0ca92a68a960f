/** The controller of shares on the embedded API server, with a clock that the test moves. */
import { sharedResourceCrds } from "../src/api/crds/shared-resource.ts";
import type { Condition } from "../src/api/types.ts";
import { bodyText, type Handler, type HttpResponse } from "../src/base/http.ts";
import type { Log } from "../src/base/log.ts";
import type { ShareControllerDeps } from "../src/components/shared-resource/controller/index.ts";
import { startController } from "../src/components/shared-resource/controller/start.ts";
import { createClient } from "../src/kube/client.ts";
import { createLocalContext } from "../src/runtime/context.ts";
import { startApiServer } from "./api-server.ts";

export const canary = "c4n4ry-s3cr3t";
export const relistMs = 600_000;
export const group = "/apis/sharedresource.openshift.io/v1alpha1";
export const secrets = "/api/v1/namespaces/team/secrets";

export interface StageOptions {
  /** Comes between the controller and the API server. */
  readonly fault?: (request: Request, send: () => Promise<HttpResponse>) => Promise<HttpResponse>;
  /** Instead of the controller's own: one with a bug. */
  readonly plan?: ShareControllerDeps["plan"];
}

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

export async function startShareController({ fault = async (_request, send) => send(), plan }: StageOptions = {}) {
  const stop = new AbortController();
  const server = startApiServer();
  const { world, ask } = server;
  for (const crd of sharedResourceCrds())
    await world.run(ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd));
  const requests: Request[] = [];
  const state = { forbidden: false, slices: [] as readonly object[] };
  const handler: Handler = async (request) => {
    const body = request.body === undefined ? "" : bodyText(request.body as string);
    requests.push({ method: request.method, path: request.path, body });
    // The embedded server has no EndpointSlices; the end-to-end test asks a real one.
    if (request.path.includes("/endpointslices?"))
      return { status: 200, headers: {}, body: JSON.stringify({ items: state.slices }) };
    if (state.forbidden && request.path.startsWith(secrets))
      return {
        status: 403,
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ kind: "Status", status: "Failure", reason: "Forbidden", code: 403, message: "no" }),
      };
    return fault({ method: request.method, path: request.path, body }, () => server.handler(request));
  };
  const said: string[] = [];
  const say = (message: string, fields: object = {}): void => void said.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { verbosity: 0, trace: say, debug: say, info: say, warn: say, error: say, with: () => log };
  const api = createClient({ handler, world });
  const context = createLocalContext({
    name: "shared-resource",
    api,
    world,
    log,
    signal: stop.signal,
    workers: 2,
    backoff: { startMs: 1_000, maxMs: 60_000 },
  });
  const options = {
    config: { shareRelistIntervalMs: relistMs },
    environment: { RESERVED_SHARED_SECRET_NAMES: "openshift-listed:team:keys" },
    allowListNamespace: "drivers",
  };
  const component = await startController(context, options, { plan });
  const running = Promise.all([component.watch?.(stop.signal), component.run(stop.signal)]);
  await world.advance(1_000);
  const create = (kind: "secret" | "configMap", name: string, reference: string, namespace = "team") =>
    world.run(
      ask("POST", `${group}/shared${kind.toLowerCase()}s`, {
        apiVersion: "sharedresource.openshift.io/v1alpha1",
        kind: kind === "secret" ? "SharedSecret" : "SharedConfigMap",
        metadata: { name },
        spec: { [`${kind}Ref`]: { namespace, name: reference } },
      }),
    );
  const createSecret = (name: string) =>
    world.run(
      ask("POST", secrets, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name, namespace: "team" },
        stringData: { password: canary },
      }),
    );
  const share = async (name: string, plural = "sharedsecrets") =>
    (await world.run(ask("GET", `${group}/${plural}/${name}`))).body as unknown as {
      metadata: { resourceVersion: string };
      status?: { conditions?: readonly Condition[] };
    };
  const available = async (name: string, plural?: string): Promise<Condition | undefined> =>
    (await share(name, plural)).status?.conditions?.find(({ type }) => type === "Available");
  const setStatus = (name: string, conditions: readonly object[]) =>
    world.run(ask("PATCH", `${group}/sharedsecrets/${name}/status`, { status: { conditions } }, { type: "merge" }));
  const count = async (metric: string): Promise<number> => {
    const { text } = await context.metrics.scrape();
    return Number(new RegExp(`^${metric} (-?\\d+)$`, "m").exec(text)?.[1]);
  };
  const events = async (): Promise<readonly { reason: string; message: string }[]> =>
    (await world.run(ask("GET", "/api/v1/events"))).body.items as never;
  const end = async (): Promise<void> => {
    stop.abort();
    await world.run(running.then(() => undefined));
  };
  await world.run(ask("POST", "/api/v1/namespaces", { metadata: { name: "team" } }));
  return { world, ask, create, createSecret, share, available, setStatus, count, events, requests, said, state, end };
}

export const writesIn = (requests: readonly Request[]): readonly Request[] =>
  requests.filter(({ method, path }) => method !== "GET" && path.includes("sharedresource.openshift.io"));

export const condition = (type: string, status: string) => ({
  type,
  status,
  reason: "Theirs",
  message: "as they say",
  lastTransitionTime: "2026-01-01T00:00:00Z",
});
