import assert from "node:assert/strict";
import { test } from "node:test";
import { aContext, created } from "../../../test/strategy.ts";
import { createVirtualWorld } from "../../../test/virtual-world.ts";
import { type Handler, textOf } from "../../base/http.ts";
import { type JsonObject, parse, print } from "../../base/json.ts";
import { silent } from "../../base/log.ts";
import type { ApiObject, Registry, Resource, Review } from "../contracts.ts";
import { Refusal } from "../status.ts";
import { createAdmissionWith } from "./admission.ts";
import { inProcess } from "./call.ts";
import { webhookConfigurationStrategies } from "./configurations.ts";

const group = "admissionregistration.k8s.io";

const row = (plural: string, kind: string, given: Partial<Resource> = {}): Resource => ({
  group: "",
  version: "v1",
  kind,
  listKind: `${kind}List`,
  plural,
  singular: kind.toLowerCase(),
  scope: "namespace",
  shortNames: [],
  categories: [],
  verbs: [],
  subresources: {},
  collection: plural,
  storedAs: "v1",
  shape: () => undefined,
  columns: [],
  strategy: {},
  ...given,
});
const configMaps = row("configmaps", "ConfigMap");
const claims = row("persistentvolumeclaims", "PersistentVolumeClaim");
const volumes = row("persistentvolumes", "PersistentVolume", { scope: "cluster" });
const nodes = row("nodes", "Node", { scope: "cluster" });
const pods = row("pods", "Pod");
const namespaces = row("namespaces", "Namespace", { scope: "cluster" });
const newSnapshots = row("volumesnapshots", "VolumeSnapshot", { group: "s.io", collection: "s.io/volumesnapshots" });
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

const team: ApiObject = {
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name: "team", labels: { env: "prod" } },
  status: { phase: "Active" },
};
const leaving: ApiObject = { ...team, metadata: { name: "leaving" }, status: { phase: "Terminating" } };

const aRule = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] };
const aWebhook = (given: object = {}) => ({
  name: "check.example.com",
  clientConfig: { url: "https://hook.test/it" },
  rules: [aRule],
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  ...given,
});
const configuration = (kind: "Mutating" | "Validating", name: string, ...webhooks: readonly object[]): ApiObject =>
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

