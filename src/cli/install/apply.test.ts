import assert from "node:assert/strict";
import { test } from "node:test";
import { type CrdPhase, snapshotCrd } from "../../api/crds/index.ts";
import type { ManifestObject } from "../../api/manifests/component.ts";
import { versionAnnotation } from "../../api/manifests/objects.ts";
import { snapshotConfigurationName } from "../../api/manifests/webhook-configurations.ts";
import type { JsonObject } from "../../base/json.ts";
import { realWorld } from "../../base/world.ts";
import type { KubeApi } from "../../kube/api.ts";
import { installationOf } from "../deploy.ts";
import { type MigrationRecord, recordAnnotation } from "../migrate/definition.ts";
import { applyAll } from "./apply.ts";
import { isLater, judgeCrd } from "./crd-age.ts";
import { withLivePolicy } from "./live-policy.ts";
import type { Resources } from "./resources.ts";
import { rolloutProblem } from "./rollout-problem.ts";
import { describe, isWorkload, planFor, selectionProblem } from "./selection.ts";
import { uninstallAll } from "./uninstall.ts";

const plan = planFor(["snapshot-controller"], installationOf("1.2.3"));
const [crd] = plan.crds as [ManifestObject];

/** A cluster that holds these objects, and tells what is written. */
function clusterOf(objects: readonly JsonObject[]) {
  const written: string[] = [];
  const named = (object: ManifestObject) => (found: JsonObject) => describe(found as never) === describe(object);
  const resources: Resources = {
    serves: async () => true,
    read: async (object) => objects.find(named(object)),
    apply: async (object) => {
      written.push(describe(object));
      return object as unknown as JsonObject;
    },
    replace: async () => undefined,
    remove: async () => false,
    list: async (_apiVersion, kind) => objects.filter((object) => object.kind === kind),
    forget: () => undefined,
  };
  const said: string[] = [];
  const waiting = { world: realWorld, signal: new AbortController().signal, msMax: 0, progress: () => undefined };
  const context = { api: {} as KubeApi, resources, waiting, say: (line: string) => void said.push(line) };
  return { context, resources, written, said };
}

const lease = (namespace: string, renewedMsAgo: number, holderIdentity = "other"): JsonObject => ({
  kind: "Lease",
  metadata: { namespace, name: "snapshot-controller-leader" },
  spec: {
    holderIdentity,
    leaseDurationSeconds: 15,
    renewTime: new Date(realWorld.now() - renewedMsAgo).toISOString(),
  },
});
const newer: JsonObject = {
  ...(crd as unknown as JsonObject),
  metadata: { name: crd.metadata.name, annotations: { [versionAnnotation]: "1.3.0" } },
};

test("another controller at work in another namespace is refused before anything is written", async () => {
  const { context, written } = clusterOf([lease("storage", 1_000)]);
  await assert.rejects(
    applyAll(plan, context),
    /Lease storage\/snapshot-controller-leader is held by other.*\[SNAP-801\]$/,
  );
  assert.deepEqual(written, []);
});

for (const [given, object] of [
  ["a lease that ours waits for", lease("kube-system", 1_000)],
  ["a lease that has run out", lease("storage", 60_000)],
  ["a released lease", lease("storage", 1_000, "")],
] as const)
  test(`given ${given}, then the definitions are applied`, async () => {
    const { context, written } = clusterOf([object]);
    await assert.rejects(applyAll(plan, context), /not served yet/);
    assert.equal(written.length, 3);
  });

test("what runs already is named", async () => {
  const containers = [{ image: "registry.k8s.io/sig-storage/snapshot-controller:v8.6.0" }];
  const deployment: JsonObject = {
    kind: "Deployment",
    metadata: { namespace: "kube-system", name: "snapshot-controller" },
    spec: { template: { spec: { containers } } },
  };
  const { context, said } = clusterOf([deployment, lease("kube-system", 1_000)]);
  await assert.rejects(applyAll(plan, context));
  assert.deepEqual(said.slice(0, 2), [
    "already there: Deployment kube-system/snapshot-controller runs registry.k8s.io/sig-storage/snapshot-controller:v8.6.0",
    "already there: Lease kube-system/snapshot-controller-leader is held by other",
  ]);
});

