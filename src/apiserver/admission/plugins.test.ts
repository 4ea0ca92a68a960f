import assert from "node:assert/strict";
import { test } from "node:test";
import {
  admissionWith,
  aMap,
  aReview,
  claims,
  namespaces,
  nodes,
  pods,
  refusal,
  team,
  volumes,
} from "../../../test/admission.ts";
import type { ApiObject } from "../contracts.ts";

test("nothing is created in a missing or terminating namespace", async () => {
  const { admission } = admissionWith({});
  assert.deepEqual(await refusal(admission.mutate(aReview({ namespace: "nowhere" }))), {
    code: 404,
    message: 'namespaces "nowhere" not found',
  });
  assert.deepEqual(await refusal(admission.mutate(aReview({ namespace: "leaving" }))), {
    code: 403,
    message:
      'configmaps "a" is forbidden: unable to create new content in namespace leaving because it is being terminated',
  });
  assert.equal(await admission.mutate(aReview({ namespace: "leaving", operation: "UPDATE" })), aMap);
});

test("namespace default cannot be deleted, other namespaces can", async () => {
  const { admission } = admissionWith({});
  const deletion = (name: string) =>
    aReview({ operation: "DELETE", resource: namespaces, namespace: "", name, object: undefined, oldObject: team });
  assert.equal(
    (await refusal(admission.mutate(deletion("default")))).message,
    'namespaces "default" is forbidden: this namespace may not be deleted',
  );
  assert.equal(await admission.mutate(deletion("team")), undefined);
});

const storageClass = (name: string, given: object = {}): ApiObject => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name, ...given },
});
const marked = { annotations: { "storageclass.kubernetes.io/is-default-class": "true" } };
const aClaim: ApiObject = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "c", namespace: "team" },
  spec: {},
};

test("a claim without a class gets the newest default class, and both storage kinds are protected", async () => {
  const classes = [
    storageClass("old", { ...marked, creationTimestamp: "2020-01-01T00:00:00Z" }),
    storageClass("plain"),
    storageClass("young", { ...marked, creationTimestamp: "2021-01-01T00:00:00Z" }),
  ];
  const { admission } = admissionWith({ classes });
  const claim = await admission.mutate(aReview({ resource: claims, object: aClaim }));
  assert.deepEqual(claim?.spec, { storageClassName: "young" });
  assert.deepEqual(claim?.metadata.finalizers, ["kubernetes.io/pvc-protection"]);
  const none = { ...aClaim, spec: { storageClassName: "" } };
  assert.deepEqual((await admission.mutate(aReview({ resource: claims, object: none })))?.spec, none.spec);
  const volume = await admission.mutate(
    aReview({
      resource: volumes,
      namespace: "",
      object: { ...aClaim, kind: "PersistentVolume", metadata: { name: "v" } },
    }),
  );
  assert.deepEqual(volume?.metadata.finalizers, ["kubernetes.io/pv-protection"]);
});

test("a claim can be expanded only if it is bound and its class allows expansion", async () => {
  const sized = (storage: string, phase: string, storageClassName: string): ApiObject => ({
    ...aClaim,
    spec: { storageClassName, resources: { requests: { storage } } },
    status: { phase },
  });
  const { admission } = admissionWith({
    classes: [{ ...storageClass("grows"), allowVolumeExpansion: true }, storageClass("stays")],
  });
  const growing = (phase: string, name: string) =>
    admission.validate(
      aReview({
        operation: "UPDATE",
        resource: claims,
        name: "c",
        object: sized("2Gi", phase, name),
        oldObject: sized("1Gi", phase, name),
      }),
    );
  assert.match(
    (await refusal(growing("Pending", "grows"))).message,
    /Only bound persistent volume claims can be expanded/,
  );
  assert.match((await refusal(growing("Bound", "stays"))).message, /must support resize/);
  await growing("Bound", "grows");
});

test("a new node is tainted, and a new pod tolerates a lost node for five minutes", async () => {
  const { admission } = admissionWith({});
  const node = await admission.mutate(
    aReview({ resource: nodes, namespace: "", object: { ...aMap, kind: "Node", spec: {} } }),
  );
  assert.deepEqual(node?.spec, { taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }] });
  const pod = await admission.mutate(aReview({ resource: pods, object: { ...aMap, kind: "Pod", spec: {} } }));
  const bearing = (key: string) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 });
  assert.deepEqual(pod?.spec, {
    priority: 0,
    preemptionPolicy: "PreemptLowerPriority",
    tolerations: [bearing("node.kubernetes.io/not-ready"), bearing("node.kubernetes.io/unreachable")],
  });
});