function admissionWith({ mutating = [], validating = [], classes = [], handler }: Setting) {
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

const aMap: ApiObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "team" } };
const warned: string[] = [];
const aReview = (given: Partial<Review> = {}): Review => ({
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

/** A webhook that remembers what it was asked and answers as told. */
function hook(response: JsonObject | ((request: JsonObject) => JsonObject), envelope: JsonObject = {}) {
  const asked: JsonObject[] = [];
  const handler: Handler = async ({ body = "" }) => {
    const review = parse(textOf(body)) as JsonObject;
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

const refusal = async (work: Promise<unknown>): Promise<{ code: number; message: string }> => {
  const reason = await work.then(
    () => assert.fail("nothing was refused"),
    (thrown: unknown) => thrown,
  );
  assert.ok(reason instanceof Refusal, String(reason));
  return { code: reason.status.code, message: reason.message };
};
const patchOf = (...operations: readonly object[]): JsonObject => ({
  patchType: "JSONPatch",
  patch: Buffer.from(print(operations)).toString("base64"),
});
const mutatedWith = (handler: Handler, ...webhooks: readonly object[]) =>
  admissionWith({ mutating: [configuration("Mutating", "m", ...webhooks)], handler });

test("a webhook is told who does what to which object, in the version it asked for", async () => {
  const { asked, handler } = hook({});
  await mutatedWith(handler, aWebhook()).admission.mutate(aReview());
  const [{ uid, ...request } = {}] = asked;
  assert.match(String(uid), /^[0-9a-f-]{36}$/);
  assert.deepEqual(request, {
    kind: { group: "", version: "v1", kind: "ConfigMap" },
    resource: { group: "", version: "v1", resource: "configmaps" },
    requestKind: { group: "", version: "v1", kind: "ConfigMap" },
    requestResource: { group: "", version: "v1", resource: "configmaps" },
    name: "a",
    namespace: "team",
    operation: "CREATE",
    userInfo: { username: "alice", uid: "7", groups: ["dev"] },
    object: aMap,
    oldObject: null,
    dryRun: false,
    options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1" },
  });
});

test("mutating webhooks are called in order of their configurations' names, each sees the work of the one before", async () => {
  const { asked, handler } = hook((request) => {
    const { data = {} } = request.object as { data?: JsonObject };
    return patchOf({ op: "add", path: "/data", value: { ...data, [`n${Object.keys(data).length}`]: "x" } });
  });
  const { admission } = admissionWith({
    mutating: [configuration("Mutating", "a", aWebhook()), configuration("Mutating", "b", aWebhook({ name: "b.x.y" }))],
    handler,
  });
  const object = await admission.mutate(aReview());
  assert.deepEqual(object?.data, { n0: "x", n1: "x" });
  assert.equal(asked.length, 2);
  assert.deepEqual(aMap, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "team" } });
});

const denials: readonly { status: JsonObject; code: number; message: string }[] = [
  { status: {}, code: 400, message: 'admission webhook "check.example.com" denied the request without explanation' },
  {
    status: { message: "no maps on Mondays", code: 403, reason: "Forbidden" },
    code: 403,
    message: 'admission webhook "check.example.com" denied the request: no maps on Mondays',
  },
  {
    status: { reason: "Tired", code: 200 },
    code: 400,
    message: 'admission webhook "check.example.com" denied the request: Tired',
  },
];
for (const { status, code, message } of denials)
  test(`a denial with ${print(status)} is answered with ${code}`, async () => {
    const { handler } = hook({ allowed: false, status });
    const validating = [configuration("Validating", "v", aWebhook())];
    assert.deepEqual(await refusal(admissionWith({ validating, handler }).admission.validate(aReview())), {
      code,
      message,
    });
    assert.deepEqual(await refusal(mutatedWith(handler, aWebhook()).admission.mutate(aReview())), { code, message });
  });

test("warnings reach the client, also those of a webhook that allows", async () => {
  warned.length = 0;
  const { handler } = hook({ warnings: ["first", "second"] });
  await admissionWith({ validating: [configuration("Validating", "v", aWebhook())], handler }).admission.validate(
    aReview(),
  );
  assert.deepEqual(warned, ["first", "second"]);
});

const failures: readonly { given: string; handler: Handler; says: RegExp }[] = [
  {
    given: "does not answer JSON",
    handler: async () => ({ status: 200, headers: {}, body: "<html>" }),
    says: /not JSON/,
  },
  {
    given: "answers an error",
    handler: async () => ({ status: 500, headers: {}, body: "boom" }),
    says: /an error on the server \("boom"\) has prevented/,
  },
  { given: "breaks off", handler: () => Promise.reject(new Error("socket hang up")), says: /socket hang up/ },
  {
    given: "answers for another question",
    handler: hook({ uid: "x" }).handler,
    says: /expected response\.uid="[^"]+", got "x"/,
  },
  {
    given: "answers without a response",
    handler: hook({}, { response: null }).handler,
    says: /webhook response was absent/,
  },
  {
    given: "answers in another version",
    handler: hook({}, { apiVersion: "admission.k8s.io/v1beta1" }).handler,
    says: /expected webhook response of admission.k8s.io\/v1, Kind=AdmissionReview, got admission.k8s.io\/v1beta1/,
  },
  {
    given: "patches without a patch type",
    handler: hook({ patch: "W10=" }).handler,
    says: /webhook returned response.patch but not response.patchType/,
  },
];
for (const { given, handler, says } of failures)
  test(`a webhook that ${given} fails the request, unless its failures are ignored`, async () => {
    const { code, message } = await refusal(mutatedWith(handler, aWebhook()).admission.mutate(aReview()));
    assert.equal(code, 500);
    assert.match(message, /^Internal error occurred: failed calling webhook "check.example.com": /);
    assert.match(message, says);
    assert.equal(await mutatedWith(handler, aWebhook({ failurePolicy: "Ignore" })).admission.mutate(aReview()), aMap);
  });

test("a webhook gets its seconds and no more", async () => {
  const silence: Handler = () => new Promise(() => undefined);
  const { admission, world } = mutatedWith(silence, aWebhook({ timeoutSeconds: 3 }));
  const startedAt = world.elapsed();
  const { message } = await world.run(refusal(admission.mutate(aReview())));
  assert.equal(world.elapsed() - startedAt, 3_000);
  assert.equal(
    message,
    'Internal error occurred: failed calling webhook "check.example.com": failed to call webhook: Post "https://hook.test/it?timeout=3s": context deadline exceeded',
  );
});

test("a webhook behind a service cannot be reached here, and the message says what to do", async () => {
  const service = aWebhook({ clientConfig: { service: { namespace: "n", name: "s" } } });
  const { message } = await refusal(mutatedWith(hook({}).handler, service).admission.mutate(aReview()));
  assert.match(
    message,
    /service n\/s cannot be reached: this server has no service network, give clientConfig.url instead/,
  );
});

test("a dry run is not shown to a webhook with side effects, and not kept from the others", async () => {
  const dry = aReview({ context: aContext({ dryRun: true }) });
  const { asked, handler } = hook({});
  const bold = { ...configuration("Mutating", "m", aWebhook()), webhooks: [{ ...aWebhook(), sideEffects: "Some" }] };
  assert.deepEqual(await refusal(admissionWith({ mutating: [bold as ApiObject], handler }).admission.mutate(dry)), {
    code: 400,
    message: 'admission webhook "check.example.com" does not support dry run',
  });
  await mutatedWith(handler, aWebhook({ sideEffects: "NoneOnDryRun" })).admission.mutate(dry);
  assert.deepEqual(
    asked.map(({ dryRun }) => dryRun),
    [true],
  );
});

test("the older review is spoken to those who know only that, and is not checked as strictly", async () => {
  const { handler } = hook({ uid: "whatever", patch: patchOf({ op: "add", path: "/data", value: {} }).patch ?? null });
  const object = await mutatedWith(handler, aWebhook({ admissionReviewVersions: ["v1beta1"] })).admission.mutate(
    aReview(),
  );
  assert.deepEqual(object?.data, {});
});

const labelled: ApiObject = { ...aMap, metadata: { ...aMap.metadata, labels: { app: "db" } } };
const matching: readonly { given: string; webhook: object; review?: Partial<Review>; asks: boolean }[] = [
  { given: "its operation, group, version and resource", webhook: {}, asks: true },
  { given: "another operation", webhook: {}, review: { operation: "UPDATE" }, asks: false },
  {
    given: "any operation",
    webhook: { rules: [{ ...aRule, operations: ["*"] }] },
    review: { operation: "DELETE" },
    asks: true,
  },
  { given: "another resource", webhook: {}, review: { resource: claims }, asks: false },
  { given: "a subresource of its resource", webhook: {}, review: { subresource: "status" }, asks: false },
  {
    given: "everything but subresources",
    webhook: { rules: [{ ...aRule, resources: ["*"] }] },
    review: { subresource: "status" },
    asks: false,
  },
  {
    given: "the status of anything",
    webhook: { rules: [{ ...aRule, resources: ["*/status"] }] },
    review: { subresource: "status" },
    asks: true,
  },
  {
    given: "everything there is",
    webhook: { rules: [{ ...aRule, resources: ["*/*"] }] },
    review: { subresource: "x" },
    asks: true,
  },
  { given: "cluster-wide objects only", webhook: { rules: [{ ...aRule, scope: "Cluster" }] }, asks: false },
  { given: "namespaced objects only", webhook: { rules: [{ ...aRule, scope: "Namespaced" }] }, asks: true },
  { given: "namespaces of that label", webhook: { namespaceSelector: { matchLabels: { env: "prod" } } }, asks: true },
  {
    given: "namespaces of another label",
    webhook: { namespaceSelector: { matchLabels: { env: "test" } } },
    asks: false,
  },
  {
    given: "objects of a label this one lacks",
    webhook: { objectSelector: { matchLabels: { app: "db" } } },
    asks: false,
  },
  {
    given: "objects of a label the old one had",
    webhook: { objectSelector: { matchLabels: { app: "db" } }, rules: [{ ...aRule, operations: ["UPDATE"] }] },
    review: { operation: "UPDATE", oldObject: labelled },
    asks: true,
  },
  {
    given: "a namespace by its own labels",
    webhook: {
      namespaceSelector: { matchLabels: { env: "prod" } },
      rules: [{ ...aRule, resources: ["namespaces"], scope: "Cluster" }],
    },
    review: { resource: namespaces, namespace: "", object: team },
    asks: true,
  },
  {
    given: "webhook configurations",
    webhook: { rules: [{ ...aRule, apiGroups: ["*"], resources: ["*"] }] },
    review: {
      resource: row("mutatingwebhookconfigurations", "MutatingWebhookConfiguration", { group }),
      namespace: "",
    },
    asks: false,
  },
];
for (const { given, webhook, review, asks } of matching)
  test(`a webhook for ${given} is ${asks ? "" : "not "}asked`, async () => {
    const { asked, handler } = hook({});
    const validating = [configuration("Validating", "v", aWebhook(webhook))];
    await admissionWith({ validating, handler }).admission.validate(aReview(review));
    assert.equal(asked.length, asks ? 1 : 0);
  });

test("a rule for an older version covers the newer one, and shows the object in the older", async () => {
  const rules = [{ ...aRule, apiGroups: ["s.io"], apiVersions: ["v1beta1"], resources: ["volumesnapshots"] }];
  const object: ApiObject = { ...aMap, apiVersion: "s.io/v1", kind: "VolumeSnapshot" };
  const review = aReview({ resource: newSnapshots, object });
  const { asked, handler } = hook(patchOf({ op: "add", path: "/spec", value: { a: 1 } }));
  const mutated = await mutatedWith(handler, aWebhook({ rules })).admission.mutate(review);
  assert.deepEqual(asked[0]?.object, { ...object, apiVersion: "s.io/v1beta1" });
  assert.deepEqual(asked[0]?.requestKind, { group: "s.io", version: "v1", kind: "VolumeSnapshot" });
  assert.deepEqual([mutated?.apiVersion, mutated?.spec], ["s.io/v1", { a: 1 }]);
  await mutatedWith(handler, aWebhook({ rules, matchPolicy: "Exact" })).admission.mutate(review);
  assert.equal(asked.length, 1);
});

test("nothing is created in a namespace that does not exist or is going away", async () => {
  const { admission } = admissionWith({});
  assert.deepEqual(await refusal(admission.mutate(aReview({ namespace: "nowhere" }))), {
    code: 404,
    message: 'namespaces "nowhere" not found',
  });
  assert.deepEqual(await refusal(admission.mutate(aReview({ namespace: "leaving" }))), {
    code: 403,
    message:
      'configmaps "a" is forbidden: unable to create new content in namespace leaving because it is being terminated',
  });
  assert.equal(await admission.mutate(aReview({ namespace: "leaving", operation: "UPDATE" })), aMap);
});

test("three namespaces may not be deleted", async () => {
  const { admission } = admissionWith({});
  const deletion = (name: string) =>
    aReview({ operation: "DELETE", resource: namespaces, namespace: "", name, object: undefined, oldObject: team });
  assert.equal(
    (await refusal(admission.mutate(deletion("default")))).message,
    'namespaces "default" is forbidden: this namespace may not be deleted',
  );
  assert.equal(await admission.mutate(deletion("team")), undefined);
});

const storageClass = (name: string, given: object = {}): ApiObject => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name, ...given },
});
const marked = { annotations: { "storageclass.kubernetes.io/is-default-class": "true" } };
const aClaim: ApiObject = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "c", namespace: "team" },
  spec: {},
};

