/** The policies that guard our trust, tried as the account that may and as others; by the project's own CEL. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../src/base/json.ts";
import { installationOf } from "../src/cli/deploy.ts";
import { ownProvisioners } from "../src/cli/install/admission.ts";
import { planFor } from "../src/cli/install/selection.ts";
import {
  guardPolicies,
  lostContentsPolicy,
  storedCallsPolicy,
  volumesPolicyName,
} from "../src/rules/guard-policies.ts";
import { policyFailures } from "./policy-verdict.ts";

const policies = guardPolicies(["Deny"], ownProvisioners);
const named = (name: string, kind = "ValidatingAdmissionPolicy"): JsonObject =>
  policies.find((one) => one.kind === kind && (one.metadata as JsonObject).name === name) ?? assert.fail(name);
const account = (namespace: string, name: string) => `system:serviceaccount:${namespace}:${name}`;
const as = (username: string, groups: string[] = []) => ({ userInfo: { username, groups }, namespace: "storage" });

const installed = planFor(["snapshot-controller", "directory-driver"], installationOf("1.2.3")).objects;
/** The binding that the policy reads, as it is installed. */
function bindingFor(policy: string): JsonObject {
  const { paramRef } = named(policy, "ValidatingAdmissionPolicyBinding").spec as { paramRef: { name: string } };
  const found = installed.find(
    ({ kind, metadata }) => kind === "ClusterRoleBinding" && metadata.name === paramRef.name,
  );
  return (found ?? assert.fail(paramRef.name)) as unknown as JsonObject;
}

test("the Lease of stored calls is written by accounts of its namespace, the control plane and administrators", () => {
  const lease = (name: string): JsonObject => ({ metadata: { name, namespace: "storage" } });
  const calls = lease("csi-example-create-volume-calls");
  const judge = (request: JsonObject, object: JsonObject | null = calls, oldObject = calls) =>
    policyFailures(named(storedCallsPolicy), { object, oldObject, request });
  for (const username of [account("storage", "driver"), account("kube-system", "namespace-controller")])
    assert.deepEqual(judge(as(username)), []);
  assert.deepEqual(judge(as("admin", ["system:masters"])), []);
  for (const username of ["jane", account("team", "driver"), account("storage-2", "driver")])
    for (const object of [calls, null])
      assert.match(judge(as(username), object)[0] ?? "", new RegExp(`but ${username} tries; .* \\[SNAP-161\\]$`));
  assert.deepEqual(judge(as("jane"), lease("leader"), lease("leader")), [], "other Leases are left alone");
});

test("only the snapshot-controller marks a snapshot as lost; others may remove the mark, and restore a backup", () => {
  const snapshot = (mark?: string): JsonObject => ({
    metadata: { name: "s", annotations: { a: String(mark), ...(mark && { "snapkeep.dev/content-lost": mark }) } },
  });
  const judge = (username: string, before: JsonObject, after: JsonObject) =>
    policyFailures(named(lostContentsPolicy), {
      object: after,
      oldObject: before,
      request: as(username),
      params: bindingFor(lostContentsPolicy),
    });
  assert.deepEqual(judge(account("snapkeep", "snapshot-controller"), snapshot(), snapshot("uid")), []);
  assert.match(judge("jane", snapshot(), snapshot("uid"))[0] ?? "", /but jane tries; .* \[SNAP-162\]$/);
  assert.match(judge(account("team", "snapshot-controller"), snapshot("a"), snapshot("b"))[0] ?? "", /SNAP-162/);
  assert.deepEqual(judge("jane", snapshot("uid"), snapshot()), []);
});

test("the account of a provisioner creates volumes of its driver only, and nobody else is held back", () => {
  const policy = volumesPolicyName("directory.snapkeep.dev");
  const judge = (username: string, spec: JsonObject) =>
    policyFailures(named(policy), {
      object: { metadata: { name: "v" }, spec },
      request: as(username),
      params: bindingFor(policy),
    });
  const ours = account("snapkeep-drivers", "directory-driver");
  assert.deepEqual(judge(ours, { csi: { driver: "directory.snapkeep.dev" } }), []);
  for (const spec of [{ hostPath: { path: "/" } }, { csi: { driver: "other.example" } }, {}]) {
    assert.match(
      judge(ours, spec)[0] ?? "",
      /may create PersistentVolumes of directory\.snapkeep\.dev only; .* \[SNAP-163\]$/,
    );
    assert.deepEqual(judge("jane", spec), []);
  }
});
