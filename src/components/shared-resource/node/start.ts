/**
 * The node driver from its context and options: volumes of an earlier process, its sockets, its registration with the kubelet. It serves
 * before it has found an API server, because volumes must be unpublished then too; until it has, nothing is published.
 */

import type { CodedEvent } from "../../../api/plan.ts";
import type { ShareKind } from "../../../api/share-lists.ts";
import { mebibyte, shareMemory } from "../../../api/share-memory.ts";
import type { KubeObject } from "../../../api/types.ts";
import { Fault, isFault } from "../../../base/fault.ts";
import { createLocks, layered, locked } from "../../../csi/layers.ts";
import { createRegistration } from "../../../csi/registration.ts";
import { unaryOf } from "../../../csi/serve.ts";
import { createCsiServer } from "../../../csi/server.ts";
import type { Unary } from "../../../csi/wire.ts";
import type { KubeApi, PathAsker } from "../../../kube/api.ts";
import { createEventRecorder, type EventRecorder } from "../../../kube/events.ts";
import type { Store } from "../../../kube/store.ts";
import { createStores, type StoreTable, unsyncedIn, watchStores } from "../../../kube/stores.ts";
import { pageBytes } from "../../../node/page-size.ts";
import type { Component, ProcessContext } from "../../../runtime/frame.ts";
import { controllerObservers } from "../../../runtime/measure.ts";
import type { AllowListReader } from "../../../runtime/share-allow-lists.ts";
import type { SharedResourceConfig } from "../config.ts";
import { createHost, type VolumeHost } from "./host.ts";
import { identityService } from "./identity.ts";
import { nodeMetrics } from "./metrics.ts";
import type { MemoryLimits } from "./plan-memory.ts";
import { createRbacWatch, type RbacWatch } from "./rbac-watch.ts";
import { createRecordLog, recordsPath } from "./record-log.ts";
import { createReviews } from "./reviews.ts";
import { nodeService } from "./service.ts";
import { createSources } from "./sources.ts";
import { createTroubleReports } from "./trouble-reports.ts";
import type { VolumeSpec } from "./types.ts";
import { createVolumes, type VolumesOptions } from "./volumes.ts";

export interface NodeApi {
  readonly api: KubeApi & PathAsker;
  readonly lists: AllowListReader;
  close?(): void;
}

export interface NodeOptions {
  readonly name: string;
  readonly version: string;
  readonly nodeId: string;
  readonly maxVolumesPerNode: number;
  /** The socket to listen on; absent: only callers in this process reach the driver. */
  readonly address?: string | undefined;
  /** The kubelet's registration folder, and the socket path on the host; absent: no registration. */
  readonly registration?: { readonly endpoint: string; readonly registryFolder: string } | undefined;
  readonly config: SharedResourceConfig;
  /** Where the records of mounted volumes are. */
  readonly recordFolder: string;
  /** Where the kubelet has the folders of its pods. */
  readonly kubeletFolder: string;
  /** What the volumes may take. */
  readonly memory?: MemoryLimits | undefined;
  /** The machine, unless given. */
  readonly host?: VolumeHost | undefined;
  readonly plans?: VolumesOptions["plans"];
  /** Waits until there is an API server. */
  connect(signal: AbortSignal): Promise<NodeApi>;
}

/** The flags' defaults. */
export const defaultMemory: MemoryLimits = {
  volumeBytes: shareMemory.volumeMiB * mebibyte,
  namespaceBytes: shareMemory.namespaceMiB * mebibyte,
  nodeBytes: shareMemory.nodeMiB * mebibyte,
};

export const shareTable = { SharedSecret: {}, SharedConfigMap: {} } as const satisfies StoreTable;

export interface NodeDriver extends Component {
  /** For callers in this process. */
  readonly calls: Unary;
}

