import assert from "node:assert/strict";
import { test } from "node:test";
import { planIn } from "../../../test/install-cluster.ts";
import { type ManifestObject, object } from "../../api/manifests/component.ts";
import type { JsonObject } from "../../base/json.ts";
import type {
  AuthorityFacts,
  CertificateFacts,
  StoredFacts,
} from "../../components/webhook/certificates/plan-renewal.ts";
import { type FoundLease, type FoundPod, type FoundWorkload, type HealthRead, healthPlan } from "./health-plan.ts";
import { electionsOf, isWorkload } from "./selection.ts";

const dayMs = 86_400_000;
const nowMs = Date.parse("2026-01-01T00:00:00Z");
const controller = planIn("one", "snapshot-controller");
const workload = controller.objects.find(isWorkload) as ManifestObject;
const [election] = electionsOf(controller);
const name = "Deployment one/snapshot-controller";
const lease = "Lease kube-system/snapshot-controller-leader";

const problemsOf = (read: Partial<HealthRead>) =>
  healthPlan({ workloads: [], leases: [], certificates: [], nowMs, renewBeforeMs: 30 * dayMs, ...read }).problems.map(
    ({ object: of, says }) => `${of}: ${says}`,
  );

const done = { observedGeneration: 1, updatedReplicas: 2, availableReplicas: 2, replicas: 2 };
const pod = (podName: string, status: JsonObject = {}, events: readonly JsonObject[] = []): FoundPod => ({
  pod: { metadata: { namespace: "one", name: podName }, status },
  events,
});
const found = (status: JsonObject, pods: FoundWorkload["pods"] = []): FoundWorkload => ({
  object: workload,
  stored: { metadata: { generation: 1 }, spec: { replicas: 2 }, status },
  pods,
});
const stuck = pod("a", {
  containerStatuses: [{ name: "c", state: { waiting: { reason: "ErrImagePull", message: "not found" } } }],
});
const ready = pod("b", { conditions: [{ type: "Ready", status: "True" }] });
const warned = pod("c", {}, [{ type: "Warning", reason: "FailedMount", message: "no secret", lastTimestamp: "1" }]);

test("given pods that are not ready, then the workload is named with each pod's own words", () => {
  assert.deepEqual(problemsOf({ workloads: [found({ ...done, availableReplicas: 1 }, [stuck, ready, warned])] }), [
    `${name}: 1 of 2 pods are ready`,
    "Pod one/a: container c: ErrImagePull: not found",
    "Pod one/c: FailedMount: no secret",
  ]);
});

test("given a workload that is as it was applied, then nothing is wrong, whatever one of its pods says", () => {
  assert.deepEqual(problemsOf({ workloads: [found(done, [stuck])] }), []);
});

test("given pods that this account may not list, then the rest is said, and that they are not examined", () => {
  const { problems, notes } = healthPlan({
    workloads: [{ ...found({}), pods: undefined }],
    leases: [leaseHeldBy("other_1")],
    certificates: [{ secret, facts: undefined }],
    nowMs,
    renewBeforeMs: 0,
  });
  assert.deepEqual(problems, [{ object: name, says: "not seen by its controller yet" }]);
  assert.deepEqual(notes, [
    `pods of ${name} are not examined: this account may not list pods`,
    "the certificate in Secret one/snapshot-validation-secret is not examined: this account may not read it",
  ]);
});

