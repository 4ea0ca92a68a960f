import assert from "node:assert/strict";
import { test } from "node:test";
import {
  admissionWith,
  aMap,
  aReview,
  aRule,
  aWebhook,
  claims,
  configuration,
  group,
  hook,
  mutatedWith,
  namespaces,
  newSnapshots,
  patchOf,
  refusal,
  team,
  warned,
} from "../../../test/admission.ts";
import { aContext, row } from "../../../test/strategy.ts";
import type { Handler } from "../../base/http.ts";
import { type JsonObject, print } from "../../base/json.ts";
import type { ApiObject, Review } from "../contracts.ts";

test("a webhook gets user, operation and object in its version", async () => {
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

test("mutating webhooks are called in order of their configurations' names, each with the result of the previous one", async () => {
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
  test(`a denial with ${print(status)} gives ${code}`, async () => {
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
  test(`a webhook that ${given} fails the request, unless failurePolicy is Ignore`, async () => {
    const { code, message } = await refusal(mutatedWith(handler, aWebhook()).admission.mutate(aReview()));
    assert.equal(code, 500);
    assert.match(message, /^Internal error occurred: failed calling webhook "check.example.com": /);
    assert.match(message, says);
    assert.equal(await mutatedWith(handler, aWebhook({ failurePolicy: "Ignore" })).admission.mutate(aReview()), aMap);
  });

test("a webhook call ends after timeoutSeconds", async () => {
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

test("a dry run is not sent to webhooks with side effects, and is sent to others", async () => {
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

test("webhooks that support only v1beta1 get v1beta1 reviews, with fewer checks of the response", async () => {
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
  test(`a webhook for ${given} is ${asks ? "" : "not "}called`, async () => {
    const { asked, handler } = hook({});
    const validating = [configuration("Validating", "v", aWebhook(webhook))];
    await admissionWith({ validating, handler }).admission.validate(aReview(review));
    assert.equal(asked.length, asks ? 1 : 0);
  });

test("with matchPolicy Equivalent a rule for an older version matches the newer one, and the object is converted", async () => {
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

const deny = (more: object = {}) => hook({ allowed: false, ...more });
const withConditions = (failurePolicy: "Fail" | "Ignore", ...expressions: readonly string[]) =>
  aWebhook({
    failurePolicy,
    matchConditions: expressions.map((expression, index) => ({ name: `c${index}`, expression })),
  });

test("a webhook is asked only where all of its match conditions hold", async () => {
  const cases: readonly (readonly [asked: boolean, ...expressions: readonly string[]])[] = [
    [true, "object.metadata.name == 'a'", "request.userInfo.username == 'alice' && 'dev' in request.userInfo.groups"],
    [false, "object.metadata.name == 'a'", "oldObject != null"],
    [false, "object.missing == 1", "request.operation == 'DELETE'"],
  ];
  for (const [isAsked, ...expressions] of cases) {
    const { asked, handler } = deny();
    const webhooks = configuration("Validating", "v", withConditions("Fail", ...expressions));
    const { admission } = admissionWith({ validating: [webhooks], handler });
    if (isAsked) assert.equal((await refusal(admission.validate(aReview()))).code, 400);
    else await admission.validate(aReview());
    assert.equal(asked.length, isAsked ? 1 : 0, expressions.join());
  }
});

test("a match condition that cannot be evaluated refuses the request or leaves the webhook out, as its failure policy says", async () => {
  const { asked, handler } = deny();
  const admissionFor = (policy: "Fail" | "Ignore") =>
    mutatedWith(handler, withConditions(policy, "object.missing == 1", "true")).admission;
  assert.deepEqual(await refusal(admissionFor("Fail").mutate(aReview())), {
    code: 403,
    message: "configmaps \"a\" is forbidden: expression 'object.missing == 1' resulted in error: no such key: missing",
  });
  await admissionFor("Ignore").mutate(aReview());
  assert.equal(asked.length, 0);
});