test("a newer definition is refused before anything is written", async () => {
  const { context, written } = clusterOf([newer]);
  await assert.rejects(
    applyAll(plan, context),
    /installed by snapkeep 1\.3\.0, which is newer than 1\.2\.3.*\[SNAP-802\]$/,
  );
  assert.deepEqual(written, []);
});

test("definitions: of this or an older release they are applied, of others they stay, with unknown versions they are refused", () => {
  const annotated = (version: string) => ({
    ...(crd as unknown as JsonObject),
    metadata: { name: crd.metadata.name, annotations: { [versionAnnotation]: version } },
  });
  assert.equal(judgeCrd(undefined, crd).kind, "apply");
  assert.equal(judgeCrd(annotated("1.2.3"), crd).kind, "apply");
  assert.equal(judgeCrd(annotated("0.9.0"), crd).kind, "apply");
  const ofOthers = (...versions: JsonObject[]) => ({ metadata: {}, spec: { versions } });
  assert.equal(judgeCrd(ofOthers({ name: "v1", storage: true }), crd).kind, "keep");
  assert.equal(judgeCrd(ofOthers({ name: "v1", storage: true }, { name: "v2" }), crd).kind, "refuse");
});

/** The definition of a phase with what a migration has stored on it. */
const inPhase = (phase: CrdPhase, storedVersions: readonly string[], record?: Partial<MigrationRecord>): JsonObject => {
  const annotations = record === undefined ? {} : { [recordAnnotation]: JSON.stringify(record) };
  const { metadata, ...definition } = snapshotCrd("VolumeSnapshot", phase);
  return {
    ...(definition as unknown as JsonObject),
    metadata: { ...metadata, annotations: { [versionAnnotation]: "1.2.3", ...annotations } } as unknown as JsonObject,
    status: { storedVersions: [...storedVersions] },
  };
};

for (const { given, stored, next } of [
  { given: "phase 1", stored: inPhase(1, ["v1beta1"]), next: "snapkeep migrate --to-phase=3" },
  { given: "phase 2", stored: inPhase(2, ["v1beta1"]), next: "snapkeep migrate --to-phase=3" },
  { given: "phase 3, not rewritten", stored: inPhase(3, ["v1beta1", "v1"]), next: "snapkeep migrate --to-phase=3" },
  {
    given: "phase 3 at the beginning of a rollback",
    stored: inPhase(3, ["v1"], { goal: 2, back: true, step: "begun" }),
    next: "snapkeep migrate --rollback --to-phase=2",
  },
  {
    given: "phase 2 in a migration",
    stored: inPhase(2, ["v1beta1"], { goal: 2, back: false, step: "apply" }),
    next: "snapkeep migrate --to-phase=2",
  },
])
  test(`a definition in ${given} is not replaced, and the migrate command is named`, () => {
    const verdict = judgeCrd(stored, crd);
    assert.equal(verdict.kind === "migrate" ? verdict.next : verdict.kind, next);
  });

test("a definition in phase 3 whose migration has ended is renewed", () => {
  assert.equal(judgeCrd(inPhase(3, ["v1"]), crd).kind, "apply");
  assert.equal(judgeCrd(inPhase(3, ["v1"], { goal: 3, back: false, step: "finished" }), crd).kind, "apply");
});

test("versions are compared by number, and a release is later than its candidates", () => {
  assert.deepEqual(
    [isLater("0.10.0", "0.9.9"), isLater("1.0.0", "1.0.0"), isLater("1.0.0", "1.0.0-rc.1")],
    [true, false, true],
  );
});

test("applying again keeps the failurePolicy that promote has set", () => {
  const webhooks = [{ name: "snapshot.webhook-validation.storage.sigs.k8s.io", failurePolicy: "Fail" }];
  const kind = "ValidatingWebhookConfiguration";
  const stored = { kind, metadata: { name: snapshotConfigurationName }, webhooks };
  const wanted = planFor(["webhook"], installationOf("1.2.3")).objects.find((object) => object.kind === kind);
  const kept = withLivePolicy(wanted as ManifestObject, stored) as unknown as {
    readonly webhooks: readonly { readonly failurePolicy: string }[];
  };
  assert.equal(kept.webhooks[0]?.failurePolicy, "Fail");
});

