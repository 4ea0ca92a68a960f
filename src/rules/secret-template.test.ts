import assert from "node:assert/strict";
import { test } from "node:test";
import { parameters } from "../api/names.ts";
import { secretFor } from "./secret-template.ts";
import { driverParameters, listSecretOf, snapshotterSecretOf } from "./snapshotter-secrets.ts";

const names = { contentName: "snapcontent-1", snapshotName: "monday", snapshotNamespace: "team" };
const lookup = (name: string | undefined, namespace: string | undefined) =>
  snapshotterSecretOf(
    {
      parameters: {
        ...(name === undefined ? {} : { [parameters.snapshotterSecretName]: name }),
        ...(namespace === undefined ? {} : { [parameters.snapshotterSecretNamespace]: namespace }),
      },
    },
    names,
  );

test("templates are filled in, in both spellings of a token", () => {
  assert.deepEqual(lookup("${volumesnapshot.name}-${volumesnapshotcontent.name}", "${volumesnapshot.namespace}"), {
    kind: "secret",
    secret: { name: "monday-snapcontent-1", namespace: "team" },
  });
});

test("no parameter means no secret", () => {
  assert.deepEqual(lookup(undefined, undefined), { kind: "none" });
});

const wrongs: readonly { given: string; name: string | undefined; namespace: string | undefined; says: RegExp }[] = [
  { given: "only a name", name: "a", namespace: undefined, says: /snapshotter-secret-namespace is missing or empty/ },
  { given: "only a namespace", name: undefined, namespace: "a", says: /snapshotter-secret-name is missing or empty/ },
  { given: "an empty name", name: "", namespace: "a", says: /snapshotter-secret-name is missing or empty/ },
  { given: "an unknown token", name: "${pvc.name}", namespace: "a", says: /invalid tokens: "pvc.name"/ },
  {
    given: "the snapshot's name used for a namespace",
    name: "a",
    namespace: "${volumesnapshot.name}",
    says: /invalid tokens: "volumesnapshot.name"/,
  },
  {
    given: "a bare token that stops at the dot",
    name: "$volumesnapshot.name",
    namespace: "a",
    says: /invalid tokens: "volumesnapshot"/,
  },
  {
    given: "a namespace of bad shape",
    name: "a",
    namespace: "Team_A",
    says: /becomes "Team_A", which is not a namespace/,
  },
  { given: "a prototype member as a token", name: "${constructor}", namespace: "a", says: /invalid tokens/ },
];
for (const { given, name, namespace, says } of wrongs)
  test(`given ${given}, the class is wrong and the message names the parameter`, () => {
    const found = lookup(name, namespace);
    assert.equal(found.kind, "wrong");
    assert.match(found.kind === "wrong" ? found.problem : "", says);
  });

test("the driver gets neither secret parameters nor unknown parameters with the csi.storage.k8s.io prefix", () => {
  const { passed, unknown } = driverParameters({
    [parameters.snapshotterSecretName]: "s",
    "csi.storage.k8s.io/odd": "x",
    tier: "gold",
  });
  assert.deepEqual({ passed, unknown }, { passed: { tier: "gold" }, unknown: ["csi.storage.k8s.io/odd"] });
});

test("the caller says which tokens there are: those of a claim for a StorageClass", () => {
  const keys = {
    name: "csi.storage.k8s.io/provisioner-secret-name",
    namespace: "csi.storage.k8s.io/provisioner-secret-namespace",
  };
  const namespace = { "pv.name": "pvc-1", "pvc.namespace": "team" };
  const name = { ...namespace, "pvc.name": "data", "pvc.annotations['team.example/tier']": "gold" };
  const given = {
    [keys.name]: "${pvc.name}-${pvc.annotations['team.example/tier']}",
    [keys.namespace]: "${pvc.namespace}",
  };
  assert.deepEqual(secretFor(keys, given, { name, namespace }), {
    kind: "secret",
    secret: { name: "data-gold", namespace: "team" },
  });
  const wrong = secretFor(keys, { ...given, [keys.namespace]: "${pvc.name}" }, { name, namespace });
  assert.match(
    wrong.kind === "wrong" ? wrong.problem : "",
    /provisioner-secret-namespace: .* invalid tokens: "pvc.name"/,
  );
});

test("a list secret can be made from the content's name only", () => {
  const classWith = (name: string) => ({
    parameters: {
      [parameters.snapshotterListSecretName]: name,
      [parameters.snapshotterListSecretNamespace]: "storage",
    },
  });
  assert.deepEqual(listSecretOf(classWith("for-${volumesnapshotcontent.name}"), "c"), {
    kind: "secret",
    secret: { name: "for-c", namespace: "storage" },
  });
  assert.equal(listSecretOf(classWith("${volumesnapshot.name}"), "c").kind, "wrong");
});
