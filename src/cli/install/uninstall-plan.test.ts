import assert from "node:assert/strict";
import { test } from "node:test";
import { edited, everythingOf, nameOf, planIn, readerOf, storedOf, unlabelled } from "../../../test/install-cluster.ts";
import type { ManifestObject } from "../../api/manifests/component.ts";
import { claimConfiguration } from "../../api/manifests/webhook-configurations.ts";
import type { JsonObject } from "../../base/json.ts";
import { readForUninstall } from "./read.ts";
import { describe, type InstallPlan, leasesOf } from "./selection.ts";
import { type UninstallAction, type Uninstallation, uninstallPlan, useOf } from "./uninstall-plan.ts";

const controller = planIn("one", "snapshot-controller");
const webhook = planIn("one", "webhook");
const both = planIn("one", "snapshot-controller", "webhook");
const driver = planIn("one", "directory-driver");

const planned = async (plan: InstallPlan, cluster: readonly JsonObject[]): Promise<Uninstallation> =>
  uninstallPlan(await readForUninstall(plan, readerOf(cluster)));

const textOf = (action: UninstallAction): string =>
  action.act === "untilEnded"
    ? `untilEnded ${action.workloads.map(describe).join(", ")}`
    : `${action.act} ${nameOf(action.object)}`;
const actionsOf = async (plan: InstallPlan, cluster: readonly JsonObject[]): Promise<readonly string[]> =>
  (await planned(plan, cluster)).actions.map(textOf);
const namesIn = (objects: readonly ManifestObject[]): readonly string[] => objects.map(describe);

const secretIn = (namespace: string, labels: JsonObject): JsonObject => ({
  kind: "Secret",
  metadata: { namespace, name: "snapshot-validation-secret", labels },
});
const ownSecret = secretIn("one", { "snapkeep.dev/installation": "one" });
const inNamespace = (kind: string, name: string, labels: JsonObject = {}, namespace = "one"): JsonObject => ({
  kind,
  metadata: { namespace, name, labels },
});

const claims = claimConfiguration({
  client: { service: { namespace: "one", name: "snapshot-validation-service" } },
});
const [claimWebhook] = claims.webhooks as readonly JsonObject[];
const elsewhere = { name: "other", clientConfig: { service: { namespace: "two", name: "other" } } };

test("webhook configurations go first, then pods with their rights still there, then the rest from last to first, then the namespace", async () => {
  assert.deepEqual(await actionsOf(webhook, [...everythingOf(webhook), ownSecret]), [
    "remove ValidatingWebhookConfiguration webhook-validation.storage.sigs.k8s.io",
    "end Deployment one/snapshot-validation-deployment",
    "untilEnded Deployment one/snapshot-validation-deployment",
    "remove PrometheusRule one/snapshot-validation-deployment",
    "remove ServiceMonitor one/snapshot-validation-deployment",
    "remove NetworkPolicy one/snapshot-validation-deployment",
    "remove Service one/snapshot-validation-deployment-metrics",
    "remove Service one/snapshot-validation-service",
    "remove PodDisruptionBudget one/snapshot-validation-deployment",
    "remove RoleBinding one/snapshot-webhook",
    "remove Role one/snapshot-webhook",
    "remove ClusterRoleBinding snapkeep-snapshot-webhook",
    "remove ClusterRole snapkeep-snapshot-webhook",
    "remove ServiceAccount one/snapshot-webhook",
    "remove Secret one/snapshot-validation-secret",
    "removeUnused Namespace one",
  ]);
});

test("every deletion is named before, and nothing else is", async () => {
  const { actions, deletes, kept } = await planned(both, [...everythingOf(both), ownSecret]);
  const removed = actions.flatMap((action) => (action.act === "untilEnded" ? [] : [nameOf(action.object)]));
  assert.deepEqual([...deletes].sort(), [...removed].sort());
  assert.deepEqual(kept, []);
  assert.equal(deletes.at(-1), "Namespace one");
});

test("what is not stored is neither named nor deleted", async () => {
  const [first] = everythingOf(controller).filter(({ kind }) => kind === "ServiceAccount") as [JsonObject];
  const { actions, deletes } = await planned(controller, [first]);
  assert.deepEqual(actions.map(textOf), [`remove ${nameOf(first)}`]);
  assert.deepEqual(deletes, [nameOf(first)]);
});

