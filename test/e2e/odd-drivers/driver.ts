/**
 * A CSI driver that keeps nothing but names, and keeps its books well: what it has taken and not deleted is in its storage. A script
 * bends its answers, one function for each call; what no script bends is answered as the protocol wants it.
 */
import { join } from "node:path";
import {
  ControllerServiceCapability_RPC_Type as Can,
  type CreateSnapshotRequest,
  type DeleteSnapshotRequest,
  type ListSnapshotsRequest,
  PluginCapability_Service_Type as Serves,
} from "../../../src/csi/gen/csi_pb.js";
import { type Answer, message, serveWire } from "./wire.ts";

/** One snapshot in the storage, in the protocol's own fields. */
export interface Kept {
  readonly snapshotId: string;
  readonly sourceVolumeId: string;
  readonly sizeBytes: bigint;
  readonly readyToUse: boolean;
  readonly creationTime: { readonly seconds: bigint; readonly nanos: number };
}

/** One call as a script sees it. */
export interface Turn<Request, Reply> {
  readonly request: Request;
  /** How often this was asked about the same snapshot, this time included. */
  readonly times: number;
  /** The keys are handles. */
  readonly storage: Map<string, Kept>;
  /** Resolves when the driver gets another script: a call that hangs until then hangs no longer. */
  readonly mended: Promise<void>;
  /** Does what was asked for; the fields of the right reply. */
  honest(): Reply;
}

type Scripted<Request, Reply> = (turn: Turn<Request, Reply>) => Answer | Promise<Answer>;

export interface Script {
  /** Whether LIST_SNAPSHOTS is among its capabilities; it is unless said otherwise. */
  readonly canList?: boolean;
  /** Handles that are in its storage from the start. */
  readonly holds?: readonly string[];
  readonly probe?: Scripted<object, object>;
  readonly createSnapshot?: Scripted<CreateSnapshotRequest, { snapshot: Kept }>;
  readonly deleteSnapshot?: Scripted<DeleteSnapshotRequest, object>;
  readonly listSnapshots?: Scripted<ListSnapshotsRequest, { entries: { snapshot: Kept }[]; nextToken?: string }>;
}

export interface ScriptedDriver {
  readonly name: string;
  readonly socket: string;
  readonly storage: ReadonlyMap<string, Kept>;
  /** What it was asked, in the order it came: names to create, handles to delete and to list, and how often for capabilities. */
  readonly asked: Readonly<Record<"create" | "delete" | "list" | "capabilities", readonly string[]>>;
  /** From now on it behaves like this. */
  act(script: Script): void;
  /** The process ends, and another one of this script takes its place with the same storage. */
  restart(script: Script): Promise<void>;
  close(): Promise<void>;
}

export const keptNow = (snapshotId: string, sourceVolumeId = "a-volume"): Kept => ({
  snapshotId,
  sourceVolumeId,
  sizeBytes: 2n ** 20n,
  readyToUse: true,
  creationTime: { seconds: BigInt(Math.floor(Date.now() / 1000)), nanos: 1 },
});

/** What it calls what it has taken under this name. */
export const handleFor = (name: string): string => `taken-${name}`;

export async function startScriptedDriver(folder: string, id: string, first: Script): Promise<ScriptedDriver> {
  const name = `${id}.odd.example.com`;
  const socket = join(folder, `${id}.sock`);
  const storage = new Map((first.holds ?? []).map((handle) => [handle, keptNow(handle)]));
  const asked = { create: [] as string[], delete: [] as string[], list: [] as string[], capabilities: [] as string[] };
  let script = first;
  let mending = Promise.withResolvers<void>();
  const next = (another: Script): void => {
    script = another;
    mending.resolve();
    mending = Promise.withResolvers<void>();
  };
  const count = (list: string[], about: string): number => {
    list.push(about);
    return list.filter((other) => other === about).length;
  };

  const common = () => ({ storage, mended: mending.promise });

  const create = (request: CreateSnapshotRequest) => ({
    ...common(),
    request,
    times: count(asked.create, request.name),
    honest: () => {
      const handle = handleFor(request.name);
      const snapshot = storage.get(handle) ?? keptNow(handle, request.sourceVolumeId);
      storage.set(handle, snapshot);
      return { snapshot };
    },
  });
  const remove = (request: DeleteSnapshotRequest) => ({
    ...common(),
    request,
    times: count(asked.delete, request.snapshotId),
    honest: () => {
      storage.delete(request.snapshotId);
      return {};
    },
  });
  const list = (request: ListSnapshotsRequest) => ({
    ...common(),
    request,
    times: count(asked.list, request.snapshotId),
    honest: () => ({
      entries: [...storage.values()]
        .filter(({ snapshotId }) => request.snapshotId === "" || snapshotId === request.snapshotId)
        .map((snapshot) => ({ snapshot })),
    }),
  });

  const play = <R, A extends object>(scripted: Scripted<R, A> | undefined, turn: Turn<R, A>) =>
    scripted === undefined ? message(turn.honest()) : scripted(turn);
  const calls: Readonly<Record<string, (request: never) => Answer | Promise<Answer>>> = {
    GetPluginInfo: () => message({ name, vendorVersion: "1" }),
    GetPluginCapabilities: () =>
      message({ capabilities: [{ type: { case: "service", value: { type: Serves.CONTROLLER_SERVICE } } }] }),
    Probe: () => play(script.probe, { ...common(), request: {}, times: 1, honest: () => ({}) }),
    ControllerGetCapabilities: () => {
      asked.capabilities.push("");
      return message({ capabilities: capabilitiesOf(script) });
    },
    CreateSnapshot: (request: CreateSnapshotRequest) => play(script.createSnapshot, create(request)),
    DeleteSnapshot: (request: DeleteSnapshotRequest) => play(script.deleteSnapshot, remove(request)),
    ListSnapshots: (request: ListSnapshotsRequest) =>
      script.canList === false ? notThere : play(script.listSnapshots, list(request)),
  };
  const start = () => serveWire(socket, (method, request) => calls[method]?.(request as never) ?? notThere);
  let server = await start();
  return {
    name,
    socket,
    storage,
    asked,
    act: next,
    restart: async (another) => {
      await server.close();
      next(another);
      server = await start();
    },
    close: () => server.close(),
  };
}

const notThere: Answer = { kind: "status", code: 12, text: "unimplemented" };

const capabilitiesOf = ({ canList = true }: Script) =>
  [Can.CREATE_DELETE_SNAPSHOT, ...(canList ? [Can.LIST_SNAPSHOTS] : [])].map((type) => ({
    type: { case: "rpc" as const, value: { type } },
  }));
