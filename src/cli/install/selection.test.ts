import assert from "node:assert/strict";
import { test } from "node:test";
import { planIn } from "../../../test/install-cluster.ts";
import type { ManifestObject } from "../../api/manifests/component.ts";
import { componentRows } from "../../api/manifests/rows.ts";
import type { JsonObject } from "../../base/json.ts";
import { installationOf } from "../deploy.ts";
import { componentsFor, isPolicyObject, policyObjects, subjectsFor } from "./admission.ts";
import { annotationOf, labelOf } from "./fields.ts";
import {
  defaultComponents,
  describe,
  electionsOf,
  isKept,
  isWorkload,
  leasesOf,
  objectsOf,
  partsWithSecrets,
  planFor,
  refusesUntilReady,
  selectionProblem,
  servicesOf,
} from "./selection.ts";

test("a component that does not exist is named, with those that do", () => {
  assert.match(selectionProblem(["webhok"]) ?? "", /no component "webhok"; there are snapshot-controller, webhook/);
  assert.equal(selectionProblem(["webhook"]), undefined);
  assert.equal(selectionProblem([]), "--components names none; for example --components=snapshot-controller,webhook");
  assert.deepEqual(defaultComponents, ["snapshot-controller", "webhook"]);
});

test("every object says whose it is, and of which release", () => {
  const plan = planIn("one", ...componentRows.map(({ name }) => name));
  for (const object of objectsOf(plan)) {
    const found = object as unknown as JsonObject;
    const says = [
      labelOf(found, "snapkeep.dev/installation"),
      labelOf(found, "app.kubernetes.io/name"),
      annotationOf(found, "snapkeep.dev/version"),
    ];
    assert.deepEqual(says, ["one", "snapkeep", "1.2.3"], describe(object));
  }
});

test("the configuration for shares comes with the components that need it", () => {
  const names = (...components: readonly string[]) => planIn("one", ...components).objects.map(describe);
  const shares = "ValidatingWebhookConfiguration validation.webhook.csidriversharedresource";
  const claims = "MutatingWebhookConfiguration claim-sources.storage.snapkeep.dev";
  assert.ok(!names("webhook").includes(shares));
  assert.ok(names("webhook", "shared-resource").includes(shares));
  assert.ok(names("webhook", "shared-resource-controller").includes(shares));
  assert.ok(!names("webhook", "shared-resource").includes(claims));
});

test("where cert-manager renews, the webhook has neither the flag nor a right for it", () => {
  const planned = (certificates: "self" | "cert-manager") =>
    planFor(["webhook", "shared-resource"], installationOf("1.2.3", { namespace: "one", certificates }), {
      claims: true,
    });
  const textOf = (plan: ReturnType<typeof planFor>, kind: RegExp): string =>
    JSON.stringify(plan.objects.filter((object) => kind.test(object.kind)));
  const [self, other] = [planned("self"), planned("cert-manager")];
  for (const [kind, words] of [
    [/^Deployment$/, "--certificate-secret=snapshot-validation-secret"],
    [/^ClusterRole$/, "mutatingwebhookconfigurations"],
    [/^Role$/, "snapshot-validation-secret"],
    [/^Role$/, "snapshot-webhook-certificates"],
  ] as const)
    assert.deepEqual(
      [textOf(self, kind), textOf(other, kind)].map((text) => text.includes(words)),
      [true, false],
    );
  const names = ({ objects }: ReturnType<typeof planFor>) =>
    objects.filter(({ apiVersion }) => apiVersion.startsWith("cert-manager.io/")).map(describe);
  assert.deepEqual(names(self), []);
  assert.deepEqual(names(other), [
    "Issuer one/snapshot-validation-self-signed",
    "Certificate one/snapshot-validation-authority",
    "Issuer one/snapshot-validation-authority",
    "Certificate one/snapshot-validation",
  ]);
  const configurations = other.objects.filter(({ kind }) => kind.endsWith("WebhookConfiguration"));
  assert.equal(configurations.length, 3);
  for (const object of configurations)
    assert.equal(
      annotationOf(object as unknown as JsonObject, "cert-manager.io/inject-ca-from"),
      "one/snapshot-validation",
    );
  assert.deepEqual(
    electionsOf(other).map(({ lease }) => describe(lease)),
    [],
  );
});

test("objects come in the order in which they are applied", () => {
  const plan = planIn("one", "snapshot-controller", "directory-driver");
  const kinds = objectsOf(plan).map(({ kind }) => kind);
  assert.equal(kinds.lastIndexOf("CustomResourceDefinition"), plan.crds.length - 1);
  assert.deepEqual(
    objectsOf(plan)
      .filter(({ kind }) => kind === "Namespace")
      .map(describe),
    ["Namespace one", "Namespace one-drivers"],
  );
  assert.ok(kinds.indexOf("Namespace") < kinds.indexOf("ServiceAccount"));
  assert.deepEqual(plan.parts.flat(), plan.objects);
});

test("the certificate's Secret belongs to the webhook's part alone", () => {
  const secrets = partsWithSecrets(planIn("one", "snapshot-controller", "webhook")).map((part) =>
    part.filter(({ kind }) => kind === "Secret").map(describe),
  );
  assert.deepEqual(secrets, [[], ["Secret one/snapshot-validation-secret"]]);
});

