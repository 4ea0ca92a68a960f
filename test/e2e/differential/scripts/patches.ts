/** Patches of every type, of built-in and custom objects. */
import type { JsonObject, JsonValue } from "../../../../src/base/json.ts";
import { create, get, type PatchType, patch, type Script, type Step, script } from "../script.ts";
import { aThing, things } from "./custom.ts";

const pods = "/api/v1/namespaces/$NS/pods";
const deployments = "/apis/apps/v1/namespaces/$NS/deployments";
const configMaps = "/api/v1/namespaces/$NS/configmaps";
const services = "/api/v1/namespaces/$NS/services";

const aPod: JsonObject = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", labels: { a: "1", b: "2" }, finalizers: ["example.com/x", "example.com/y"] },
  spec: {
    containers: [
      { name: "one", image: "i1", env: [{ name: "A", value: "1" }], args: ["x"] },
      { name: "two", image: "i2" },
    ],
    tolerations: [
      { key: "k", operator: "Exists", effect: "NoSchedule", tolerationSeconds: undefined as unknown as number },
    ],
  },
};

const aDeployment: JsonObject = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "d" },
  spec: {
    selector: { matchLabels: { a: "b" } },
    template: {
      metadata: { labels: { a: "b" } },
      spec: {
        containers: [
          {
            name: "one",
            image: "i1",
            ports: [{ containerPort: 80 }],
            env: [
              { name: "A", value: "1" },
              { name: "B", value: "2" },
            ],
          },
          { name: "two", image: "i2", volumeMounts: [{ name: "v", mountPath: "/v" }] },
        ],
        volumes: [{ name: "v", emptyDir: {} }],
      },
    },
  },
};

const aMap: JsonObject = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "m", labels: { a: "1" } },
  data: { x: "1", y: "2" },
};
const aService: JsonObject = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "s" },
  spec: {
    selector: { a: "b" },
    ports: [
      { name: "http", port: 80 },
      { name: "https", port: 443 },
    ],
  },
};

const template = (spec: JsonObject): JsonObject => ({ spec: { template: { spec } } });

const strategicDeployment: Readonly<Record<string, JsonObject>> = {
  "changes one container": template({ containers: [{ name: "two", image: "new" }] }),
  "adds a container": template({ containers: [{ name: "three", image: "i3" }] }),
  "deletes a container": template({ containers: [{ name: "one", $patch: "delete" }] }),
  "replaces the containers": template({ containers: [{ $patch: "replace" }, { name: "only", image: "i" }] }),
  "orders the containers": template({
    "$setElementOrder/containers": [{ name: "two" }, { name: "one" }],
    containers: [{ name: "one", image: "new" }],
  }),
  "orders containers it does not change": template({
    "$setElementOrder/containers": [{ name: "two" }, { name: "one" }],
  }),
  "changes an environment variable": template({
    containers: [
      {
        name: "one",
        env: [
          { name: "B", value: "9" },
          { name: "C", value: "3" },
        ],
      },
    ],
  }),
  "removes an environment variable": template({
    containers: [{ name: "one", env: [{ name: "A", $patch: "delete" }] }],
  }),
  "adds a port": template({ containers: [{ name: "one", ports: [{ containerPort: 81, name: "more" }] }] }),
  "changes the kind of a volume": template({
    volumes: [{ $retainKeys: ["name", "configMap"], name: "v", configMap: { name: "c" } }],
  }),
  "leaves a second kind of volume": template({ volumes: [{ name: "v", configMap: { name: "c" } }] }),
  "changes the strategy": { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } },
  "leaves out the merge key": template({ containers: [{ image: "new" }] }),
  "uses an unknown directive": template({ containers: [{ name: "one", $patch: "destroy" }] }),
  "merges by directive in a list": template({ containers: [{ name: "one", $patch: "merge" }] }),
  "retains other keys than it sets": { spec: { strategy: { $retainKeys: ["rollingUpdate"], type: "Recreate" } } },
  "orders against its own list": template({
    "$setElementOrder/containers": [{ name: "one" }],
    containers: [{ name: "two", image: "x" }],
  }),
  "replaces the labels": { metadata: { labels: { $patch: "replace", c: "3" } } },
  "deletes the labels": { spec: { template: { metadata: { labels: { $patch: "delete" } } } } },
  "sets replicas to null": { spec: { replicas: null } },
  "sets an unknown field": { spec: { foo: 1 } },
  "sets a value of the wrong type": { spec: { replicas: "many" } },
  "changes the selector": { spec: { selector: { matchLabels: { a: "c" } } } },
};

const strategicPod: Readonly<Record<string, JsonObject>> = {
  "adds a finalizer": { metadata: { finalizers: ["example.com/z"] } },
  "takes a finalizer out": { metadata: { "$deleteFromPrimitiveList/finalizers": ["example.com/x"] } },
  "orders finalizers": { metadata: { "$setElementOrder/finalizers": ["example.com/y", "example.com/x"] } },
  "removes a label": { metadata: { labels: { a: null } } },
  "adds an owner": { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "m", uid: "u-1" }] } },
  "changes an image": { spec: { containers: [{ name: "one", image: "new" }] } },
  "changes what may not change": { spec: { containers: [{ name: "one", args: ["y"] }] } },
};

