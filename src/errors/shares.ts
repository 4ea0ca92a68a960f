/** Errors about volumes of shared Secrets and ConfigMaps, by the node driver of shared-resource: SNAP-7xx. */
import type { ErrorRow } from "./row.ts";

export const shareErrorRows = {
  "SNAP-701": {
    title: "A volume of the shared-resource driver cannot be understood",
    why: "The request for the volume lacks something, or names no share, or two.",
    fix: "set one of the volumeAttributes sharedSecret and sharedConfigMap",
    more: "If the message is about pod information, the CSIDriver object is not the one of this driver.",
  },
  "SNAP-702": {
    title: "The share of a volume does not exist",
    why: "The volumeAttributes name a SharedSecret or SharedConfigMap that the cluster does not have.",
    fix: "create the share or correct the name",
    more: "The pod starts then by itself.",
  },
  "SNAP-703": {
    title: "A share names no Secret or ConfigMap",
    why: "The reference of the share is empty, or holds what is no name of Kubernetes.",
    fix: "correct namespace and name in the spec of the share",
  },
  "SNAP-704": {
    title: "A pod may not use a share",
    why: "The service account of the pod needs the verb use on the share.",
    fix: "grant it with a Role and a RoleBinding in the namespace of the pod",
    more: "The pod starts then by itself.",
  },
  "SNAP-705": {
    title: "It cannot be found out whether a volume may be mounted",
    why: "Nothing is mounted without a permission that was asked for just now, and the API server does not answer that. Mounted volumes keep their content.",
    fix: "wait until the API server answers; the kubelet tries again",
    more: "If the driver may not ask, give it the role of the manifests.",
  },
  "SNAP-706": {
    title: "The Secret or ConfigMap of a share does not exist",
    why: "An empty volume would start a pod without its data.",
    fix: "create the Secret or ConfigMap, or correct the share",
    more: "The pod starts then by itself.",
  },
  "SNAP-707": {
    title: "The driver may not read the Secret or ConfigMap of a share",
    why: "The driver has no permission for all Secrets: the owner of the share grants it for one.",
    fix: "create a Role with get, list and watch on that object, and a RoleBinding for the driver's service account, in its namespace",
  },
  "SNAP-708": {
    title: "A key cannot be the name of a file",
    why: "The API server refuses such keys; an older one, or another way to the store, may not have.",
    fix: "rename the key",
  },
  "SNAP-709": {
    title: "The files of a volume cannot be written",
    why: "The memory of the node is used up, or something else is wrong with the file system. The volume keeps its old content.",
    fix: "the message has the error of the operating system",
    more: "Free memory on the node, or use fewer keys: each takes at least a page of memory.",
  },
  "SNAP-710": {
    title: "The place of a volume is taken",
    why: "Something is at the target path, or the volume's id is in use, that this driver did not put there.",
    fix: "unmount or remove what is at the path on the node",
    more: "The kubelet tries again.",
  },
  "SNAP-711": {
    title: "The Secret or ConfigMap of a share is too large for a volume",
    why: "Each key takes a page of memory and what the kernel keeps about it, about 7 KiB, however short its value is. Replaced sets count for as long as a process in the pod has their files open. A mounted volume keeps its old content.",
    fix: "let the program in the pod close what it has read",
    more: "Use fewer keys: one file with many entries takes less than many files. Or raise --volume-memory of the driver, see docs/guides/shared-resources.md.",
  },
  "SNAP-712": {
    title: "The shared volumes of a namespace take too much memory on a node",
    why: "The driver keeps memory for other namespaces. Replaced sets count for as long as a process has their files open. A mounted volume keeps its old content, and is updated when there is room.",
    fix: "let programs close what they have read, as the message says",
    more: "Spread the pods over more nodes, share less, or mount one volume instead of many. Or raise --namespace-memory of the driver.",
  },
  "SNAP-713": {
    title: "The shared volumes of a node take too much memory",
    why: "The memory of all volumes counts for the driver's container, which would be killed at its limit. Replaced sets count for as long as a process has their files open. A mounted volume keeps its old content, and is updated when there is room.",
    fix: "move pods to other nodes",
    more: "Or raise --node-memory of the driver together with the memory limit of its container, see docs/guides/shared-resources.md.",
  },
  "SNAP-714": {
    title: "A mounted volume is not as it should be",
    why: "What the share says now could not be written, what was taken away could not be removed, or it is not known what the volume should be.",
    fix: "the message says why",
    more: "The driver tries again by itself; if an error of the operating system persists, delete the pod.",
  },
} as const satisfies Record<string, ErrorRow>;
