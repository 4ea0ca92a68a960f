import assert from "node:assert/strict";
import { test } from "node:test";
import { type CrdPhase, snapshotCrd } from "../../api/crds/index.ts";
import { type Crd, definitionOf, type Goal } from "./definition.ts";
import { objectionsTo } from "./preflight.ts";

const kind = "VolumeSnapshotContent";
const forwards: Goal = { phase: 3, back: false };

const objections = (
  phase: CrdPhase,
  change: (crd: Crd) => object,
  goal: Goal = forwards,
  forceConflicts = false,
): readonly string[] => {
  const own = { ...snapshotCrd(kind, phase), status: { storedVersions: ["v1beta1"] } } as unknown as Crd;
  const crd = { ...own, ...change(own) } as Crd;
  return objectionsTo([{ crd, definition: definitionOf(kind, crd) }], goal, { forceConflicts });
};
const withMetadata = (more: object) => (crd: Crd) => ({ metadata: { ...crd.metadata, ...more } });
const codes = (messages: readonly string[]) => messages.map((message) => /\[(SNAP-\d+)\]$/.exec(message)?.[1]);
const manager = (name: string, more: object = {}) => ({
  managedFields: [{ manager: name, operation: "Update", fieldsV1: { "f:spec": { "f:versions": {} } }, ...more }],
});

test("nothing speaks against our own CRDs, nor against those that kubectl wrote", () => {
  for (const phase of [1, 2, 3] as const)
    assert.deepEqual(
      objections(phase, () => ({})),
      [],
    );
  for (const name of ["kubectl", "kubectl-client-side-apply", "snapkeep-migrate", "snapkeep"])
    assert.deepEqual(objections(1, withMetadata(manager(name))), []);
  assert.deepEqual(objections(1, withMetadata(manager("kube-apiserver", { subresource: "status" }))), []);
});

const owners: Readonly<Record<string, object>> = {
  Helm: { annotations: { "meta.helm.sh/release-name": "csi" } },
  "Argo CD": { annotations: { "argocd.argoproj.io/tracking-id": "app:x" } },
  Flux: { labels: { "kustomize.toolkit.fluxcd.io/name": "infra" } },
  "the Operator Lifecycle Manager": { labels: { "operators.coreos.com/snapshots.ns": "" } },
  "the cluster version operator of OpenShift": { annotations: { "include.release.openshift.io/self": "true" } },
  "the addon manager of the cluster": { labels: { "addonmanager.kubernetes.io/mode": "Reconcile" } },
  "ClusterAddon snapshots": { ownerReferences: [{ kind: "ClusterAddon", name: "snapshots" }] },
  "field manager csi-snapshot-controller-operator": manager("csi-snapshot-controller-operator"),
};
for (const [owner, metadata] of Object.entries(owners))
  test(`CRDs that belong to ${owner} are left alone, unless --force-conflicts is set`, () => {
    const [message = "", ...more] = objections(1, withMetadata(metadata));
    assert.deepEqual(more, []);
    assert.ok(message.includes(`volumesnapshotcontents.snapshot.storage.k8s.io: belongs to ${owner}`), message);
    assert.deepEqual(codes([message]), ["SNAP-602"]);
    assert.deepEqual(objections(1, withMetadata(metadata), forwards, true), []);
  });

test("a conversion webhook belongs to somebody", () => {
  const conversion = { strategy: "Webhook" };
  assert.deepEqual(codes(objections(2, ({ spec }) => ({ spec: { ...spec, conversion } }))), ["SNAP-602"]);
});

test("a CRD with an unknown version or an unknown field is newer, also with --force-conflicts", () => {
  const v2 = (crd: Crd) => ({
    spec: { ...crd.spec, versions: [{ name: "v2", served: true, storage: false }, ...(crd.spec?.versions ?? [])] },
  });
  assert.match(objections(3, v2, forwards, true)[0] ?? "", /version v2 is not known .*\[SNAP-603\]$/);
  const field = (crd: Crd) => JSON.parse(JSON.stringify(crd).replaceAll('"snapshotHandle":', '"snapshotHandleV2":'));
  const found = objections(1, field, forwards, true);
  assert.match(found[0] ?? "", /field spec\.source\.snapshotHandleV2 of v1beta1 is not known/);
  assert.deepEqual(new Set(codes(found)), new Set(["SNAP-603"]));
});

/** A field of the status, in every version. */
const withStatusField = (name: string) => (crd: Crd) => {
  const copy = structuredClone(crd);
  for (const { schema } of copy.spec?.versions ?? []) {
    const known = schema?.openAPIV3Schema as { properties: Record<string, { properties?: object }> } | undefined;
    const status = known?.properties.status;
    if (status !== undefined) status.properties = { ...status.properties, [name]: { type: "string" } };
  }
  return copy;
};

test("the dead alpha field of external-snapshotter 6.3 is no objection; another unknown field of the status is one", () => {
  for (const phase of [1, 2, 3] as const)
    assert.deepEqual(objections(phase, withStatusField("volumeGroupSnapshotContentName")), []);
  assert.match(
    objections(3, withStatusField("volumeGroupSnapshotName"))[0] ?? "",
    /field status\.volumeGroupSnapshotName of v1 is not known .*\[SNAP-603\]$/,
  );
  const inSpec = (crd: Crd) =>
    JSON.parse(JSON.stringify(crd).replaceAll('"snapshotHandle":', '"volumeGroupSnapshotContentName":'));
  assert.deepEqual(new Set(codes(objections(3, inSpec))), new Set(["SNAP-603"]), "only in the status");
});

test("a stored version that nobody knows is an objection", () => {
  const status = { storedVersions: ["v1alpha1", "v1beta1"] };
  assert.deepEqual(codes(objections(1, () => ({ status }))), ["SNAP-609"]);
});

test("a rollback does not go forwards", () => {
  const forwardsByRollback = objections(1, () => ({}), { phase: 2, back: true });
  assert.match(forwardsByRollback[0] ?? "", /is in phase 1; leave out --rollback to go on to phase 2 \[SNAP-607\]$/);
});

test("--to-phase does not go back, and a rollback only while v1beta1 is in spec.versions", () => {
  assert.deepEqual(codes(objections(3, () => ({}), { phase: 2, back: false })), ["SNAP-607"]);
  const back: Goal = { phase: 2, back: true };
  assert.deepEqual(
    objections(3, () => ({}), back),
    [],
  );
  const onlyV1 = ({ spec }: Crd) => ({ spec: { ...spec, versions: spec?.versions?.slice(0, 1) } });
  assert.deepEqual(codes(objections(3, onlyV1, back)), ["SNAP-605"]);
});