const one = (type: PatchType, name: string, start: Step, path: string, body: unknown): Script => {
  // The owner does not exist, so that the object is deleted in the background, and held by its finalizers.
  const isDeleted = ({ metadata }: JsonObject): boolean => (metadata as JsonObject).deletionTimestamp !== undefined;
  const read = get(path, name === "adds an owner (Pod)" ? { until: isDeleted } : {});
  return script(`a ${type} patch ${name}`, start, patch(type, path, body), read);
};

const strategic: readonly Script[] = [
  ...Object.entries(strategicDeployment).map(([name, body]) =>
    one("strategic", `${name} (Deployment)`, create(deployments, aDeployment), `${deployments}/d`, body),
  ),
  ...Object.entries(strategicPod).map(([name, body]) =>
    one("strategic", `${name} (Pod)`, create(pods, aPod), `${pods}/p`, body),
  ),
  one("strategic", "changes a port (Service)", create(services, aService), `${services}/s`, {
    spec: { ports: [{ port: 443, targetPort: 8443 }] },
  }),
  one("strategic", "removes a port (Service)", create(services, aService), `${services}/s`, {
    spec: { ports: [{ port: 443, $patch: "delete" }] },
  }),
  one("strategic", "changes data (ConfigMap)", create(configMaps, aMap), `${configMaps}/m`, {
    data: { x: null, z: "3" },
  }),
  one("strategic", "is no object (ConfigMap)", create(configMaps, aMap), `${configMaps}/m`, []),
  one("strategic", "meets a custom object", create(things, aThing()), `${things}/t`, { spec: { number: 5 } }),
];

const jsonPatches: Readonly<Record<string, JsonValue>> = {
  adds: [{ op: "add", path: "/data/z", value: "3" }],
  replaces: [{ op: "replace", path: "/data/x", value: "9" }],
  removes: [{ op: "remove", path: "/data/x" }],
  "tests and fails": [{ op: "test", path: "/data/x", value: "9" }],
  "tests and passes": [
    { op: "test", path: "/data/x", value: "1" },
    { op: "remove", path: "/data/x" },
  ],
  moves: [{ op: "move", from: "/data/x", path: "/data/q" }],
  copies: [{ op: "copy", from: "/data/x", path: "/data/q" }],
  "removes what is not there": [{ op: "remove", path: "/data/none" }],
  "replaces what is not there": [{ op: "replace", path: "/data/none", value: "1" }],
  "adds below nothing": [{ op: "add", path: "/foo/bar", value: "1" }],
  "uses an unknown operation": [{ op: "twist", path: "/data/x" }],
  "is no list": { op: "add" },
  "escapes a path": [{ op: "add", path: "/metadata/labels/a.b~1c", value: "1" }],
  "changes the name": [{ op: "replace", path: "/metadata/name", value: "other" }],
  "changes the kind": [{ op: "replace", path: "/kind", value: "Secret" }],
};

const plain: readonly Script[] = [
  ...Object.entries(jsonPatches).map(([name, body]) =>
    one("json", `${name} (ConfigMap)`, create(configMaps, aMap), `${configMaps}/m`, body),
  ),
  one("merge", "changes data (ConfigMap)", create(configMaps, aMap), `${configMaps}/m`, { data: { x: null, z: "3" } }),
  one(
    "merge",
    "replaces a list (Deployment)",
    create(deployments, aDeployment),
    `${deployments}/d`,
    template({ containers: [{ name: "one", image: "new" }] }),
  ),
  one("merge", "sets a value of the wrong type (ConfigMap)", create(configMaps, aMap), `${configMaps}/m`, {
    data: { x: 5 },
  }),
  one("merge", "is no object (ConfigMap)", create(configMaps, aMap), `${configMaps}/m`, "[]"),
  one("merge", "is guarded by a version that is past (ConfigMap)", create(configMaps, aMap), `${configMaps}/m`, {
    metadata: { resourceVersion: "1" },
    data: { x: "2" },
  }),
  one("merge", "is guarded by another uid (ConfigMap)", create(configMaps, aMap), `${configMaps}/m`, {
    metadata: { uid: "other" },
    data: { x: "2" },
  }),
  one("merge", "meets nothing", create(configMaps, aMap), `${configMaps}/none`, { data: { x: "2" } }),
  one("merge", "sets unknown fields (ConfigMap)", create(configMaps, aMap), `${configMaps}/m?fieldValidation=Strict`, {
    foo: 1,
    metadata: { bar: 1 },
  }),
  one("json", "of a custom object", create(things, aThing({ list: ["a", "b"] })), `${things}/t`, [
    { op: "add", path: "/spec/list/1", value: "c" },
    { op: "remove", path: "/spec/list/0" },
  ]),
  one("json", "of a custom object that breaks it", create(things, aThing()), `${things}/t`, [
    { op: "remove", path: "/spec/must" },
  ]),
  script("a patch of an unknown type", create(configMaps, aMap), {
    method: "PATCH",
    path: `${configMaps}/m`,
    body: {},
    type: "application/json",
  }),
];

export const patchScripts: readonly Script[] = [...strategic, ...plain];