test("a claim without a class gets the newest default class, and both storage kinds are protected", async () => {
  const classes = [
    storageClass("old", { ...marked, creationTimestamp: "2020-01-01T00:00:00Z" }),
    storageClass("plain"),
    storageClass("young", { ...marked, creationTimestamp: "2021-01-01T00:00:00Z" }),
  ];
  const { admission } = admissionWith({ classes });
  const claim = await admission.mutate(aReview({ resource: claims, object: aClaim }));
  assert.deepEqual(claim?.spec, { storageClassName: "young" });
  assert.deepEqual(claim?.metadata.finalizers, ["kubernetes.io/pvc-protection"]);
  const none = { ...aClaim, spec: { storageClassName: "" } };
  assert.deepEqual((await admission.mutate(aReview({ resource: claims, object: none })))?.spec, none.spec);
  const volume = await admission.mutate(
    aReview({
      resource: volumes,
      namespace: "",
      object: { ...aClaim, kind: "PersistentVolume", metadata: { name: "v" } },
    }),
  );
  assert.deepEqual(volume?.metadata.finalizers, ["kubernetes.io/pv-protection"]);
});

test("a claim grows only when bound, and when its class allows it", async () => {
  const sized = (storage: string, phase: string, storageClassName: string): ApiObject => ({
    ...aClaim,
    spec: { storageClassName, resources: { requests: { storage } } },
    status: { phase },
  });
  const { admission } = admissionWith({
    classes: [{ ...storageClass("grows"), allowVolumeExpansion: true }, storageClass("stays")],
  });
  const growing = (phase: string, name: string) =>
    admission.validate(
      aReview({
        operation: "UPDATE",
        resource: claims,
        name: "c",
        object: sized("2Gi", phase, name),
        oldObject: sized("1Gi", phase, name),
      }),
    );
  assert.match(
    (await refusal(growing("Pending", "grows"))).message,
    /Only bound persistent volume claims can be expanded/,
  );
  assert.match((await refusal(growing("Bound", "stays"))).message, /must support resize/);
  await growing("Bound", "grows");
});

