/** Watching, pods, cascades, lists, and many objects at once. */
import type { Script } from "./compare.ts";
import { owned, pod, yaml } from "./objects.ts";

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
