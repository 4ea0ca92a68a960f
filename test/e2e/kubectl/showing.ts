/** Showing: every form of output, descriptions of every kind that no controller of the real server works on, and rights. */
import type { Script } from "./compare.ts";
import { yaml } from "./objects.ts";

const forms = [
  "wide",
  "yaml",
  "json",
  "kyaml",
  "name",
  "jsonpath={.metadata.name}/{.metadata.labels}",
  "jsonpath-as-json={.metadata.labels}",
  "go-template={{.metadata.name}}",
  "template={{.metadata.name}}",
  "custom-columns=NAME:.metadata.name,NONE:.metadata.none",
  "nothing",
];

const named = (apiVersion: string, kind: string, more: object = {}): object => ({
  apiVersion,
  kind,
  metadata: { name: "k-shown", labels: { shown: "yes" }, annotations: { note: "x" } },
  ...more,
});

const hook = {
  name: "h.example.com",
  admissionReviewVersions: ["v1"],
  sideEffects: "None",
  failurePolicy: "Ignore",
  clientConfig: { url: "https://127.0.0.1:1/x" },
  rules: [{ apiGroups: ["example.com"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["nothings"] }],
};

/** Kind as kubectl knows it → an object of the whole cluster. */
const clusterWide: Readonly<Record<string, object>> = {
  node: named("v1", "Node", { spec: { taints: [{ key: "a", value: "b", effect: "NoSchedule" }] } }),
  persistentvolume: named("v1", "PersistentVolume", {
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      storageClassName: "none",
      csi: { driver: "d.example.com", volumeHandle: "h" },
    },
  }),
  storageclass: named("storage.k8s.io/v1", "StorageClass", { provisioner: "d.example.com", parameters: { a: "b" } }),
  csidriver: named("storage.k8s.io/v1", "CSIDriver", { spec: { attachRequired: false } }),
  csinode: named("storage.k8s.io/v1", "CSINode", { spec: { drivers: [{ name: "d.example.com", nodeID: "n" }] } }),
  clusterrole: named("rbac.authorization.k8s.io/v1", "ClusterRole", {
    rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
  }),
  clusterrolebinding: named("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", {
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "ann" }],
  }),
  validatingwebhookconfiguration: named("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", {
    webhooks: [hook],
  }),
  mutatingwebhookconfiguration: named("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", {
    webhooks: [hook],
  }),
  volumesnapshotclass: named("snapshot.storage.k8s.io/v1", "VolumeSnapshotClass", {
    driver: "d.example.com",
    deletionPolicy: "Delete",
  }),
  volumesnapshotcontent: named("snapshot.storage.k8s.io/v1", "VolumeSnapshotContent", {
    spec: {
      driver: "d.example.com",
      deletionPolicy: "Retain",
      source: { snapshotHandle: "h" },
      volumeSnapshotRef: { name: "s", namespace: "k-team" },
    },
  }),
};

/** A volume becomes available in its own time, after which nothing changes any more. */
const settled: Readonly<Record<string, readonly string[]>> = {
  persistentvolume: ["wait --for=jsonpath={.status.phase}=Available --timeout=30s pv/k-shown"],
};

const life = ([kind, object]: readonly [string, object]): Script => ({
  name: `a ${kind} is created, shown, described, edited, patched, labelled and deleted`,
  steps: [
    { run: "create -f -", input: yaml(object) },
    ...(settled[kind] ?? []),
    `get ${kind} k-shown`,
    `get ${kind} -l shown=yes --show-labels`,
    `get ${kind} k-shown -o yaml`,
    `describe ${kind} k-shown`,
    { run: `edit ${kind} k-shown`, edit: "'s/note: x/note: edited/'" },
    `patch ${kind} k-shown --type=merge -p '{"metadata":{"labels":{"merged":"yes"}}}'`,
    `patch ${kind} k-shown --type=json -p '[{"op":"remove","path":"/metadata/labels/merged"}]'`,
    `label ${kind} k-shown more=yes`,
    `annotate ${kind} k-shown note-`,
    `get ${kind} k-shown -o jsonpath={.metadata.labels}{.metadata.annotations}`,
    { run: "diff -f -", input: yaml(object) },
    { run: "apply --server-side --force-conflicts -f -", input: yaml(object) },
    `delete ${kind} k-shown`,
    `get ${kind} k-shown`,
  ],
});

export const showing: readonly Script[] = [
  ...Object.entries(clusterWide).map(life),
  {
    name: "every form of output",
    steps: [
      "create configmap forms -n k-team --from-literal=a=1",
      "label configmap forms -n k-team shown=yes",
      ...forms.flatMap((form) => [
        `get configmap forms -n k-team -o '${form}'`,
        `get configmap -n k-team -l shown=yes -o '${form}'`,
      ]),
      "delete configmap forms -n k-team",
    ],
  },
  {
    name: "more descriptions",
    steps: [
      // The real server goes on with quotas and limit ranges, which are not served here.
      { run: "describe namespace k-team", firstLine: true },
      "create service clusterip shown -n k-team --tcp=80:8080",
      "get service shown -n k-team --no-headers",
      "delete service shown -n k-team",
      "create serviceaccount shown -n k-team",
      "describe serviceaccount shown -n k-team",
      "delete serviceaccount shown -n k-team",
      { run: "describe crd volumesnapshots.snapshot.storage.k8s.io", firstLine: true },
      "describe configmap nothing -n k-team",
    ],
  },
  {
    name: "rights are asked for",
    steps: [
      "auth can-i create pods",
      "auth can-i create pods --as=nobody",
      "auth can-i get pods/log -n k-team --as=nobody",
      "auth can-i list volumesnapshots.snapshot.storage.k8s.io -A",
      "auth can-i nothing nowhere",
      "auth can-i --list -n k-team --as=nobody",
    ],
  },
];
