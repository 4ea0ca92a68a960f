/**
 * A storage system that lives outside of the system under test: it does what a CSI driver is asked, keeps a ledger of every call and
 * of its real effect, and can inject faults.
 */
import { Fault } from "../../src/base/fault.ts";
import type { World } from "../../src/base/world.ts";
import { ControllerServiceCapability_RPC_Type as Capability, Controller, Identity } from "../../src/csi/gen/csi_pb.js";
import { type Served, serve } from "../../src/csi/serve.ts";
import { type Odd, withoutAlias } from "./odd.ts";
import { createVolumes, type Volumes, volumeCapabilities } from "./volumes.ts";

export interface StoredSnapshot {
  readonly id: string;
  readonly name: string;
  readonly volumeId: string;
  readonly takenAtMs: number;
  readyAtMs: number;
}

export interface LedgerLine {
  readonly atMs: number;
  readonly method: "CreateSnapshot" | "DeleteSnapshot" | "ListSnapshots";
  readonly subject: string;
  readonly effect: "cut" | "again" | "deleted" | "nothing";
}

export interface Backend {
  readonly snapshots: Map<string, StoredSnapshot>;
  readonly ledger: readonly LedgerLine[];
  /** Names of all snapshots ever taken: a name that is here twice was taken twice. */
  readonly creations: readonly string[];
  /** How long after CreateSnapshot a snapshot becomes ready. */
  readyAfterMs: number;
  /** Until when it says of every snapshot that it is not ready, whatever it said before. */
  unreadyUntilMs: number;
  /** Names of snapshots it is at work on: CSI asks it to answer ABORTED to further calls about them meanwhile. */
  readonly busy: Set<string>;
  /** Handles of snapshots whose names the driver forgot: a request for one of them takes it again. */
  readonly nameless: Set<string>;
  /** How it answers, while it is odd. */
  odd: Odd | undefined;
  /** The one of its ids under which it answers for a snapshot. */
  idOf(snapshot: StoredSnapshot): string;
  /** Puts the secrets it was given into its errors, as rude drivers do. */
  isRude: boolean;
  readonly volumes: Volumes;
  readonly services: readonly Served[];
}

export const driver = "disk.example.com";
const identity = serve(Identity, {
  getPluginInfo: () => ({ name: driver }),
  getPluginCapabilities: () => ({ capabilities: [] }),
  probe: () => ({ ready: true }),
});
const capabilities = [Capability.CREATE_DELETE_SNAPSHOT, Capability.LIST_SNAPSHOTS, ...volumeCapabilities].map(
  (type) => ({ type: { case: "rpc" as const, value: { type } } }),
);

export function createBackend(world: World): Backend {
  const snapshots = new Map<string, StoredSnapshot>();
  const ledger: LedgerLine[] = [];
  const creations: string[] = [];
  let refusals = 0;
  const note = (method: LedgerLine["method"], subject: string, effect: LedgerLine["effect"]): void => {
    ledger.push({ atMs: world.elapsed(), method, subject, effect });
    if (effect === "cut") creations.push(subject);
  };
  const message = (snapshot: StoredSnapshot) => ({
    snapshotId: backend.idOf(snapshot),
    sourceVolumeId: snapshot.volumeId,
    sizeBytes: 2n ** 30n,
    creationTime: { seconds: BigInt(Math.floor(snapshot.takenAtMs / 1000)), nanos: 123_456_789 },
    readyToUse: world.elapsed() >= snapshot.readyAtMs && world.elapsed() >= backend.unreadyUntilMs,
  });
  /** The first call of each sort is refused with everything the driver knows. */
  const rudely = (secrets: Record<string, string>): void => {
    if (!backend.isRude || refusals++ % 3 !== 0) return;
    throw new Fault("Unavailable", `login with ${Object.values(secrets).join(":")} did not work yet`);
  };
  const volumes = createVolumes({ hasSnapshot: (handle) => snapshots.has(withoutAlias(handle)), rudely });
  const backend: Backend = {
    snapshots,
    ledger,
    creations,
    readyAfterMs: 0,
    unreadyUntilMs: 0,
    busy: new Set(),
    nameless: new Set(),
    odd: undefined,
    idOf: ({ id }) => id,
    isRude: false,
    volumes,
    services: [
      identity,
      serve(Controller, {
        ...volumes.methods,
        controllerGetCapabilities: () => ({ capabilities }),
        createSnapshot({ name, sourceVolumeId, secrets }) {
          rudely(secrets);
          const existing = [...snapshots.values()].find(
            (snapshot) => snapshot.name === name && !backend.nameless.has(snapshot.id),
          );
          if (existing !== undefined && existing.volumeId !== sourceVolumeId)
            throw new Fault("AlreadyExists", `${name} is of another volume`);
          const snapshot = existing ?? {
            id: `handle-${name}-${creations.length}`,
            name,
            volumeId: sourceVolumeId,
            takenAtMs: world.now(),
            readyAtMs: world.elapsed() + backend.readyAfterMs,
          };
          snapshots.set(snapshot.id, snapshot);
          note("CreateSnapshot", name, existing === undefined ? "cut" : "again");
          return { snapshot: message(snapshot) };
        },
        deleteSnapshot({ snapshotId, secrets }) {
          rudely(secrets);
          note("DeleteSnapshot", snapshotId, snapshots.delete(withoutAlias(snapshotId)) ? "deleted" : "nothing");
          return {};
        },
        listSnapshots({ snapshotId }) {
          note("ListSnapshots", snapshotId, "nothing");
          return {
            entries: [...snapshots.values()]
              .filter(({ id }) => id === snapshotId)
              .map((snapshot) => ({ snapshot: message(snapshot) })),
          };
        },
      }),
    ],
  };
  return backend;
}
