import assert from "node:assert/strict";
import { test } from "node:test";
import { edited, everythingOf, planIn, readerOf, storedOf, unlabelled } from "../../../test/install-cluster.ts";
import { snapshotCrds } from "../../api/crds/index.ts";
import type { ManifestObject } from "../../api/manifests/component.ts";
import { versionAnnotation } from "../../api/manifests/objects.ts";
import type { JsonObject } from "../../base/json.ts";
import { installationOf } from "../deploy.ts";
import { type ApplyOptions, applyPlan, servedPlan } from "./apply-plan.ts";
import { readForApply } from "./read.ts";
import { describe, type InstallPlan, planFor } from "./selection.ts";

const controller = planIn("one", "snapshot-controller");
const webhook = planIn("one", "webhook");
const nowMs = Date.parse("2026-01-01T00:00:00Z");

const planned = async (plan: InstallPlan, cluster: readonly JsonObject[], options: ApplyOptions = {}) =>
  applyPlan(await readForApply(plan, readerOf(cluster), nowMs), options);
const names = (objects: readonly { readonly object: ManifestObject }[]) =>
  objects.map(({ object }) => describe(object));

test("given an empty cluster, then definitions and namespaces are created", async () => {
  const { refusal, crds, namespaces, existing, kept } = await planned(controller, []);
  assert.deepEqual([refusal, existing, kept], [undefined, [], []]);
  assert.deepEqual(
    names(crds),
    ["volumesnapshots", "volumesnapshotcontents", "volumesnapshotclasses"].map(
      (plural) => `CustomResourceDefinition ${plural}.snapshot.storage.k8s.io`,
    ),
  );
  assert.deepEqual(namespaces.map(describe), ["Namespace one"]);
});

test("given our own installation, then its definitions are renewed, and its namespace is left as it is", async () => {
  const { refusal, crds, namespaces } = await planned(controller, everythingOf(controller));
  assert.deepEqual([refusal, crds.length, namespaces], [undefined, 3, []]);
  assert.deepEqual(
    crds.map(({ stored }) => stored?.metadata),
    controller.crds.map(({ metadata }) => metadata),
  );
});

const lease = (namespace: string, renewedMsAgo: number, holderIdentity = "other"): JsonObject => ({
  kind: "Lease",
  metadata: { namespace, name: "snapshot-controller-leader" },
  spec: { holderIdentity, leaseDurationSeconds: 15, renewTime: new Date(nowMs - renewedMsAgo).toISOString() },
});
const rival =
  /^another snapshot-controller is at work: Lease storage\/snapshot-controller-leader is held by other; .*SNAP-801\]$/;
const foreign = /^objects of the installation in namespace one belong to somebody else: .*SNAP-804\]$/;
const theirs = (objects: readonly ManifestObject[]) =>
  edited(storedOf(objects), () => ({ labels: { "snapkeep.dev/installation": "two" } }));
const crdsWith = (metadata: JsonObject, phase: 1 | 3 = 3): readonly JsonObject[] =>
  edited(snapshotCrds(phase) as unknown as readonly JsonObject[], () => metadata);
const newer = crdsWith({ annotations: { [versionAnnotation]: "1.3.0" } });

