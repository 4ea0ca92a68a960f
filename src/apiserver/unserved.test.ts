import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiServer } from "../../test/api-server.ts";

const account = "/api/v1/namespaces/default/serviceaccounts/robot";
const pod = "/api/v1/namespaces/default/pods/p";

test("a TokenRequest is rejected with a message that names impersonation as the alternative", async () => {
  const { ask } = startApiServer();
  await ask("POST", "/api/v1/namespaces/default/serviceaccounts", {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "robot" },
  });
  const { status, body } = await ask("POST", `${account}/token`, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: {},
  });
  assert.equal(status, 501);
  assert.match(String(body.message), /it issues no tokens; act as the account by "kubectl --as=system:/);
});

test("a user with the impersonate verb acts as the service account with its rights", async () => {
  const { ask } = startApiServer();
  const headers = { "impersonate-user": "system:serviceaccount:default:robot" };
  const { status, body } = await ask("GET", "/api/v1/secrets", undefined, { headers });
  assert.equal(status, 403);
  assert.match(String(body.message), /User "system:serviceaccount:default:robot" cannot list resource "secrets"/);
});

for (const path of [`${pod}/log`, `${pod}/exec?command=ls`, `${pod}/proxy`])
  test(`GET ${path} says that pods are never run here`, async () => {
    const { status, body } = await startApiServer().ask("GET", path);
    assert.equal(status, 501);
    assert.match(String(body.message), /pods are stored here and never run/);
  });

test("the scale subresource of a workload is rejected with a remedy", async () => {
  const server = startApiServer();
  const path = "/apis/apps/v1/namespaces/default/deployments/d/scale";
  for (const method of ["GET", "PUT", "PATCH"]) {
    const { status, body } = await server.ask(method, path, method === "GET" ? undefined : {}, { type: "merge" });
    assert.equal(status, 501);
    assert.match(
      String(body.message),
      /deployments\/scale is not served .*: change the number of replicas in the object itself/,
    );
  }
  const { status } = await server.ask("GET", "/apis/apps/v1/namespaces/default/daemonsets/d/scale");
  assert.equal(status, 404);
});

test("a subresource that Kubernetes does not have either is not found", async () => {
  const { status, body } = await startApiServer().ask("GET", `${pod}/constructor`);
  assert.deepEqual([status, body.message], [404, "the server could not find the requested resource"]);
});
