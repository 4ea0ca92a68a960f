/** Webhooks over real HTTPS: "$HOOKS" is where they listen, "$BUNDLE" whom to trust. */
import type { JsonObject } from "../../../../src/base/json.ts";
import { create, get, patch, remove, type Script, type Step, script } from "../script.ts";

const configurations = (kind: "mutating" | "validating"): string =>
  `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`;
const maps = "/api/v1/namespaces/$NS/configmaps";
const aMap = (name: string, more: JsonObject = {}): JsonObject => ({ metadata: { name, ...more }, data: { k: "v" } });

const aRule = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] };
const webhook = (path: string, more: JsonObject = {}): JsonObject => ({
  name: `${path}.hooks.example.com`,
  clientConfig: { url: `$HOOKS/${path}`, caBundle: "$BUNDLE" },
  rules: [aRule],
  namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "$NS" } },
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  timeoutSeconds: 5,
  ...more,
});
const configuration = (...webhooks: readonly JsonObject[]): JsonObject => ({
  metadata: { name: "$ID" },
  webhooks: [...webhooks],
});

/**
 * The real server looks at webhook configurations through a cache. A second webhook, which denies objects with a mark of
 * their own, tells when the configuration has arrived; the first one may have refused them before that.
 */
const sentinel = webhook("deny", {
  name: "sentinel.hooks.example.com",
  objectSelector: { matchLabels: { sentinel: "here" } },
});
const inForce = (kind: "mutating" | "validating", ...webhooks: readonly JsonObject[]): readonly Step[] => [
  create(configurations(kind), configuration(...webhooks, sentinel)),
  create(`${maps}?dryRun=All`, aMap("sentinel", { labels: { sentinel: "here" } }), {
    until: (_, status) => status !== 201,
    unseen: true,
  }),
];
const over = (kind: "mutating" | "validating"): Step => remove(`${configurations(kind)}/$ID`);

const denials = ["deny", "deny-reason", "deny-message", "deny-details", "deny-success", "deny-warn", "warn", "allow"];
const patches = ["patch", "patch-unknown", "patch-invalid", "patch-untyped", "patch-empty", "patch-nowhere"];
const failures = ["wrong-uid", "hang", "boom", "garbage", "nothing", "broken"];

const configurationsToJudge: Readonly<Record<string, JsonObject>> = {
  "nothing special": {},
  "a short name": { name: "short" },
  "an impossible name": { name: "A.b.c" },
  "no name": { name: "" },
  "no versions": { admissionReviewVersions: [] },
  "an unknown version": { admissionReviewVersions: ["v2"] },
  "a version twice": { admissionReviewVersions: ["v1", "v1"] },
  "no word about side effects": { sideEffects: null },
  "side effects": { sideEffects: "Some" },
  "an unknown failure policy": { failurePolicy: "Sometimes" },
  "an unknown match policy": { matchPolicy: "Roughly" },
  "a timeout of nothing": { timeoutSeconds: 0 },
  "an endless timeout": { timeoutSeconds: 31 },
  "a plain URL": { clientConfig: { url: "http://localhost/x" } },
  "a URL with everything wrong": { clientConfig: { url: "https://me@localhost/x?a=b#c" } },
  "no way to be reached": { clientConfig: {} },
  "two ways to be reached": { clientConfig: { url: "https://x/", service: { namespace: "n", name: "s" } } },
  "a service": { clientConfig: { service: { namespace: "n", name: "s", path: "/x" } } },
  "half a service": { clientConfig: { service: { namespace: "", name: "s" } } },
  "no operations": { rules: [{ ...aRule, operations: [] }] },
  "an unknown operation": { rules: [{ ...aRule, operations: ["READ"] }] },
  "a star among operations": { rules: [{ ...aRule, operations: ["*", "CREATE"] }] },
  "no groups, versions and resources": { rules: [{ operations: ["CREATE"] }] },
  "stars among groups and versions": { rules: [{ ...aRule, apiGroups: ["*", ""], apiVersions: ["*", "v1"] }] },
  "stars among resources": { rules: [{ ...aRule, resources: ["*", "pods"] }] },
  "stars among subresources": { rules: [{ ...aRule, resources: ["pods/*", "pods/status", "*/status"] }] },
  "two stars and more": { rules: [{ ...aRule, resources: ["*/*", "pods"] }] },
  "an unknown scope": { rules: [{ ...aRule, scope: "World" }] },
  "a bad selector": { objectSelector: { matchExpressions: [{ key: "a", operator: "In" }] } },
};

const condition = (expression: string, name = "c"): JsonObject => ({ name, expression });
const conditions = (...expressions: readonly string[]): JsonObject => ({
  matchConditions: expressions.map((expression, index) => condition(expression, `c${index}`)),
});