const cases: readonly {
  given: string;
  cluster: readonly JsonObject[];
  plan?: InstallPlan;
  options?: ApplyOptions;
  refusal?: RegExp;
}[] = [
  { given: "a held lease elsewhere", cluster: [lease("storage", 1_000)], refusal: rival },
  { given: "a held lease elsewhere, and no controller of ours", cluster: [lease("storage", 1_000)], plan: webhook },
  { given: "a held lease that ours waits for", cluster: [lease("kube-system", 1_000)] },
  { given: "a lease elsewhere that has run out", cluster: [lease("storage", 60_000)] },
  { given: "a lease elsewhere that was released", cluster: [lease("storage", 1_000, "")] },
  { given: "objects of another installation", cluster: theirs(controller.objects), refusal: foreign },
  { given: "the same, and --adopt", cluster: theirs(controller.objects), options: { adopts: true } },
  { given: "unlabelled objects with our bindings", cluster: unlabelled(storedOf(controller.objects)) },
  {
    given: "unlabelled objects of the cluster without bindings",
    cluster: unlabelled(storedOf(controller.objects)).filter(({ kind }) => kind === "ClusterRole"),
  },
  {
    given: "newer definitions",
    cluster: newer,
    refusal: /which is newer than 1\.2\.3; .*nothing was changed.*SNAP-802\]$/,
  },
  { given: "newer definitions, and --keep-crds", cluster: newer, options: { keepsCrds: true } },
  {
    given: "definitions of phase 1",
    cluster: crdsWith({}, 1),
    refusal: /nothing was changed; run snapkeep migrate --to-phase=3 first.*SNAP-806\]$/,
  },
  { given: "definitions of phase 1, and --keep-crds", cluster: crdsWith({}, 1), options: { keepsCrds: true } },
  {
    given: "definitions of phase 1, and --adopt",
    cluster: crdsWith({}, 1),
    options: { adopts: true },
    refusal: /SNAP-806/,
  },
];
for (const { given, cluster, plan = controller, options = {}, refusal } of cases)
  test(`given ${given}, then --apply is ${refusal === undefined ? "not " : ""}refused`, async () => {
    const found = (await planned(plan, cluster, options)).refusal;
    if (refusal === undefined) assert.equal(found, undefined);
    else assert.match(found ?? "", refusal);
  });

test("definitions that stay are named with the reason, and are not applied", async () => {
  const line = (crd: JsonObject, why: string) => `${describe(crd as unknown as ManifestObject)} stays as it is: ${why}`;
  const ofOthers = crdsWith({ annotations: {} });
  const others = await planned(controller, ofOthers);
  assert.deepEqual(
    others.kept,
    ofOthers.map((crd) => line(crd, "it was installed by somebody else, and works as it is")),
  );
  assert.deepEqual(others.crds, []);
  const kept = await planned(controller, newer, { keepsCrds: true });
  assert.deepEqual(
    kept.kept,
    newer.map((crd) => line(crd, "--keep-crds")),
  );
  assert.deepEqual(kept.crds, []);
  assert.equal((await planned(controller, [], { keepsCrds: true })).crds.length, 3, "missing ones are created");
});

test("of many objects of others five are named, and the rest is counted", async () => {
  const { refusal = "" } = await planned(controller, theirs(controller.objects));
  assert.equal(refusal.match(/ belongs to the installation in namespace two/g)?.length, 5);
  assert.ok(refusal.includes(`; and ${controller.objects.length - 5} more; nothing was changed`), refusal);
  const five = await planned(controller, theirs(controller.objects.slice(0, 5)));
  assert.ok(!five.refusal?.includes(" more;"), five.refusal);
});

const workload = (kind: string, image: string, labels: JsonObject = {}): JsonObject => ({
  kind,
  metadata: { namespace: "kube-system", name: "any", labels },
  spec: { template: { spec: { containers: [{ image: "pause" }, { image }] } } },
});
test("what runs already is named by its images, and ours is not", async () => {
  const image = (name: string) => `registry.k8s.io/sig-storage/${name}:v8.6.0`;
  const { existing } = await planned(controller, [
    workload("Deployment", image("snapshot-controller")),
    workload("StatefulSet", image("csi-snapshotter")),
    workload("DaemonSet", image("csi-provisioner")),
    workload("Deployment", "snapshot-validation-webhook@sha256:00"),
    workload("Deployment", image("csi-attacher")),
    workload("Deployment", "registry.k8s.io/my-snapshot-controller:v1"),
    workload("Deployment", image("snapshot-controller"), { "app.kubernetes.io/name": "snapkeep" }),
    lease("kube-system", 14_999),
    lease("storage", 15_000),
  ]);
  assert.deepEqual(existing, [
    `Deployment kube-system/any runs ${image("snapshot-controller")}`,
    "Deployment kube-system/any runs snapshot-validation-webhook@sha256:00",
    `StatefulSet kube-system/any runs ${image("csi-snapshotter")}`,
    `DaemonSet kube-system/any runs ${image("csi-provisioner")}`,
    "Lease kube-system/snapshot-controller-leader is held by other",
  ]);
});

