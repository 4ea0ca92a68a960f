/** Hostile requests, generated from a seed, so that a failing one can be repeated. */
import type { HttpRequest } from "../../src/base/http.ts";

export type Dice = () => number;

export const diceFrom = (seed: number): Dice => {
  let state = seed >>> 0;
  return () => {
    // mulberry32: small, and good enough to reach every branch.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

const pick = <T>(dice: Dice, items: readonly T[]): T => items[Math.floor(dice() * items.length)] as T;
const chance = (dice: Dice, share: number): boolean => dice() < share;

const odd = [
  "",
  "x",
  "a",
  "..",
  ".",
  "%",
  "%2e%2e",
  "%00",
  "%ff",
  "%zz",
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "toString",
  "a".repeat(300),
  "Ü",
  "%F0%9F%92%A9",
  "a/b",
  "-1",
  "0",
  "status",
  "scale",
  "namespaces",
  "default",
  "nul\u0000l",
];

const collections = [
  "/api/v1/namespaces/default/configmaps",
  "/api/v1/namespaces/default/persistentvolumeclaims",
  "/api/v1/persistentvolumes",
  "/api/v1/namespaces",
  "/api/v1/namespaces/default/secrets",
  "/api/v1/namespaces/default/pods",
  "/api/v1/namespaces/default/events",
  "/apis/events.k8s.io/v1/namespaces/default/events",
  "/apis/coordination.k8s.io/v1/namespaces/default/leases",
  "/apis/apps/v1/namespaces/default/deployments",
  "/apis/storage.k8s.io/v1/storageclasses",
  "/apis/snapshot.storage.k8s.io/v1/namespaces/default/volumesnapshots",
  "/apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents",
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
  "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
];

const pages = [
  "/",
  "/api",
  "/apis",
  "/apis/apps",
  "/apis/apps/v1",
  "/version",
  "/readyz",
  "/livez?verbose",
  "/openapi/v2",
  "/openapi/v3",
  "/openapi/v3/api/v1",
  "/metrics",
  "//",
  "/api//v1",
];

function pathOf(dice: Dice): string {
  if (chance(dice, 0.1)) return pick(dice, pages) + (chance(dice, 0.3) ? `/${pick(dice, odd)}` : "");
  const parts = [pick(dice, collections)];
  if (chance(dice, 0.6)) parts.push(chance(dice, 0.6) ? "fuzz" : pick(dice, odd));
  if (chance(dice, 0.2)) parts.push(pick(dice, ["status", "scale", "finalize", "binding", "token", pick(dice, odd)]));
  if (chance(dice, 0.03)) parts.push(pick(dice, odd));
  const path = parts.join("/");
  return chance(dice, 0.05) ? path.replace(/\/[^/]*\//, `/${pick(dice, odd)}/`) : path;
}

const numbers = ["0", "1", "-1", "9".repeat(25), "1e3", "NaN", "x", "", "0x10", "1.5"];
const selectors = [
  "a=b",
  "a in (b,c)",
  "!a",
  "a b",
  "a in (",
  "=",
  ",,,",
  "a".repeat(500),
  "a>x",
  "a>1",
  "in in (in)",
  "\u0000",
  "metadata.name=fuzz",
  "a.b=c\\",
  "a=b=c",
  "(",
  "é=ü",
];

const queryValues: Readonly<Record<string, readonly string[]>> = {
  labelSelector: selectors,
  fieldSelector: selectors,
  limit: numbers,
  continue: [
    ...numbers,
    "eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ",
    "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiL1x1MDAwMCJ9",
    "!!!",
  ],
  resourceVersion: [...numbers, "1"],
  resourceVersionMatch: ["Exact", "NotOlderThan", "Sometimes", ""],
  watch: ["true", "false", "1", "x", ""],
  sendInitialEvents: ["true", "false", ""],
  allowWatchBookmarks: ["true", ""],
  timeoutSeconds: [...numbers],
  dryRun: ["All", "Some", ""],
  fieldManager: ["me", "x".repeat(200), "\u0001", ""],
  fieldValidation: ["Strict", "Warn", "Ignore", "Never"],
  force: ["true", "x"],
  pretty: ["true", "x"],
  includeObject: ["None", "Object", "Metadata", "All"],
  gracePeriodSeconds: numbers,
  propagationPolicy: ["Orphan", "Foreground", "Background", "Sideways"],
  orphanDependents: ["true", "false"],
};

function queryOf(dice: Dice): string {
  const names = Object.keys(queryValues).filter(() => chance(dice, 0.12));
  if (names.length === 0) return "";
  return `?${names.map((name) => `${name}=${encodeURIComponent(pick(dice, queryValues[name] ?? [""]))}`).join("&")}`;
}

const contentTypes = [
  "application/json",
  "application/json",
  "application/json",
  "application/json; charset=utf-8",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
  "text/plain",
  "",
  ";;;",
  "application/octet-stream",
];

const accepts = [
  "application/json",
  "*/*",
  "",
  "application/json;as=Table;v=v1;g=meta.k8s.io",
  "application/json;as=Table;v=v1beta1;g=meta.k8s.io, */*",
  "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
  "application/json;as=Nothing;v=v9;g=x",
  "application/vnd.kubernetes.protobuf",
  "text/html",
  ",,;;q=x,q=1",
  "a".repeat(5000),
];

const hostile = (dice: Dice): unknown =>
  pick<() => unknown>(dice, [
    () => null,
    () => true,
    () => -1,
    () => 1e308,
    () => 2 ** 53,
    () => "",
    () => "x".repeat(Math.floor(dice() * 5_000)),
    () => "\ud800",
    () => "\u0000\u202e",
    () => [],
    () => ({}),
    () => [[[[]]]],
    () => ({ "": "", constructor: 1, toString: { a: 1 } }),
    () => ["a", 1, null, {}],
    () => "12345678901234567890",
    () => "99999Ei",
  ])();

const base = (dice: Dice): Record<string, unknown> => ({
  ...(chance(dice, 0.5)
    ? { apiVersion: pick(dice, ["v1", "apps/v1", "snapshot.storage.k8s.io/v1", "x", "a/b/c"]) }
    : {}),
  ...(chance(dice, 0.3) ? { kind: pick(dice, ["ConfigMap", "Pod", "VolumeSnapshot", "DeleteOptions", "x"]) } : {}),
  metadata: {
    name: pick(dice, ["fuzz", "fuzz", "fuzz", "Bad_Name", "a".repeat(300)]),
    ...(chance(dice, 0.2) ? { labels: { a: "b" }, annotations: { "x/y": "z" } } : {}),
    ...(chance(dice, 0.1) ? { finalizers: ["example.com/x"] } : {}),
    ...(chance(dice, 0.1) ? { generateName: "fuzz-" } : {}),
    ...(chance(dice, 0.1) ? { resourceVersion: pick(dice, numbers) } : {}),
    ...(chance(dice, 0.1) ? { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "x", uid: "y" }] } : {}),
    ...(chance(dice, 0.05) ? { managedFields: [{ manager: "x", operation: "Update", fieldsV1: { "f:x": {} } }] } : {}),
  },
  spec: {
    source: { persistentVolumeClaimName: "x" },
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: "1Gi" } },
    containers: [{ name: "c", image: "i" }],
  },
  data: { a: "b" },
  rules: [],
});

