// @ts-check
/** A test of an operator: an API server with your CustomResourceDefinition, no cluster, no Go, no etcd. `node examples/test-an-operator.mjs` */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiServer } from "snapkeep/apiserver";
import { connectToCluster, isFault } from "snapkeep/kube";

const widgets = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: { size: { type: "integer" } },
                "x-kubernetes-validations": [{ rule: "self.size > 0", message: "a widget has a size" }],
              },
            },
          },
        },
      },
    ],
  },
};

const server = createApiServer({ definitions: [widgets] });
const { url, kubeconfig } = await server.start();
const folder = mkdtempSync(join(tmpdir(), "operator-"));
try {
  // Any client will do: kubectl --kubeconfig, client-go, yours. This one is ours.
  writeFileSync(join(folder, "kubeconfig"), kubeconfig, { mode: 0o600 });
  const { api, close } = await connectToCluster({ kubeconfig: join(folder, "kubeconfig") });
  const path = "/apis/example.com/v1/namespaces/default/widgets";
  const widget = (/** @type {number} */ size) => ({
    apiVersion: "example.com/v1",
    kind: "Widget",
    metadata: { name: "one" },
    spec: { size },
  });

  await api.postPath(path, widget(3));
  const stored = /** @type {ReturnType<typeof widget>} */ (await api.getPath(`${path}/one`));
  assert.equal(stored.spec.size, 3);
  // The rules of the definition hold, as on a real server.
  await assert.rejects(api.postPath(path, widget(0)), (/** @type {Error} */ reason) => {
    assert.ok(isFault(reason, "Invalid"));
    assert.match(reason.message, /a widget has a size/);
    return true;
  });
  close();
  console.log(`Widgets were served at ${new URL(url).hostname}, and a wrong one was refused.`);
} finally {
  await server.stop();
  rmSync(folder, { recursive: true });
}
