import assert from "node:assert/strict";
import { test } from "node:test";
import { edited, everythingOf, planIn, readerOf, storedOf } from "../../../test/install-cluster.ts";
import { snapshotCrds } from "../../api/crds/index.ts";
import type { ManifestObject } from "../../api/manifests/component.ts";
import { versionAnnotation } from "../../api/manifests/objects.ts";
import { claimConfiguration } from "../../api/manifests/webhook-configurations.ts";
import type { JsonObject } from "../../base/json.ts";
import { installationOf } from "../deploy.ts";
import { comparedIn, differences, driftPlan } from "./drift-plan.ts";
import { readForDrift } from "./read.ts";
import { describe, type InstallPlan, planFor } from "./selection.ts";

const controller = planIn("one", "snapshot-controller");
const webhook = planIn("one", "webhook");
const driver = planIn("one", "directory-driver");

interface Given {
  readonly plan?: InstallPlan;
  readonly cluster: readonly JsonObject[];
  readonly unserved?: readonly string[];
}

/** The dry run answers what would be applied, as a server does: with fields that it writes itself. */
async function found({ plan = controller, cluster, unserved = [] }: Given) {
  const read = await readForDrift(plan, readerOf(cluster, unserved));
  const compared = comparedIn(read);
  const answers = new Map<ManifestObject, JsonObject>(
    compared.map(({ object }) => [object, { ...(object as unknown as JsonObject), status: { any: 1 } }]),
  );
  return { ...driftPlan(read, answers), compared: compared.map(({ object }) => describe(object)) };
}
const withServerFields = (objects: readonly JsonObject[]): readonly JsonObject[] =>
  edited(objects, () => ({ managedFields: [], resourceVersion: "7", generation: 3 }));

test("given everything as it would be applied, then nothing differs, whatever the server has written", async () => {
  const { drifts, notes, compared } = await found({ cluster: withServerFields(everythingOf(controller)) });
  assert.deepEqual([drifts, notes], [[], []]);
  assert.deepEqual(
    compared,
    [...controller.crds, ...controller.objects].map((object) => describe(object)),
  );
});

test("given an empty cluster, then every object is missing, in the order in which it would be applied", async () => {
  const { drifts, compared } = await found({ cluster: [] });
  assert.deepEqual(
    drifts,
    [...controller.crds, ...controller.namespaces, ...controller.objects].map((object) => ({
      object: describe(object),
    })),
  );
  assert.deepEqual(compared, []);
});

test("given a changed object, then each field is named with what it is and what it would be", async () => {
  const cluster = everythingOf(controller).map((object) =>
    object.kind === "Deployment" ? { ...object, spec: { ...(object.spec as JsonObject), replicas: 1 } } : object,
  );
  const { drifts } = await found({ cluster });
  assert.deepEqual(drifts, [{ object: "Deployment one/snapshot-controller", changes: ["spec.replicas: 1 → 2"] }]);
});

test("given an object of another installation, then its owner is named, and it is not compared", async () => {
  const cluster = edited(everythingOf(controller), (_, { kind }) =>
    kind === "ClusterRole" ? { labels: { "snapkeep.dev/installation": "two" } } : {},
  );
  const { drifts, compared } = await found({ cluster });
  const object = "ClusterRole snapkeep-snapshot-controller";
  assert.deepEqual(drifts, [{ object, owner: "the installation in namespace two (release 1.2.3)" }]);
  assert.ok(!compared.includes(object));
});

test("given a changed namespace, then it is left as it is", async () => {
  const cluster = edited(everythingOf(controller), (_, { kind }) => (kind === "Namespace" ? { labels: {} } : {}));
  assert.deepEqual((await found({ cluster })).drifts, []);
});

const crdsAs = (phase: 1 | 3, annotations: JsonObject) =>
  edited(snapshotCrds(phase) as unknown as readonly JsonObject[], () => ({ annotations }));
const rest = storedOf([...controller.namespaces, ...controller.objects]);
test("given definitions that install does not replace, then they are no drift; those of migrate are noted with the command", async () => {
  const ofOthers = await found({ cluster: [...crdsAs(3, {}), ...rest] });
  assert.deepEqual([ofOthers.drifts, ofOthers.notes], [[], []]);
  const old = await found({ cluster: [...crdsAs(1, { [versionAnnotation]: "1.2.3" }), ...rest] });
  assert.deepEqual(old.drifts, []);
  assert.deepEqual(
    old.notes,
    controller.crds.map(
      (crd) =>
        `${describe(crd)} is left to snapkeep migrate: it is in phase 1: objects are stored as v1beta1; next: snapkeep migrate --to-phase=3`,
    ),
  );
});

test("given a definition of a newer release, then it is named, and not compared", async () => {
  const { drifts, compared } = await found({ cluster: [...crdsAs(3, { [versionAnnotation]: "1.3.0" }), ...rest] });
  assert.deepEqual(
    drifts,
    controller.crds.map((crd) => ({
      object: describe(crd),
      problem: "it was installed by snapkeep 1.3.0, which is newer than 1.2.3; install that release or a later one",
    })),
  );
  assert.ok(!compared.some((name) => name.startsWith("CustomResourceDefinition")));
});

