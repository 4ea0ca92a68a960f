import assert from "node:assert/strict";
import { test } from "node:test";
import { aContext, created, updated } from "../../../test/strategy.ts";
import type { JsonObject } from "../../base/json.ts";
import type { ApiObject, Strategy } from "../contracts.ts";
import { part } from "./check.ts";
import { createStrategies } from "./strategies.ts";

const strategies = createStrategies();
const strategyOf = (kind: string): Strategy => strategies[kind] ?? assert.fail(`${kind} has no strategy`);
const container = (more: JsonObject = {}): JsonObject => ({ name: "c", image: "box:1", ...more });
const aPod = (spec: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "team" },
  spec: { containers: [container()], ...spec },
});
const aWorkload = (kind: string, spec: JsonObject = {}): JsonObject => ({
  apiVersion: kind === "Job" ? "batch/v1" : "apps/v1",
  kind,
  metadata: { name: "w", namespace: "team", uid: "u1" },
  spec: {
    ...(kind === "Job" ? {} : { selector: { matchLabels: { app: "a" } } }),
    template: {
      metadata: { labels: { app: "a" } },
      spec: { containers: [container()], ...(kind === "Job" ? { restartPolicy: "Never" } : {}) },
    },
    ...spec,
  },
});
const containerOf = (object: ApiObject): JsonObject => (part(object, "spec").containers as JsonObject[])[0] ?? {};

test("a pod gets Kubernetes' defaults", () => {
  const { object, says } = created(strategyOf("/Pod"), aPod());
  assert.deepEqual(says, []);
  assert.deepEqual(object.status, { phase: "Pending", qosClass: "BestEffort" });
  const { containers: _, ...spec } = part(object, "spec");
  assert.deepEqual(spec, {
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    securityContext: {},
    schedulerName: "default-scheduler",
    enableServiceLinks: true,
  });
  assert.deepEqual(containerOf(object), {
    name: "c",
    image: "box:1",
    resources: {},
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: "IfNotPresent",
  });
});

const images = {
  box: "Always",
  "box:latest": "Always",
  "host:5000/box": "Always",
  "box:2": "IfNotPresent",
  "box@sha256:0": "IfNotPresent",
};
for (const [image, policy] of Object.entries(images))
  test(`the image ${image} is pulled ${policy}`, () => {
    const { object } = created(strategyOf("/Pod"), aPod({ containers: [container({ image })] }));
    assert.equal(containerOf(object).imagePullPolicy, policy);
  });

const both = { cpu: "1", memory: "1Gi" };
const classes: readonly (readonly [given: string, resources: JsonObject, qosClass: string])[] = [
  ["nothing", {}, "BestEffort"],
  ["a request", { requests: { cpu: "1" } }, "Burstable"],
  ["limits for everything", { limits: both }, "Guaranteed"],
  ["limits above its requests", { limits: both, requests: { cpu: "500m", memory: "1Gi" } }, "Burstable"],
];
for (const [given, resources, qosClass] of classes)
  test(`a pod with ${given} as resources is ${qosClass}`, () => {
    const { object } = created(strategyOf("/Pod"), aPod({ containers: [container({ resources })] }));
    assert.equal(part(object, "status").qosClass, qosClass);
  });

const badPods: readonly (readonly [given: string, spec: JsonObject, says: readonly string[]])[] = [
  ["no containers", { containers: [] }, ["spec.containers: Required value"]],
  [
    "a container without name and image",
    { containers: [{}] },
    ["spec.containers[0].name: Required value", "spec.containers[0].image: Required value"],
  ],
  [
    "the same container twice",
    { containers: [container(), container()] },
    ['spec.containers[1].name: Duplicate value: "c"'],
  ],
  [
    "a mount of nothing",
    { containers: [container({ volumeMounts: [{ name: "x", mountPath: "/x" }] })] },
    ['spec.containers[0].volumeMounts[0].name: Not found: "x"'],
  ],
  [
    "an unnamed claim",
    { volumes: [{ name: "v", persistentVolumeClaim: {} }] },
    ["spec.volumes[0].persistentVolumeClaim.claimName: Required value"],
  ],
  [
    "an unknown restart policy",
    { restartPolicy: "Maybe" },
    ['spec.restartPolicy: Unsupported value: "Maybe": supported values: "Always", "OnFailure", "Never"'],
  ],
];
for (const [given, spec, says] of badPods)
  test(`a pod with ${given} is rejected`, () => assert.deepEqual(created(strategyOf("/Pod"), aPod(spec)).says, says));

test("a pod may change its image, and hardly anything else", () => {
  const strategy = strategyOf("/Pod");
  const { object } = created(strategy, aPod());
  const change = (more: JsonObject) => (body: JsonObject) => {
    body.spec = { ...part(body, "spec"), containers: [container(more)] };
  };
  assert.deepEqual(updated(strategy, object, change({ image: "box:2", imagePullPolicy: "IfNotPresent" })).says, []);
  const [refused = ""] = updated(strategy, object, change({ command: ["x"] })).says;
  assert.match(refused, /^spec: Forbidden: pod updates may not change fields other than/);
  assert.match(refused, /changed: containers$/);
});

test("only a pod on a node gets a grace period", () => {
  const strategy = strategyOf("/Pod");
  const graceOf = (spec: JsonObject, asked?: number, phase = "Running") =>
    strategy.graceSeconds?.({ ...created(strategy, aPod(spec)).object, status: { phase } }, asked);
  assert.equal(graceOf({}), 0);
  assert.equal(graceOf({ nodeName: "n" }), 30);
  assert.equal(graceOf({ nodeName: "n" }, 5), 5);
  assert.equal(graceOf({ nodeName: "n" }, undefined, "Succeeded"), 0);
});

