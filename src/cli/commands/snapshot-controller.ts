/** `snapkeep snapshot-controller`: flags of the program it replaces, and the component behind them. */

import { createGrants } from "../../components/snapshot-controller/grants.ts";
import { createSnapshotController } from "../../components/snapshot-controller/index.ts";
import { countFailure, measureOperations, measureStates } from "../../components/snapshot-controller/measure.ts";
import { snapshotMetrics } from "../../components/snapshot-controller/metrics.ts";
import { createNodeFinder } from "../../components/snapshot-controller/nodes.ts";
import { anywhere } from "../../components/snapshot-controller/observe.ts";
import { unsyncedIn } from "../../kube/stores.ts";
import { defineCommand } from "../../runtime/command.ts";
import { checkComponent, componentFlags } from "../../runtime/common-flags.ts";
import { type ComponentContext, runComponent } from "../../runtime/component.ts";
import { bool, duration, type Gates, integer } from "../../runtime/flag-kinds.ts";
import { logIdleGates, upstreamGates } from "./upstream-gates.ts";

const name = "snapshot-controller";
const group = { group: "Snapshots" } as const;
const waitMsMin = 1_000;

export const command = defineCommand({
  flags: {
    ...componentFlags,
    // Upstream's 10 leave the API server idle while each of them waits for its answer; nothing here waits for a driver.
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
        // Asked for at the start, so that a role without nodes is said at once and not in the middle of the work.
        ...(input.options.enableDistributedSnapshotting ? (["Node"] as const) : []),
      ],
      waitMsMax: Math.max(waitMsMin, input.options.retryCrdIntervalMax),
      start: async (context) => start(context, input.options),
    }),
});

interface Options {
  readonly enableDistributedSnapshotting: boolean;
  readonly preventVolumeModeConversion: boolean;
  readonly featureGates: Gates;
}

function start(context: ComponentContext, given: Options) {
  const { api, world, log, metrics } = context;
  const { enableDistributedSnapshotting, preventVolumeModeConversion, featureGates } = given;
  logIdleGates(featureGates, log);
  const nodes = enableDistributedSnapshotting ? createNodeFinder(api, { world, log }) : undefined;
  const grants = createGrants({ api, world, log });
  const options = {
    preventVolumeModeConversion,
    placeOf: nodes?.placeOf ?? (() => anywhere),
    isGranted: grants.allows,
  };
  const controller = createSnapshotController({
    ...context,
    options,
    onPlacesChange: nodes?.onChange,
    onGrantsChange: grants.onChange,
    failed: (kind, key) => countFailure(measuring, kind, key),
    record: context.recordAs(name),
  });
  const { stores } = controller;
  const measuring = { stores, instruments: metrics.instruments(snapshotMetrics), world, leading: context.leading };
  const showOperations = measureOperations(measuring);
  metrics.refresh(() => {
    showOperations();
    measureStates(measuring, options);
  });
  return {
    leaseName: `${name}-leader`,
    watch: async (signal: AbortSignal) => {
      await Promise.all([controller.watch(signal), nodes?.watch(signal), grants.watch(signal)]);
    },
    run: async (signal: AbortSignal) => {
      // A content made before the nodes are known would carry no node, and no sidecar would take it.
      await nodes?.synced(signal);
      // A snapshot that is let go before the grants are known cannot be held any more.
      await grants.known(signal);
      await controller.run(signal);
    },
    ready: () => unsyncedIn(stores) ?? nodes?.unsynced(),
  };
}
