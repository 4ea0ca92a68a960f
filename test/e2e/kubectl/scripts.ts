/** What people do with kubectl: each script is run against the real server and the embedded one, and must look the same. */
import { stringify } from "yaml";
import { snapshotCrds } from "../../../src/api/crds/index.ts";
import type { Script } from "./compare.ts";

const yaml = (...objects: readonly object[]): string =>
  objects.map((object) => stringify(object, { aliasDuplicateObjects: false })).join("---\n");

const snapshot = (name: string, more: object = {}) => ({
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshot",
  metadata: { name, namespace: "k-team" },
  spec: { volumeSnapshotClassName: "fast", source: { persistentVolumeClaimName: "data" } },
  ...more,
});

const claim = (name: string, more: object = {}) => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name, namespace: "k-team" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, storageClassName: "none" },
  ...more,
});

const configMap = (name: string, data: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "k-team" },
  data,
});

const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "k-team" },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { containers: [{ name: "web", image: "nginx:1" }] },
    },
  },
};

const crds = yaml(...snapshotCrds(3));

/** Run first, in this order: what the other scripts stand on. */
export const preparations: readonly Script[] = [
  {
    name: "definitions are created and become established",
    steps: [
      { run: "apply -f -", input: crds },
      "wait --for=condition=Established --timeout=20s crd/volumesnapshots.snapshot.storage.k8s.io crd/volumesnapshotclasses.snapshot.storage.k8s.io crd/volumesnapshotcontents.snapshot.storage.k8s.io",
      { run: "apply -f -", input: crds },
      "get crd volumesnapshots.snapshot.storage.k8s.io -o jsonpath={.status.storedVersions}",
    ],
  },
  {
    name: "a namespace is created",
    steps: ["create namespace k-team", "get namespace k-team", "get ns k-team -o yaml", "create namespace k-team"],
  },
];

