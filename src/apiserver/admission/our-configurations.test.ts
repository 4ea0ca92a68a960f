/** Which updates our own webhook configurations ask about: only what the rules read, so that finalizers can be removed without the webhook. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { admissionWith, aReview, claims, configuration, hook } from "../../../test/admission.ts";
import { row } from "../../../test/strategy.ts";
import {
  claimConfiguration,
  shareConfiguration,
  snapshotConfiguration,
} from "../../api/manifests/webhook-configurations.ts";
import { annotations } from "../../api/names.ts";
import type { JsonObject } from "../../base/json.ts";
import { podMakers } from "../../rules/pod-specs.ts";
import type { ApiObject, Resource } from "../contracts.ts";

const place = { client: { url: "https://hook.test" } };
type Draft = JsonObject & { readonly webhooks: readonly object[] };

/** With Fail, under which a webhook that is down matters. */
const failing = (draft: JsonObject): readonly object[] =>
  (draft as Draft).webhooks.map((webhook) => ({ ...webhook, failurePolicy: "Fail" }));
const stored = {
  snapshots: configuration("Validating", "v", ...failing(snapshotConfiguration(place))),
  shares: configuration("Validating", "v", ...failing(shareConfiguration(place))),
  claims: configuration("Mutating", "m", ...failing(claimConfiguration(place))),
} as const;

async function asksAbout(
  which: keyof typeof stored,
  resource: Resource,
  before: object | undefined,
  after: object,
): Promise<boolean> {
  const { asked, handler } = hook({});
  const setting = which === "claims" ? { mutating: [stored.claims] } : { validating: [stored[which]] };
  const { admission } = admissionWith({ ...setting, handler });
  const asObject = (body: object) => ({ metadata: { name: "a" }, ...body }) as unknown as ApiObject;
  const review = aReview({
    resource,
    operation: before === undefined ? "CREATE" : "UPDATE",
    object: asObject(after),
    oldObject: before && asObject(before),
  });
  await (which === "claims" ? admission.mutate(review) : admission.validate(review));
  return asked.length > 0;
}

const ofSnapshots = (plural: string, kind: string): Resource =>
  row(plural, kind, { group: "snapshot.storage.k8s.io", collection: `snapshot.storage.k8s.io/${plural}` });
const snapshot = ofSnapshots("volumesnapshots", "VolumeSnapshot");
const content = ofSnapshots("volumesnapshotcontents", "VolumeSnapshotContent");
const snapshotClass = ofSnapshots("volumesnapshotclasses", "VolumeSnapshotClass");

const kept = { name: "a", finalizers: ["x/y"], labels: { a: "1" }, annotations: { b: "2" } };
const leaving = { name: "a", deletionTimestamp: "2026-01-01T00:00:00Z", labels: { a: "2" } };
const aClass = { driver: "d", deletionPolicy: "Delete", parameters: { a: "1", b: "2" } };
const asDefault = (value: string) => ({ name: "a", annotations: { [annotations.defaultClass]: value } });

