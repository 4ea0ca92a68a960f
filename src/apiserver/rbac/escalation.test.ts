import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiServer, type TestAnswer, type TestServer } from "../../../test/api-server.ts";
import type { HttpRequest } from "../../base/http.ts";
import type { JsonObject } from "../../base/json.ts";
import type { User } from "../contracts.ts";

const group = "rbac.authorization.k8s.io";
const base = `/apis/${group}/v1`;
const roles = `${base}/namespaces/default/roles`;
const bindings = `${base}/namespaces/default/rolebindings`;
const clusterRoles = `${base}/clusterroles`;
const clusterBindings = `${base}/clusterrolebindings`;

const people: Readonly<Record<string, User>> = {
  root: { name: "root", groups: ["system:masters"] },
  alice: { name: "alice", groups: ["dev", "system:authenticated"] },
};
const authenticate = ({ headers }: HttpRequest): User | undefined => people[headers["x-user"] ?? "root"];
const asAlice = { headers: { "x-user": "alice" } };

const on = (resource: string, ...verbs: readonly string[]): JsonObject => ({
  apiGroups: [resource.includes("role") ? group : ""],
  resources: [resource],
  verbs: [...verbs],
});
const role = (name: string, ...rules: readonly JsonObject[]) => ({ metadata: { name }, rules });
const binding = (name: string, kind: string, of: string, subject = "eve") => ({
  metadata: { name },
  roleRef: { apiGroup: group, kind, name: of },
  subjects: [{ kind: "User", name: subject }],
});
const writes = ["create", "update", "patch"];

/** Alice holds these rules everywhere. */
async function aliceWith(...rules: readonly JsonObject[]): Promise<TestServer> {
  const server = startApiServer({ authenticate });
  await server.ask("POST", clusterRoles, role("hers", ...rules));
  await server.ask("POST", clusterBindings, binding("hers", "ClusterRole", "hers", "alice"));
  return server;
}
const told = ({ status, body }: TestAnswer): string => `${status} ${String(body.message ?? "")}`;

