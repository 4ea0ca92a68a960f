/**
 * The command table. A command is one file in commands/ and one row here; its module is loaded only when it runs, so
 * that a tool starts fast and a component holds no other component's code in memory.
 */
import type { CommandRow } from "../runtime/command.ts";

export const commands: readonly CommandRow[] = [
  {
    name: "up",
    summary: "Run all components in one process and demonstrate a snapshot and its restore.",
    kind: "component",
    load: () => import("./commands/up.ts"),
  },
  {
    name: "apiserver",
    summary: "Run the embedded Kubernetes API server.",
    kind: "component",
    load: () => import("./commands/apiserver.ts"),
  },
  {
    name: "snapshot-controller",
    summary: "Bind VolumeSnapshots to VolumeSnapshotContents and protect the source claims.",
    kind: "component",
    load: () => import("./commands/snapshot-controller.ts"),
  },
  {
    name: "csi-snapshotter",
    summary: "Take and delete snapshots through the CSI driver in the same pod.",
    kind: "component",
    load: () => import("./commands/csi-snapshotter.ts"),
  },
  {
    name: "csi-provisioner",
    summary: "Create volumes for claims, empty or from snapshots and claims, through the CSI driver in the same pod.",
    kind: "component",
    load: () => import("./commands/csi-provisioner.ts"),
  },
  {
    name: "csi-sidecars",
    summary: "Run csi-snapshotter and csi-provisioner in one process, each with its own lease.",
    kind: "component",
    load: () => import("./commands/csi-sidecars.ts"),
  },
  {
    name: "webhook",
    summary: "Validate snapshot objects, claims, shares and the volumes of pods when they are created or updated.",
    kind: "component",
    load: () => import("./commands/webhook.ts"),
  },
  {
    name: "shared-resource",
    summary: "Serve SharedSecret and SharedConfigMap volumes on a node, or maintain the conditions of the shares.",
    kind: "component",
    load: () => import("./commands/shared-resource.ts"),
  },
  {
    name: "get",
    summary: "List snapshots with their phase and what blocks them.",
    kind: "tool",
    load: () => import("./commands/get.ts"),
  },
  {
    name: "take",
    summary: "Take a snapshot of a claim, and wait until it is ready.",
    kind: "tool",
    load: () => import("./commands/take.ts"),
  },
  {
    name: "restore",
    summary: "Create a claim with the data of a snapshot, in its namespace or in another one.",
    kind: "tool",
    load: () => import("./commands/restore.ts"),
  },
  {
    name: "delete",
    summary: "Delete a snapshot, and say what becomes of its data.",
    kind: "tool",
    load: () => import("./commands/delete.ts"),
  },
  {
    name: "orphans",
    summary: "Find snapshots and volumes that only the driver or only the cluster has.",
    kind: "tool",
    load: () => import("./commands/orphans.ts"),
  },
  {
    name: "lint",
    summary: "Check manifests against the webhook's rules, without a cluster.",
    kind: "tool",
    load: () => import("./commands/lint.ts"),
  },
  {
    name: "audit",
    summary: "Check all stored objects against the webhook's rules.",
    kind: "tool",
    load: () => import("./commands/audit.ts"),
  },
  {
    name: "migrate",
    summary: "Move the snapshot CRDs and the stored objects from v1beta1 to v1, phase by phase, and back.",
    kind: "tool",
    load: () => import("./commands/migrate.ts"),
  },
  {
    name: "status",
    summary: "Show the whole installation on one screen: what runs, what waits, and what needs a person.",
    kind: "tool",
    load: () => import("./commands/status.ts"),
  },
  {
    name: "explain",
    summary: "Say why a snapshot, content, claim or share waits, who has to act, and what to type.",
    kind: "tool",
    load: () => import("./commands/explain.ts"),
  },
  {
    name: "timeline",
    summary: "Show what has happened to a snapshot or claim, how long each step took, and whose time it was.",
    kind: "tool",
    load: () => import("./commands/timeline.ts"),
  },
  {
    name: "what-if",
    summary: "Show what a deletion, a restore or a change would lead to, from a run of the controllers on a copy.",
    kind: "tool",
    load: () => import("./commands/what-if.ts"),
  },
  {
    name: "gather",
    summary: "Collect objects, logs and metrics of all components for support, without secret data.",
    kind: "tool",
    load: () => import("./commands/gather.ts"),
  },
  {
    name: "access",
    summary: "Show who can restore a snapshot, through which grant, and who needs none.",
    kind: "tool",
    load: () => import("./commands/access.ts"),
  },
  {
    name: "install",
    summary: "Install, upgrade, check or remove the components in a cluster, or print their manifests.",
    kind: "tool",
    load: () => import("./commands/install.ts"),
  },
  {
    name: "verify",
    summary: "Verify that snapshots work: write, snapshot, restore and read, in a namespace of its own.",
    kind: "tool",
    load: () => import("./commands/verify.ts"),
  },
  {
    name: "certs",
    summary: "Create and renew the webhook's certificates.",
    kind: "tool",
    load: () => import("./commands/certs.ts"),
  },
  {
    name: "admission-policies",
    summary: "Print the rules as admission policies of Kubernetes, which need no webhook.",
    kind: "tool",
    load: () => import("./commands/admission-policies.ts"),
  },
  {
    name: "completion",
    summary: "Print the completion of commands, flags and names for a shell.",
    kind: "tool",
    load: () => import("./commands/completion.ts"),
  },
  {
    name: "errors",
    summary: "Explain the code at the end of a message, or list all codes.",
    kind: "tool",
    load: () => import("./commands/errors.ts"),
  },
  {
    name: "crds",
    summary: "Print the snapshot CustomResourceDefinitions.",
    kind: "tool",
    load: () => import("./commands/crds.ts"),
  },
  {
    name: "directory-driver",
    summary: "Run a CSI driver over plain directories, for laptops and tests.",
    kind: "component",
    load: () => import("./commands/directory-driver.ts"),
  },
];
