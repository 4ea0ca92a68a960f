/** What odd drivers answer: the right reply, bent. What they have done is right all the same, and is in the ledger. */
import type { Message } from "@bufbuild/protobuf";
import { Fault } from "../../src/base/fault.ts";
import type {
  CreateSnapshotResponse,
  CreateVolumeResponse,
  ListSnapshotsRequest,
  ListSnapshotsResponse,
  Snapshot,
  Volume,
} from "../../src/csi/gen/csi_pb.js";
import type { CsiCall } from "../../src/csi/wire.ts";
import type { CsiSent } from "./record.ts";

type Method = CsiSent["method"];

export interface Oddity {
  readonly name: string;
  readonly on: readonly Method[];
  bend(reply: Message, call: CsiCall): Message;
}

/** A driver that answers like this so many times more. */
export interface Odd {
  readonly oddity: Oddity;
  left: number;
}

/** Another id of the same snapshot, by which the driver knows it as well. */
const aliasMark = "~";
export const aliasOf = (id: string): string => `${id}${aliasMark}2`;
export const withoutAlias = (handle: string): string => handle.split(aliasMark)[0] ?? handle;

const every: readonly Method[] = ["CreateSnapshot", "DeleteSnapshot", "ListSnapshots"];
const telling: readonly Method[] = ["CreateSnapshot", "ListSnapshots"];

/** Changes every snapshot in a reply, whichever method it is of. */
const bending =
  (change: (snapshot: Snapshot) => Snapshot | undefined): Oddity["bend"] =>
  (reply) => {
    if ("snapshot" in reply) {
      const { snapshot } = reply as CreateSnapshotResponse;
      return { ...reply, snapshot: snapshot && change(snapshot) } as Message;
    }
    const { entries } = reply as ListSnapshotsResponse;
    return {
      ...reply,
      entries: entries.map(({ snapshot, ...entry }) => ({ ...entry, snapshot: snapshot && change(snapshot) })),
    } as Message;
  };

const stranger = {
  snapshotId: "handle-of-nobody",
  readyToUse: true,
  sizeBytes: 1n,
  sourceVolumeId: "vol-x",
} as Snapshot;

export const oddities: readonly Oddity[] = [
  { name: "no-snapshot", on: telling, bend: bending(() => undefined) },
  { name: "empty-id", on: telling, bend: bending((snapshot) => ({ ...snapshot, snapshotId: "" })) },
  {
    name: "unreadable",
    on: every,
    bend: () => {
      throw new Fault("MalformedReply", "the reply cannot be read");
    },
  },
  {
    name: "unreadable-deletions",
    on: ["DeleteSnapshot"],
    bend: () => {
      throw new Fault("MalformedReply", "the reply cannot be read");
    },
  },
  ...[0n, -5n, 1_767_225_601_123n].map(
    (seconds): Oddity => ({
      name: `time-of-${seconds}`,
      on: telling,
      bend: bending((snapshot) => ({
        ...snapshot,
        creationTime: { seconds, nanos: 0 } as NonNullable<Snapshot["creationTime"]>,
      })),
    }),
  ),
  { name: "negative-size", on: telling, bend: bending((snapshot) => ({ ...snapshot, sizeBytes: -1n })) },
  {
    name: "other-id",
    on: ["CreateSnapshot"],
    bend: bending((snapshot) => ({ ...snapshot, snapshotId: aliasOf(withoutAlias(snapshot.snapshotId)) })),
  },
  {
    name: "readiness-flips",
    on: telling,
    bend: bending((snapshot) => ({ ...snapshot, readyToUse: !snapshot.readyToUse })),
  },
  { name: "other-volume", on: telling, bend: bending((snapshot) => ({ ...snapshot, sourceVolumeId: "vol-x" })) },
  {
    name: "list-spelled-otherwise",
    on: ["ListSnapshots"],
    bend: bending((snapshot) => ({ ...snapshot, snapshotId: snapshot.snapshotId.toUpperCase() })),
  },
  {
    name: "list-unfiltered",
    on: ["ListSnapshots"],
    bend: (reply) =>
      ({ ...reply, entries: [{ snapshot: stranger }, ...(reply as ListSnapshotsResponse).entries] }) as Message,
  },
  {
    // The single entry is of another snapshot, for any request.
    name: "list-of-a-stranger",
    on: ["ListSnapshots"],
    bend: (reply) => ({ ...reply, entries: [{ snapshot: stranger }] }) as Message,
  },
  {
    // The one entry stands on the second page.
    name: "list-in-pages",
    on: ["ListSnapshots"],
    bend: (reply, { request }) =>
      ((request as ListSnapshotsRequest).startingToken === ""
        ? { ...reply, entries: [], nextToken: "second" }
        : reply) as Message,
  },
];

const volumeIn = (reply: Message): Volume => (reply as CreateVolumeResponse).volume as Volume;
const bendingVolume = (name: string, change: (volume: Volume) => Partial<Volume>): Oddity => ({
  name: `volume-${name}`,
  on: ["CreateVolume"],
  bend: (reply) => ({ ...reply, volume: { ...volumeIn(reply), ...change(volumeIn(reply)) } }) as Message,
});
const unreadableVolume = (method: Method, name: string): Oddity => ({
  name,
  on: [method],
  bend: () => {
    throw new Fault("MalformedReply", "the reply cannot be read");
  },
});

/** Only the provisioner sees oddities of volumes. */
export const volumeOddities: readonly Oddity[] = [
  { name: "volume-none", on: ["CreateVolume"], bend: (reply) => ({ ...reply, volume: undefined }) as Message },
  bendingVolume("empty-id", () => ({ volumeId: "" })),
  bendingVolume("smaller", ({ capacityBytes }) => ({ capacityBytes: capacityBytes / 2n })),
  bendingVolume("negative-size", () => ({ capacityBytes: -1n })),
  bendingVolume("sourceless", () => ({ contentSource: undefined }) as Partial<Volume>),
  unreadableVolume("CreateVolume", "volume-unreadable"),
  unreadableVolume("DeleteVolume", "volume-unreadable-deletions"),
];

export function oddityNamed(name: string): Oddity {
  const found = [...oddities, ...volumeOddities].find((oddity) => oddity.name === name);
  if (found === undefined) throw new Error(`there is no oddity "${name}"`);
  return found;
}

/** The reply as an odd driver sends it. */
export function bent(odd: Odd | undefined, call: CsiCall, reply: Message): Message {
  if (odd === undefined || odd.left === 0 || !odd.oddity.on.includes(call.method.name as Method)) return reply;
  odd.left -= 1;
  return odd.oddity.bend(reply, call);
}

/** Whether the sidecar learns from the reply what the driver has done. */
export const isMalformed = ({ method }: CsiCall, reply: Message): boolean =>
  (method.name === "CreateSnapshot" && !(reply as CreateSnapshotResponse).snapshot?.snapshotId) ||
  (method.name === "CreateVolume" && !(reply as CreateVolumeResponse).volume?.volumeId);