test("workloads, services and the leases outside of the namespace are found", () => {
  const plan = planIn("one", "snapshot-controller", "webhook", "shared-resource");
  assert.deepEqual(
    plan.objects.filter(isWorkload).map(({ kind }) => kind),
    ["Deployment", "Deployment", "DaemonSet"],
  );
  assert.deepEqual(
    servicesOf(plan.objects).map(({ namespace, name }) => `${namespace}/${name}`),
    plan.objects
      .filter(({ kind }) => kind === "Service")
      .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
  );
  assert.deepEqual(servicesOf([{ apiVersion: "v1", kind: "Service", metadata: { name: "any" } }]), [
    { namespace: "default", name: "any" },
  ]);
  assert.deepEqual(leasesOf(plan).map(describe), ["Lease kube-system/snapshot-controller-leader"]);
});

test("the leases of a driver are those of its sidecars, where its pods run; stored calls are no election", () => {
  const names = (...components: readonly string[]) =>
    electionsOf(planIn("one", ...components)).map(
      ({ lease, workload }) => `${describe(lease)} of ${describe(workload)}`,
    );
  assert.deepEqual(names("directory-driver"), [
    "Lease one-drivers/external-snapshotter-leader-directory-snapkeep-dev of Deployment one-drivers/directory-driver",
    "Lease one-drivers/directory-snapkeep-dev of Deployment one-drivers/directory-driver",
  ]);
  assert.deepEqual(names("shared-resource-controller"), [
    "Lease one/shared-resource-controller-leader of Deployment one/shared-resource-controller",
  ]);
  assert.deepEqual(names("snapshot-controller", "webhook"), [
    "Lease kube-system/snapshot-controller-leader of Deployment one/snapshot-controller",
    "Lease one/snapshot-webhook-certificates of Deployment one/snapshot-validation-deployment",
  ]);
  assert.deepEqual(leasesOf(planIn("one", "directory-driver", "shared-resource-controller")), []);
});

const claimsIn = (namespace: string): readonly ManifestObject[] =>
  planFor(["webhook", "snapshot-controller"], installationOf("1.2.3", { namespace }), { claims: true }).objects;

test("the configuration for claims comes last, and only if it is chosen", () => {
  const objects = claimsIn("one");
  assert.deepEqual(objects.filter(refusesUntilReady).map(describe), [
    "MutatingWebhookConfiguration claim-sources.storage.snapkeep.dev",
  ]);
  assert.ok(refusesUntilReady(objects.at(-1) as ManifestObject));
  assert.ok(!planIn("one", "webhook").objects.some(refusesUntilReady));
  const plan = planFor(["webhook"], installationOf("1.2.3"), { claims: true });
  assert.ok(plan.parts[0]?.some(refusesUntilReady), "whose it is is judged with the webhook");
  assert.ok(
    !planFor(["snapshot-controller"], installationOf("1.2.3"), { claims: true }).objects.some(refusesUntilReady),
  );
});

test("a stored configuration for claims is kept in step by the installation whose Service it asks", () => {
  const [own] = claimsIn("one").filter(refusesUntilReady) as unknown as [JsonObject];
  const [other] = claimsIn("two").filter(refusesUntilReady) as unknown as [JsonObject];
  const installation = installationOf("1.2.3", { namespace: "one" });
  assert.equal(isKept(undefined, installation), false);
  assert.equal(isKept(own, installation), true);
  assert.equal(isKept(other, installation), false);
  const unlabelled = { ...own, metadata: { name: "claim-sources.storage.snapkeep.dev" } };
  assert.equal(isKept(unlabelled, installation), true);
  const bare = {
    ...unlabelled,
    webhooks: [],
    metadata: { name: "any", labels: { "app.kubernetes.io/name": "snapkeep" } },
  };
  assert.equal(isKept(bare, installation), false);
});

test("policies come after the components, before anything that has pods, and are of the installation like all else", () => {
  const installation = installationOf("1.2.3", { namespace: "one" });
  const plan = planFor(componentsFor("policies", defaultComponents), installation, { policies: ["snapshots"] });
  assert.deepEqual(
    plan.rows.map(({ name }) => name),
    ["snapshot-controller"],
  );
  const policies = plan.objects.filter(isPolicyObject);
  assert.deepEqual(plan.parts.at(-1), policies);
  assert.equal(policies.length, policyObjects("one", ["snapshots"]).length);
  for (const policy of policies) assert.equal(isKept(policy as unknown as JsonObject, installation), true);
  assert.ok(!plan.objects.some(({ kind }) => kind === "ValidatingWebhookConfiguration"));
  assert.doesNotMatch(JSON.stringify(plan.objects), /WebhookUnavailable|WebhookFailures/, "nor its alerts");
  assert.match(JSON.stringify(planFor(defaultComponents, installation).objects), /WebhookUnavailable/);
  assert.ok(!objectsOf(planFor(defaultComponents, installation)).some(isPolicyObject), "the default is the webhook");
});

test("both keep the webhook, and only policies leave it out", () => {
  assert.deepEqual(componentsFor("both", defaultComponents), defaultComponents);
  assert.deepEqual(componentsFor("webhook", defaultComponents), defaultComponents);
});

test("policies are about snapshots, about shares where there are shares, and about claims where no webhook judges them", () => {
  assert.deepEqual(subjectsFor("webhook", defaultComponents, { claims: true }), []);
  assert.deepEqual(subjectsFor("both", defaultComponents, { claims: true }), ["snapshots", "guards"]);
  assert.deepEqual(subjectsFor("policies", ["shared-resource"]), ["snapshots", "guards", "shares"]);
  assert.deepEqual(subjectsFor("policies", [], { claims: true }), ["snapshots", "guards", "claims"]);
});