export const scripts: readonly Script[] = [
  {
    name: "configuration maps live a life",
    steps: [
      "create configmap a -n k-team --from-literal=x=1 --from-literal=y=2",
      "get configmap a -n k-team",
      "get configmap a -n k-team -o wide",
      "get configmap a -n k-team -o yaml",
      "get configmap a -n k-team -o json",
      "get configmap a -n k-team -o name",
      "get configmap a -n k-team -o jsonpath={.data.x}",
      "get configmap a -n k-team -o go-template={{.data.y}}",
      "get configmap a -n k-team -o custom-columns=NAME:.metadata.name,X:.data.x",
      "get configmap a -n k-team --show-labels",
      "get cm a -n k-team -o yaml --show-managed-fields",
      "label configmap a -n k-team colour=red",
      "label configmap a -n k-team colour=blue",
      "label configmap a -n k-team --overwrite colour=blue",
      "label configmap a -n k-team colour-",
      "annotate configmap a -n k-team note='some text'",
      "annotate configmap a -n k-team note-",
      "get cm -n k-team -l colour=blue",
      'patch configmap a -n k-team -p \'{"data":{"x":"3"}}\'',
      'patch configmap a -n k-team --type=merge -p \'{"data":{"y":null}}\'',
      'patch configmap a -n k-team --type=json -p \'[{"op":"add","path":"/data/z","value":"9"}]\'',
      'patch configmap a -n k-team --type=json -p \'[{"op":"remove","path":"/data/nope"}]\'',
      'patch configmap a -n k-team -p \'{"data":{"x":"3"}}\'',
      "get configmap a -n k-team -o jsonpath={.data}",
      "delete configmap a -n k-team",
      "delete configmap a -n k-team",
      "delete configmap a -n k-team --ignore-not-found",
      "get configmap a -n k-team",
    ],
  },
  {
    name: "apply creates, changes, leaves alone and prunes fields",
    steps: [
      { run: "apply -f -", input: yaml(configMap("ap", { a: "1", b: "2" })) },
      { run: "apply -f -", input: yaml(configMap("ap", { a: "1", b: "2" })) },
      { run: "diff -f -", input: yaml(configMap("ap", { a: "1", b: "3" })) },
      { run: "apply -f -", input: yaml(configMap("ap", { a: "1", c: "3" })) },
      "get cm ap -n k-team -o jsonpath={.data}",
      { run: "apply -f - --dry-run=server", input: yaml(configMap("ap", { a: "9" })) },
      { run: "apply -f - --dry-run=server -o yaml", input: yaml(configMap("ap2", { a: "9" })) },
      "get cm ap2 -n k-team",
      { run: "delete -f -", input: yaml(configMap("ap", {})) },
    ],
  },
  {
    name: "server-side apply owns fields and reports conflicts",
    steps: [
      { run: "apply --server-side -f -", input: yaml(configMap("ssa", { a: "1", b: "2" })) },
      { run: "apply --server-side -f -", input: yaml(configMap("ssa", { a: "1", b: "2" })) },
      { run: "apply --server-side --field-manager=other -f -", input: yaml(configMap("ssa", { a: "9" })) },
      {
        run: "apply --server-side --field-manager=other --force-conflicts -f -",
        input: yaml(configMap("ssa", { a: "9" })),
      },
      "get cm ssa -n k-team -o yaml --show-managed-fields",
      { run: "apply --server-side -f -", input: yaml(configMap("ssa", { b: "2" })) },
      "get cm ssa -n k-team -o jsonpath={.data}",
      { run: "diff --server-side -f -", input: yaml(configMap("ssa", { b: "5" })) },
      "delete cm ssa -n k-team",
    ],
  },
  {
    name: "snapshots are created, listed, described and refused when wrong",
    steps: [
      { run: "apply -f -", input: yaml(snapshot("s1")) },
      { run: "create -f -", input: yaml(snapshot("s1")) },
      "get volumesnapshot -n k-team",
      "get vs -n k-team -o wide",
      "get vs s1 -n k-team -o yaml",
      "get vs s1 -n k-team -o name",
      "get vs -A",
      "get vs -n k-team -o jsonpath={.items[*].metadata.name}",
      "describe vs s1 -n k-team",
      { run: "create -f -", input: yaml(snapshot("bad", { spec: { source: {} } })) },
      { run: "create -f -", input: yaml(snapshot("bad", { spec: {} })) },
      {
        run: "create -f -",
        input: yaml(
          snapshot("bad", { spec: { source: { persistentVolumeClaimName: "a", volumeSnapshotContentName: "b" } } }),
        ),
      },
      {
        run: "create -f -",
        input: yaml(snapshot("bad", { spec: { source: { persistentVolumeClaimName: "a" }, colour: "red" } })),
      },
      {
        run: "create --validate=false -f -",
        input: yaml(snapshot("odd", { spec: { source: { persistentVolumeClaimName: "a" }, colour: "red" } })),
      },
      {
        run: "create --validate=warn -f -",
        input: yaml(snapshot("odd2", { spec: { source: { persistentVolumeClaimName: "a" }, colour: "red" } })),
      },
      { run: "create -f -", input: yaml(snapshot("Bad_Name")) },
      'patch vs s1 -n k-team --type=merge -p \'{"spec":{"source":{"persistentVolumeClaimName":"other"}}}\'',
      "patch vs s1 -n k-team -p '{\"spec\":{}}'",
      'patch vs s1 -n k-team --type=json -p \'[{"op":"replace","path":"/spec/volumeSnapshotClassName","value":"slow"}]\'',
      'patch vs s1 -n k-team --subresource=status --type=merge -p \'{"status":{"readyToUse":true,"restoreSize":"1Gi"}}\'',
      "get vs s1 -n k-team",
      "wait --for=jsonpath={.status.readyToUse}=true --timeout=10s vs/s1 -n k-team",
      "label vs s1 -n k-team tier=gold",
      "get vs -n k-team -l tier=gold --show-labels",
      "get vs -n k-team --field-selector=metadata.name=s1",
      "get vs -n k-team --field-selector=spec.foo=s1",
      { run: "edit vs s1 -n k-team", edit: "'s/slow/fast/'" },
      { run: "edit vs s1 -n k-team", edit: "'s/nothing/else/'" },
      "get vs s1 -n k-team -o jsonpath={.spec.volumeSnapshotClassName}/{.metadata.generation}",
      { run: "apply --server-side -f -", input: yaml(snapshot("s1")) },
      { run: "apply --server-side --force-conflicts -f -", input: yaml(snapshot("s1")) },
      "delete vs s1 odd odd2 -n k-team",
      "get vs -n k-team",
    ],
  },
  {
    name: "claims and storage classes",
    steps: [
      {
        run: "apply -f -",
        input: yaml({
          apiVersion: "storage.k8s.io/v1",
          kind: "StorageClass",
          metadata: { name: "k-fast" },
          provisioner: "example.com/x",
          volumeBindingMode: "WaitForFirstConsumer",
        }),
      },
      "get sc k-fast",
      "get sc k-fast -o yaml",
      "describe sc k-fast",
      { run: "create -f -", input: yaml(claim("c1")) },
      "get pvc c1 -n k-team -o jsonpath={.status.phase}",
      "get pvc c1 -n k-team -o yaml",
      "describe pvc c1 -n k-team",
      {
        run: "create -f -",
        input: yaml(claim("c2", { spec: { accessModes: ["Sometimes"], resources: { requests: { storage: "1Gi" } } } })),
      },
      { run: "create -f -", input: yaml(claim("c2", { spec: { accessModes: ["ReadWriteOnce"] } })) },
      { run: "create -f -", input: yaml(claim("c2", { spec: { resources: { requests: { storage: "big" } } } })) },
      // The real server goes on with a difference of its Go structs.
      { run: 'patch pvc c1 -n k-team -p \'{"spec":{"storageClassName":"other"}}\'', firstLine: true },
      "delete pvc c1 -n k-team",
      "delete sc k-fast",
    ],
  },
  {
    name: "finalizers hold, and deletion waits",
    steps: [
      {
        run: "create -f -",
        input: yaml({
          ...configMap("held", {}),
          metadata: { name: "held", namespace: "k-team", finalizers: ["example.com/hold"] },
        }),
      },
      "delete cm held -n k-team --wait=false",
      "delete cm held -n k-team --wait=false",
      "get cm held -n k-team -o jsonpath={.metadata.finalizers}",
      'patch cm held -n k-team --type=json -p \'[{"op":"add","path":"/metadata/finalizers/-","value":"example.com/more"}]\'',
      "wait --for=delete cm/held -n k-team --timeout=1s",
      'patch cm held -n k-team --type=json -p \'[{"op":"remove","path":"/metadata/finalizers/0"}]\'',
      "wait --for=delete cm/held -n k-team --timeout=5s",
      "get cm held -n k-team",
    ],
  },
  {
    name: "secrets, service accounts, leases, roles",
    steps: [
      "create secret generic sec -n k-team --from-literal=password=x",
      "get secret sec -n k-team",
      "get secret sec -n k-team -o yaml",
      "describe secret sec -n k-team",
      "create serviceaccount robot -n k-team",
      "get sa robot -n k-team",
      "create role reader -n k-team --verb=get,list --resource=configmaps",
      "create rolebinding reader -n k-team --role=reader --serviceaccount=k-team:robot",
      "get role,rolebinding -n k-team",
      "get rolebinding reader -n k-team -o wide",
      "describe role reader -n k-team",
      "describe rolebinding reader -n k-team",
      "auth can-i list configmaps -n k-team --as=system:serviceaccount:k-team:robot",
      "auth can-i delete configmaps -n k-team --as=system:serviceaccount:k-team:robot",
      "auth can-i '*' '*'",
      "auth can-i get /healthz",
      "create clusterrole k-all --verb='*' --resource=volumesnapshots.snapshot.storage.k8s.io",
      "get clusterrole k-all -o yaml",
      "delete clusterrole k-all",
      "delete secret/sec sa/robot role/reader rolebinding/reader -n k-team",
    ],
  },
  {
    name: "deployments scale and cascade",
    steps: [
      { run: "apply -f -", input: yaml(deployment) },
      "get deploy web -n k-team",
      "get deploy web -n k-team -o wide",
      "scale deploy web -n k-team --replicas=5",
      "get deploy web -n k-team -o jsonpath={.spec.replicas}/{.metadata.generation}",
      "scale deploy web -n k-team --replicas=1 --current-replicas=3",
      "set image deploy/web web=nginx:2 -n k-team",
      "get deploy web -n k-team -o yaml",
      'patch deploy web -n k-team -p \'{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"box:1"}]}}}}\'',
      "get deploy web -n k-team -o jsonpath={.spec.template.spec.containers[*].name}",
      "delete deploy web -n k-team",
    ],
  },
  {
    name: "wrong words are refused alike",
    steps: [
      "get nothing",
      "get cm missing -n k-team",
      "get cm -n no-such-namespace",
      "get cm -n k-team -l 'a b'",
      "get cm -n k-team --field-selector=x=y",
      "get pods -n k-team --field-selector=x=y",
      "create configmap Bad_Name -n k-team",
      "create configmap ok -n no-such-namespace",
      "label cm missing -n k-team a=b",
      { run: "apply -f -", input: yaml({ apiVersion: "v1", kind: "Nothing", metadata: { name: "x" } }) },
      {
        run: "apply -f -",
        input: yaml({
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { name: "x", namespace: "k-team" },
          data: { a: 1 },
        }),
      },
      {
        run: "create -f -",
        input: yaml({
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { name: "x", namespace: "k-team", labels: { "a b": "c" } },
        }),
      },
      {
        run: "create -f -",
        input: yaml({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x", namespace: "k-team" }, wrong: 1 }),
      },
      "get --raw /nope",
      "get --raw /readyz",
      "get --raw /apis/nope.example.com/v1",
      "delete namespace missing",
      "patch cm missing -n k-team -p '{}'",
      "replace -f /dev/null",
    ],
  },
  {
    name: "explain says what fields are",
    steps: [
      { run: "explain volumesnapshot", structure: true },
      "explain volumesnapshot.spec.source",
      "explain vs.spec --recursive",
      { run: "explain configmap.data", structure: true },
      { run: "explain pvc.spec", structure: true },
      "explain nothing",
      "explain volumesnapshot.spec.nothing",
    ],
  },
  {
    name: "replace, create from generateName, and dry runs",
    steps: [
      {
        run: "create -f -",
        input: yaml({ apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "gen-", namespace: "k-team" } }),
      },
      { run: "create -f -", input: yaml(configMap("rep", { a: "1" })) },
      { run: "replace -f -", input: yaml(configMap("rep", { b: "2" })) },
      "get cm rep -n k-team -o jsonpath={.data}",
      { run: "replace -f -", input: yaml(configMap("absent", { b: "2" })) },
      { run: "replace --force -f -", input: yaml(configMap("rep", { c: "3" })) },
      { run: "create --dry-run=server -f -", input: yaml(configMap("dry", {})) },
      { run: "create --dry-run=server -o yaml -f -", input: yaml(snapshot("dry")) },
      "delete cm --all -n k-team --dry-run=server",
      "delete cm rep -n k-team",
    ],
  },
];

/** Scripts that came with the first lists live above; what follows was added as people asked. */
const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "k-team", labels: { app: "p" } },
  spec: { containers: [{ name: "c", image: "box:1", command: ["sleep", "1"] }] },
};

