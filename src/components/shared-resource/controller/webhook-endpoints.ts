/**
 * Whether the API server can reach the webhook for shares, and trusts it: with failurePolicy Ignore nobody else notices that it is gone, or
 * that its certificate has expired. Without a configuration there is nothing to reach, and nothing is wrong.
 *
 * Memory: when the event was recorded last. Lost: it is recorded once more.
 */
import { shareConfigurationName } from "../../../api/manifests/webhook-configurations.ts";
import type { CodedEvent } from "../../../api/plan.ts";
import type { KubeObject } from "../../../api/types.ts";
import { Fault, isFault } from "../../../base/fault.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import type { Log } from "../../../base/log.ts";
import type { World } from "../../../base/world.ts";
import { fix, withCode } from "../../../errors/codes.ts";
import type { KubeApi, PathReader } from "../../../kube/api.ts";
import { type TlsTarget, trustProblem } from "../../../runtime/tls-trust.ts";
import { shareLimits } from "./limits.ts";

export interface WebhookCheckOptions {
  readonly api: KubeApi & PathReader;
  readonly world: World;
  readonly log: Log;
  record(about: KubeObject, event: CodedEvent): void;
  report(found: WebhookReport): void;
}

export interface WebhookReport {
  /** -1: not known, or no configuration. */
  readonly endpoints: number;
  /** Whether the caBundle fits the certificate: 1 or 0; -1: not known. */
  readonly trusted: 1 | 0 | -1;
}
const unknown: WebhookReport = { endpoints: -1, trusted: -1 };

export async function checkWebhook(options: WebhookCheckOptions, signal: AbortSignal): Promise<void> {
  const { world, log, record, report } = options;
  let recordedMs = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    try {
      const { configuration, count, targets } = await endpointsOf(options.api, signal);
      const problem = await distrust(targets, options, signal);
      report({ endpoints: count, trusted: trustedBy(problem) });
      const event = eventFor(count, problem);
      if (event === undefined) recordedMs = Number.NEGATIVE_INFINITY;
      else if (configuration !== undefined && world.elapsed() - recordedMs >= shareLimits.webhookEventMs) {
        recordedMs = world.elapsed();
        record(configuration, event);
      }
    } catch (reason) {
      if (signal.aborted) break;
      report(unknown);
      log.debug("cannot find out whether the webhook has endpoints", { reason: Fault.from(reason).message });
    }
    await world.sleep(shareLimits.webhookCheckMs, signal).catch(() => undefined);
  }
  // Another replica leads, and finds out by itself.
  report(unknown);
}

/** The first problem of a certificate; empty: all of them are trusted; undefined: nobody answered. */
async function distrust(
  targets: readonly TlsTarget[],
  { world, log }: WebhookCheckOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  let found: string | undefined;
  for (const target of targets) {
    try {
      const problem = await trustProblem(target, { world, signal, msMax: shareLimits.webhookHandshakeMsMax });
      if (problem !== undefined) return problem;
      found = "";
    } catch (reason) {
      if (signal.aborted) throw reason;
      log.debug("no TLS handshake with the webhook", { host: target.host, reason: Fault.from(reason).message });
    }
  }
  return found;
}

const trustedBy = (problem: string | undefined): WebhookReport["trusted"] => {
  if (problem === undefined) return -1;
  return problem === "" ? 1 : 0;
};

function eventFor(count: number, problem: string | undefined): CodedEvent | undefined {
  if (count === 0) return noEndpointEvent;
  return problem === undefined || problem === "" ? undefined : distrustEvent(problem);
}

const failed = (problem: string, code: "SNAP-753" | "SNAP-754", remedy: string): CodedEvent => ({
  type: "Warning",
  reason: "WebhookServerFailed",
  message: withCode(`${problem}, so the API server admits shares and pods without asking; ${remedy}`, code),
});

/** Reason and message of the requirement document. */
const noEndpointEvent = failed(
  `Failed to launch webhook server: the Service of ${shareConfigurationName} has no ready endpoint`,
  "SNAP-753",
  fix("SNAP-753", "the pods"),
);
const distrustEvent = (problem: string): CodedEvent =>
  failed(
    `the caBundle of ${shareConfigurationName} does not fit the certificate of the webhook (${problem})`,
    "SNAP-754",
    fix("SNAP-754"),
  );

interface Endpoints {
  readonly configuration: KubeObject | undefined;
  readonly count: number;
  /** Whose certificates can be looked at. */
  readonly targets: readonly TlsTarget[];
}

async function endpointsOf(api: KubeApi & PathReader, signal: AbortSignal): Promise<Endpoints> {
  const ref = { kind: "ValidatingWebhookConfiguration", name: shareConfigurationName } as const;
  const configuration = await api.get(ref, { signal }).catch((reason: unknown) => {
    if (isFault(reason, "NotFound")) return undefined;
    throw reason;
  });
  const clients = (configuration?.webhooks ?? []).map(({ clientConfig }) => clientConfig);
  const authorities = [...new Set(clients.map(({ caBundle }) => caBundle ?? ""))].map(authorityIn);
  const [{ service, url } = {}] = clients;
  if (service === undefined) {
    const places = url === undefined ? [] : [placeOf(url)];
    return { configuration, count: -1, targets: targetsOf(places, authorities) };
  }
  const selector = encodeURIComponent(`kubernetes.io/service-name=${service.name}`);
  const path = `/apis/discovery.k8s.io/v1/namespaces/${encodeURIComponent(service.namespace)}/endpointslices?labelSelector=${selector}`;
  const slices = slicesIn(await api.getPath(path, { signal }));
  const serverName = `${service.name}.${service.namespace}.svc`;
  const places = slices.flatMap((slice) => addressesIn(slice).map((address) => ({ ...address, serverName })));
  const count = slices.reduce((sum, slice) => sum + readyIn(slice).length, 0);
  return { configuration, count, targets: targetsOf(places, authorities) };
}

type Place = Omit<TlsTarget, "authority">;

const targetsOf = (places: readonly Place[], authorities: readonly TlsTarget["authority"][]): readonly TlsTarget[] =>
  places
    .slice(0, shareLimits.webhookHandshakesMax)
    .flatMap((place) => authorities.map((authority) => ({ ...place, authority })));

/** Without a bundle the API server trusts the authorities of its system. */
const authorityIn = (caBundle: string): string | undefined =>
  caBundle === "" ? undefined : Buffer.from(caBundle, "base64").toString("utf8");

function placeOf(url: string): Place {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  return { host, port: port === "" ? 443 : Number(port), serverName: host };
}

const slicesIn = (list: JsonValue): readonly JsonObject[] =>
  isObject(list) && Array.isArray(list.items) ? list.items.filter(isObject) : [];

/** An endpoint that does not say so is ready. */
const readyIn = ({ endpoints }: JsonObject): readonly JsonObject[] =>
  (Array.isArray(endpoints) ? endpoints : [])
    .filter(isObject)
    .filter(({ conditions }) => !(isObject(conditions) && conditions.ready === false));

/** Our Service has one port; of several, the Service alone says which is the webhook's. */
function addressesIn(slice: JsonObject): readonly { readonly host: string; readonly port: number }[] {
  const ports = Array.isArray(slice.ports) ? slice.ports.filter(isObject) : [];
  const [port] = ports.map(({ port }) => Number(port));
  if (ports.length !== 1 || port === undefined || !Number.isInteger(port)) return [];
  return readyIn(slice).flatMap(({ addresses }) =>
    Array.isArray(addresses) && typeof addresses[0] === "string" ? [{ host: addresses[0], port }] : [],
  );
}