test("a new node is tainted, a new pod bears five minutes of a lost node", async () => {
  const { admission } = admissionWith({});
  const node = await admission.mutate(
    aReview({ resource: nodes, namespace: "", object: { ...aMap, kind: "Node", spec: {} } }),
  );
  assert.deepEqual(node?.spec, { taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }] });
  const pod = await admission.mutate(aReview({ resource: pods, object: { ...aMap, kind: "Pod", spec: {} } }));
  const bearing = (key: string) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 });
  assert.deepEqual(pod?.spec, {
    priority: 0,
    preemptionPolicy: "PreemptLowerPriority",
    tolerations: [bearing("node.kubernetes.io/not-ready"), bearing("node.kubernetes.io/unreachable")],
  });
});

const badConfigurations: readonly { given: string; webhook: object; says: readonly string[] }[] = [
  { given: "nothing wrong", webhook: {}, says: [] },
  {
    given: "a short name",
    webhook: { name: "short" },
    says: [
      'webhooks[0].name: Invalid value: "short": should be a domain with at least three segments separated by dots',
    ],
  },
  {
    given: "match conditions",
    webhook: { matchConditions: [{ name: "x", expression: "true" }] },
    says: [
      "webhooks[0].matchConditions: Forbidden: this server does not evaluate match conditions: select by rules, namespaceSelector and objectSelector instead",
    ],
  },
  {
    given: "no side effects said, and no version known",
    webhook: { sideEffects: null, admissionReviewVersions: ["v2"] },
    says: [
      "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun",
      'webhooks[0].admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1',
    ],
  },
  {
    given: "plain HTTP with a query",
    webhook: { clientConfig: { url: "http://hook.test/x?y=z" } },
    says: [
      `webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
      'webhooks[0].clientConfig.url: Invalid value: "y=z": query parameters are not permitted in the URL',
    ],
  },
  {
    given: "two ways to be reached",
    webhook: { clientConfig: { url: "https://x/", service: { name: "a", namespace: "b" } } },
    says: ["webhooks[0].clientConfig: Required value: exactly one of url or service is required"],
  },
  {
    given: "an endless timeout",
    webhook: { timeoutSeconds: 31 },
    says: ["webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"],
  },
  {
    given: "a star among others",
    webhook: { rules: [{ ...aRule, operations: ["*", "CREATE"], resources: ["*", "pods"] }] },
    says: [
      `webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations`,
      `webhooks[0].rules[0].resources: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources without subresources`,
    ],
  },
];
for (const { given, webhook, says } of badConfigurations)
  test(`a webhook configuration with ${given} is ${says.length === 0 ? "accepted" : "refused"}`, () => {
    const outcome = created(webhookConfigurationStrategies[`${group}/ValidatingWebhookConfiguration`] ?? {}, {
      apiVersion: `${group}/v1`,
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "v" },
      webhooks: [aWebhook(webhook) as JsonObject],
    });
    assert.deepEqual(outcome.says, says);
  });