/** They would say whose the other objects of the component are. */
const withoutBindings = (objects: readonly JsonObject[]): readonly JsonObject[] =>
  objects.filter(({ kind }) => !String(kind).endsWith("Binding") && !String(kind).endsWith("Configuration"));

const others: readonly { given: string; labels: JsonObject; annotations?: JsonObject; owner: RegExp }[] = [
  {
    given: "another installation",
    labels: { "snapkeep.dev/installation": "two" },
    owner: /installation in namespace two$/,
  },
  { given: "nobody known", labels: {}, owner: /somebody else: it has no label of snapkeep$/ },
  {
    given: "a Helm release",
    labels: { "app.kubernetes.io/name": "snapkeep" },
    annotations: { "meta.helm.sh/release-name": "snaps", "meta.helm.sh/release-namespace": "one" },
    owner: /Helm release one\/snaps$/,
  },
];
for (const { given, labels, annotations = {}, owner } of others)
  test(`given a role of ${given}, then it stays, and is named with its owner`, async () => {
    const cluster = edited(withoutBindings(unlabelled(everythingOf(controller))), (_, { kind }) =>
      kind === "ClusterRole" ? { labels, annotations } : {},
    );
    const { kept, actions } = await planned(controller, cluster);
    const [line = ""] = kept.filter((text) =>
      text.startsWith("ClusterRole snapkeep-snapshot-controller, which belongs to "),
    );
    assert.match(line, owner);
    assert.ok(!actions.map(textOf).includes("remove ClusterRole snapkeep-snapshot-controller"));
    assert.ok(actions.map(textOf).includes("remove ServiceAccount one/snapshot-controller"));
  });

test("given no label and no binding, then what lies in the namespaces is deleted, and what is of the whole cluster is only named", async () => {
  const cluster = withoutBindings(unlabelled(everythingOf(controller)));
  const { kept, deletes } = await planned(controller, cluster);
  assert.deepEqual(kept, [
    "ClusterRole snapkeep-snapshot-controller, of which nothing says whose installation it is; delete it by hand if nobody uses it",
    "Role kube-system/snapshot-controller, of which nothing says whose installation it is; delete it by hand if nobody uses it",
  ]);
  assert.ok(deletes.includes("Deployment one/snapshot-controller"));
  assert.ok(deletes.includes("Namespace one"));
  const typo = planIn("typo", "snapshot-controller");
  assert.match((await planned(typo, cluster)).refusal ?? "", /^nothing was deleted/);
});

test("given no label but bindings, then everything is deleted, also what had no label of the component", async () => {
  const bare = edited(unlabelled(everythingOf(driver)), (_, { kind }) => (kind === "CSIDriver" ? { labels: {} } : {}));
  const deletes = (await planned(driver, bare)).deletes;
  for (const name of ["CSIDriver directory.snapkeep.dev", "StorageClass directory", "Namespace one-drivers"])
    assert.ok(deletes.includes(name), name);
});

test("given another configuration that asks the Service, then it goes first, whoever has applied it", async () => {
  const theirs = { ...claims, metadata: { name: "theirs" } };
  const { actions, deletes } = await planned(webhook, [...everythingOf(webhook), theirs]);
  assert.deepEqual(actions.slice(0, 2).map(textOf), [
    "remove ValidatingWebhookConfiguration webhook-validation.storage.sigs.k8s.io",
    "remove MutatingWebhookConfiguration theirs",
  ]);
  assert.deepEqual(deletes.slice(0, 2), [
    "ValidatingWebhookConfiguration webhook-validation.storage.sigs.k8s.io",
    "MutatingWebhookConfiguration theirs",
  ]);
});

test("given one that also asks somebody else's Service, then only our webhooks are taken out of it", async () => {
  const shared = { ...claims, metadata: { name: "shared" }, webhooks: [elsewhere, { ...claimWebhook }] };
  const { actions, deletes } = await planned(webhook, [...everythingOf(webhook), shared]);
  const replaced = actions.find((action) => action.act === "replace");
  assert.deepEqual(replaced?.act === "replace" && replaced.object.webhooks, [elsewhere]);
  assert.ok(!actions.map(textOf).includes("remove MutatingWebhookConfiguration shared"));
  assert.ok(
    deletes.includes(
      "the webhooks of MutatingWebhookConfiguration shared that ask Service one/snapshot-validation-service or Service one/snapshot-validation-deployment-metrics",
    ),
    deletes.join("\n"),
  );
});