function leaseHeldBy(holderIdentity: string, renewedMsAgo = 1_000): FoundLease {
  const renewTime = new Date(nowMs - renewedMsAgo).toISOString();
  return {
    object: election?.lease as ManifestObject,
    workload,
    stored: { spec: { holderIdentity, leaseDurationSeconds: 15, renewTime } },
  };
}
const nobody = `${lease}: nobody holds it, so none of the replicas does its work`;
const long = "a".repeat(80);
for (const { given, held, pods = [], says } of [
  { given: "no lease", held: { ...leaseHeldBy(""), stored: undefined }, says: [nobody] },
  { given: "a released lease", held: leaseHeldBy(""), says: [nobody] },
  { given: "a lease that has run out", held: leaseHeldBy("b_1", 15_000), pods: [ready], says: [nobody] },
  { given: "a lease of a pod of ours", held: leaseHeldBy("b_1"), pods: [stuck, ready], says: [] },
  {
    given: "a lease of a pod whose name is long",
    held: leaseHeldBy(`${"a".repeat(63)}_1`),
    pods: [pod(long)],
    says: [],
  },
  {
    given: "a lease of somebody else",
    held: leaseHeldBy("upstream-7_1"),
    pods: [ready],
    says: [`${lease}: upstream-7_1 holds it, which is no pod of ${name}: our pods wait`],
  },
  {
    given: "a lease of a pod that is gone",
    held: leaseHeldBy("b_1"),
    says: [`${lease}: b_1 holds it, which is no pod of ${name}: our pods wait`],
  },
] as const satisfies readonly {
  given: string;
  held: FoundLease;
  pods?: readonly FoundPod[];
  says: readonly string[];
}[])
  test(`given ${given}, then ${says.length === 0 ? "nothing is wrong" : "that is said"}`, () => {
    assert.deepEqual(problemsOf({ workloads: [found(done, pods)], leases: [held] }), says);
  });

const secret = object("v1", "Secret", { metadata: { name: "snapshot-validation-secret", namespace: "one" } });
const certificate = (pem: string, days: number): CertificateFacts => ({
  pem,
  beginsMs: 0,
  endsMs: nowMs + days * dayMs,
});
const authority: AuthorityFacts = { ...certificate("A", 300), unusable: undefined };
const trusting = (configuration: string, ...trusted: readonly CertificateFacts[]) => ({
  configuration: { kind: "ValidatingWebhookConfiguration", name: configuration, resourceVersion: "1" } as const,
  index: 0,
  trusted,
});
const facts = (more: Partial<StoredFacts> = {}): StoredFacts => ({
  authority,
  serving: { ...certificate("S", 300), isSignedByAuthority: true, missingName: undefined },
  next: undefined,
  earlier: [],
  renewedBy: undefined,
  webhooks: [trusting("one", certificate("old", 1), authority)],
  ...more,
});
const serving = (days: number, more: object = {}) => ({
  serving: { ...certificate("S", days), isSignedByAuthority: true, missingName: undefined, ...more },
});
const at = "Secret one/snapshot-validation-secret";
const remedy = "snapkeep certs --apply --namespace=one renews it";
const untrusted = (configuration: string) =>
  `ValidatingWebhookConfiguration ${configuration}: its caBundle does not have the authority of ${at}, so the API server cannot ask the webhook; ${remedy}`;
for (const { given, more, says } of [
  { given: "a good certificate that is trusted", more: {}, says: [] },
  {
    given: "no certificate",
    more: { authority: undefined, serving: undefined },
    says: [`${at}: authority certificate: there is none; ${remedy}`],
  },
  {
    given: "no serving certificate",
    more: { serving: undefined },
    says: [`${at}: serving certificate: there is none; ${remedy}`],
  },
  { given: "one that expires in a month", more: serving(31), says: [] },
  {
    given: "one that expires sooner",
    more: serving(30),
    says: [`${at}: serving certificate: it expires on 2026-01-31T00:00:00.000Z; ${remedy}`],
  },
  {
    given: "one for another Service",
    more: serving(300, { missingName: "x" }),
    says: [`${at}: serving certificate: it is not for x; ${remedy}`],
  },
  {
    given: "a caBundle of another authority",
    more: { webhooks: [trusting("one", authority), trusting("two", certificate("old", 1)), trusting("three")] },
    says: [untrusted("two"), untrusted("three")],
  },
  {
    given: "two webhooks of one configuration",
    more: { webhooks: [trusting("two"), trusting("two")] },
    says: [untrusted("two")],
  },
] as const satisfies readonly { given: string; more: Partial<StoredFacts>; says: readonly string[] }[])
  test(`given ${given}, then ${says.length === 0 ? "nothing is wrong" : "that is said with the remedy"}`, () => {
    assert.deepEqual(problemsOf({ certificates: [{ secret, facts: facts(more) }] }), says);
  });
