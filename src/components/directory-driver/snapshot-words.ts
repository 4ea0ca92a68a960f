/** What the services say and ask about snapshots, taken singly or in a group. */
import { Fault } from "../../base/fault.ts";
import type { World } from "../../base/world.ts";
import type { Snapshot } from "./types.ts";

interface Wording {
  readonly world: Pick<World, "now">;
  /** A snapshot is ready this long after it was taken, as on storage that uploads. */
  readonly snapshotDelayMs: number;
  /** When set, snapshots are taken and deleted only for callers with this value in the secret's key "token". */
  readonly snapshotSecret: string;
}

export function snapshotWords({ world, snapshotDelayMs, snapshotSecret }: Wording) {
  const isReady = ({ takenAtMs }: Snapshot): boolean => world.now() >= takenAtMs + snapshotDelayMs;
  return {
    isReady,
    snapshotMessage: (snapshot: Snapshot) => ({
      snapshotId: snapshot.id,
      sourceVolumeId: snapshot.volumeId,
      sizeBytes: BigInt(snapshot.bytes),
      creationTime: protoTime(snapshot.takenAtMs),
      readyToUse: isReady(snapshot),
      groupSnapshotId: snapshot.groupId ?? "",
    }),
    mustKnow: (secrets: Readonly<Record<string, string>>): void => {
      if (snapshotSecret !== "" && secrets.token !== snapshotSecret)
        throw new Fault(
          "Unauthenticated",
          "this driver takes and deletes snapshots only with its secret under the key token: name one in the class's csi.storage.k8s.io/snapshotter-secret-name, or group-snapshotter-secret-name for groups",
        );
    },
  };
}

export const protoTime = (ms: number) => ({ seconds: BigInt(Math.floor(ms / 1000)), nanos: (ms % 1000) * 1_000_000 });
