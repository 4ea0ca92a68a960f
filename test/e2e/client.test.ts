/** The client against the real kube-apiserver: every verb, every patch type, and what it says when it may not or cannot. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { snapshotCrds } from "../../src/api/crds/index.ts";
import type { ObjectOf } from "../../src/api/types.ts";
import { isFault } from "../../src/base/fault.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { limits } from "../../src/base/limits.ts";
import { servedVersionOf, servedVersions } from "../../src/kube/discovery.ts";
import { type Client, type Connection, connect } from "./harness/client.ts";
import type { ControlPlane } from "./harness/control-plane.ts";
import { refused } from "./harness/refused.ts";
import { newNamespace, useControlPlane } from "./harness/shared.ts";
import { until } from "./harness/until.ts";

let plane: ControlPlane;
let connection: Connection;
let client: Client;
let namespace: string;

describe("the client on the real API server", () => {
  before(async () => {
    plane = await useControlPlane();
    connection = await connect(plane.kubeconfig);
    client = connection.client;
    namespace = await newNamespace(plane, "client");
  });
  after(() => connection?.close());

  type ConfigMap = ObjectOf<"ConfigMap">;
  const refTo = (name: string) => ({ kind: "ConfigMap", namespace, name }) as const;
  const make = (name: string, data: Record<string, string> = {}, more: object = {}): Promise<ConfigMap> =>
    client.create("ConfigMap", draftOf("ConfigMap", { namespace, name, ...more }, { data }));

  test("an object is created, read, replaced, listed and deleted", async () => {
    const created = await make("life", { a: "1" });
    assert.deepEqual(await client.get(refTo("life")), created);
    assert.equal("managedFields" in created.metadata, false);
    const replaced = await client.replace("ConfigMap", { ...created, data: { b: "2" } });
    assert.deepEqual(replaced.data, { b: "2" });
    await refused(client.replace("ConfigMap", created), "Conflict", /the object has been modified/);
    const { objects, resourceVersion } = await client.list("ConfigMap", {
      namespace,
      fieldSelector: "metadata.name=life",
    });
    assert.deepEqual(objects, [replaced]);
    assert.ok(BigInt(resourceVersion) >= BigInt(replaced.metadata.resourceVersion));
    assert.equal(await client.delete(refTo("life")), undefined);
    await refused(client.get(refTo("life")), "NotFound", /configmaps "life" not found/);
    await refused(client.delete(refTo("life")), "NotFound", /not found/);
  });

  test("a replace without managedFields does not change the server's managedFields", async () => {
    const stored = await make("fields", { a: "1" });
    await client.replace("ConfigMap", { ...stored, data: { a: "2" } });
    const { client: keeping, close } = await connect(plane.kubeconfig, { managedFields: "keep" });
    const { metadata } = await keeping.get(refTo("fields"));
    close();
    assert.ok(((metadata as unknown as { managedFields: unknown[] }).managedFields ?? []).length > 0);
  });

  test("existing, invalid and rejected objects give their errors", async () => {
    await make("twice");
    await refused(make("twice"), "AlreadyExists", /already exists/);
    await refused(make("Bad_Name"), "Invalid", /metadata.name: Invalid value/);
    const never = draftOf("ConfigMap", { namespace, name: "never" }, {});
    assert.equal((await client.create("ConfigMap", never, { dryRun: true })).metadata.name, "never");
    await refused(client.get(refTo("never")), "NotFound", /never/);
    const named = await client.create("ConfigMap", draftOf("ConfigMap", { namespace, generateName: "drawn-" }, {}));
    assert.match(named.metadata.name, /^drawn-.{5}$/);
  });

  test("every patch type changes what it says and nothing else", async () => {
    await make("patched", { kept: "1", cleared: "1" }, { finalizers: ["example.org/a"] });
    const ref = refTo("patched");
    const data = async (patch: Parameters<typeof client.patch>[1]) => (await client.patch(ref, patch)).data;
    assert.deepEqual(await data({ type: "merge", body: { data: { cleared: null, merged: "1" } } }), {
      kept: "1",
      merged: "1",
    });
    assert.deepEqual(
      await data({
        type: "json",
        body: [
          { op: "test", path: "/data/merged", value: "1" },
          { op: "replace", path: "/data/merged", value: "2" },
        ],
      }),
      { kept: "1", merged: "2" },
    );
    await refused(
      client.patch(ref, { type: "json", body: [{ op: "test", path: "/data/merged", value: "1" }] }),
      "Conflict",
      /is not as the patch expects/,
    );
    // A merge patch would replace the list; a strategic one adds to it.
    const strategic = await client.patch(ref, {
      type: "strategic",
      body: { metadata: { finalizers: ["example.org/b"] } },
    });
    assert.deepEqual(strategic.metadata.finalizers, ["example.org/b", "example.org/a"]);
    assert.deepEqual(await data({ type: "apply", body: { data: { applied: "1" } }, fieldManager: "one" }), {
      applied: "1",
      kept: "1",
      merged: "2",
    });
    await refused(
      client.patch(ref, { type: "apply", body: { data: { applied: "2" } }, fieldManager: "two" }),
      "Conflict",
      /conflict with "one"/,
    );
    assert.equal(
      (await data({ type: "apply", body: { data: { applied: "2" } }, fieldManager: "two", force: true }))?.applied,
      "2",
    );
    assert.equal((await data({ type: "apply", body: {}, fieldManager: "two" }))?.applied, undefined);
    await client.patch(ref, { type: "merge", body: { metadata: { finalizers: null } } });
  });

  test("a patch with a version or uid changes no other version and no other uid", async () => {
    const first = await make("guarded");
    const stale = { metadata: { resourceVersion: first.metadata.resourceVersion } };
    await client.patch(refTo("guarded"), { type: "merge", body: { ...stale, data: { a: "1" } } });
    await refused(
      client.patch(refTo("guarded"), { type: "merge", body: { ...stale, data: { a: "2" } } }),
      "Conflict",
      /modified/,
    );
    await client.delete(refTo("guarded"));
    const second = await make("guarded");
    const old = { ...refTo("guarded"), uid: first.metadata.uid };
    for (const patch of [
      { type: "merge", body: { data: { a: "3" } } },
      { type: "strategic", body: { data: { a: "3" } } },
      { type: "json", body: [{ op: "add", path: "/data", value: { a: "3" } }] },
      { type: "apply", body: { data: { a: "3" } }, fieldManager: "me" },
    ] as const)
      await assert.rejects(client.patch(old, patch), (reason) => isFault(reason, "Conflict"), patch.type);
    await refused(client.get(old), "NotFound", /another of its name exists/);
    assert.deepEqual(await client.get(refTo("guarded")), second);
  });

  test("a delete respects its preconditions and reports objects with finalizers", async () => {
    const held = await make("held", {}, { finalizers: ["example.org/hold"] });
    await refused(client.delete({ ...refTo("held"), uid: "another" }), "Conflict", /the UID in the precondition/);
    await refused(
      client.delete(refTo("held"), { resourceVersion: "1" }),
      "Conflict",
      /the ResourceVersion in the precondition/,
    );
    const annotated = await client.delete(
      { ...refTo("held"), uid: held.metadata.uid },
      { resourceVersion: held.metadata.resourceVersion, propagationPolicy: "Background" },
    );
    assert.ok(annotated?.metadata.deletionTimestamp);
    await client.patch(refTo("held"), { type: "merge", body: { metadata: { finalizers: null } } });
    await refused(client.get(refTo("held")), "NotFound", /held/);
  });

  /** The snapshot kinds, installed by an apply: other suites on the same server may have done so before. */
  async function installSnapshotKinds(): Promise<void> {
    for (const { metadata, ...body } of snapshotCrds(3)) {
      const ref = { kind: "CustomResourceDefinition", name: metadata.name ?? "" } as const;
      const crd = { ...body, metadata } as unknown as JsonObject;
      await client.patch(ref, { type: "apply", body: crd, fieldManager: "test", force: true });
    }
    await until({ what: "the snapshot kinds are served" }, () =>
      client.list("VolumeSnapshotContent").then(
        () => true,
        () => undefined,
      ),
    );
  }

  test("status is written through its subresource, and nanoseconds are kept", async () => {
    await installSnapshotKinds();
    const spec = {
      deletionPolicy: "Retain",
      driver: "d",
      source: { snapshotHandle: "h" },
      volumeSnapshotRef: { name: "s", namespace },
    } as const;
    const draft = draftOf("VolumeSnapshotContent", { name: `content-${namespace}` }, { spec });
    const created = await client.create("VolumeSnapshotContent", {
      ...draft,
      status: { readyToUse: true },
    } as typeof draft);
    assert.equal(created.status, undefined);
    const ref = { kind: "VolumeSnapshotContent", name: created.metadata.name } as const;
    const creationTime = 1763200000123456789n;
    const patched = await client.patch(
      ref,
      { type: "merge", body: { spec: { driver: "other" }, status: { creationTime } } },
      { subresource: "status" },
    );
    assert.deepEqual(patched.status, { creationTime });
    assert.equal(patched.spec.driver, "d");
    const replaced = await client.replace(
      "VolumeSnapshotContent",
      { ...patched, status: { ...patched.status, restoreSize: 2n ** 62n } },
      { subresource: "status" },
    );
    assert.deepEqual((await client.get(ref)).status, { creationTime, restoreSize: 2n ** 62n });
    assert.equal(replaced.status?.creationTime, creationTime);
    await client.delete(ref);
  });

  test("discovery returns the versions of a group", async () => {
    assert.deepEqual(await servedVersions(client, ""), ["v1"]);
    assert.ok((await servedVersions(client, "storage.k8s.io")).includes("v1"));
    assert.deepEqual(await servedVersions(client, "no.such.group"), []);
    assert.equal(await servedVersionOf(client, "StorageClass"), "v1");
  });

  test("a list of several pages is complete", async () => {
    const many = await newNamespace(plane, "pages");
    const count = limits.listPageObjects * 2 + 1;
    const names = Array.from({ length: count }, (_, index) => `n${index}`);
    await Promise.all(
      names.map((name) => client.create("ConfigMap", draftOf("ConfigMap", { namespace: many, name }, {}))),
    );
    const mark = plane.auditPosition();
    const { objects } = await client.list("ConfigMap", {
      namespace: many,
      fieldSelector: "metadata.name!=kube-root-ca.crt",
    });
    assert.deepEqual(objects.map(({ metadata }) => metadata.name).sort(), names.sort());
    assert.deepEqual([...new Set(objects.map(({ kind, apiVersion }) => `${apiVersion} ${kind}`))], ["v1 ConfigMap"]);
    const pages = plane
      .auditLog(mark)
      .filter(({ requestURI }) => requestURI.includes(`/namespaces/${many}/configmaps?`));
    assert.equal(pages.length, 3);
  });

  test("a watch shows every change, and its end when the server ends it", async () => {
    const watched = await newNamespace(plane, "watched");
    const { resourceVersion } = await client.list("ConfigMap", { namespace: watched });
    const seen: string[] = [];
    const query = { namespace: watched, resourceVersion, timeoutSeconds: 2, labelSelector: "mine" };
    const watching = client.watch("ConfigMap", query, (event) => {
      if (event.kind !== "bookmark") seen.push(`${event.kind} ${event.object.data?.text ?? "nothing"}`);
    });
    const ref = { kind: "ConfigMap", namespace: watched, name: "w" } as const;
    await client.create("ConfigMap", draftOf("ConfigMap", { namespace: watched, name: "w", labels: { mine: "" } }, {}));
    await client.patch(ref, { type: "json", body: [{ op: "add", path: "/data", value: { text: "ä€😀" } }] });
    await client.delete(ref);
    await watching;
    assert.deepEqual(seen, ["put nothing", "put ä€😀", "gone ä€😀"]);
  });

  test("a watch from a version that is no longer kept is Expired", async () => {
    await refused(
      (async () => {
        // The server's memory of a custom kind begins when the kind is defined.
        await installSnapshotKinds();
        const query = { resourceVersion: "1", timeoutSeconds: 5 };
        await client.watch("VolumeSnapshotContent", query, () => undefined);
      })(),
      "Expired",
      /too old resource version|required revision has been compacted/,
    );
  });
});