test("given our own configuration with somebody else's webhook in it, then that one stays", async () => {
  const cluster = everythingOf(webhook).map((object) =>
    object.kind === "ValidatingWebhookConfiguration"
      ? { ...object, webhooks: [...(object.webhooks as readonly JsonObject[]), elsewhere] }
      : object,
  );
  const actions = await actionsOf(webhook, cluster);
  const name = "ValidatingWebhookConfiguration webhook-validation.storage.sigs.k8s.io";
  assert.ok(actions.includes(`replace ${name}`));
  assert.ok(!actions.includes(`remove ${name}`));
});

test("given our own configuration that asks no Service of ours, then it is deleted before the pods end", async () => {
  const cluster = everythingOf(webhook).map((object) =>
    object.kind === "ValidatingWebhookConfiguration" ? { ...object, webhooks: [elsewhere] } : object,
  );
  assert.deepEqual((await actionsOf(webhook, cluster)).slice(0, 2), [
    "remove ValidatingWebhookConfiguration webhook-validation.storage.sigs.k8s.io",
    "end Deployment one/snapshot-validation-deployment",
  ]);
});

test("given only a configuration that asks a Service which is gone, then it is deleted", async () => {
  assert.deepEqual(await actionsOf(webhook, [claims]), [
    "remove MutatingWebhookConfiguration claim-sources.storage.snapkeep.dev",
  ]);
  assert.match((await planned(planIn("two", "webhook"), [claims])).refusal ?? "", /SNAP-805/);
});

test("a Service of somebody else under our name is asked on", async () => {
  const service = { ...inNamespace("Service", "snapshot-validation-service"), apiVersion: "v1" };
  const account = unlabelled(storedOf(webhook.objects)).filter(({ kind }) => kind === "ServiceAccount");
  const { actions, kept } = await planned(webhook, [claims, service, ...account]);
  assert.deepEqual(actions.map(textOf), ["remove ServiceAccount one/snapshot-webhook"]);
  assert.deepEqual(kept, [
    "Service one/snapshot-validation-service, which belongs to somebody else: it has no label of snapkeep",
  ]);
});

const pod = (name: string, app: string): JsonObject => inNamespace("Pod", name, { app });
const uses: readonly { given: string; more: readonly JsonObject[]; kept?: string }[] = [
  { given: "only what is deleted and its pods", more: [pod("snapshot-controller-1", "snapshot-controller")] },
  { given: "something in another namespace", more: [inNamespace("Pod", "any", {}, "two")] },
  { given: "a ConfigMap of somebody", more: [inNamespace("ConfigMap", "any")] },
  { given: "a pod of somebody", more: [pod("any", "else")], kept: "Pod one/any" },
  {
    given: "another component",
    more: storedOf(webhook.objects),
    kept: "Deployment one/snapshot-validation-deployment",
  },
  ...["PersistentVolumeClaim", "Deployment", "DaemonSet", "StatefulSet", "Job", "CronJob"].map((kind) => ({
    given: `a ${kind}`,
    more: [inNamespace(kind, "any")],
    kept: `${kind} one/any`,
  })),
  { given: "two workloads", more: [pod("any", "else"), pod("more", "else")], kept: "Pod one/any and 1 more" },
];
for (const { given, more, kept } of uses)
  test(`given ${given} in it, then the namespace ${kept === undefined ? "is deleted" : "stays"}`, async () => {
    const { deletes, kept: lines, actions } = await planned(controller, [...everythingOf(controller), ...more]);
    assert.equal(deletes.includes("Namespace one"), kept === undefined);
    assert.equal(actions.at(-1)?.act === "removeUnused", kept === undefined);
    assert.deepEqual(lines, kept === undefined ? [] : [`Namespace one, which is in use by ${kept}`]);
  });