test("other leases are nobody's business", async () => {
  const other = { ...lease("storage", 1_000), metadata: { namespace: "storage", name: "csi-attacher-leader" } };
  assert.deepEqual((await planned(controller, [other])).existing, []);
  for (const spec of [{ holderIdentity: "other" }, { renewTime: new Date(nowMs).toISOString() }, {}])
    assert.deepEqual((await planned(controller, [{ ...lease("storage", 0), spec }])).existing, []);
});

test("pods start last, and kinds that the cluster does not serve are named once each", () => {
  const { before, workloads, unserved } = servedPlan(webhook.objects, ({ kind }) => !/Monitor|Budget/.test(kind));
  assert.deepEqual(workloads.map(describe), ["Deployment one/snapshot-validation-deployment"]);
  assert.equal(before.length + workloads.length + 2, webhook.objects.length);
  assert.ok(before.every(({ kind }) => !/Deployment|Monitor|Budget/.test(kind)));
  assert.deepEqual(unserved, [
    "left out, because the cluster does not serve PodDisruptionBudget (policy/v1): snapshot-validation-deployment",
    "left out, because the cluster does not serve ServiceMonitor (monitoring.coreos.com/v1): snapshot-validation-deployment",
  ]);
  const both = planIn("one", "snapshot-controller", "webhook");
  assert.match(
    servedPlan(both.objects, () => false).unserved.join("\n"),
    /\): snapshot-controller, snapshot-validation-dep/,
  );
  assert.deepEqual(
    servedPlan(planIn("one", "shared-resource").objects, () => true).workloads.map(({ kind }) => kind),
    ["DaemonSet"],
  );
});

test("a namespace that ends is waited for and created; one without our label is marked, and keeps the rest", async () => {
  const [namespace] = storedOf(controller.namespaces) as [JsonObject];
  const ending = edited([namespace], () => ({ deletionTimestamp: "2026-01-01T00:00:00Z" }));
  const ended = await planned(controller, ending);
  assert.deepEqual(
    [ended.ending.map(describe), ended.namespaces.map(describe), ended.marked],
    [["Namespace one"], ["Namespace one"], []],
  );
  const old = edited([namespace], () => ({
    labels: { "app.kubernetes.io/name": "snapkeep", "pod-security.kubernetes.io/enforce": "privileged" },
    annotations: { mine: "yes" },
  }));
  const found = await planned(controller, old);
  assert.deepEqual([found.ending, found.namespaces], [[], []]);
  assert.deepEqual(
    found.marked.map(({ metadata }) => metadata),
    [
      {
        name: "one",
        labels: {
          "app.kubernetes.io/name": "snapkeep",
          "pod-security.kubernetes.io/enforce": "privileged",
          "snapkeep.dev/installation": "one",
        },
        annotations: { mine: "yes", "snapkeep.dev/version": "1.2.3" },
      },
    ],
  );
  for (const labels of [{}, { "snapkeep.dev/installation": "one" }])
    assert.deepEqual(
      (
        await planned(
          controller,
          edited([namespace], () => ({ labels })),
        )
      ).marked,
      [],
    );
});

test("the configuration for claims is applied after the pods are ready", () => {
  const { objects } = planFor(["webhook"], installationOf("1.2.3"), { claims: true });
  const { before, workloads, after } = servedPlan(objects, () => true);
  assert.deepEqual(after.map(describe), ["MutatingWebhookConfiguration claim-sources.storage.snapkeep.dev"]);
  assert.ok(!before.some((object) => after.includes(object)));
  assert.equal(before.length + workloads.length + after.length, objects.length);
  assert.deepEqual(servedPlan(planIn("one", "webhook").objects, () => true).after, []);
});