const snapshotRows: readonly {
  readonly given: string;
  readonly resource: Resource;
  readonly before?: object;
  readonly after: object;
  readonly asked: boolean;
}[] = [
  { given: "a new snapshot", resource: snapshot, after: { spec: { source: {} } }, asked: true },
  {
    given: "a snapshot that loses finalizer, label and annotation",
    resource: snapshot,
    before: { metadata: kept, spec: { source: { persistentVolumeClaimName: "a" } } },
    after: { metadata: leaving, spec: { source: { persistentVolumeClaimName: "a" } } },
    asked: false,
  },
  {
    given: "a snapshot whose source changes",
    resource: snapshot,
    before: { spec: { source: { persistentVolumeClaimName: "a" } } },
    after: { spec: { source: { persistentVolumeClaimName: "b" } } },
    asked: true,
  },
  { given: "a snapshot that loses its spec", resource: snapshot, before: { spec: {} }, after: {}, asked: true },
  { given: "a snapshot without a spec", resource: snapshot, before: { metadata: kept }, after: {}, asked: false },
  {
    given: "a content that loses its finalizer",
    resource: content,
    before: { metadata: kept, spec: { driver: "d", source: { snapshotHandle: "h" } } },
    after: { metadata: leaving, spec: { driver: "d", source: { snapshotHandle: "h" } } },
    asked: false,
  },
  {
    given: "a content whose policy changes",
    resource: content,
    before: { spec: { deletionPolicy: "Delete" } },
    after: { spec: { deletionPolicy: "Retain" } },
    asked: true,
  },
  { given: "a new class", resource: snapshotClass, after: aClass, asked: true },
  {
    given: "a class that loses its finalizer",
    resource: snapshotClass,
    before: { ...aClass, metadata: kept },
    after: { ...aClass, metadata: leaving },
    asked: false,
  },
  {
    given: "a class that loses its last annotation",
    resource: snapshotClass,
    before: { ...aClass, metadata: { name: "a", annotations: { b: "2" } } },
    after: aClass,
    asked: false,
  },
  {
    given: "a class that becomes the default one",
    resource: snapshotClass,
    before: aClass,
    after: { ...aClass, metadata: asDefault("true") },
    asked: true,
  },
  {
    given: "a default class whose finalizer is removed",
    resource: snapshotClass,
    before: { ...aClass, metadata: { ...asDefault("true"), finalizers: ["x/y"] } },
    after: { ...aClass, metadata: asDefault("true") },
    asked: false,
  },
  {
    given: "a class whose annotation becomes true",
    resource: snapshotClass,
    before: { ...aClass, metadata: asDefault("false") },
    after: { ...aClass, metadata: asDefault("true") },
    asked: true,
  },
  ...(["driver", "deletionPolicy", "parameters"] as const).flatMap((member) => [
    {
      given: `a class whose ${member} changes`,
      resource: snapshotClass,
      before: aClass,
      after: { ...aClass, [member]: member === "parameters" ? { a: "1" } : "Retain" },
      asked: true,
    },
    {
      given: `a class that loses its ${member}`,
      resource: snapshotClass,
      before: aClass,
      after: { ...aClass, [member]: undefined },
      asked: true,
    },
  ]),
];
for (const { given, resource, before, after, asked } of snapshotRows)
  test(`${given} is ${asked ? "" : "not "}asked about`, async () => {
    assert.equal(await asksAbout("snapshots", resource, before, after), asked);
  });

test("a claim is asked about when its source changes, and not when its finalizer is removed", async () => {
  const spec = { dataSource: { kind: "VolumeSnapshot", name: "a" } };
  const other = { dataSource: { kind: "VolumeSnapshot", name: "b" } };
  assert.equal(await asksAbout("claims", claims, { metadata: kept, spec }, { metadata: leaving, spec }), false);
  assert.equal(await asksAbout("claims", claims, { spec }, { spec: other }), true);
  assert.equal(await asksAbout("claims", claims, undefined, { spec }), true);
});

const set = (path: readonly string[], value: unknown): object =>
  path.reduceRight((inner: unknown, key) => ({ [key]: inner }), value) as object;

for (const { kind, group, plural, volumes } of podMakers.filter((maker) => maker.kind !== "Pod"))
  test(`a ${kind} is asked about when its volumes change, and not when its finalizer is removed`, async () => {
    const resource = row(plural, kind, { group });
    for (const path of volumes) {
      const withVolumes = (metadata: object, ...names: readonly string[]): object => ({
        metadata,
        ...set(
          path,
          names.map((name) => ({ name })),
        ),
      });
      const [before, after] = [withVolumes(kept, "a"), withVolumes(leaving, "a")];
      assert.equal(await asksAbout("shares", resource, before, after), false);
      assert.equal(await asksAbout("shares", resource, before, withVolumes(kept, "a", "b")), true);
      assert.equal(await asksAbout("shares", resource, undefined, after), true);
    }
  });

test("a share is asked about when its reference changes, and not when its finalizer is removed", async () => {
  const resource = row("sharedsecrets", "SharedSecret", {
    group: "sharedresource.openshift.io",
    version: "v1alpha1",
    scope: "cluster",
  });
  const spec = (name: string) => ({ secretRef: { namespace: "a", name } });
  const before = { metadata: kept, spec: spec("x") };
  assert.equal(await asksAbout("shares", resource, before, { metadata: leaving, spec: spec("x") }), false);
  assert.equal(await asksAbout("shares", resource, before, { metadata: kept, spec: spec("y") }), true);
});