const conditionsToJudge: Readonly<Record<string, JsonObject>> = {
  "a condition": conditions("object.data.k == 'v'"),
  "spaces around a condition": conditions("  true\n"),
  "a condition that is no expression": conditions("object.data ="),
  "a condition that is not a truth": conditions("'text'"),
  "a condition of unknown type": conditions("object.data.k"),
  "a condition about an unknown variable": conditions("params.x == 1"),
  "a condition about a field that requests do not have": conditions("request.uid == ''"),
  "conditions about all fields of a request": conditions(
    ...["kind", "resource", "subResource", "requestKind", "requestResource", "requestSubResource"].map(
      (field) => `has(request.${field})`,
    ),
    "request.kind.group + request.resource.resource + request.name + request.namespace + request.operation != ''",
    "request.userInfo.username == '' || 'a' in request.userInfo.groups || 'b' in request.userInfo.extra['c']",
    "request.dryRun && request.options.anything == 1",
  ),
  "a condition that compares a text and a truth": conditions("request.dryRun == 'x'"),
  "conditions without names": { matchConditions: [condition("true", ""), condition("true", "")] },
  "conditions without expressions": { matchConditions: [condition("", "a"), condition("  ", "b")] },
  "conditions of one name": { matchConditions: [condition("true"), condition("false"), condition("=")] },
  "a condition with an impossible name": { matchConditions: [condition("true", "a b/c")] },
  "too many conditions": conditions(...Array.from({ length: 65 }, () => "true")),
  "no conditions": { matchConditions: [] },
};

/** Denied: all conditions hold, and the webhook is asked. */
const conditionsInForce: readonly (readonly [what: string, ...expressions: readonly string[]])[] = [
  ["one that holds", "object.data.k == 'v'"],
  ["one that does not", "object.data.k != 'v'"],
  ["one of two that does not", "true", "object.metadata.name.startsWith('x')"],
  ["one that cannot be evaluated", "object.data.missing == 'v'"],
  ["two that cannot be evaluated", "object.data.missing == 'v'", "object.nothing.at.all == 1"],
  ["one that cannot be evaluated beside one that does not hold", "object.data.missing == 'v'", "false"],
  ["one about an absent old object", "oldObject == null"],
  ["one that reads an absent old object", "oldObject.metadata.name == 'm'"],
  ["one that asks an absent old object for a field", "has(oldObject.metadata)"],
  ["one that reads a field of a text", "object.data.k.below == 'v'"],
  ["one that asks a text for a field", "!has(object.data.k.below)"],
  ["one that reads a field of a list", "object.metadata.finalizers.x == 1"],
  ["optional fields of a text", "!object.?data.?k.?below.hasValue()"],
  ["optional fields", "object.?data.?k.orValue('') == 'v' && !object.?spec.?x.hasValue()"],
  ["one about the request", "request.operation == 'CREATE' && request.namespace == '$NS' && request.name == 'm'"],
  ["one about absent fields of the request", "!has(request.subResource) && !has(request.requestSubResource)"],
  ["one about the resource", "request.resource.resource == 'configmaps' && request.kind.kind == 'ConfigMap'"],
  ["one about dry runs", "has(request.dryRun) && !request.dryRun"],
  ["one that compares what cannot be compared", "object.data.k > 1"],
  ["a number in the object", "has(object.metadata.generation)"],
];

