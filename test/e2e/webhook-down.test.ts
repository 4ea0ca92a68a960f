/** The rendered webhook configurations with failurePolicy Fail and a webhook that is down: everything that is stored can still be deleted. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { parseAllDocuments } from "yaml";
import { snapshotCrds } from "../../src/api/crds/index.ts";
import { sharedResourceCrds } from "../../src/api/crds/shared-resource.ts";
import { annotations } from "../../src/api/names.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { installCrdsOn } from "./harness/crds.ts";
import { judgedKinds, pathTo, stubCrds } from "./harness/share-objects.ts";
import { until } from "./harness/until.ts";
import { createTestWebhook, type TestWebhook } from "./harness/webhook.ts";

const rendered = ["base/webhook/snapshots", "overlays/webhook-claims/claims", "overlays/webhook-shares/shares"].map(
  (name) => resolve(import.meta.dirname, `../../deploy/kustomize/${name}.yaml`),
);
const group = "/apis/snapshot.storage.k8s.io/v1";
const finalizer = "example.com/held";
const namespaced = (plural: string): string => `${group}/namespaces/default/${plural}`;

const writable = {
  name: "w",
  csi: { driver: "csi.sharedresource.openshift.io", volumeAttributes: { sharedSecret: "x" } },
};

interface Row {
  readonly what: string;
  readonly path: string;
  readonly body: JsonObject;
  /** What the rules refuse as an update. */
  readonly invalid: JsonObject;
}

/** Whose invalid updates the definitions of phase 3 refuse as well; test/e2e/webhook.test.ts has the same with those of phase 1. */
const bySchema: ReadonlySet<string> = new Set(["VolumeSnapshot", "VolumeSnapshotContent"]);

const rows: readonly Row[] = [
  {
    what: "VolumeSnapshot",
    path: namespaced("volumesnapshots"),
    body: { spec: { source: { persistentVolumeClaimName: "data" }, volumeSnapshotClassName: "a" } },
    invalid: { spec: { source: { persistentVolumeClaimName: "data" }, volumeSnapshotClassName: "" } },
  },
  {
    what: "VolumeSnapshotContent",
    path: `${group}/volumesnapshotcontents`,
    body: contentOf({ name: "monday", namespace: "default" }),
    invalid: contentOf({ name: "tuesday", namespace: "default" }),
  },
  {
    what: "VolumeSnapshotClass",
    path: `${group}/volumesnapshotclasses`,
    body: { driver: "driver.example", deletionPolicy: "Delete" },
    // A second default class of its driver: a matter of annotations, and of the webhook alone.
    invalid: { metadata: { annotations: { [annotations.defaultClass]: "true" } } },
  },
  {
    what: "PersistentVolumeClaim",
    path: "/api/v1/namespaces/default/persistentvolumeclaims",
    body: claimOf({ apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "monday" }),
    invalid: claimOf({ kind: "ConfigMap", name: "m" }),
  },
  {
    what: "SharedSecret",
    path: "/apis/sharedresource.openshift.io/v1alpha1/sharedsecrets",
    body: { spec: { secretRef: { namespace: "default", name: "keys" } } },
    // Only its name can break a rule, and a name cannot be changed.
    invalid: {},
  },
  ...judgedKinds
    .filter(({ kind }) => kind !== "Pod")
    .map((row) => ({
      what: row.kind,
      path: pathTo(row, "default"),
      body: row.body([]),
      invalid: row.isMutable ? row.body([writable]) : {},
    })),
];
function contentOf(volumeSnapshotRef: JsonObject): JsonObject {
  const source = { snapshotHandle: "h" };
  const reference = { ...volumeSnapshotRef, uid: "1" };
  return { spec: { driver: "driver.example", deletionPolicy: "Retain", source, volumeSnapshotRef: reference } };
}

function claimOf(dataSource: JsonObject): JsonObject {
  const resources = { requests: { storage: "1Mi" } };
  return { spec: { accessModes: ["ReadWriteOnce"], storageClassName: "none", resources, dataSource } };
}