const owned = (name: string, owner: string, uid: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "k-team", ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: owner, uid }] },
});

export const moreScripts: readonly Script[] = [
  {
    name: "watching shows what happens, as it happens",
    steps: [
      "create configmap w0 -n k-team",
      {
        run: "get configmap -n k-team -w -l '!nothing' --field-selector=metadata.name!=kube-root-ca.crt",
        meanwhile: [
          "create configmap w1 -n k-team",
          "label configmap w1 -n k-team a=b",
          "delete configmap w1 -n k-team",
        ],
      },
      {
        run: "get configmap w0 -n k-team -w --output-watch-events",
        meanwhile: ["label configmap w0 -n k-team a=b"],
      },
      {
        run: "get configmap w0 -n k-team --watch-only -o name",
        meanwhile: ["label configmap w0 -n k-team a-"],
      },
      "delete configmap w0 -n k-team",
    ],
  },
  {
    name: "pods are stored, shown and deleted",
    steps: [
      { run: "create -f -", input: yaml(pod) },
      "get pod p -n k-team",
      "get pod p -n k-team -o wide",
      "get pod p -n k-team -o yaml",
      "get pods -n k-team --field-selector=status.phase=Pending",
      "get pods -n k-team --field-selector=status.phase=Running",
      "get pods -n k-team --field-selector=spec.nodeName=nowhere",
      "describe pod p -n k-team",
      'patch pod p -n k-team -p \'{"spec":{"containers":[{"name":"c","image":"box:2"}]}}\'',
      "get pod p -n k-team -o jsonpath={.spec.containers[0].image}/{.metadata.generation}",
      "get all -n k-team",
      "delete pod p -n k-team",
      "get pods -n k-team",
    ],
  },
  {
    name: "cascading deletion keeps or takes what is owned",
    steps: [
      "create configmap owner -n k-team",
      "delete configmap owner -n k-team --cascade=orphan",
      "create configmap owner -n k-team",
      "delete configmap owner -n k-team --cascade=foreground",
      "create configmap owner -n k-team",
      "delete configmap owner -n k-team --cascade=background",
      "create configmap owner -n k-team",
      "delete configmap owner -n k-team --cascade=sideways",
      "delete configmap owner -n k-team --grace-period=0 --force",
      { run: "create -f -", input: yaml(owned("stray", "nobody", "00000000-0000-4000-8000-000000000000")) },
      "wait --for=delete configmap/stray -n k-team --timeout=10s",
    ],
  },
  {
    name: "what there is, is listed",
    steps: [
      "get ns -o name --field-selector=metadata.name=k-team",
      "get storageclass,csidriver -o name",
      "get events -n k-team --field-selector=involvedObject.name=nothing",
      "get cm -n k-team --sort-by=.metadata.name -o name",
      "get cm -n k-team --chunk-size=1 -o name",
      "get vs.v1.snapshot.storage.k8s.io -n k-team",
      "get volumesnapshots.snapshot.storage.k8s.io -n k-team -o name",
      "get crd volumesnapshots.snapshot.storage.k8s.io",
      "get crd volumesnapshots.snapshot.storage.k8s.io -o jsonpath={.spec.names.shortNames}",
      "get nodes",
      "get pv",
      "get leases -n k-team",
      "version",
    ],
  },
  {
    name: "labels, annotations and waiting on many",
    steps: [
      "create configmap m1 -n k-team",
      "create configmap m2 -n k-team",
      "label configmap m1 m2 -n k-team set=many",
      "annotate configmap -n k-team -l set=many note=x",
      "get configmap -n k-team -l set=many -o custom-columns=NAME:.metadata.name,NOTE:.metadata.annotations.note",
      "get configmap -n k-team -l 'set in (many,few)' -o name",
      "get configmap -n k-team -l set!=many,x -o name",
      "label configmap m1 -n k-team bad_/key=x",
      "label configmap m1 -n k-team key='not a value!'",
      "annotate configmap m1 -n k-team 'bad key=x'",
      "label configmap m1 -n k-team set=few --resource-version=1 --overwrite",
      "delete configmap -n k-team -l set=many",
    ],
  },
];

/** Run last. */
export const endings: readonly Script[] = [
  {
    name: "a namespace is emptied and goes",
    steps: [
      { run: "create -f -", input: yaml(snapshot("last"), configMap("last", {})) },
      { run: "delete namespace k-team --timeout=30s" },
      "get ns k-team",
      "get vs -A",
    ],
  },
  {
    name: "a definition goes with its objects",
    steps: [
      "delete crd volumesnapshots.snapshot.storage.k8s.io --timeout=30s",
      "get vs -A",
      { run: "delete -f - --ignore-not-found", input: crds, quiet: true },
    ],
  },
];
