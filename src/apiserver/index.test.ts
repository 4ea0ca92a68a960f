import assert from "node:assert/strict";
import { test } from "node:test";
import { readAll } from "../base/http.ts";
import { parse } from "../base/json.ts";
import { type ApiObject, createApiServer, type Plugin } from "./index.ts";
import { Refusal } from "./status.ts";

const map = (name: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
  data: {},
});
const maps = "/api/v1/namespaces/default/configmaps";

async function ask(
  server: Pick<ReturnType<typeof createApiServer>, "handler">,
  method: string,
  path: string,
  body?: object,
) {
  const headers = { "content-type": "application/json" };
  const response = await server.handler({ method, path, headers, ...(body && { body: JSON.stringify(body) }) });
  return { status: response.status, object: parse(await readAll(response.body)) as unknown as ApiObject };
}

test("without options there is a server that answers requests of this process, and needs neither start nor stop", async () => {
  const server = createApiServer();
  assert.equal((await ask(server, "POST", maps, map("a"))).status, 201);
  assert.equal((await ask(server, "GET", `${maps}/a`)).object.metadata.name, "a");
  await server.stop();
});

test("a server that was started serves over HTTPS until it is stopped, and then nobody listens", async () => {
  const server = createApiServer();
  const { url, kubeconfig } = await server.start();
  assert.ok(kubeconfig.includes(url));
  await server.stop();
  await assert.rejects(fetch(url), (reason: Error) => /ECONNREFUSED/.test(String(reason.cause)));
});

test("plugins add background work, objects, admission, and are shared by servers", async () => {
  const seen: string[] = [];
  const plugin: Plugin = {
    background: [
      () => ({
        name: "note",
        keysFor: ({ collection, now }) => (collection === "configmaps" ? [now.object.metadata.name ?? ""] : []),
        reconcile: async (key) => void seen.push(key),
      }),
    ],
    bootstrap: (usual) => [...usual, map("from-the-start")],
    admission: (usual) => (context) => ({
      ...usual(context),
      validate: async ({ name }) => {
        if (name === "refused") throw new Refusal(403, "Forbidden", "not this one");
      },
    }),
  };
  for (const server of [createApiServer({ plugins: [plugin] }), createApiServer({ plugins: [plugin] })]) {
    assert.equal((await ask(server, "POST", maps, map("refused"))).status, 403);
    await server.start();
    assert.equal((await ask(server, "POST", maps, map("allowed"))).status, 201);
    for (let tries = 0; tries < 1_000 && !seen.includes("allowed"); tries++)
      await new Promise((next) => setImmediate(next));
    await server.stop();
    assert.deepEqual(
      seen
        .splice(0)
        .filter((name) => name !== "kube-root-ca.crt")
        .sort(),
      ["allowed", "from-the-start"],
    );
  }
});

test("without the plugin that binds volumes a claim waits for somebody else", async () => {
  const server = createApiServer();
  const claims = "/api/v1/namespaces/default/persistentvolumeclaims";
  const claim = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "data" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  };
  await server.start();
  await ask(server, "POST", claims, claim);
  const { object } = await ask(server, "GET", `${claims}/data`);
  assert.deepEqual(object.status, { phase: "Pending" });
  await server.stop();
});
