/** Admission policies on the real API server for data sources of claims, and those that guard what the components trust. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { snapshotCrds } from "../../src/api/crds/index.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { ownProvisioners } from "../../src/cli/install/admission.ts";
import { claimPolicies } from "../../src/rules/claim-policies.ts";
import { claimSourceViolations } from "../../src/rules/claim-sources.ts";
import { guardPolicies } from "../../src/rules/guard-policies.ts";
import { objectOf } from "../admission-pairs.ts";
import { claimSourceTable, configMapSource, customSource, refusedByServer } from "../claim-source-table.ts";
import { claimGates } from "../webhook-verdict.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { installCrdsOn } from "./harness/crds.ts";
import { afterName, applyPolicies, messageIn } from "./harness/policies.ts";
import type { Answer } from "./harness/request.ts";
import { until } from "./harness/until.ts";

/** The users of the tokens; all may do everything, as far as RBAC is concerned. */
const users = {
  jane: "jane",
  driver: "system:serviceaccount:default:driver",
  provisioner: "system:serviceaccount:snapkeep-drivers:directory-driver",
  controller: "system:serviceaccount:snapkeep:snapshot-controller",
};

describe("admission policies for claims, and guards", () => {
  let plane: ControlPlane;
  const ask = (method: string, path: string, body?: unknown, token?: string): Promise<Answer> =>
    plane.request(method, path, body, token);
  const created = async (path: string, object: JsonObject): Promise<JsonObject> => {
    const { status, text } = await ask("POST", path, object);
    assert.equal(status, 201, text);
    return JSON.parse(text) as JsonObject;
  };
  const apply = (objects: readonly JsonObject[]): Promise<void> => applyPolicies(ask, objects);
  before(async () => {
    plane = await startControlPlane({
      controllers: "none",
      featureGates: { CrossNamespaceVolumeDataSource: false },
      tokens: Object.entries(users).map(([token, user]) => ({ token, user, groups: ["everything"] })),
    });
    await installCrdsOn(plane, snapshotCrds(3));
  });
  after(() => plane?.stop());

  test("policies refuse claims whose source the API server would drop, in the words of the webhook", async () => {
    const path = "/api/v1/namespaces/default/persistentvolumeclaims?dryRun=All";
    const claimOf = (sources: JsonObject): JsonObject => ({
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "data" },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...sources },
    });
    await apply(claimPolicies(["Deny"]));
    await until({ what: "the policies for claims are in force" }, async () =>
      (await ask("POST", path, claimOf({ dataSource: configMapSource }))).status === 422 ? true : undefined,
    );
    const byServer: string[] = [];
    for (const { given, sources } of claimSourceTable) {
      const answer = await ask("POST", path, claimOf(sources));
      const [refusal] = claimSourceViolations(claimOf(sources), undefined, claimGates);
      if (refusal === undefined) assert.equal(answer.status, 201, `${given}: ${answer.text}`);
      else assert.equal(answer.status, 422, `${given}: ${answer.text}`);
      if (refusal === undefined) continue;
      if (messageIn(answer).includes("claim-sources")) assert.equal(afterName(messageIn(answer)), refusal.message);
      else byServer.push(given);
    }
    assert.deepEqual(byServer, refusedByServer);
    const stored = JSON.parse((await ask("POST", path, claimOf({ dataSource: customSource }))).text) as JsonObject;
    const { dataSourceRef } = stored.spec as JsonObject;
    assert.deepEqual(dataSourceRef, customSource);
    assert.equal((stored.metadata as JsonObject).annotations, undefined);
  });

  test("what the components trust is written by their accounts only, and a stolen token makes no other volume", async () => {
    const rbac = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
    const bindingOf = (name: string, subject: JsonObject): JsonObject => ({
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
      subjects: [subject],
    });
    const account = (namespace: string, name: string): JsonObject => ({ kind: "ServiceAccount", namespace, name });
    await created(
      rbac,
      bindingOf("everything", { kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: "everything" }),
    );
    for (const [name, namespace] of [
      ["snapshot-controller", "snapkeep"],
      ["directory-driver", "snapkeep-drivers"],
    ] as const)
      await created(rbac, bindingOf(`snapkeep-${name}`, account(namespace, name)));
    await apply(guardPolicies(["Deny"], ownProvisioners));
    const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases?dryRun=All";
    const lease = { metadata: { name: "csi-example-create-volume-calls" } };
    await until({ what: "the guards are in force" }, async () =>
      (await ask("POST", leases, lease, "jane")).status === 403 ? true : undefined,
    );
    const refused = async (code: string, answer: Promise<Answer>) =>
      assert.match(messageIn(await answer), new RegExp(`jane tries; .* \\[${code}\\]$`));
    const allowed = async (answer: Promise<Answer>) => {
      const { status, text } = await answer;
      assert.ok(status < 300, text);
    };
    await refused("SNAP-161", ask("POST", leases, lease, "jane"));
    await allowed(ask("POST", leases, lease, "driver"));
    const volumes = "/api/v1/persistentvolumes?dryRun=All";
    const volume = (source: JsonObject): JsonObject => ({
      metadata: { name: "v" },
      spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], ...source },
    });
    const ofNode = volume({ hostPath: { path: "/" } });
    const stolen = await ask("POST", volumes, ofNode, "provisioner");
    assert.deepEqual([stolen.status, /\[SNAP-163\]$/.test(messageIn(stolen))], [403, true], stolen.text);
    await allowed(ask("POST", volumes, ofNode, "jane"));
    const own = { driver: "directory.snapkeep.dev", volumeHandle: "v" };
    await allowed(ask("POST", volumes, volume({ csi: own }), "provisioner"));
    const snapshots = "/apis/snapshot.storage.k8s.io/v1/namespaces/default/volumesnapshots";
    const source = { persistentVolumeClaimName: "data" };
    const snapshot = await created(snapshots, objectOf("VolumeSnapshot", "s", { source }));
    const marked = {
      ...snapshot,
      metadata: { ...(snapshot.metadata as JsonObject), annotations: { "snapkeep.dev/content-lost": "x" } },
    };
    const path = `${snapshots}/s?dryRun=All`;
    await refused("SNAP-162", ask("PUT", path, marked, "jane"));
    await allowed(ask("PUT", path, marked, "controller"));
  });
});
