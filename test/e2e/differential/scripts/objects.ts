/** Namespaces, secrets, maps, accounts, events, leases, nodes. */
import type { JsonObject } from "../../../../src/base/json.ts";
import { create, get, gone, patch, remove, replace, type Script, script } from "../script.ts";

const inNamespace = (plural: string): string => `/api/v1/namespaces/$NS/${plural}`;
const secrets = inNamespace("secrets");
const maps = inNamespace("configmaps");
const events = inNamespace("events");
const newEvents = "/apis/events.k8s.io/v1/namespaces/$NS/events";
const leases = "/apis/coordination.k8s.io/v1/namespaces/$NS/leases";
const namespaces = "/api/v1/namespaces";
const base64 = (text: string): string => Buffer.from(text).toString("base64");

const aSecret = (more: JsonObject = {}): JsonObject => ({ metadata: { name: "s" }, ...more });
const aMap = (more: JsonObject = {}): JsonObject => ({ metadata: { name: "m" }, ...more });
const aLease = (spec: JsonObject = {}): JsonObject => ({ metadata: { name: "l" }, spec });
const about = { kind: "Pod", namespace: "$NS", name: "p", uid: "u", apiVersion: "v1" };
const anEvent = (more: JsonObject = {}): JsonObject => ({
  metadata: { name: "e" },
  involvedObject: about,
  reason: "Tested",
  message: "it was",
  type: "Normal",
  ...more,
});
const aNewEvent = (more: JsonObject = {}): JsonObject => ({
  metadata: { name: "e" },
  regarding: about,
  reason: "Tested",
  note: "it was",
  type: "Normal",
  action: "Testing",
  reportingController: "example.com/tester",
  reportingInstance: "one",
  eventTime: "2024-05-06T07:08:09.000001Z",
  ...more,
});

const secretCreations: Readonly<Record<string, JsonObject>> = {
  nothing: {},
  "plain text": { stringData: { a: "ä", b: "" }, data: { a: base64("old"), c: base64("c") } },
  "a bad key": { data: { "a b": "" } },
  "a key of dots": { data: { "..": "" } },
  "data that is not base64": { data: { a: "*" } },
  "a certificate's type": { type: "kubernetes.io/tls" },
  "a certificate's parts": { type: "kubernetes.io/basic-auth", data: { username: base64("u") } },
  "no user and no password": { type: "kubernetes.io/basic-auth" },
  "no key to log in with": { type: "kubernetes.io/ssh-auth", data: { "ssh-privatekey": "" } },
  "no registry": { type: "kubernetes.io/dockerconfigjson" },
  "a registry": { type: "kubernetes.io/dockerconfigjson", data: { ".dockerconfigjson": base64("{}") } },
  "no account": { type: "kubernetes.io/service-account-token" },
  "more than a megabyte": { data: { a: base64("x".repeat(1024 * 1024 + 1)) } },
};
const mapCreations: Readonly<Record<string, JsonObject>> = {
  nothing: {},
  "text and bytes": { data: { a: "b" }, binaryData: { c: base64("d") } },
  "a key in both": { data: { a: "b" }, binaryData: { a: base64("d") } },
  "bad keys": { data: { "": "x" }, binaryData: { "../x": "" } },
  "more than a megabyte": { data: { a: "x".repeat(1024 * 1024 + 1) } },
  "numbers as text": { data: { a: 1 } },
};
const metadataCreations: Readonly<Record<string, JsonObject>> = {
  "no name": {},
  "an impossible name": { name: "A B" },
  "a name too long": { name: "a".repeat(254) },
  "another namespace": { name: "m", namespace: "elsewhere" },
  "bad labels": { name: "m", labels: { "a b": "c d" } },
  "bad annotations": { name: "m", annotations: { "a b/c": "d" } },
  "a bad finalizer": { name: "m", finalizers: ["a b"] },
  "an unqualified finalizer": { name: "m", finalizers: ["plain"] },
  "half an owner": { name: "m", ownerReferences: [{ kind: "Pod" }] },
  "two owners in control": {
    name: "m",
    ownerReferences: ["a", "b"].map((name) => ({ apiVersion: "v1", kind: "Pod", name, uid: name, controller: true })),
  },
  "its own idea of its origin": { name: "m", uid: "x", creationTimestamp: "2001-01-01T00:00:00Z", generation: 7 },
  "a version": { name: "m", resourceVersion: "5" },
  "a made-up name": { generateName: "made-" },
};
const eventCreations: Readonly<Record<string, JsonObject>> = {
  "nothing special": {},
  "another namespace": { involvedObject: { ...about, namespace: "elsewhere" } },
  "nothing to be about": { involvedObject: {} },
  "a time of the newer kind": { eventTime: "2024-05-06T07:08:09.000001Z" },
  "times and a count": { firstTimestamp: "2024-05-06T07:08:09Z", lastTimestamp: "2024-05-06T09:08:09+02:00", count: 3 },
};
const newEventCreations: Readonly<Record<string, JsonObject>> = {
  "everything needed": {},
  "no time": { eventTime: null },
  "nobody reporting": { reportingController: "", reportingInstance: "", action: "", reason: "" },
  "an unknown type": { type: "Bad" },
  "fields of the older kind": { deprecatedCount: 1, deprecatedSource: { component: "x" } },
  "a series of one": { series: { count: 1, lastObservedTime: "2024-05-06T07:08:09.000001Z" } },
  "too long a note": { note: "x".repeat(1025) },
};
const leaseCreations: Readonly<Record<string, JsonObject>> = {
  nothing: {},
  everything: {
    holderIdentity: "me",
    leaseDurationSeconds: 15,
    acquireTime: "2024-05-06T07:08:09.123456Z",
    renewTime: "2024-05-06T07:08:09.123456Z",
    leaseTransitions: 0,
  },
  "no time": { leaseDurationSeconds: 0 },
  "negative transitions": { leaseTransitions: -1 },
  "a time without fractions": { renewTime: "2024-05-06T07:08:09Z" },
  "a preferred holder": { preferredHolder: "x" },
  "a strategy nobody knows": { strategy: "Youngest" },
};

