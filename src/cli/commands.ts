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
    name: "webhook",
    summary: "Validate VolumeSnapshots, contents, classes and claims when they are created or updated.",
    kind: "component",
    load: () => import("./commands/webhook.ts"),
  },
  {
    name: "lint",
    summary: "Check manifests against the webhook's rules, without a cluster.",
    kind: "tool",
    load: () => import("./commands/lint.ts"),
  },
  {
    name: "certs",
    summary: "Create and renew the webhook's certificates.",
    kind: "tool",
    load: () => import("./commands/certs.ts"),
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
