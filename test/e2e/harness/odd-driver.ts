/** A CSI driver inside the test that answers what the test wants, and remembers what it was asked. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../../../src/base/fault.ts";
import { silent } from "../../../src/base/log.ts";
import { realWorld } from "../../../src/base/world.ts";
import {
  ControllerServiceCapability_RPC_Type as Can,
  GroupControllerServiceCapability_RPC_Type as CanGroup,
  Controller,
  type CreateSnapshotRequest,
  type CreateVolumeRequest,
  type DeleteSnapshotRequest,
  type DeleteVolumeRequest,
  type GetCapacityRequest,
  GroupController,
  Identity,
  type ListSnapshotsRequest,
  Node,
  PluginCapability_Service_Type as Serves,
} from "../../../src/csi/gen/csi_pb.js";
import { serve } from "../../../src/csi/serve.ts";
import { createCsiServer } from "../../../src/csi/server.ts";
import { csiClientTo } from "./components.ts";
import type { Driver } from "./snapshot-suites.ts";

export interface OddSnapshot {
  readonly snapshotId: string;
  readonly sourceVolumeId: string;
  readonly sizeBytes: bigint;
  readonly readyToUse: boolean;
  readonly creationTime: { readonly seconds: bigint; readonly nanos: number };
}

/** What is wrong with the answer about a volume's snapshot: given the right answer, how often it was asked and by which name. */
export type Oddity = (
  right: OddSnapshot,
  asked: number,
  name: string,
) => Partial<OddSnapshot> | Promise<Partial<OddSnapshot>>;

export interface OddVolume {
  readonly volumeId: string;
  readonly capacityBytes: bigint;
  readonly contentSource?: CreateVolumeRequest["volumeContentSource"];
  readonly accessibleTopology?: readonly { readonly segments: Record<string, string> }[];
}

export interface OddCapacity {
  readonly availableCapacity: bigint;
  readonly maximumVolumeSize?: bigint;
}

export interface OddDriver extends Driver {
  /** What is wrong with the answer to CreateVolume, for each value of the class parameter "odd". */
  readonly volumeOddities: Map<string, (right: OddVolume) => Partial<OddVolume>>;
  /** Ids of the volumes that it has. */
  readonly volumes: Set<string>;
  /** Awaited by each CreateVolume, before the volume is made and before the reply: where a test lets calls wait. */
  readonly gates: Partial<Record<"beforeVolume" | "beforeReply", (request: CreateVolumeRequest) => Promise<unknown>>>;
  /** What it answers to GetCapacity; absent: it does not serve the call. */
  readonly capacity: { answer?: (request: GetCapacityRequest) => OddCapacity | Promise<OddCapacity> };
  readonly askedForVolumes: CreateVolumeRequest[];
  readonly askedToDeleteVolumes: DeleteVolumeRequest[];
  /** The keys are volume handles; a volume without an entry is served well. Removing the entry corrects the driver. */
  readonly oddities: Map<string, Oddity>;
  readonly snapshots: Map<string, OddSnapshot>;
  /** Why CreateSnapshot always fails, for each volume handle. */
  readonly bars: Map<string, Fault>;
  /** Thrown at the next calls, one each, before anything is done. */
  readonly refusals: {
    readonly create: Fault[];
    readonly delete: Fault[];
    readonly createVolume: Fault[];
    readonly deleteVolume: Fault[];
  };
  readonly asked: CreateSnapshotRequest[];
  readonly askedToDelete: DeleteSnapshotRequest[];
  readonly askedToList: ListSnapshotsRequest[];
  /** Nothing is odd about it any more. */
  mend(): void;
  /** What it was asked. */
  forget(): void;
  close(): Promise<void>;
}

const abilities = [Can.CREATE_DELETE_VOLUME, Can.CREATE_DELETE_SNAPSHOT];

