/** Admission without a server: stored objects by collection, a webhook in the same process, and reviews to give it. */
import assert from "node:assert/strict";
import { createAdmissionWith } from "../src/apiserver/admission/admission.ts";
import type { ReachWebhook } from "../src/apiserver/admission/call.ts";
import { webhookConfigurationStrategies } from "../src/apiserver/admission/configurations.ts";
import type { ApiObject, Registry, Review } from "../src/apiserver/contracts.ts";
import { Refusal } from "../src/apiserver/status.ts";
import { Fault } from "../src/base/fault.ts";
import { bodyText, type Handler } from "../src/base/http.ts";
import { type JsonObject, parse, print } from "../src/base/json.ts";
import { silent } from "../src/base/log.ts";
import { aContext, created, row } from "./strategy.ts";
import { createVirtualWorld } from "./virtual-world.ts";

export const group = "admissionregistration.k8s.io";

/** Webhooks that live in this process, by the origin of their URL: "https://webhook.test". */
const inProcess =
  (handlers: Readonly<Record<string, Handler>>): ReachWebhook =>
  ({ url }) =>
    handlers[url.origin] ?? (() => Promise.reject(new Fault("Unavailable", `nothing listens at ${url.origin}`)));

const configMaps = row("configmaps", "ConfigMap");
export const claims = row("persistentvolumeclaims", "PersistentVolumeClaim");
export const volumes = row("persistentvolumes", "PersistentVolume", { scope: "cluster" });
export const nodes = row("nodes", "Node", { scope: "cluster" });
export const pods = row("pods", "Pod");
export const namespaces = row("namespaces", "Namespace", { scope: "cluster" });
export const newSnapshots = row("volumesnapshots", "VolumeSnapshot", {
  group: "s.io",
  collection: "s.io/volumesnapshots",
});
const oldSnapshots = { ...newSnapshots, version: "v1beta1" };

/** Just enough of a registry: stored objects by collection. */
function registryOf(stored: Readonly<Record<string, readonly ApiObject[]>>): Registry {
  const list = (collection: string, namespace?: string) =>
    (stored[collection] ?? []).filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);
  return {
    list,
    get: (collection: string, _namespace: string, name: string) =>
      list(collection).find(({ metadata }) => metadata.name === name),
    resources: () => [configMaps, claims, newSnapshots, oldSnapshots],
  } as unknown as Registry;
}

export const team: ApiObject = {
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name: "team", labels: { env: "prod" } },
  status: { phase: "Active" },
};
export const leaving: ApiObject = { ...team, metadata: { name: "leaving" }, status: { phase: "Terminating" } };

export const aRule = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] };
export const aWebhook = (given: object = {}) => ({
  name: "check.example.com",
  clientConfig: { url: "https://hook.test/it" },
  rules: [aRule],
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  ...given,
});
export const configuration = (
  kind: "Mutating" | "Validating",
  name: string,
  ...webhooks: readonly object[]
): ApiObject =>
  created(webhookConfigurationStrategies[`${group}/${kind}WebhookConfiguration`] ?? {}, {
    apiVersion: `${group}/v1`,
    kind: `${kind}WebhookConfiguration`,
    metadata: { name },
    webhooks: webhooks as JsonObject[],
  }).object;

interface Setting {
  readonly mutating?: readonly ApiObject[];
  readonly validating?: readonly ApiObject[];
  readonly classes?: readonly ApiObject[];
  readonly handler?: Handler;
}

export function admissionWith({ mutating = [], validating = [], classes = [], handler }: Setting) {
  const world = createVirtualWorld();
  const registry = registryOf({
    namespaces: [team, leaving],
    [`${group}/mutatingwebhookconfigurations`]: mutating,
    [`${group}/validatingwebhookconfigurations`]: validating,
    "storage.k8s.io/storageclasses": classes,
  });
  const reach = inProcess(handler === undefined ? {} : { "https://hook.test": handler });
  const admission = createAdmissionWith({ reach })({ registry, world, gates: { enabled: () => false }, log: silent });
  return { world, admission };
}

export const aMap: ApiObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "team" } };
export const warned: string[] = [];
export const aReview = (given: Partial<Review> = {}): Review => ({
  operation: "CREATE",
  resource: configMaps,
  subresource: "",
  namespace: "team",
  name: "a",
  object: aMap,
  oldObject: undefined,
  options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1" },
  context: aContext({ user: { name: "alice", uid: "7", groups: ["dev"] } }),
  warn: (text) => void warned.push(text),
  signal: undefined,
  ...given,
});

/** A webhook that records its reviews and returns prepared responses. */
export function hook(response: JsonObject | ((request: JsonObject) => JsonObject), envelope: JsonObject = {}) {
  const asked: JsonObject[] = [];
  const handler: Handler = async ({ body = "" }) => {
    const review = parse(bodyText(body)) as JsonObject;
    const request = review.request as JsonObject;
    asked.push(request);
    const answer = typeof response === "function" ? response(request) : response;
    return {
      status: 200,
      headers: {},
      body: print({
        apiVersion: review.apiVersion,
        kind: "AdmissionReview",
        response: { uid: request.uid, allowed: true, ...answer },
        ...envelope,
      }),
    };
  };
  return { asked, handler };
}

export const refusal = async (work: Promise<unknown>): Promise<{ code: number; message: string }> => {
  const reason = await work.then(
    () => assert.fail("nothing was refused"),
    (thrown: unknown) => thrown,
  );
  assert.ok(reason instanceof Refusal, String(reason));
  return { code: reason.status.code, message: reason.message };
};
export const patchOf = (...operations: readonly object[]): JsonObject => ({
  patchType: "JSONPatch",
  patch: Buffer.from(print(operations)).toString("base64"),
});
export const mutatedWith = (handler: Handler, ...webhooks: readonly object[]) =>
  admissionWith({ mutating: [configuration("Mutating", "m", ...webhooks)], handler });