test("a user who may create roles and bindings cannot escalate his rights", async () => {
  const server = await aliceWith(...["roles", "rolebindings"].map((kind) => on(kind, ...writes)));
  const all = role("all", { apiGroups: ["*"], resources: ["*"], verbs: ["*"] });
  assert.equal(
    told(await server.ask("POST", roles, all, asAlice)),
    `403 roles.${group} "all" is forbidden: user "alice" (groups=["dev" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:["*"], Resources:["*"], Verbs:["*"]}`,
  );
  const admin = await server.ask("POST", bindings, binding("b", "ClusterRole", "cluster-admin", "alice"), asAlice);
  assert.match(told(admin), /^403 rolebindings.* "b" is forbidden: user "alice" .*\n\{APIGroups.*\n\{NonResourceURLs/);
  assert.equal((await server.ask("GET", "/api/v1/namespaces/default/secrets", undefined, asAlice)).status, 403);
});

const held: readonly JsonObject[] = [
  on("pods", "get", "list"),
  on("pods/log", "get"),
  { apiGroups: ["apps"], resources: ["*/scale"], verbs: ["*"] },
  { apiGroups: [""], resources: ["secrets"], resourceNames: ["a"], verbs: ["get"] },
  { nonResourceURLs: ["/healthz/*"], verbs: ["get"] },
];
const scale = (verb: string): JsonObject => ({ apiGroups: ["apps"], resources: ["deployments/scale"], verbs: [verb] });
const secrets = (...resourceNames: readonly string[]): JsonObject => ({
  ...on("secrets", "get"),
  resourceNames: [...resourceNames],
});
const path = (url: string): JsonObject => ({ nonResourceURLs: [url], verbs: ["get"] });
const grants: readonly (readonly [rule: JsonObject, missing: string])[] = [
  [on("pods", "get"), ""],
  [on("pods", "list", "watch", "delete"), '{APIGroups:[""], Resources:["pods"], Verbs:["watch" "delete"]}'],
  [on("pods", "*"), '{APIGroups:[""], Resources:["pods"], Verbs:["*"]}'],
  [scale("patch"), ""],
  [
    { ...scale("patch"), resources: ["deployments"] },
    '{APIGroups:["apps"], Resources:["deployments"], Verbs:["patch"]}',
  ],
  [secrets("a"), ""],
  [secrets("a", "b"), '{APIGroups:[""], Resources:["secrets"], ResourceNames:["b"], Verbs:["get"]}'],
  [on("secrets", "get"), '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'],
  [{ ...on("pods", "get"), resourceNames: ["x"] }, ""],
  [path("/healthz/etcd"), ""],
  [path("/metrics"), '{NonResourceURLs:["/metrics"], Verbs:["get"]}'],
  [path("*"), '{NonResourceURLs:["*"], Verbs:["get"]}'],
];
for (const [rule, missing] of grants)
  test(`${missing === "" ? "grants" : "does not grant"} ${JSON.stringify(rule)}`, async () => {
    const server = await aliceWith(...held, on("clusterroles", ...writes));
    const answer = await server.ask("POST", clusterRoles, role("x", rule), asAlice);
    assert.equal(answer.status, missing === "" ? 201 : 403, answer.text);
    if (missing !== "") assert.equal(String(answer.body.message).split("\n").slice(1).join("\n"), missing);
  });

test("escalation is checked for every kind of write, but not for the garbage collector", async () => {
  const server = await aliceWith(on("pods", "get"), on("roles", ...writes));
  const [more, less] = [role("r", on("pods", "delete")), role("r", on("pods", "get"))];
  const one = `${roles}/r`;
  const applied = { apiVersion: `${group}/v1`, kind: "Role", ...more };
  const statuses = [
    await server.ask("PUT", one, more, asAlice),
    await server.ask("PATCH", `${one}?fieldManager=me`, applied, { type: "apply", ...asAlice }),
    await server.ask("POST", roles, less, asAlice),
    await server.ask("PUT", one, more, asAlice),
    await server.ask("PATCH", one, { rules: more.rules }, { type: "merge", ...asAlice }),
    await server.ask("PATCH", one, { rules: more.rules }, { type: "merge" }),
    await server.ask("PATCH", one, { metadata: { labels: { a: "b" } } }, { type: "merge", ...asAlice }),
    await server.ask("PATCH", one, { metadata: { finalizers: ["example.com/a"] } }, { type: "merge", ...asAlice }),
  ].map(({ status }) => status);
  assert.deepEqual(statuses, [403, 403, 201, 403, 403, 200, 403, 200]);
});

test("the verbs escalate and bind allow rights that the user does not have, by resourceNames if given", async () => {
  const server = await aliceWith(
    ...["roles", "clusterroles", "rolebindings"].map((kind) => on(kind, ...writes)),
    on("clusterroles", "escalate"),
    { ...on("roles", "escalate", "bind"), resourceNames: ["one"] },
  );
  const all = on("pods", "*");
  for (const name of ["one", "two"]) await server.ask("POST", roles, role(name, on("roles", "create")));
  const statuses = [
    await server.ask("POST", clusterRoles, role("x", all), asAlice),
    await server.ask("PATCH", `${roles}/one`, { rules: [all] }, { type: "merge", ...asAlice }),
    await server.ask("PATCH", `${roles}/two`, { rules: [all] }, { type: "merge", ...asAlice }),
    await server.ask("POST", bindings, binding("one", "Role", "one"), asAlice),
    await server.ask("PATCH", `${roles}/two`, { rules: [all] }, { type: "merge" }),
    await server.ask("POST", bindings, binding("two", "Role", "two"), asAlice),
    await server.ask("POST", bindings, binding("none", "Role", "none"), asAlice),
  ].map(({ status }) => status);
  assert.deepEqual(statuses, [201, 200, 403, 201, 200, 403, 404]);
});

test("an aggregating role needs all rights to write, and the aggregated rights to bind", async () => {
  const server = await aliceWith(
    on("pods", "get"),
    ...["clusterroles", "rolebindings"].map((kind) => on(kind, ...writes)),
  );
  const gathers = (name: string) => ({
    ...role(name),
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { gather: "yes" } }] },
  });
  assert.equal(
    told(await server.ask("POST", clusterRoles, gathers("all"), asAlice)),
    `403 clusterroles.${group} "all" is forbidden: must have cluster-admin privileges to use the aggregationRule`,
  );
  await server.ask("POST", clusterRoles, gathers("all"));
  assert.equal((await server.ask("POST", bindings, binding("a", "ClusterRole", "all"), asAlice)).status, 201);
  const more = role("more", on("pods", "delete"));
  await server.ask("POST", clusterRoles, { ...more, metadata: { name: "more", labels: { gather: "yes" } } });
  assert.equal((await server.ask("POST", bindings, binding("b", "ClusterRole", "all"), asAlice)).status, 403);
  const tightened = { aggregationRule: null };
  assert.equal(
    (await server.ask("PATCH", `${clusterRoles}/all`, tightened, { type: "merge", ...asAlice })).status,
    403,
  );
});