describe("a webhook that is down, with failurePolicy Fail", () => {
  let plane: ControlPlane;
  let webhook: TestWebhook;
  type Stored = JsonObject & { readonly metadata: JsonObject };
  const read = async (path: string): Promise<Stored> => JSON.parse((await plane.request("GET", path)).text);
  const anInvalidSnapshot = () =>
    plane.request("POST", `${namespaced("volumesnapshots")}?dryRun=All`, {
      apiVersion: "snapshot.storage.k8s.io/v1",
      kind: "VolumeSnapshot",
      metadata: { name: "probe" },
      spec: { source: { persistentVolumeClaimName: "" } },
    });
  /** The API server needs kind and version where a CRD defines them. */
  const draftOf = ({ what, path, body }: Row, metadata: JsonObject): JsonObject => ({
    apiVersion: (/^\/apis?\/(.*?)\/(namespaces\/|[a-z]+$)/.exec(path) ?? [])[1] ?? "",
    kind: what,
    ...body,
    metadata,
  });
  const put = (path: string, stored: Stored, change: JsonObject) =>
    plane.request("PUT", path, { ...stored, ...change });

  before(async () => {
    plane = await startControlPlane();
    await installCrdsOn(plane, snapshotCrds(3));
    for (const crd of [...sharedResourceCrds(), ...stubCrds])
      await plane.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
    for (const { what, path } of rows)
      await until({ what: `${what} is served` }, async () =>
        (await plane.request("GET", path)).status === 200 ? true : undefined,
      );
    const first = { driver: "driver.example", deletionPolicy: "Delete" };
    const metadata = { name: "default", annotations: { [annotations.defaultClass]: "true" } };
    const kind = { apiVersion: "snapshot.storage.k8s.io/v1", kind: "VolumeSnapshotClass" };
    const { status: made } = await plane.request("POST", `${group}/volumesnapshotclasses`, {
      ...kind,
      ...first,
      metadata,
    });
    assert.equal(made, 201);
    webhook = await createTestWebhook(plane);
    await webhook.start();
    for (const file of rendered)
      for (const document of parseAllDocuments(readFileSync(file, "utf8"))) {
        const draft = document.toJS() as JsonObject & { webhooks: readonly JsonObject[] };
        const webhooks = draft.webhooks.map((one) => ({
          ...one,
          clientConfig: {
            url: `${webhook.url}${(one.clientConfig as { service: { path: string } }).service.path}`,
            caBundle: Buffer.from(webhook.authority.certificate).toString("base64"),
          },
          failurePolicy: "Fail",
        }));
        const plural = `${String(draft.kind).toLowerCase()}s`;
        const { status, text } = await plane.request("POST", `/apis/admissionregistration.k8s.io/v1/${plural}`, {
          ...draft,
          webhooks,
        });
        assert.equal(status, 201, text);
      }
    await until({ what: "the API server asks the webhook, which knows the default class" }, async () => {
      const snapshot = (await anInvalidSnapshot()).text.includes("denied the request");
      const second = { ...kind, ...first, metadata: { ...metadata, name: "second" } };
      const { text } = await plane.request("POST", `${group}/volumesnapshotclasses?dryRun=All`, second);
      return snapshot && text.includes("[SNAP-121]") ? true : undefined;
    });
    for (const row of rows) {
      const draft = draftOf(row, { name: "held", finalizers: [finalizer] });
      const { status, text } = await plane.request("POST", row.path, draft);
      assert.equal(status, 201, `${row.what}: ${text}`);
    }
  });
  after(() => plane?.stop());

  for (const { what, path, invalid } of rows)
    test(`while it is up, an invalid update of a ${what} is refused, and a label is not asked about`, async () => {
      const at = `${path}/held`;
      const stored = await read(at);
      if (Object.keys(invalid).length > 0) {
        const { metadata = {}, ...change } = invalid as { metadata?: JsonObject };
        const refused = await put(at, stored, { ...change, metadata: { ...stored.metadata, ...metadata } });
        // The definitions refuse a part of it before the webhook is asked.
        const { status, message } = JSON.parse(refused.text);
        assert.equal(status, "Failure", refused.text);
        if (!bySchema.has(what)) assert.match(message, /denied the request: .*\[SNAP-\d+\]$/);
      }
      const labelled = await put(at, stored, { metadata: { ...stored.metadata, labels: { a: "b" } } });
      assert.equal(labelled.status, 200, labelled.text);
    });

  describe("when it is down", () => {
    before(async () => {
      await webhook.stop();
      await until({ what: "the API server cannot call it" }, async () =>
        (await anInvalidSnapshot()).text.includes("failed calling webhook") ? true : undefined,
      );
    });

    for (const { what, path } of rows)
      test(`a ${what} with a finalizer can be deleted`, async () => {
        const at = `${path}/held`;
        assert.equal((await plane.request("DELETE", at)).status, 200);
        await until({ what: `${what} is gone` }, async () => {
          const { status, text } = await plane.request("GET", at);
          if (status === 404) return true;
          const stored: Stored = JSON.parse(text);
          const finalizers = (stored.metadata.finalizers as readonly string[]).filter((one) => one !== finalizer);
          const { status: answered, text: says } = await put(at, stored, {
            metadata: { ...stored.metadata, finalizers },
          });
          assert.ok([200, 404, 409].includes(answered), says);
          return undefined;
        });
      });

    test("what the rules would judge is refused", async () => {
      for (const row of rows) {
        const { status, text } = await plane.request("POST", row.path, draftOf(row, { name: "new" }));
        assert.equal(status, 500, `${row.what}: ${text}`);
        assert.match(text, /failed calling webhook/);
      }
    });
  });
});
