/** `snapkeep snapshot-controller`: flags of the program it replaces, and the component behind them. */

import { snapshotMetrics } from "../../components/snapshot-controller/metrics.ts";
import { name, start } from "../../components/snapshot-controller/start.ts";
import { defineCommand } from "../../runtime/command.ts";
import { checkComponent, componentFlags } from "../../runtime/common-flags.ts";
import { runComponent } from "../../runtime/component.ts";
import { bool, duration, integer } from "../../runtime/flag-kinds.ts";
import { logIdleGates, upstreamGates } from "./upstream-gates.ts";

const group = { group: "Snapshots" } as const;
const waitMsMin = 1_000;

export const command = defineCommand({
  flags: {
    ...componentFlags,
    // Upstream's 10 leave the API server idle while each waits for its reply; no reconcile here waits for a driver.
    workerThreads: integer({
      group: "Work",
      default: 32,
      min: 1,
      max: 10_000,
      help: "Number of concurrent reconciles per queue.",
    }),
    enableDistributedSnapshotting: bool({
      ...group,
      default: false,
      help: "Label each content with the node of its volume, for sidecars that run on every node.",
    }),
    preventVolumeModeConversion: bool({
      ...group,
      default: true,
      help: "Record the source volume's mode in the content, so that a restore cannot change the mode unnoticed.",
    }),
    retryCrdIntervalMax: duration({
      ...group,
      default: 30_000,
      help: "How long to wait at start for the API server and the snapshot CRDs; at least 1s.",
    }),
    featureGates: upstreamGates(group),
  },
  metrics: snapshotMetrics,
  examples: [
    {
      does: "Run against the cluster of your kubeconfig",
      line: "snapkeep snapshot-controller --kubeconfig=$HOME/.kube/config",
    },
    {
      does: "Run in a pod, as one of two replicas, with metrics",
      line: "snapkeep snapshot-controller --leader-election=true --http-endpoint=:8080",
    },
  ],
  check: (options) => checkComponent(options),
  run: (input) =>
    runComponent(input, {
      name,
      kinds: [
        "VolumeSnapshot",
        "VolumeSnapshotContent",
        "VolumeSnapshotClass",
        "PersistentVolumeClaim",
        "PersistentVolume",
        // Read at the start, so that a role without nodes fails at once and not in the middle of the work.
        ...(input.options.enableDistributedSnapshotting ? (["Node"] as const) : []),
      ],
      waitMsMax: Math.max(waitMsMin, input.options.retryCrdIntervalMax),
      start: (context) => {
        logIdleGates(input.options.featureGates, context.log);
        const { featureGates, ...options } = input.options;
        return start(context, { ...options, groups: featureGates.CSIVolumeGroupSnapshot === true });
      },
    }),
});
