import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiServer, type TestServer } from "../../test/api-server.ts";
import type { User } from "./contracts.ts";

const users: Readonly<Record<string, User>> = {
  admin: { name: "admin", groups: ["system:masters", "system:authenticated"] },
  jane: { name: "jane", groups: ["system:authenticated"] },
};
const start = (): TestServer => startApiServer({ authenticate: ({ headers }) => users[headers.authorization ?? ""] });
const maps = "/api/v1/namespaces/default/configmaps";
const as = (authorization: string, more: Record<string, string> = {}) => ({ headers: { authorization, ...more } });

test("an unknown caller gets 401", async () => {
  const { status, body } = await start().ask("GET", maps, undefined, as("nobody"));
  assert.deepEqual([status, body.message, body.reason], [401, "Unauthorized", "Unauthorized"]);
});

test("a forbidden request has an error with verb, resource and user", async () => {
  const { status, body } = await start().ask("GET", maps, undefined, as("jane"));
  assert.equal(status, 403);
  assert.equal(
    body.message,
    'configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "default"',
  );
  assert.deepEqual(body.details, { kind: "configmaps" });
  const path = await start().ask("GET", "/nope", undefined, as("jane"));
  assert.equal(path.body.message, 'forbidden: User "jane" cannot get path "/nope"');
});

test("an administrator may impersonate a user and then has the user's rights", async () => {
  const server = start();
  const refused = await server.ask("GET", maps, undefined, as("admin", { "impersonate-user": "jane" }));
  assert.equal(refused.status, 403);
  const asMaster = as("admin", { "impersonate-user": "joe", "impersonate-group": "system:masters" });
  assert.equal((await server.ask("GET", maps, undefined, asMaster)).status, 200);
});

test("other users may not impersonate", async () => {
  const { body } = await start().ask("GET", maps, undefined, as("jane", { "impersonate-user": "admin" }));
  assert.equal(
    body.message,
    'users "admin" is forbidden: User "jane" cannot impersonate resource "users" in API group "" at the cluster scope',
  );
});

test("a PUT that would create needs the right to create", async () => {
  const server = start();
  const role = {
    metadata: { name: "updater" },
    rules: [{ apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["update"] }],
  };
  const binding = {
    metadata: { name: "jane" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "updater" },
    subjects: [{ kind: "User", name: "jane", apiGroup: "rbac.authorization.k8s.io" }],
  };
  const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
  await server.ask("POST", `${rbac}/roles`, role, as("admin"));
  await server.ask("POST", `${rbac}/rolebindings`, binding, as("admin"));
  const lease = { metadata: { name: "l" }, spec: {} };
  const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
  const { status, body } = await server.ask("PUT", path, lease, as("jane"));
  assert.equal(status, 403);
  assert.match(String(body.message), /cannot create resource "leases"/);
  assert.equal((await server.ask("PUT", path, lease, as("admin"))).status, 201);
  assert.equal(
    (
      await server.ask(
        "PUT",
        path,
        { ...lease, metadata: { name: "l", resourceVersion: String(server.store.version()) } },
        as("jane"),
      )
    ).status,
    200,
  );
});