test("given an object of somebody else under one of our names in it, then the namespace stays", async () => {
  const cluster = withoutBindings(unlabelled(everythingOf(webhook)));
  const { kept, deletes } = await planned(webhook, [...cluster, secretIn("one", {})]);
  assert.deepEqual(
    kept.filter((line) => !line.startsWith("ClusterRole ")),
    [
      "Secret one/snapshot-validation-secret, which belongs to somebody else: it has no label of snapkeep",
      "Namespace one, which is in use by Secret one/snapshot-validation-secret",
    ],
  );
  assert.ok(!deletes.includes("Namespace one"));
});

test("a namespace that was there before stays, and one that is left alone is deleted", async () => {
  const before = [{ kind: "Namespace", metadata: { name: "one" } }, ...storedOf(controller.objects)];
  const { kept, deletes } = await planned(controller, before);
  assert.deepEqual(kept, ["Namespace one, which was there before"]);
  assert.ok(!deletes.includes("Namespace one"));
  assert.deepEqual(await actionsOf(controller, storedOf(controller.namespaces)), ["removeUnused Namespace one"]);
});

test("a pod that nobody knows of is found again right before the namespace is deleted", () => {
  const [namespace] = controller.namespaces as [ManifestObject];
  const removed = storedOf(controller.objects);
  const own = pod("snapshot-controller-1", "snapshot-controller");
  assert.equal(useOf(namespace, [own], removed), undefined);
  assert.equal(useOf(namespace, [own], []), "Namespace one, which is in use by Pod one/snapshot-controller-1");
});

const bindings = (namespace: string) =>
  storedOf(planIn(namespace, "webhook").objects).filter(({ kind }) => kind === "ClusterRoleBinding");
const refusals: readonly { given: string; cluster: readonly JsonObject[]; says: string }[] = [
  { given: "an empty cluster", cluster: [], says: "in namespace one; give" },
  { given: "an installation elsewhere", cluster: bindings("two"), says: "one; there is one in two; give" },
  {
    given: "two installations elsewhere",
    cluster: [...bindings("two"), ...edited(bindings("three"), () => ({ name: "other" }))],
    says: "one; there is one in three, two; give",
  },
  {
    given: "a binding of somebody else",
    cluster: edited(bindings("two"), () => ({ labels: { "snapkeep.dev/installation": "two" } })),
    says: "in namespace one; give",
  },
  {
    given: "a Deployment of somebody else",
    cluster: [inNamespace("Deployment", "snapshot-controller")],
    says: "one; Deployment one/snapshot-controller belongs to somebody else: it has no label of snapkeep; give",
  },
  { given: "a namespace in use", cluster: [...storedOf(controller.namespaces), pod("any", "else")], says: "one; give" },
];
for (const { given, cluster, says } of refusals)
  test(`given ${given}, then nothing is deleted`, async () => {
    const { refusal = "", actions, deletes } = await planned(controller, cluster);
    assert.ok(refusal.includes(`no installation of these components`) && refusal.includes(says), refusal);
    assert.match(refusal, /\[SNAP-805\]$/);
    assert.deepEqual([actions, deletes], [[], []]);
  });

test("definitions, data of users and drivers, and leases outside stay, and are named", async () => {
  const data = ["VolumeSnapshot", "VolumeSnapshotContent", "PersistentVolume", "PersistentVolume"].map(
    (kind, index) => ({
      kind,
      metadata: { name: `any-${index}` },
    }),
  );
  const { left } = await planned(driver, [...everythingOf(driver), ...data]);
  assert.deepEqual(left, [
    ...namesIn(driver.crds).map(
      (name) => `${name}: delete it by hand, and all objects of its kind are deleted with it`,
    ),
    "1 VolumeSnapshot; without a controller and a driver they can be neither used nor deleted",
    "1 VolumeSnapshotContent; without a controller and a driver they can be neither used nor deleted",
    "2 PersistentVolumes; without a controller and a driver they can be neither used nor deleted",
    ...driver.rows.flatMap(({ data: kept }) => kept ?? []),
  ]);
  const [lease] = leasesOf(controller);
  const after = await planned(controller, storedOf([...controller.objects, ...(lease === undefined ? [] : [lease])]));
  assert.deepEqual(after.left, [
    "Lease kube-system/snapshot-controller-leader: the controller that is installed next takes it over",
  ]);
});
