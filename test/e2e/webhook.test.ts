/** The webhook, called by the real API server over TLS: the requirement documents' tables, row by row. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { snapshotCrds } from "../../src/api/crds/index.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { installCrdsOn } from "./harness/crds.ts";
import { until } from "./harness/until.ts";
import { createTestWebhook, type TestWebhook } from "./harness/webhook.ts";

const group = "/apis/snapshot.storage.k8s.io/v1beta1";
const snapshots = `${group}/namespaces/default/volumesnapshots`;
const contents = `${group}/volumesnapshotcontents`;
const classes = `${group}/volumesnapshotclasses`;
const claims = "/api/v1/namespaces/default/persistentvolumeclaims";

const ofClaim = { source: { persistentVolumeClaimName: "data" } };
const ofContent = { source: { volumeSnapshotContentName: "content" } };
const ofBoth = { source: { ...ofClaim.source, ...ofContent.source } };
const contentSpec = {
  deletionPolicy: "Retain",
  driver: "driver.example",
  source: { snapshotHandle: "snap-1" },
  volumeSnapshotRef: { name: "monday", namespace: "default" },
};

interface Row {
  readonly given: string;
  readonly path: string;
  readonly spec: object;
  /** The code of the rule that refuses it. */
  readonly refused?: string;
  readonly change?: object;
}

/** Document 000, tables VolumeSnapshot and VolumeSnapshotContent. */
const rows: readonly Row[] = [
  { given: "a snapshot of a claim", path: snapshots, spec: ofClaim },
  { given: "a snapshot of a content", path: snapshots, spec: ofContent },
  { given: "a snapshot of both", path: snapshots, spec: ofBoth, refused: "SNAP-101" },
  { given: "a snapshot of neither", path: snapshots, spec: { source: {} }, refused: "SNAP-101" },
  {
    given: "an empty class name",
    path: snapshots,
    spec: { ...ofClaim, volumeSnapshotClassName: "" },
    refused: "SNAP-103",
  },
  { given: "a class that does not exist", path: snapshots, spec: { ...ofClaim, volumeSnapshotClassName: "none" } },
  { given: "another source", path: snapshots, spec: ofClaim, change: ofContent, refused: "SNAP-102" },
  {
    given: "another class",
    path: snapshots,
    spec: { ...ofClaim, volumeSnapshotClassName: "a" },
    change: { ...ofClaim, volumeSnapshotClassName: "b" },
  },
  {
    given: "a class name that becomes empty",
    path: snapshots,
    spec: ofClaim,
    change: { ...ofClaim, volumeSnapshotClassName: "" },
    refused: "SNAP-103",
  },
  { given: "a content", path: contents, spec: contentSpec },
  {
    given: "a content with both handles",
    path: contents,
    spec: { ...contentSpec, source: { snapshotHandle: "a", volumeHandle: "b" } },
    refused: "SNAP-111",
  },
  {
    given: "a content without a namespace in its reference",
    path: contents,
    spec: { ...contentSpec, volumeSnapshotRef: { name: "monday" } },
    refused: "SNAP-113",
  },
  {
    given: "another handle of a content",
    path: contents,
    spec: contentSpec,
    change: { ...contentSpec, source: { snapshotHandle: "snap-2" } },
    refused: "SNAP-112",
  },
  {
    given: "the uid of a content's snapshot",
    path: contents,
    spec: contentSpec,
    change: { ...contentSpec, volumeSnapshotRef: { ...contentSpec.volumeSnapshotRef, uid: "1" } },
  },
  {
    given: "another snapshot of a bound content",
    path: contents,
    spec: { ...contentSpec, volumeSnapshotRef: { ...contentSpec.volumeSnapshotRef, uid: "1" } },
    change: { ...contentSpec, volumeSnapshotRef: { name: "tuesday", namespace: "default", uid: "1" } },
    refused: "SNAP-114",
  },
];