/** Puts something hostile at a random place. */
function spoil(dice: Dice, value: unknown, depth = 0): unknown {
  if (typeof value !== "object" || value === null || depth > 6 || chance(dice, 0.2)) return hostile(dice);
  if (Array.isArray(value)) {
    const at = Math.floor(dice() * (value.length + 1));
    return value
      .map((item, index) => (index === at ? spoil(dice, item, depth + 1) : item))
      .concat(chance(dice, 0.2) ? [hostile(dice)] : []);
  }
  const keys = Object.keys(value);
  const key = chance(dice, 0.8) && keys.length > 0 ? pick(dice, keys) : pick(dice, odd);
  return { ...value, [key]: spoil(dice, (value as Record<string, unknown>)[key], depth + 1) };
}

const operations = (dice: Dice): unknown =>
  Array.from({ length: Math.floor(dice() * 6) }, () => ({
    op: pick(dice, ["add", "remove", "replace", "move", "copy", "test", "x"]),
    path: pick(dice, [
      "/metadata/labels",
      "/data/a",
      "",
      "/",
      "/metadata/finalizers/-",
      "/a/b/c",
      "/__proto__/x",
      "/spec",
      "x",
      "/metadata/finalizers/9999999999",
    ]),
    ...(chance(dice, 0.5) ? { from: pick(dice, ["/data", "", "/metadata", "/nothing"]) } : {}),
    ...(chance(dice, 0.7) ? { value: hostile(dice) } : {}),
  }));