export async function startNode(context: ProcessContext, options: NodeOptions): Promise<NodeDriver> {
  const { world, log, metrics } = context;
  const { name, address, registration, memory: limits = defaultMemory } = options;
  const { host = createHost({ ...options, ...limits, world, log }) } = options;
  const failing = new AbortController();
  const signal = AbortSignal.any([context.signal, failing.signal]);
  let connected: NodeApi | undefined;
  const api = (): NodeApi["api"] => {
    if (connected === undefined) throw new Fault("Unavailable", "no connection to an API server yet");
    return connected.api;
  };
  const stores = createStores(shareTable, log);
  const readShare = async ({
    shareKind: kind,
    share: name,
  }: Pick<VolumeSpec, "shareKind" | "share">): Promise<void> => {
    try {
      const found = await api().get({ kind, name }, { signal });
      (stores[kind] as Store<ShareKind>).applyReply(found);
    } catch (reason) {
      if (!isFault(reason, "NotFound")) throw reason;
    }
  };
  const parts = { api, world, log, signal };
  let rbac: RbacWatch | undefined;
  const isWatched = (): boolean => rbac?.isWatching() === true;
  const reviews = createReviews({ ...parts, isWatched, onChange: (subject) => volumes.subjectChanged(subject) });
  const memory = { limits, pageBytes: pageBytes() };
  const sources = createSources({ ...parts, ...memory, onChange: (source) => volumes.sourceChanged(source) });
  const counters = metrics.instruments(nodeMetrics);
  const volumes = createVolumes({
    host,
    plans: options.plans,
    reviews,
    sources,
    stores,
    readShare,
    memory,
    world,
    log,
    refreshResources: options.config.refreshResources,
    lists: () => connected?.lists,
    counts: {
      reservedName: ({ shareKind }) =>
        (shareKind === "SharedSecret" ? counters.secretNameFailures : counters.configMapNameFailures).add({}),
      readOnly: (isReadOnly) => (isReadOnly ? counters.readOnlySuccesses : counters.readOnlyFailures).add({}),
    },
    observer: controllerObservers(metrics, "shared-resource")("shared-volumes"),
  });
  let events: EventRecorder | undefined;
  const { inspect } = volumes;
  const record = (volume: VolumeSpec, event: CodedEvent): void => {
    const { id, pod } = volume;
    log.warn("volume is not as it should be", {
      volume: id,
      pod: `${pod.namespace}/${pod.name}`,
      reason: event.message,
    });
    events?.record(podReference(volume), event);
  };
  const reports = createTroubleReports({ world, inspect, record });
  counters.memoryBytesMax.set({}, limits.nodeBytes);
  metrics.refresh(() => {
    counters.volumes.set({}, volumes.count());
    counters.memoryBytes.set({}, volumes.memoryBytes());
    for (const [cause, { count, ageMs }] of [...reports.look(), ["unrecorded", volumes.strays()] as const]) {
      counters.troubled.set({ cause }, count);
      counters.troubledSeconds.set({ cause }, ageMs / 1_000);
    }
  });
  const counts = { requested: () => counters.requests.add({}), failed: () => counters.failures.add({}) };
  const services = [identityService(options), nodeService({ ...options, volumes, counts })];

  await volumes.recover();
  const closed: Promise<void>[] = [];
  try {
    if (address !== undefined) closed.push((await createCsiServer({ world, log, signal, address, services })).closed);
    if (registration !== undefined)
      closed.push((await createRegistration({ world, log, signal, ...registration, driver: name })).closed);
  } catch (reason) {
    failing.abort();
    await Promise.all(closed);
    throw reason;
  }
  const watch = async (): Promise<void> => {
    connected = await options.connect(signal);
    events = createEventRecorder({ api: connected.api, world, log, component: name, host: options.nodeId });
    const { lists } = connected;
    reviews.connected();
    rbac = createRbacWatch({ api: connected.api, world, log, onChange: reviews.mayHaveChanged });
    const read = lists.read(signal).then(volumes.resync);
    const watched = watchStores(connected.api, shareTable, stores, { world, log, signal });
    // A list without a volume's share changes nothing in the store, and says that it is gone.
    for (const { whenSynced } of Object.values(stores)) void whenSynced.then(volumes.resync);
    await Promise.all([watched, read, rbac.run(signal)]);
  };
  return {
    calls: layered(unaryOf(services), locked(createLocks())),
    pages: { [recordsPath]: createRecordLog({ records: host.records, log, world }) },
    ready: () => (connected === undefined ? "waiting for the API server" : unsyncedIn(stores)),
    run: async (stop) => {
      const abort = (): void => failing.abort(stop.reason);
      stop.addEventListener("abort", abort, { once: true });
      if (stop.aborted) abort();
      try {
        await Promise.all([watch(), volumes.run(signal), reports.run(signal), ...closed]);
      } finally {
        failing.abort();
        await Promise.all(closed);
        await events?.close(eventsMsMax);
        connected?.close?.();
      }
    },
  };
}

/** How long the process waits at its end for events to be sent. */
const eventsMsMax = 2_000;

const podReference = ({ pod }: VolumeSpec): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace: pod.namespace, name: pod.name, uid: pod.uid },
  }) as KubeObject;
