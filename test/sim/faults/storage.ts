/** Drivers that are slow to get ready, change their mind about it, or forget what they were doing. */
import type { VolumeSnapshotContent } from "../../../src/api/types.ts";
import { pass } from "../verdict.ts";
import { type FaultRow, oneOf } from "./fault.ts";

export const storageFaults: readonly FaultRow[] = [
  {
    name: "slow-to-get-ready",
    family: "storage",
    on: ["csi"],
    strike: ({ backend, draw }) => {
      backend.readyAfterMs = oneOf(draw, [1_000, 5_000, 20_000]);
      return pass;
    },
  },
  {
    name: "readiness-flaps",
    family: "storage",
    on: ["csi", "write"],
    strike: ({ backend, world, draw }) => {
      backend.unreadyUntilMs = world.elapsed() + oneOf(draw, [500, 3_000, 10_000]);
      return pass;
    },
  },
  {
    // The driver restarts during the call: no effect and no reply.
    name: "driver-forgets",
    family: "storage",
    on: ["csi"],
    strike: () => ({ effect: false, silent: true }),
  },
  {
    // Of what it has handed over it keeps the handle only. Nobody has a reason to ask for that by name any more, except who has
    // asked before it was recorded: what it is still at work on it has not forgotten.
    name: "driver-forgets-names",
    family: "storage",
    on: ["csi", "write"],
    strike: ({ backend, recorder }) => {
      for (const object of recorder.objects("VolumeSnapshotContent").values()) {
        const { status } = object as VolumeSnapshotContent;
        const snapshot = backend.snapshots.get(status?.snapshotHandle ?? "");
        if (status?.readyToUse === true && snapshot && !backend.busy.has(snapshot.name))
          backend.nameless.add(snapshot.id);
      }
      return pass;
    },
  },
];