describe("the webhook on a real API server", () => {
  let plane: ControlPlane;
  let webhook: TestWebhook;
  let count = 0;
  const nextName = (): string => `object-${++count}`;
  const kinds: Readonly<Record<string, string>> = {
    [snapshots]: "VolumeSnapshot",
    [contents]: "VolumeSnapshotContent",
  };
  const drafted = (path: string, name: string, spec: object) => ({
    apiVersion: "snapshot.storage.k8s.io/v1beta1",
    kind: kinds[path],
    metadata: { name },
    spec,
  });
  const messageIn = (text: string): string => (JSON.parse(text) as { message?: string }).message ?? "";

  before(async () => {
    plane = await startControlPlane({ featureGates: { CrossNamespaceVolumeDataSource: false } });
    await installCrdsOn(plane, snapshotCrds(1));
    for (const path of [snapshots, contents, classes])
      await until({ what: `${path} is served` }, async () =>
        (await plane.request("GET", path)).status === 200 ? true : undefined,
      );
    webhook = await createTestWebhook(plane);
    await webhook.start();
    await webhook.configure("snapshots", "Fail");
    await webhook.configure("claims", "Fail");
    await until({ what: "the API server asks the webhook" }, async () =>
      (await plane.request("POST", `${snapshots}?dryRun=All`, drafted(snapshots, "probe", { source: {} }))).status ===
      400
        ? true
        : undefined,
    );
  });
  after(() => plane?.stop());

  for (const { given, path, spec, change, refused } of rows)
    test(`${change === undefined ? "CREATE of" : "UPDATE to"} ${given} is ${refused === undefined ? "allowed" : `refused by ${refused}`}`, async () => {
      const name = nextName();
      const created = await plane.request("POST", path, drafted(path, name, spec));
      const answer =
        change === undefined
          ? created
          : await plane.request("PUT", `${path}/${name}`, { ...JSON.parse(created.text), spec: change });
      if (refused === undefined) assert.ok(answer.status < 300, answer.text);
      else {
        assert.equal(answer.status, 400, answer.text);
        assert.match(messageIn(answer.text), new RegExp(`denied the request: spec\\..*\\[${refused}\\]$`));
      }
    });

  test("the largest object that the API server stores is judged when it is created and when it is updated", async () => {
    const name = nextName();
    // etcd takes requests of 1.5 MiB, and all annotations together may have 256 KiB.
    const source = { snapshotHandle: "h".repeat(1_200_000) };
    const large = (filler: string, spec: object = { ...contentSpec, source }) => {
      const object = drafted(contents, name, spec);
      return { ...object, metadata: { name, annotations: { filler: filler.repeat(260_000) } } };
    };
    const refused = await plane.request(
      "POST",
      contents,
      large("x", { ...contentSpec, source: { ...source, volumeHandle: "b" } }),
    );
    assert.match(messageIn(refused.text), /\[SNAP-111\]$/);
    const created = await plane.request("POST", contents, large("x"));
    assert.equal(created.status, 201, messageIn(created.text));
    const { metadata } = JSON.parse(created.text);
    const stored = { ...large("y"), metadata: { ...metadata, annotations: { filler: "y".repeat(260_000) } } };
    const updated = await plane.request("PUT", `${contents}/${name}`, stored);
    assert.equal(updated.status, 200, messageIn(updated.text));
    const other = { ...JSON.parse(updated.text), spec: { ...contentSpec, source: { snapshotHandle: "other" } } };
    const changed = await plane.request("PUT", `${contents}/${name}`, other);
    assert.match(messageIn(changed.text), /\[SNAP-112\]$/);
  });

  test("a second default class of a driver is refused, one of another driver is not", async () => {
    const aClass = (name: string, driver: string) => ({
      apiVersion: "snapshot.storage.k8s.io/v1beta1",
      kind: "VolumeSnapshotClass",
      metadata: { name, annotations: { "snapshot.storage.kubernetes.io/is-default-class": "true" } },
      driver,
      deletionPolicy: "Delete",
    });
    assert.equal((await plane.request("POST", classes, aClass("gold", "one.example"))).status, 201);
    assert.equal((await plane.request("POST", classes, aClass("other", "two.example"))).status, 201);
    await until({ what: "the second default is refused" }, async () => {
      const answer = await plane.request("POST", `${classes}?dryRun=All`, aClass("silver", "one.example"));
      return answer.status === 400 && messageIn(answer.text).includes("[SNAP-121]") ? true : undefined;
    });
  });

  const aClaim = (name: string, sources: object) => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } }, ...sources },
  });
  const configMap = { kind: "ConfigMap", name: "m" };
  const custom = { apiGroup: "example.com", kind: "Tarball", name: "t" };
  const snapshot = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "s" };

  test("a claim from a core object is rejected instead of stored without its source", async () => {
    const { status, text } = await plane.request("POST", claims, aClaim(nextName(), { dataSource: configMap }));
    assert.equal(status, 422, text);
    assert.match(messageIn(text), /spec\.dataSource: names a "ConfigMap" of the core group.*\[SNAP-131\]$/);
    await webhook.unconfigure("claims");
    const loose = await until({ what: "the configuration is gone" }, async () => {
      const answer = await plane.request("POST", claims, aClaim(nextName(), { dataSource: configMap }));
      return answer.status === 201 ? answer.text : undefined;
    });
    assert.equal(JSON.parse(loose).spec.dataSource, undefined);
    await webhook.configure("claims", "Fail");
    await until({ what: "the API server asks again" }, async () =>
      (await plane.request("POST", `${claims}?dryRun=All`, aClaim(nextName(), { dataSource: configMap }))).status ===
      422
        ? true
        : undefined,
    );
  });

  test("a custom kind in dataSource is kept, by a copy in dataSourceRef", async () => {
    const { status, text } = await plane.request("POST", claims, aClaim(nextName(), { dataSource: custom }));
    assert.equal(status, 201, text);
    const { spec } = JSON.parse(text);
    assert.deepEqual([spec.dataSource, spec.dataSourceRef], [custom, custom]);
  });

  test("a source in another namespace, which this server would drop, is rejected", async () => {
    const sources = { dataSourceRef: { ...snapshot, namespace: "other" } };
    const { status, text } = await plane.request("POST", claims, aClaim(nextName(), sources));
    assert.equal(status, 422, text);
    assert.match(messageIn(text), /spec\.dataSourceRef\.namespace.*\[SNAP-134\]$/);
  });

  test("claims from a snapshot, from a claim and from nothing are stored as they were written", async () => {
    for (const sources of [{ dataSource: snapshot }, { dataSourceRef: snapshot }, {}]) {
      const { status, text } = await plane.request("POST", claims, aClaim(nextName(), sources));
      assert.equal(status, 201, text);
      assert.deepEqual(JSON.parse(text).spec.dataSourceRef, Object.keys(sources).length === 0 ? undefined : snapshot);
    }
  });
});
