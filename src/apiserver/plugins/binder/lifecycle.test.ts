/** Whole lives on a whole server: requests go in, background work runs, time is virtual. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiServer, type TestServer } from "../../../../test/api-server.ts";
import type { JsonObject } from "../../../base/json.ts";
import { part } from "../../builtin/check.ts";

const claims = "/api/v1/namespaces/default/persistentvolumeclaims";
const volumes = "/api/v1/persistentvolumes";
const classes = "/apis/storage.k8s.io/v1/storageclasses";
const pods = "/api/v1/namespaces/default/pods";
const quietMs = 60_000;

interface Cluster extends TestServer {
  /** Lets the background work finish what there is to do. */
  settle(): Promise<void>;
  put(path: string, body: JsonObject): Promise<JsonObject>;
  read(path: string): Promise<JsonObject>;
}

async function withCluster(work: (cluster: Cluster) => Promise<void>): Promise<void> {
  const server = startApiServer();
  const stop = new AbortController();
  const running = server.run(stop.signal);
  const settle = async (): Promise<void> => void (await server.world.runUntilIdle(quietMs));
  await settle();
  await work({
    ...server,
    settle,
    put: async (path, body) => {
      const { status, body: answer } = await server.ask("POST", path, body);
      assert.ok(status < 300, JSON.stringify(answer));
      await settle();
      return answer;
    },
    read: async (path) => (await server.ask("GET", path)).body,
  });
  stop.abort();
  await running;
}

const aClass = (name: string, more: JsonObject = {}): JsonObject => ({
  metadata: { name },
  provisioner: "disk.example.com",
  ...more,
});
const aClaim = (name: string, spec: JsonObject = {}): JsonObject => ({
  metadata: { name },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
});
const aVolume = (name: string, spec: JsonObject = {}, annotations: JsonObject = {}): JsonObject => ({
  metadata: { name, annotations },
  spec: {
    accessModes: ["ReadWriteOnce"],
    capacity: { storage: "1Gi" },
    csi: { driver: "disk.example.com", volumeHandle: name },
    ...spec,
  },
});
const phase = (object: JsonObject): unknown => part(object, "status").phase;
const annotationsOf = (object: JsonObject): JsonObject => part(part(object, "metadata"), "annotations");

/** What an external provisioner writes for a claim. */
const provisionedFor = (claim: JsonObject, policy = "Delete"): JsonObject => {
  const { uid, name, namespace } = part(claim, "metadata");
  return aVolume(
    `pvc-${String(uid)}`,
    {
      storageClassName: "fast",
      persistentVolumeReclaimPolicy: policy,
      claimRef: {
        kind: "PersistentVolumeClaim",
        apiVersion: "v1",
        uid: uid ?? "",
        name: name ?? "",
        namespace: namespace ?? "",
      },
    },
    { "pv.kubernetes.io/provisioned-by": "disk.example.com" },
  );
};

test("a claim gets its provisioner annotation, is bound to its volume, and the volume is released after it", () =>
  withCluster(async ({ put, read, ask, settle }) => {
    await put(classes, aClass("fast"));
    await put(claims, aClaim("data", { storageClassName: "fast" }));
    const waiting = await read(`${claims}/data`);
    assert.equal(phase(waiting), "Pending");
    assert.equal(annotationsOf(waiting)["volume.kubernetes.io/storage-provisioner"], "disk.example.com");
    assert.equal(annotationsOf(waiting)["volume.beta.kubernetes.io/storage-provisioner"], "disk.example.com");

    const { metadata } = await put(volumes, provisionedFor(waiting));
    const volumePath = `${volumes}/${String(part({ metadata }, "metadata").name)}`;
    const bound = await read(`${claims}/data`);
    assert.equal(phase(bound), "Bound");
    assert.deepEqual(part(part(bound, "status"), "capacity"), { storage: "1Gi" });
    assert.equal(annotationsOf(bound)["pv.kubernetes.io/bind-completed"], "yes");
    assert.equal(phase(await read(volumePath)), "Bound");

    await ask("DELETE", volumePath);
    await settle();
    assert.equal(part(await read(volumePath), "metadata").name !== undefined, true, "a bound volume stays");
    await ask("DELETE", `${claims}/data`);
    await settle();
    assert.equal((await ask("GET", `${claims}/data`)).status, 404);
    assert.equal((await ask("GET", volumePath)).status, 404, "deleted before, let go now");
  }));

test("a released volume waits for its provisioner, or forever with Retain", () =>
  withCluster(async ({ put, read, ask, settle }) => {
    await put(classes, aClass("fast"));
    const claim = await put(claims, aClaim("data", { storageClassName: "fast" }));
    const volume = await put(volumes, provisionedFor(claim, "Retain"));
    await ask("DELETE", `${claims}/data`);
    await settle();
    const path = `${volumes}/${String(part(volume, "metadata").name)}`;
    assert.equal(phase(await read(path)), "Released");
    await ask("DELETE", path);
    await settle();
    assert.equal((await ask("GET", path)).status, 404);
  }));