export interface OddDriverOptions {
  readonly driver?: string;
  /** Whether its volumes are accessible where they are asked for only. */
  readonly hasTopology?: boolean;
  /** Present: it says where it runs, as a driver on each node does. */
  readonly node?: { readonly id: string; readonly segments: Record<string, string> };
  /** What it says it can beside volumes and snapshots. */
  readonly more?: readonly Can[];
  /** Whether it can be asked what snapshots it has. */
  readonly canList?: boolean;
  /** A real driver that does the work, and whose answers are bent on their way. Without one nothing is kept but names. */
  readonly behind?: Pick<Driver, "driver" | "socket">;
  /**
   * That driver is asked once for each name, because a repeated call would take it again: hostpath knows only the last snapshot of
   * a volume.
   */
  readonly asksOnce?: boolean;
}

export async function startOddDriver(folder: string, options: OddDriverOptions = {}): Promise<OddDriver> {
  const {
    behind,
    driver = behind?.driver ?? "odd.example.com",
    canList = true,
    hasTopology = false,
    more = [],
    node,
    asksOnce = behind === undefined,
  } = options;
  const real = behind === undefined ? undefined : csiClientTo(behind.socket);
  mkdirSync(join(folder, driver), { recursive: true });
  const socket = join(folder, driver, "odd.sock");
  const stop = new AbortController();
  const oddities: OddDriver["oddities"] = new Map();
  const snapshots: OddDriver["snapshots"] = new Map();
  const asked: OddDriver["asked"] = [];
  const askedToDelete: OddDriver["askedToDelete"] = [];
  const askedToList: OddDriver["askedToList"] = [];
  const volumeOddities: OddDriver["volumeOddities"] = new Map();
  const volumes: OddDriver["volumes"] = new Set();
  const gates: OddDriver["gates"] = {};
  const capacity: OddDriver["capacity"] = {};
  const askedForVolumes: OddDriver["askedForVolumes"] = [];
  const askedToDeleteVolumes: OddDriver["askedToDeleteVolumes"] = [];
  const makeVolume = ({ name, capacityRange, parameters, ...request }: CreateVolumeRequest): OddVolume => {
    const { volumeContentSource, accessibilityRequirements } = request;
    const [place] = accessibilityRequirements?.preferred ?? [];
    const right: OddVolume = {
      volumeId: name,
      capacityBytes: capacityRange?.requiredBytes ?? 2n ** 20n,
      ...(volumeContentSource === undefined ? {} : { contentSource: volumeContentSource }),
      ...(place === undefined ? {} : { accessibleTopology: [{ segments: place.segments }] }),
    };
    volumes.add(right.volumeId);
    return { ...right, ...volumeOddities.get(parameters.odd ?? "")?.(right) };
  };
  const bars: OddDriver["bars"] = new Map();
  const take = async ({ $typeName: _, ...request }: CreateSnapshotRequest): Promise<OddSnapshot> => {
    const { name, sourceVolumeId } = request;
    const known = asksOnce ? snapshots.get(name) : undefined;
    const made = async () => (await real?.controller.createSnapshot(request))?.snapshot as OddSnapshot | undefined;
    const right = known ?? (await made()) ?? rightAnswer(name, sourceVolumeId);
    snapshots.set(name, right);
    return right;
  };
  const refusals: OddDriver["refusals"] = { create: [], delete: [], createVolume: [], deleteVolume: [] };
  const refuse = (refusal: Fault | undefined): void => {
    if (refusal !== undefined) throw refusal;
  };
  const timesAsked = (name: string): number => asked.filter((request) => request.name === name).length;
  const services = [
    serve(Identity, {
      getPluginInfo: () => ({ name: driver }),
      getPluginCapabilities: () => ({
        capabilities: [
          Serves.CONTROLLER_SERVICE,
          Serves.GROUP_CONTROLLER_SERVICE,
          ...(hasTopology ? [Serves.VOLUME_ACCESSIBILITY_CONSTRAINTS] : []),
        ].map((type) => ({ type: { case: "service" as const, value: { type } } })),
      }),
      probe: () => ({}),
    }),
    serve(GroupController, {
      groupControllerGetCapabilities: () => ({
        capabilities: [
          {
            type: { case: "rpc" as const, value: { type: CanGroup.CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT } },
          },
        ],
      }),
      createVolumeGroupSnapshot({ name, sourceVolumeIds }) {
        const members = sourceVolumeIds.map((id) => rightAnswer(`${name}-${id}`, id));
        for (const member of members) snapshots.set(member.snapshotId, member);
        return { groupSnapshot: { groupSnapshotId: name, snapshots: members, readyToUse: true } };
      },
      deleteVolumeGroupSnapshot({ snapshotIds }) {
        for (const id of snapshotIds) snapshots.delete(id);
        return {};
      },
    }),
    serve(Controller, {
      controllerGetCapabilities: () => ({
        capabilities: [...abilities, ...(canList ? [Can.LIST_SNAPSHOTS] : []), ...more].map((type) => ({
          type: { case: "rpc" as const, value: { type } },
        })),
      }),
      async createVolume(request) {
        askedForVolumes.push(request);
        refuse(refusals.createVolume.shift());
        await gates.beforeVolume?.(request);
        const reply = (await real?.controller.createVolume(request)) ?? { volume: makeVolume(request) as never };
        await gates.beforeReply?.(request);
        return reply;
      },
      deleteVolume(request) {
        askedToDeleteVolumes.push(request);
        refuse(refusals.deleteVolume.shift());
        volumes.delete(request.volumeId);
        return real?.controller.deleteVolume(request) ?? {};
      },
      getCapacity(request) {
        if (capacity.answer === undefined) throw new Fault("Unimplemented", "GetCapacity is not served");
        return capacity.answer(request);
      },
      async createSnapshot(request) {
        asked.push(request);
        const { name, sourceVolumeId } = request;
        refuse(refusals.create.shift() ?? bars.get(sourceVolumeId));
        if (sourceVolumeId === "") throw new Fault("InvalidArgument", "source_volume_id is empty");
        const right = await take(request);
        return { snapshot: { ...right, ...(await oddities.get(sourceVolumeId)?.(right, timesAsked(name), name)) } };
      },
      deleteSnapshot(request) {
        askedToDelete.push(request);
        refuse(refusals.delete.shift());
        const { snapshotId } = request;
        for (const [name, known] of snapshots) if (known.snapshotId === snapshotId) snapshots.delete(name);
        return real?.controller.deleteSnapshot(request) ?? {};
      },
      listSnapshots(request) {
        askedToList.push(request);
        const { snapshotId } = request;
        if (real !== undefined) return real.controller.listSnapshots(request);
        return {
          entries: [...snapshots.values()]
            .filter((known) => snapshotId === "" || known.snapshotId === snapshotId)
            .map((snapshot) => ({ snapshot })),
        };
      },
    }),
  ];
  if (node !== undefined)
    services.push(
      serve(Node, {
        nodeGetCapabilities: () => ({}),
        nodeGetInfo: () => ({ nodeId: node.id, accessibleTopology: { segments: node.segments } }),
      }),
    );
  const server = await createCsiServer({
    address: socket,
    services,
    log: silent,
    world: realWorld,
    signal: stop.signal,
  });
  return {
    driver,
    socket,
    oddities,
    volumeOddities,
    volumes,
    gates,
    capacity,
    askedForVolumes,
    askedToDeleteVolumes,
    snapshots,
    bars,
    refusals,
    asked,
    askedToDelete,
    askedToList,
    mend: () => {
      oddities.clear();
      volumeOddities.clear();
      bars.clear();
      delete gates.beforeVolume;
      delete gates.beforeReply;
      delete capacity.answer;
      for (const list of Object.values(refusals)) list.length = 0;
    },
    forget: () => {
      for (const list of [asked, askedToDelete, askedToList, askedForVolumes, askedToDeleteVolumes]) list.length = 0;
    },
    dataOf: () => {
      throw new Error("this driver keeps no data");
    },
    close: () => {
      stop.abort();
      real?.close();
      return server.closed;
    },
  };
}

const rightAnswer = (name: string, sourceVolumeId: string): OddSnapshot => ({
  snapshotId: `id-of-${name}`,
  sourceVolumeId,
  sizeBytes: 2n ** 20n,
  readyToUse: true,
  creationTime: { seconds: BigInt(Math.floor(realWorld.now() / 1000)), nanos: 1 },
});
