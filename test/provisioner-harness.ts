/** The whole provisioner on an API server in memory and drivers of a few lines. */
import type { KubeObject, PersistentVolumeClaim, VolumeSnapshot } from "../src/api/types.ts";
import type { JsonObject } from "../src/base/json.ts";
import { silent } from "../src/base/log.ts";
import type { OwnNode } from "../src/components/csi-provisioner/driver/own-node.ts";
import { createCsiProvisioner } from "../src/components/csi-provisioner/index.ts";
import type { CsiClient } from "../src/csi/client.ts";
import { createStore } from "../src/kube/store.ts";
import { watchInto } from "../src/kube/stores.ts";
import { createFakeKube, type Hook } from "./fake-kube.ts";
import { createVirtualWorld } from "./virtual-world.ts";
import {
  aPendingClaim,
  aReadyContent,
  aReadySnapshot,
  aStorageClass,
  driverWith,
  provisionerOptions,
} from "./volume-plans.ts";

interface Request {
  readonly name: string;
  readonly mutableParameters?: Readonly<Record<string, string>>;
  readonly volumeContentSource?: unknown;
}
interface DriverSetting {
  create?(request: Request, volumes: Set<string>): Promise<object>;
  remove?(volumeId: string): Promise<void>;
}
export interface ProvisionerSetting extends DriverSetting {
  readonly objects: readonly KubeObject[];
  readonly hook?: Hook;
  /** What the server answers to the path of a VolumeAttributesClass. */
  attributesClass?(path: string): object;
}

/** Volumes are named after their requests. */
export function aFakeDriver({ create, remove }: DriverSetting) {
  const volumes = new Set<string>();
  const asked: string[] = [];
  const createVolume = async (request: Request) => {
    asked.push("create");
    const reply = await create?.(request, volumes);
    const volumeId = `vol-${request.name}`;
    if (reply === undefined || !("volumeId" in reply)) volumes.add(volumeId);
    const { volumeContentSource: contentSource } = request;
    return {
      volume: { volumeId, capacityBytes: 0n, volumeContext: {}, accessibleTopology: [], contentSource, ...reply },
    };
  };
  const deleteVolume = async ({ volumeId }: { volumeId: string }) => {
    asked.push("delete");
    await remove?.(volumeId);
    volumes.delete(volumeId);
  };
  return { volumes, asked, csi: { controller: { createVolume, deleteVolume } } as unknown as CsiClient };
}

/** A provisioner on a node, with the driver of that node. */
interface NodeSetting {
  readonly ownNode: OwnNode;
  readonly csi: CsiClient;
}

/** One server, and one driver unless a provisioner is started on a node; provisioners come and go. */
export async function setUpProvisioner({ objects, hook, attributesClass, ...setting }: ProvisionerSetting) {
  const world = createVirtualWorld();
  let isRunning = false;
  const kube = createFakeKube((call, when) => (isRunning ? hook?.(call, when) : undefined));
  const uidOf = new Map<string, string>();
  for (const object of [aStorageClass(), ...objects]) {
    const { metadata }: KubeObject = await kube.create(object.kind as never, object as never);
    uidOf.set(object.metadata.name, metadata.uid);
  }
  isRunning = true;
  kube.calls.length = 0;
  const { volumes, asked, csi } = aFakeDriver(setting);
  const events: string[] = [];
  const start = (on?: NodeSetting): (() => void) => {
    const stop = new AbortController();
    const snapshots = createStore("VolumeSnapshot", { log: silent });
    const api = Object.assign(kube, {
      getPath: async (path: string) => (attributesClass?.(path) ?? {}) as JsonObject,
    });
    const current = () => (snapshots.isSynced() ? snapshots : undefined);
    const provisioner = createCsiProvisioner({
      process: {
        ...{ api, world, log: silent, backoff: { startMs: 1_000, maxMs: 300_000 } },
        leading: () => !stop.signal.aborted,
        record: (_about, { reason, message }) => void events.push(`${reason} ${/SNAP-\d+/.exec(message)?.[0]}`),
      },
      csi: on?.csi ?? csi,
      driver: () => driverWith(["MODIFY_VOLUME"], on === undefined ? [] : ["VOLUME_ACCESSIBILITY_CONSTRAINTS"]),
      options: {
        ...provisionerOptions,
        usesAttributesClasses: attributesClass !== undefined,
        ...(on === undefined ? {} : { ownNode: on.ownNode }),
      },
      optional: { snapshots: { current, onChange: snapshots.onChange }, mayProtectSnapshots: () => true },
      intents: { namespace: "kube-system", name: ["calls", ...(on === undefined ? [] : [on.ownNode.name])].join("-") },
      identity: "me",
      callsAtOnce: 10,
    });
    const { signal } = stop;
    const watching = [provisioner.watch(signal), watchInto(kube, snapshots, { world, log: silent, signal })];
    void Promise.all([...watching, snapshots.whenSynced.then(() => provisioner.run(signal))]).catch(() => undefined);
    return () => stop.abort();
  };
  const writes = (): readonly string[] =>
    kube.calls
      .filter(({ verb }) => !["get", "list", "watch"].includes(verb))
      .map(({ verb, kind }) => `${verb} ${kind}`);
  const stored = () => kube.stored("PersistentVolume");
  const nameOf = (claim: string): string => `pvc-${uidOf.get(claim)}`;
  const intents = (): readonly string[] =>
    kube
      .stored("Lease")
      .flatMap(({ metadata }) =>
        Object.keys(JSON.parse(metadata.annotations?.["snapkeep.dev/create-volume-calls"] ?? "{}").calls ?? {}),
      );
  return { world, kube, start, volumes, asked, events, writes, stored, nameOf, intents };
}

export const claimNamed = (name: string, spec: PersistentVolumeClaim["spec"] = {}): PersistentVolumeClaim =>
  aPendingClaim({ metadata: { name }, spec });
const dataSource = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "monday" };
/** The server in memory gives uids of its own. */
export async function setUpRestores(count: number, more: Partial<ProvisionerSetting> = {}) {
  const claims = Array.from({ length: count }, (_, index) => claimNamed(`restored-${index}`, { dataSource }));
  const set = await setUpProvisioner({ objects: claims, ...more });
  const snapshot = (await set.kube.create("VolumeSnapshot", aReadySnapshot())) as VolumeSnapshot;
  await set.kube.create(
    "VolumeSnapshotContent",
    aReadyContent({ volumeSnapshotRef: { namespace: "team", name: "monday", uid: snapshot.metadata.uid } }),
  );
  set.kube.calls.length = 0;
  return set;
}