test("a rollout is done when all pods are of the new version and ready, and the old ones have ended", () => {
  const deployment = (status: JsonObject): JsonObject => ({
    metadata: { generation: 2 },
    spec: { replicas: 2 },
    status,
  });
  const done = { observedGeneration: 2, updatedReplicas: 2, availableReplicas: 2, replicas: 2 };
  assert.equal(rolloutProblem(deployment(done)), undefined);
  assert.match(rolloutProblem(deployment({ ...done, observedGeneration: 1 })) ?? "", /not seen/);
  assert.equal(rolloutProblem(deployment({ ...done, updatedReplicas: 1 })), "1 of 2 pods are of this version");
  assert.equal(rolloutProblem(deployment({ ...done, availableReplicas: 1 })), "1 of 2 pods are ready");
  assert.equal(rolloutProblem(deployment({ ...done, replicas: 3 })), "1 old pods have not ended");
});

const stored = (objects: readonly ManifestObject[]): readonly JsonObject[] =>
  objects as unknown as readonly JsonObject[];

test("uninstalling names the lease that stays in kube-system", async () => {
  const { context, said } = clusterOf([lease("kube-system", 60_000), ...stored(plan.objects)]);
  await uninstallAll(plan, context);
  assert.ok(
    said.some((line) => line.startsWith("stays: Lease kube-system/snapshot-controller-leader")),
    said.join("\n"),
  );
});

/** The kinds that an uninstallation deletes, in order; workloads are there for so many looks after their deletion. */
async function uninstalled(looksMax: number, msMax: number) {
  const webhook = planFor(["webhook"], installationOf("1.2.3"));
  const { context, said } = clusterOf(stored(webhook.objects));
  const deleted: string[] = [];
  const gone = new Set<string>();
  let looks = 0;
  const read: Resources["read"] = async (object) => {
    if (!gone.has(describe(object))) return object as unknown as JsonObject;
    if (!isWorkload(object) || looks === looksMax) return undefined;
    looks += 1;
    deleted.push("pods are there");
    return object as unknown as JsonObject;
  };
  const remove: Resources["remove"] = async (found, { isForeground = false } = {}) => {
    gone.add(describe(found as unknown as ManifestObject));
    deleted.push(isForeground ? `${String(found.kind)} in the foreground` : String(found.kind));
    return true;
  };
  const waiting = { ...context.waiting, msMax };
  const resources = { ...context.resources, read, remove };
  await uninstallAll(webhook, { ...context, resources, waiting });
  return { deleted: deleted.filter((line, index) => line !== deleted[index - 1]), said };
}

test("uninstalling deletes rights and certificates when the pods have ended, and before them what asks the webhook", async () => {
  const { deleted } = await uninstalled(2, 10_000);
  const [first, second, third, ...later] = deleted;
  assert.deepEqual(
    [first, second, third],
    ["ValidatingWebhookConfiguration", "Deployment in the foreground", "pods are there"],
  );
  for (const kind of ["Secret", "ClusterRoleBinding", "ServiceAccount"]) assert.ok(later.includes(kind), kind);
  assert.ok(!later.includes("pods are there"));
});

test("uninstalling goes on without pods that do not end, and names their workload", async () => {
  const { deleted, said } = await uninstalled(Number.POSITIVE_INFINITY, 0);
  assert.ok(deleted.includes("ServiceAccount"));
  assert.ok(
    said.includes(
      "the pods of Deployment snapkeep/snapshot-validation-deployment have not ended; they lose their rights now",
    ),
    said.join("\n"),
  );
});

test("a component that does not exist is named, with those that do", () => {
  assert.match(selectionProblem(["webhok"]) ?? "", /no component "webhok"; there are snapshot-controller, webhook/);
  assert.equal(selectionProblem(["webhook"]), undefined);
});
