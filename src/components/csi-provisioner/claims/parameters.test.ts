import assert from "node:assert/strict";
import { test } from "node:test";
import { classParameters, fsTypeOf, type Parameters, secretOf, secretRoles, secretsOf } from "./parameters.ts";

const names = {
  volumeName: "pvc-u",
  claimName: "new",
  claimNamespace: "team",
  claimAnnotations: { tier: "gold" },
};
const prefix = "csi.storage.k8s.io/";
const pair = (stem: string, name: string, namespace: string): Parameters => ({
  [`${prefix}${stem}-name`]: name,
  [`${prefix}${stem}-namespace`]: namespace,
});

for (const role of secretRoles)
  test(`the secret of ${role} is that of its own pair, else that of the common pair`, () => {
    const common = pair("secret", "all", "vault");
    assert.deepEqual(secretOf(role, common, names), { kind: "secret", secret: { name: "all", namespace: "vault" } });
    const own = { ...common, ...pair(`${role}-secret`, "own", "vault") };
    assert.deepEqual(secretOf(role, own, names), { kind: "secret", secret: { name: "own", namespace: "vault" } });
    assert.deepEqual(secretOf(role, {}, names), { kind: "none" });
  });

test("a secret's name may hold what the claim says, its namespace only what Kubernetes says", () => {
  const named = pair("provisioner-secret", "${pv.name}.${pvc.name}.${pvc.annotations['tier']}", "${pvc.namespace}");
  assert.deepEqual(secretOf("provisioner", named, names), {
    kind: "secret",
    secret: { name: "pvc-u.new.gold", namespace: "team" },
  });
  const chosen = pair("provisioner-secret", "key", "${pvc.annotations['tier']}");
  assert.equal(secretOf("provisioner", chosen, names).kind, "wrong");
});

test("the keys of CSI 0.x still name a secret, but not beside those of today", () => {
  const old = { csiProvisionerSecretName: "old", csiProvisionerSecretNamespace: "vault" };
  assert.deepEqual(secretOf("provisioner", old, names), {
    kind: "secret",
    secret: { name: "old", namespace: "vault" },
  });
  const both = secretOf("provisioner", { ...old, ...pair("provisioner-secret", "new", "vault") }, names);
  assert.equal(both.kind, "wrong");
  assert.match(both.kind === "wrong" ? both.problem : "", /remove csiProvisionerSecretName/);
});

test("half a pair is a mistake, whichever half", () => {
  for (const key of ["provisioner-secret-name", "node-stage-secret-namespace"])
    assert.equal(secretsOf({ [`${prefix}${key}`]: "x" }, names).kind, "wrong");
});

test("the file system is that of the class, else the default; two are a mistake", () => {
  assert.deepEqual(fsTypeOf({}, "ext4"), { kind: "fsType", fsType: "ext4" });
  assert.deepEqual(fsTypeOf({ FsType: "xfs" }, "ext4"), { kind: "fsType", fsType: "xfs" });
  assert.deepEqual(fsTypeOf({ [`${prefix}fstype`]: "xfs" }, ""), { kind: "fsType", fsType: "xfs" });
  assert.equal(fsTypeOf({ fstype: "xfs", [`${prefix}fstype`]: "xfs" }, "").kind, "wrong");
});

test("the driver gets what is not meant for Kubernetes, and misspelt keys are found", () => {
  const { passed, unknown } = classParameters({
    parameters: {
      tier: "gold",
      csiProvisionerSecretName: "old",
      ...pair("provisioner-secret", "key", "vault"),
      [`${prefix}fstype`]: "xfs",
      [`${prefix}fsType`]: "xfs",
    },
  });
  assert.deepEqual(passed, { tier: "gold", csiProvisionerSecretName: "old" });
  assert.deepEqual(unknown, [`${prefix}fsType`]);
});
