/** A test kind, for tests of CustomResourceDefinitions in the API server. */
import type { JsonObject } from "../src/base/json.ts";

export const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
export const things = "/apis/example.com/v1/namespaces/default/things";

export const thingDefinition = (versions: readonly JsonObject[], names: JsonObject = {}): JsonObject => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "things.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "things", kind: "Thing", ...names },
    versions: [...versions],
  },
});