const deep = (dice: Dice, sign: string): string => {
  const times = pick(dice, [100, 9_000, 20_000]);
  return sign === "{" ? '{"a":'.repeat(times) : sign.repeat(times);
};

const yamlBomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${["b", "c", "d", "e", "f", "g", "h"].map((name, index) => `${name}: &${name} [${Array(9).fill(`*${"abcdefg"[index]}`).join(",")}]`).join("\n")}\n`;

function randomBytes(dice: Dice, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => Math.floor(dice() * 256));
}

function bodyOf(dice: Dice): string | Uint8Array {
  const sort = dice();
  if (sort < 0.45) return JSON.stringify(chance(dice, 0.4) ? base(dice) : spoil(dice, base(dice)));
  if (sort < 0.6) return JSON.stringify(operations(dice));
  if (sort < 0.7) return JSON.stringify(base(dice)).slice(0, Math.floor(dice() * 200));
  if (sort < 0.76)
    return `{"metadata":{"name":"fuzz"},"__proto__":{"polluted":true},"data":{"__proto__":"x"},"spec":{"__proto__":{"y":1}}}`;
  if (sort < 0.8)
    return `{"metadata":{"name":"fuzz","generation":${pick(dice, ["1e400", "-0", "123456789012345678901234567890", "1.0000000000000001"])}}}`;
  if (sort < 0.84) return deep(dice, pick(dice, ["[", "{"]));
  if (sort < 0.88) return Buffer.concat([Buffer.from("k8s\0"), randomBytes(dice, Math.floor(dice() * 200))]);
  if (sort < 0.92) return randomBytes(dice, Math.floor(dice() * 300));
  if (sort < 0.94) return yamlBomb;
  if (sort < 0.941) return "x".repeat(4 * 2 ** 20);
  return pick(dice, [
    "",
    "null",
    "[]",
    "{}",
    '"x"',
    "1",
    "{",
    "nul",
    "{'a':1}",
    "\ufeff{}",
    "a: b: c",
    "---\n---\n",
    "%YAML 9",
  ]);
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "POST", "PATCH", "GET", "HEAD", "OPTIONS", "BREW", ""];

export function hostileRequest(dice: Dice): HttpRequest {
  const method = pick(dice, methods);
  const headers: Record<string, string> = {};
  if (chance(dice, 0.9)) headers["content-type"] = pick(dice, contentTypes);
  if (chance(dice, 0.5)) headers.accept = pick(dice, accepts);
  if (chance(dice, 0.05)) headers["impersonate-user"] = pick(dice, odd);
  if (chance(dice, 0.05)) headers["user-agent"] = pick(dice, ["curl/8", "\u0001", "kubectl/v1", "x".repeat(1000)]);
  const withBody = method !== "GET" && method !== "HEAD" ? chance(dice, 0.95) : chance(dice, 0.1);
  return {
    method,
    path: `${pathOf(dice)}${queryOf(dice)}`,
    headers,
    ...(withBody ? { body: bodyOf(dice) } : {}),
  };
}