test("given kinds that are not served, then those of definitions to come are missing, and the others are left out", async () => {
  const unserved = ["VolumeSnapshotClass", "ServiceMonitor", "PrometheusRule"];
  const withCrds = planIn("one", "snapshot-controller", "directory-driver");
  const { drifts, notes } = await found({ plan: withCrds, cluster: [], unserved });
  const names = drifts.map(({ object }) => object);
  assert.equal(names.at(-1), "VolumeSnapshotClass directory");
  assert.equal(new Set(names).size, names.length);
  assert.ok(!names.some((name) => /ServiceMonitor|PrometheusRule/.test(name)));
  assert.deepEqual(
    notes.map((note) => /serve (\w+)/.exec(note)?.[1]),
    ["ServiceMonitor", "PrometheusRule"],
  );
  const withoutCrds = await found({ plan: driver, cluster: everythingOf(driver), unserved });
  assert.deepEqual(withoutCrds.drifts, []);
  assert.deepEqual(
    withoutCrds.notes.map((note) => /serve (\w+)/.exec(note)?.[1]),
    ["VolumeSnapshotClass", "ServiceMonitor", "PrometheusRule"],
  );
  assert.ok(!withoutCrds.compared.includes("ServiceMonitor one-drivers/directory-driver"));
});

test("given a configuration for claims that an administrator has set to Ignore, then that is noted, and no drift", async () => {
  const plan = planFor(["webhook"], installationOf("1.2.3", { namespace: "one" }), { claims: true });
  const withPolicy = (failurePolicy: string) =>
    storedOf(plan.objects).map((object) =>
      object.kind === "MutatingWebhookConfiguration"
        ? { ...object, webhooks: (object.webhooks as readonly JsonObject[]).map((one) => ({ ...one, failurePolicy })) }
        : object,
    );
  const note =
    "MutatingWebhookConfiguration claim-sources.storage.snapkeep.dev has failurePolicy Ignore: while the webhook is down, a claim with an unsupported data source gets an empty volume";
  assert.deepEqual((await found({ plan, cluster: withPolicy("Ignore") })).notes, [note]);
  assert.deepEqual((await found({ plan, cluster: withPolicy("Fail") })).notes, []);
  assert.deepEqual(
    (await found({ plan: webhook, cluster: storedOf(webhook.objects) })).notes,
    [],
    "snapshots start with Ignore",
  );
});

const claimsOf = (namespace: string, name = "snapshot-validation-service"): JsonObject =>
  claimConfiguration({
    client: { service: { namespace, name } },
  });
const problem = (service: string) =>
  `it asks Service ${service}, which does not exist: requests for persistentvolumeclaims are refused; delete the configuration, or install the webhook`;
for (const [given, cluster, problems] of [
  ["a Service that is not there", [claimsOf("one")], [problem("one/snapshot-validation-service")]],
  ["a Service elsewhere that is not there", [claimsOf("two")], [problem("two/snapshot-validation-service")]],
  ["another Service under our configuration's name", [claimsOf("two", "old")], [problem("two/old")]],
  [
    "a Service that is there",
    [claimsOf("two"), { kind: "Service", metadata: { namespace: "two", name: "snapshot-validation-service" } }],
    [],
  ],
] as const)
  test(`given a configuration of ours that asks ${given}, then ${problems.length === 0 ? "nothing is wrong" : "it is named with the effect"}`, async () => {
    const { drifts } = await found({ plan: webhook, cluster });
    const wrong = drifts.filter((drift) => drift.problem !== undefined);
    assert.deepEqual(
      wrong,
      problems.map((text) => ({
        object: "MutatingWebhookConfiguration claim-sources.storage.snapkeep.dev",
        problem: text,
      })),
    );
  });

for (const [given, stored, wanted, expected] of [
  ["equal values", { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, []],
  ["a value that is only stored", { a: 1 }, {}, ["a: 1 → absent"]],
  ["a value that is only wanted", {}, { a: "x" }, ['a: absent → "x"']],
  ["a field inside", { a: { b: 1, c: 2 } }, { a: { b: 3, c: 2 } }, ["a.b: 1 → 3"]],
  ["an item of a list", { a: [{ b: 1 }, 2] }, { a: [{ b: 2 }, 2] }, ["a[0].b: 1 → 2"]],
  ["lists of different lengths", { a: [1] }, { a: [1, 2] }, ["a: [1] → [1,2]"]],
  ["different types", { a: [1] }, { a: { b: 1 } }, ['a: [1] → {"b":1}']],
  ["several", { a: 1, b: 1 }, { a: 2, c: 1 }, ["a: 1 → 2", "b: 1 → absent", "c: absent → 1"]],
] as const)
  test(`differences of ${given}`, () =>
    assert.deepEqual(differences(stored as unknown as JsonObject, wanted as unknown as JsonObject), expected));