export const webhookScripts: readonly Script[] = [
  ...Object.entries(conditionsToJudge).map(([name, more]) =>
    script(
      `a validating configuration with ${name}`,
      create(`${configurations("validating")}?dryRun=All`, configuration(webhook("allow", more))),
    ),
  ),
  ...conditionsInForce.map(([what, ...expressions]) =>
    script(
      `match conditions: ${what}`,
      ...inForce(
        "validating",
        webhook("deny", { ...conditions(...expressions), objectSelector: { matchLabels: { ask: "first" } } }),
        webhook("deny", {
          ...conditions(...expressions),
          name: "ignored.hooks.example.com",
          failurePolicy: "Ignore",
          objectSelector: { matchLabels: { ask: "second" } },
        }),
      ),
      create(maps, aMap("m", { labels: { ask: "first" } })),
      create(`${maps}?dryRun=All`, aMap("m", { labels: { ask: "second" } })),
      over("validating"),
    ),
  ),
  script(
    "match conditions of a mutating webhook compare an object with the old one, and a dry run is told from a write",
    create(maps, aMap("m")),
    ...inForce(
      "mutating",
      webhook("deny", {
        rules: [{ ...aRule, operations: ["CREATE", "UPDATE"] }],
        ...conditions("oldObject == null || object.?data != oldObject.?data", "!request.dryRun"),
      }),
    ),
    patch("merge", `${maps}/m`, { metadata: { labels: { a: "b" } } }),
    patch("merge", `${maps}/m`, { data: { k: "w" } }),
    patch("merge", `${maps}/m?dryRun=All`, { data: { k: "w" } }),
    patch("merge", `${maps}/m`, { data: null }),
    create(maps, aMap("n")),
    over("mutating"),
  ),
  ...Object.entries(configurationsToJudge).flatMap(([name, more]) => [
    script(
      `a validating configuration with ${name}`,
      create(`${configurations("validating")}?dryRun=All`, configuration(webhook("allow", more))),
    ),
  ]),
  script(
    "a mutating configuration gets its defaults",
    create(`${configurations("mutating")}?dryRun=All`, configuration(webhook("allow"), webhook("allow"))),
    create(
      `${configurations("mutating")}?dryRun=All`,
      configuration(webhook("allow", { reinvocationPolicy: "Often" })),
    ),
  ),
  ...denials.flatMap((word) => [
    script(
      `a validating webhook answers ${word}`,
      ...inForce("validating", webhook(word)),
      create(maps, aMap("m")),
      get(`${maps}/m`),
      over("validating"),
    ),
    script(
      `a mutating webhook answers ${word}`,
      ...inForce("mutating", webhook(word)),
      create(maps, aMap("m")),
      over("mutating"),
    ),
  ]),
  ...patches.map((word) =>
    script(
      `a mutating webhook answers ${word}`,
      ...inForce("mutating", webhook(word)),
      create(maps, aMap("m")),
      get(`${maps}/m`),
      over("mutating"),
    ),
  ),
  script(
    "mutating webhooks see each other's work",
    ...inForce("mutating", webhook("patch"), webhook("patch-more")),
    create(maps, aMap("m")),
    over("mutating"),
  ),
  script(
    "a validating webhook sees the work of a mutating one",
    ...inForce("mutating", webhook("patch")),
    ...inForce("validating", webhook("tell")),
    create(maps, aMap("m")),
    over("mutating"),
    over("validating"),
  ),
  ...failures.map((word) =>
    script(
      `a webhook fails with ${word}, and must not or may`,
      ...inForce(
        "validating",
        webhook(word, { timeoutSeconds: 1, objectSelector: { matchLabels: { ask: "first" } } }),
        webhook(word, {
          name: `ignored-${word}.hooks.example.com`,
          timeoutSeconds: 1,
          failurePolicy: "Ignore",
          objectSelector: { matchLabels: { ask: "second" } },
        }),
      ),
      create(maps, aMap("m", { labels: { ask: "first" } })),
      create(maps, aMap("n", { labels: { ask: "second" } })),
      over("validating"),
    ),
  ),
  script(
    "a webhook is asked about a creation, an update and a deletion",
    ...inForce(
      "validating",
      webhook("tell", { rules: [{ ...aRule, operations: ["*"] }], objectSelector: { matchLabels: { ask: "me" } } }),
    ),
    create(maps, aMap("quiet")),
    create(maps, aMap("m", { labels: { ask: "me" } })),
    patch("merge", `${maps}/quiet`, { metadata: { labels: { ask: "me" } } }),
    create(`${maps}?dryRun=All&fieldManager=me`, aMap("m", { labels: { ask: "me" } })),
    over("validating"),
  ),
  script(
    "a webhook is asked about the deletion of an object it selects",
    create(maps, aMap("m", { labels: { ask: "me" } })),
    ...inForce(
      "validating",
      webhook("tell", {
        rules: [{ ...aRule, operations: ["DELETE"] }],
        objectSelector: { matchLabels: { ask: "me" } },
      }),
    ),
    remove(`${maps}/m`),
    over("validating"),
  ),
  script(
    "a webhook that speaks only the older review",
    ...inForce("validating", webhook("tell", { admissionReviewVersions: ["v1beta1"] })),
    create(maps, aMap("m")),
    over("validating"),
  ),
  script(
    "a webhook for a status is not asked about the rest",
    ...inForce(
      "validating",
      webhook("tell", {
        rules: [{ ...aRule, operations: ["UPDATE"], resources: ["persistentvolumeclaims/status"] }],
        objectSelector: {},
      }),
    ),
    create("/api/v1/namespaces/$NS/persistentvolumeclaims", {
      metadata: { name: "c" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, storageClassName: "none" },
    }),
    patch("merge", "/api/v1/namespaces/$NS/persistentvolumeclaims/c", { metadata: { labels: { a: "b" } } }),
    patch("merge", "/api/v1/namespaces/$NS/persistentvolumeclaims/c/status", {
      status: { capacity: { storage: "1Gi" } },
    }),
    over("validating"),
  ),
  script(
    "a webhook of another namespace is not asked",
    ...inForce("validating", webhook("deny", { namespaceSelector: { matchLabels: { other: "one" } } })),
    create(maps, aMap("m")),
    over("validating"),
  ),
  script(
    "a webhook sees a claim before its invalid source is dropped, and after",
    ...inForce("mutating", webhook("tell", { rules: [{ ...aRule, resources: ["persistentvolumeclaims"] }] })),
    create("/api/v1/namespaces/$NS/persistentvolumeclaims", {
      metadata: { name: "c" },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1Gi" } },
        storageClassName: "none",
        dataSource: { kind: "ConfigMap", name: "m" },
      },
    }),
    over("mutating"),
    ...inForce("validating", webhook("tell", { rules: [{ ...aRule, resources: ["persistentvolumeclaims"] }] })),
    create("/api/v1/namespaces/$NS/persistentvolumeclaims", {
      metadata: { name: "d" },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1Gi" } },
        storageClassName: "none",
        dataSource: { kind: "ConfigMap", name: "m" },
      },
    }),
    over("validating"),
  ),
];