const creations = (
  what: string,
  path: string,
  table: Readonly<Record<string, JsonObject>>,
  make: (more: JsonObject) => JsonObject,
): readonly Script[] =>
  Object.entries(table).map(([name, more]) => script(`${what} is created with ${name}`, create(path, make(more))));

export const objectScripts: readonly Script[] = [
  ...creations("a secret", secrets, secretCreations, aSecret),
  ...creations("a map", maps, mapCreations, aMap),
  ...creations("an object", maps, metadataCreations, (metadata) => ({ metadata })),
  ...creations("an event", events, eventCreations, anEvent),
  ...creations("an event of the newer kind", newEvents, newEventCreations, aNewEvent),
  ...creations("a lease", leases, leaseCreations, aLease),
  script(
    "a secret changes its type",
    create(secrets, aSecret()),
    patch("merge", `${secrets}/s`, { type: "other" }),
    replace(`${secrets}/s`, aSecret({ stringData: { a: "b" } })),
  ),
  script(
    "an immutable secret changes",
    create(secrets, aSecret({ immutable: true, data: { a: base64("b") } })),
    patch("merge", `${secrets}/s`, { data: { a: base64("c") } }),
    patch("merge", `${secrets}/s`, { immutable: false }),
    patch("merge", `${secrets}/s`, { metadata: { labels: { a: "b" } } }),
  ),
  script(
    "an immutable map changes",
    create(maps, aMap({ immutable: true, data: { a: "b" } })),
    patch("merge", `${maps}/m`, { data: { a: "c" }, binaryData: { d: "" } }),
    remove(`${maps}/m`),
  ),
  script(
    "an event is read under its other name",
    create(events, anEvent({ count: 2, source: { component: "x", host: "h" } })),
    get(`${newEvents}/e`),
    patch("merge", `${newEvents}/e`, { series: { count: 3, lastObservedTime: "2024-05-06T07:08:09.000001Z" } }),
    get(`${events}?fieldSelector=involvedObject.name%3Dp,reason%3DTested`),
    get(`${events}?fieldSelector=involvedObject.uid%3Dother`),
    get(`${newEvents}?fieldSelector=regarding.kind%3DPod,reportingController%3Dx`),
  ),
  script(
    "an event of the newer kind is read under the older name, and may not change",
    create(newEvents, aNewEvent()),
    get(`${events}/e`),
    patch("merge", `${newEvents}/e`, { note: "other", action: "Other" }),
  ),
  script(
    "a lease is put where there is none",
    replace(`${leases}/l`, aLease({ holderIdentity: "me" })),
    replace(`${leases}/l`, aLease({ holderIdentity: "you" })),
  ),
  script("an account is created", create(inNamespace("serviceaccounts"), { metadata: { name: "robot" } })),
  script(
    "a namespace is created, changed and deleted",
    create(namespaces, { metadata: { name: "$ID" }, spec: { finalizers: ["example.com/x"] } }),
    patch("merge", `${namespaces}/$ID`, { metadata: { labels: { a: "b", "kubernetes.io/metadata.name": "other" } } }),
    patch("merge", `${namespaces}/$ID`, { spec: { finalizers: null } }),
    patch("merge", `${namespaces}/$ID/status`, { status: { phase: "Terminating" } }),
    remove(`${namespaces}/$ID`),
    create("/api/v1/namespaces/$ID/configmaps", { metadata: { name: "late" } }),
    get(`${namespaces}/$ID`, {
      until: ({ spec, status }) =>
        (((spec as JsonObject).finalizers as string[] | undefined) ?? []).length === 1 &&
        (status as JsonObject).conditions !== undefined,
    }),
    replace(`${namespaces}/$ID/finalize`, { metadata: { name: "$ID" }, spec: { finalizers: [] } }),
    gone(`${namespaces}/$ID`),
  ),
  script("a namespace of an impossible name", create(namespaces, { metadata: { name: "a.b" } })),
  script(
    "a namespace with an unknown finalizer",
    create(namespaces, { metadata: { name: "$ID" }, spec: { finalizers: ["what"] } }),
  ),
  script("a namespace is made up", create(namespaces, { metadata: { generateName: "made-" } })),
  script("the default namespace is deleted", remove(`${namespaces}/default`)),
  script("the system's namespace is deleted", remove(`${namespaces}/kube-system`)),
  script(
    "something is created in no namespace",
    create("/api/v1/namespaces/nowhere/configmaps", { metadata: { name: "m" } }),
    create("/api/v1/namespaces/nowhere/pods", {
      metadata: { name: "p" },
      spec: { containers: [{ name: "c", image: "i" }] },
    }),
    get("/api/v1/namespaces/nowhere/configmaps/m"),
    get("/api/v1/namespaces/nowhere/configmaps"),
  ),
  script(
    "a namespace takes its content along, and waits for finalizers",
    create(namespaces, { metadata: { name: "$ID" } }),
    create("/api/v1/namespaces/$ID/configmaps", { metadata: { name: "plain" } }),
    create("/api/v1/namespaces/$ID/configmaps", { metadata: { name: "held", finalizers: ["example.com/hold"] } }),
    remove(`${namespaces}/$ID`),
    gone("/api/v1/namespaces/$ID/configmaps/plain"),
    get(`${namespaces}/$ID`, {
      until: ({ status }) =>
        ((status as JsonObject).conditions as JsonObject[] | undefined)?.some(
          ({ reason }) => reason === "SomeFinalizersRemain",
        ) === true,
    }),
    patch("merge", "/api/v1/namespaces/$ID/configmaps/held", { metadata: { finalizers: null } }),
    gone(`${namespaces}/$ID`),
  ),
  script(
    "a node is created, tainted and reports",
    create("/api/v1/nodes", { metadata: { name: "$ID" }, status: { capacity: { cpu: "1.5" } } }),
    patch("merge", "/api/v1/nodes/$ID", { spec: { taints: [{ key: "a", effect: "Never" }] } }),
    patch("merge", "/api/v1/nodes/$ID/status", { status: { allocatable: { memory: "1024Ki" } } }),
  ),
];