test("a claim is bound to an available volume, and otherwise gets the default class", () =>
  withCluster(async ({ put, read }) => {
    await put(volumes, aVolume("ready", { storageClassName: "manual" }));
    assert.equal(phase(await read(`${volumes}/ready`)), "Available");
    await put(claims, aClaim("data", { storageClassName: "manual" }));
    assert.equal(part(await read(`${claims}/data`), "spec").volumeName, "ready");

    await put(claims, aClaim("plain"));
    assert.equal(part(await read(`${claims}/plain`), "spec").storageClassName, undefined);
    const annotations = { "storageclass.kubernetes.io/is-default-class": "true" };
    await put(classes, { ...aClass("standard"), metadata: { name: "standard", annotations } });
    assert.equal(part(await read(`${claims}/plain`), "spec").storageClassName, "standard", "given later");
    await put(claims, aClaim("later"));
    assert.equal(part(await read(`${claims}/later`), "spec").storageClassName, "standard", "given at once");
  }));

test("a class that waits for a pod is provisioned when a node is chosen", () =>
  withCluster(async ({ put, read, ask, settle }) => {
    await put(classes, aClass("late", { volumeBindingMode: "WaitForFirstConsumer" }));
    await put(claims, aClaim("data", { storageClassName: "late" }));
    assert.equal(annotationsOf(await read(`${claims}/data`))["volume.kubernetes.io/storage-provisioner"], undefined);
    const chosen = { metadata: { annotations: { "volume.kubernetes.io/selected-node": "n1" } } };
    await ask("PATCH", `${claims}/data`, chosen, { type: "merge" });
    await settle();
    assert.equal(
      annotationsOf(await read(`${claims}/data`))["volume.kubernetes.io/storage-provisioner"],
      "disk.example.com",
    );
  }));

test("the binder sends each event about a claim once", () =>
  withCluster(async ({ put, read, ask, settle }) => {
    await put(claims, aClaim("data", { storageClassName: "" }));
    await ask("PATCH", `${claims}/data`, { metadata: { labels: { a: "b" } } }, { type: "merge" });
    await settle();
    const { items } = await read("/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Ddata");
    const reasons = (items as JsonObject[]).map(({ reason }) => reason);
    assert.deepEqual(reasons, ["FailedBinding"]);
  }));

test("a claim that a pod uses is not removed until the pod is gone", () =>
  withCluster(async ({ put, ask, settle }) => {
    await put(claims, aClaim("data"));
    const volume = { name: "v", persistentVolumeClaim: { claimName: "data" } };
    await put(pods, {
      metadata: { name: "web" },
      spec: { nodeName: "n1", containers: [{ name: "c", image: "i" }], volumes: [volume] },
    });
    await ask("DELETE", `${claims}/data`);
    await settle();
    assert.equal((await ask("GET", `${claims}/data`)).status, 200);
    await ask("DELETE", `${pods}/web?gracePeriodSeconds=0`);
    await settle();
    assert.equal((await ask("GET", `${claims}/data`)).status, 404);
  }));

test("deleting a namespace deletes its objects and waits for finalizers", () =>
  withCluster(async ({ put, read, ask, settle }) => {
    await put("/api/v1/namespaces", { metadata: { name: "team" } });
    assert.equal((await ask("GET", "/api/v1/namespaces/team/serviceaccounts/default")).status, 200);
    const maps = "/api/v1/namespaces/team/configmaps";
    await put(maps, { metadata: { name: "plain" } });
    await put(maps, { metadata: { name: "held", finalizers: ["example.com/hold"] } });
    const { body } = await ask("DELETE", "/api/v1/namespaces/team");
    assert.equal(phase(body), "Terminating");
    await settle();
    const { status, body: refused } = await ask("POST", maps, { metadata: { name: "late" } });
    assert.equal(status, 403);
    assert.equal(part(refused, "details").kind, "configmaps");
    assert.equal((await ask("GET", `${maps}/plain`)).status, 404);
    const { conditions } = part(await read("/api/v1/namespaces/team"), "status") as { conditions?: JsonObject[] };
    const remaining = conditions?.find(({ type }) => type === "NamespaceFinalizersRemaining");
    assert.equal(
      remaining?.message,
      "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
    );
    await ask("PATCH", `${maps}/held`, { metadata: { finalizers: null } }, { type: "merge" });
    await settle();
    assert.equal((await ask("GET", "/api/v1/namespaces/team")).status, 404);
  }));
