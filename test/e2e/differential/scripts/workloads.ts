/** Pods, services and the kinds that make pods: what is filled in, what is refused. Nothing runs them in these tests. */
import type { JsonObject } from "../../../../src/base/json.ts";
import { create, get, patch, remove, replace, type Script, script } from "../script.ts";

const pods = "/api/v1/namespaces/$NS/pods";
const services = "/api/v1/namespaces/$NS/services";
const apps = "/apis/apps/v1/namespaces/$NS";
const batch = "/apis/batch/v1/namespaces/$NS";

const container = (more: JsonObject = {}): JsonObject => ({ name: "c", image: "box:1", ...more });
const aPod = (spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject => ({
  metadata: { name: "p", ...metadata },
  spec: { containers: [container()], ...spec },
});
const aService = (spec: JsonObject = {}): JsonObject => ({
  metadata: { name: "s" },
  spec: { selector: { app: "a" }, ports: [{ port: 80 }], ...spec },
});
const template = (spec: JsonObject = {}, labels: JsonObject = { app: "a" }): JsonObject => ({
  metadata: { labels },
  spec: { containers: [container()], ...spec },
});
const aWorkload = (spec: JsonObject = {}): JsonObject => ({
  metadata: { name: "w" },
  spec: { selector: { matchLabels: { app: "a" } }, template: template(), ...spec },
});
const aJob = (spec: JsonObject = {}): JsonObject => ({
  metadata: { name: "j" },
  spec: { template: { spec: { containers: [container()], restartPolicy: "Never" } }, ...spec },
});

const podCreations: Readonly<Record<string, JsonObject>> = {
  "nothing special": {},
  "no containers": { containers: [] },
  "an unnamed container without an image": { containers: [{}] },
  "the same container twice": { containers: [container(), container()] },
  "an impossible container": { containers: [container({ name: "A B" })] },
  "the newest image": { containers: [container({ image: "box" }), container({ name: "d", image: "box:latest" })] },
  "an image by digest": { containers: [container({ image: `box@sha256:${"0".repeat(64)}` })] },
  "an unknown pull policy": { containers: [container({ imagePullPolicy: "Sometimes" })] },
  "an unknown restart policy": { restartPolicy: "Sometimes" },
  "an unknown name policy": { dnsPolicy: "Magic" },
  ports: { containers: [container({ ports: [{ containerPort: 80 }, { containerPort: 81, name: "web" }] })] },
  "a port out of range": { containers: [container({ ports: [{ containerPort: 70000 }] })] },
  probes: {
    containers: [
      container({
        livenessProbe: { httpGet: { port: 80 } },
        readinessProbe: { exec: { command: ["true"] } },
        startupProbe: { tcpSocket: { port: "web" } },
        lifecycle: { preStop: { httpGet: { port: 80 } } },
      }),
    ],
  },
  variables: {
    containers: [container({ env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] })],
  },
  limits: { containers: [container({ resources: { limits: { cpu: "1", memory: "1Gi" } } })] },
  requests: { containers: [container({ resources: { requests: { cpu: "0.5" } } })] },
  volumes: {
    volumes: [
      { name: "a" },
      { name: "b", secret: { secretName: "s" } },
      { name: "c", configMap: { name: "m" } },
      { name: "d", hostPath: { path: "/x" } },
      { name: "e", persistentVolumeClaim: { claimName: "c" } },
      { name: "f", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } },
      { name: "g", csi: { driver: "d.x" } },
      { name: "h", downwardAPI: { items: [{ path: "x", fieldRef: { fieldPath: "metadata.name" } }] } },
    ],
    containers: [container({ volumeMounts: [{ name: "a", mountPath: "/a" }] })],
  },
  "a volume with two sources": { volumes: [{ name: "a", emptyDir: {}, secret: { secretName: "s" } }] },
  "an unnamed claim": { volumes: [{ name: "a", persistentVolumeClaim: { claimName: "" } }] },
  "the same volume twice": { volumes: [{ name: "a" }, { name: "a" }] },
  "a mount of nothing": { containers: [container({ volumeMounts: [{ name: "x", mountPath: "" }] })] },
  "two mounts at one place": {
    volumes: [{ name: "a" }],
    containers: [
      container({
        volumeMounts: [
          { name: "a", mountPath: "/a" },
          { name: "a", mountPath: "/a" },
        ],
      }),
    ],
  },
  "a node": { nodeName: "n1" },
  "tolerations of its own": { tolerations: [{ operator: "Exists" }] },
  "the host's network": { hostNetwork: true, containers: [container({ ports: [{ containerPort: 80 }] })] },
  "an account": { serviceAccountName: "robot" },
};

const serviceCreations: Readonly<Record<string, JsonObject>> = {
  "nothing special": {},
  "no ports": { ports: [] },
  "no address": { clusterIP: "None", ports: [] },
  "two unnamed ports": { ports: [{ port: 80 }, { port: 81 }] },
  "two ports of one name": {
    ports: [
      { name: "a", port: 80 },
      { name: "a", port: 81 },
    ],
  },
  "a port out of range": { ports: [{ port: 0 }] },
  "a port of a name elsewhere": { ports: [{ port: 80, targetPort: "web", protocol: "UDP" }] },
  "an unknown protocol": { ports: [{ port: 80, protocol: "ICMP" }] },
  "an unknown type": { type: "Magic" },
  "an unknown affinity": { sessionAffinity: "Strong" },
  "a node port": { type: "NodePort" },
  "a node port of its choice": { type: "NodePort", ports: [{ port: 80, nodePort: 31234 }] },
  "a node port out of range": { type: "NodePort", ports: [{ port: 80, nodePort: 80 }] },
  "a name elsewhere": { type: "ExternalName", externalName: "example.com", ports: null, selector: null },
  "no name elsewhere": { type: "ExternalName", ports: null, selector: null },
};