const aService = (spec: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "s", namespace: "team" },
  spec: { ports: [{ port: 80 }], ...spec },
});

test("a service gets a free address, and keeps it", () => {
  const strategy = strategyOf("/Service");
  const { object: first } = created(strategy, aService());
  const taken = aContext({ reader: { get: () => undefined, list: () => [first] } });
  const { object: second } = created(strategy, aService(), taken);
  assert.equal(part(first, "spec").clusterIP, "10.96.0.16");
  assert.equal(part(second, "spec").clusterIP, "10.96.0.17");
  assert.deepEqual(part(first, "spec").ports, [{ protocol: "TCP", port: 80, targetPort: 80 }]);
  const kept = updated(strategy, first, (body) => void Object.assign(body, aService({ ports: [{ port: 81 }] })), taken);
  assert.deepEqual([kept.says, part(kept.object, "spec").clusterIP], [[], "10.96.0.16"]);
});

test("a node port belongs to one service, within the node port range", () => {
  const strategy = strategyOf("/Service");
  const onNodes = (nodePort: number): JsonObject => aService({ type: "NodePort", ports: [{ port: 80, nodePort }] });
  const { object: first, says } = created(strategy, onNodes(30_100));
  assert.deepEqual(says, []);
  const taken = aContext({ reader: { get: () => undefined, list: () => [first] } });
  assert.deepEqual(created(strategy, onNodes(30_100), taken).says, [
    "spec.ports[0].nodePort: Invalid value: 30100: provided port is already allocated",
  ]);
  assert.deepEqual(created(strategy, onNodes(80), taken).says, [
    "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767",
  ]);
  assert.deepEqual(updated(strategy, first, (body) => void Object.assign(body, onNodes(30_100)), taken).says, []);
});

const badServices: readonly (readonly [given: string, spec: JsonObject, says: readonly string[]])[] = [
  ["no ports", { ports: [] }, ["spec.ports: Required value"]],
  ["no ports, and no address either", { ports: [], clusterIP: "None" }, []],
  [
    "two ports without names",
    { ports: [{ port: 80 }, { port: 81 }] },
    ["spec.ports[0].name: Required value", "spec.ports[1].name: Required value"],
  ],
  [
    "an unknown type",
    { type: "Magic" },
    [
      'spec.type: Unsupported value: "Magic": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
    ],
  ],
];
for (const [given, spec, says] of badServices)
  test(`a service with ${given} is ${says.length === 0 ? "accepted" : "rejected"}`, () =>
    assert.deepEqual(created(strategyOf("/Service"), aService(spec)).says, says));

const filledIn: Readonly<Record<string, JsonObject>> = {
  "apps/Deployment": {
    replicas: 1,
    strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
  },
  "apps/ReplicaSet": { replicas: 1 },
  "apps/DaemonSet": {
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
    revisionHistoryLimit: 10,
  },
  "apps/StatefulSet": {
    replicas: 1,
    podManagementPolicy: "OrderedReady",
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
  },
  "batch/Job": {
    completions: 1,
    parallelism: 1,
    backoffLimit: 6,
    completionMode: "NonIndexed",
    suspend: false,
    podReplacementPolicy: "TerminatingOrFailed",
    selector: { matchLabels: { "batch.kubernetes.io/controller-uid": "u1" } },
  },
};
for (const [kind, expected] of Object.entries(filledIn))
  test(`a ${kind} gets Kubernetes' defaults`, () => {
    const { object, says } = created(strategyOf(kind), aWorkload(kind.split("/")[1] ?? ""));
    assert.deepEqual(says, []);
    const spec = part(object, "spec");
    for (const [key, value] of Object.entries(expected)) assert.deepEqual(spec[key], value, key);
  });

const badWorkloads: readonly (readonly [given: string, kind: string, spec: JsonObject, says: readonly string[]])[] = [
  [
    "a selector that does not match",
    "Deployment",
    { selector: { matchLabels: { app: "b" } } },
    ['spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`'],
  ],
  [
    "an empty selector",
    "StatefulSet",
    { selector: {} },
    ["spec.selector: Invalid value: {}: empty selector is invalid for statefulset"],
  ],
  [
    "negative replicas",
    "ReplicaSet",
    { replicas: -1 },
    ["spec.replicas: Invalid value: -1: must be greater than or equal to 0"],
  ],
  [
    "pods that never end",
    "Job",
    { template: { spec: { containers: [container()] } } },
    ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  ],
];
for (const [given, kind, spec, says] of badWorkloads)
  test(`a ${kind} with ${given} is rejected`, () =>
    assert.deepEqual(
      created(strategyOf(`${kind === "Job" ? "batch" : "apps"}/${kind}`), aWorkload(kind, spec)).says,
      says,
    ));

test("a workload's selector is immutable", () => {
  const strategy = strategyOf("apps/Deployment");
  const { object } = created(strategy, aWorkload("Deployment"));
  const { says } = updated(strategy, object, (body) => {
    body.spec = { ...part(body, "spec"), selector: { matchLabels: { app: "a", more: "x" } } };
  });
  assert.ok(
    says.some((text) => /^spec.selector: Invalid value: .*: field is immutable$/.test(text)),
    says.join("\n"),
  );
});