const workloadCreations: Readonly<Record<string, JsonObject>> = {
  "nothing special": {},
  "no selector": { selector: null },
  "an empty selector": { selector: {} },
  "a selector that does not match": { selector: { matchLabels: { app: "b" } } },
  "a bad selector": { selector: { matchExpressions: [{ key: "app", operator: "In" }] } },
  "negative replicas": { replicas: -1 },
  "no containers": { template: template({ containers: [] }) },
  "a restart policy of its own": { template: template({ restartPolicy: "Never" }) },
  "no template": { template: null },
};

const jobCreations: Readonly<Record<string, JsonObject>> = {
  "nothing special": {},
  "a restart policy nobody wants": { template: { spec: { containers: [container()] } } },
  "several at once": { completions: 3, parallelism: 2, backoffLimit: 0 },
};
const cronJobCreations: Readonly<Record<string, JsonObject>> = {
  "a schedule": { schedule: "*/5 * * * *", jobTemplate: { spec: aJob().spec as JsonObject } },
  "no schedule": { schedule: "", jobTemplate: { spec: aJob().spec as JsonObject } },
};

const workloads = ["deployments", "replicasets", "daemonsets", "statefulsets"];

export const workloadScripts: readonly Script[] = [
  ...Object.entries(podCreations).map(([name, spec]) =>
    script(`a pod is created with ${name}`, create(pods, aPod(spec))),
  ),
  ...Object.entries(serviceCreations).map(([name, spec]) =>
    script(`a service is created with ${name}`, create(services, aService(spec))),
  ),
  ...workloads.flatMap((plural) =>
    Object.entries(workloadCreations)
      .filter(([name]) => plural !== "daemonsets" || !name.includes("replicas"))
      .map(([name, spec]) => script(`${plural} with ${name}`, create(`${apps}/${plural}`, aWorkload(spec)))),
  ),
  ...Object.entries(jobCreations).map(([name, spec]) =>
    script(`a job with ${name}`, create(`${batch}/jobs`, aJob(spec))),
  ),
  ...Object.entries(cronJobCreations).map(([name, spec]) =>
    script(`a recurring job with ${name}`, create(`${batch}/cronjobs`, { metadata: { name: "j" }, spec })),
  ),
  script(
    "a replication controller with nothing special",
    create("/api/v1/namespaces/$NS/replicationcontrollers", {
      metadata: { name: "w" },
      spec: { template: template() },
    }),
  ),
  script(
    "a pod changes its image, and nothing else",
    create(pods, aPod()),
    patch("strategic", `${pods}/p`, { spec: { containers: [{ name: "c", image: "box:2" }] } }),
    patch("strategic", `${pods}/p`, { spec: { containers: [{ name: "c", command: ["x"] }] } }),
    patch("merge", `${pods}/p`, { spec: { nodeName: "other" } }),
    patch("merge", `${pods}/p/status`, { status: { phase: "Running", podIP: "1.2.3.4" } }),
    get(`${pods}?fieldSelector=status.phase%3DRunning`),
    get(`${pods}?fieldSelector=spec.nodeName%3Dnone`),
    get(`${pods}?fieldSelector=spec.unknown%3Dx`),
  ),
  script(
    "an unscheduled pod goes at once, a scheduled one with grace",
    create(pods, aPod({}, { name: "free" })),
    remove(`${pods}/free`),
    get(`${pods}/free`),
    create(pods, aPod({ nodeName: "n1" }, { name: "placed" })),
    remove(`${pods}/placed`),
    remove(`${pods}/placed`, { body: { gracePeriodSeconds: 5 } }),
    remove(`${pods}/placed`, { body: { gracePeriodSeconds: 0 } }),
    get(`${pods}/placed`),
  ),
  script(
    "a workload's selector is kept, its replicas change",
    create(`${apps}/deployments`, aWorkload()),
    patch("merge", `${apps}/deployments/w`, {
      spec: { selector: { matchLabels: { app: "b" } }, template: { metadata: { labels: { app: "b" } } } },
    }),
    patch("merge", `${apps}/deployments/w`, { spec: { replicas: 3 } }),
    get(`${apps}/deployments/w`),
    replace(`${apps}/deployments/w`, aWorkload({ replicas: 2 })),
  ),
  script(
    "a node port is given out once, and may be kept",
    create(services, aService({ type: "NodePort", ports: [{ port: 80, nodePort: 31999 }] })),
    create(services, {
      ...aService({ type: "NodePort", ports: [{ port: 80, nodePort: 31999 }] }),
      metadata: { name: "t" },
    }),
    patch("merge", `${services}/s`, { spec: { ports: [{ port: 81, nodePort: 31999 }] } }),
    patch("merge", `${services}/s`, { spec: { ports: [{ port: 81, nodePort: 1999 }] } }),
    remove(`${services}/s`),
  ),
  script(
    "a service keeps its address",
    create(services, aService()),
    replace(`${services}/s`, aService({ ports: [{ port: 81 }] })),
    patch("merge", `${services}/s`, { spec: { clusterIP: "10.96.77.77" } }),
  ),
];
