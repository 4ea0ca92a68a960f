/** What a change would lead to: two copies of the cluster are run to rest, one with the change and one without it. */
import type { KindName } from "../../api/kinds.ts";
import type { Ref } from "../../api/plan.ts";
import type { Draft, KubeObject, VolumeSnapshotContent } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import { Fault } from "../../base/fault.ts";
import type { JsonObject } from "../../base/json.ts";
import { parseQuantity, wholeUnits } from "../../base/quantity.ts";
import type { Unary } from "../../csi/wire.ts";
import { createVirtualWorld, type VirtualWorld } from "../../runtime/virtual-world.ts";
import { createCopy, driversOf } from "./copy.ts";
import { type DriverCall, notingDriver } from "./driver.ts";
import { type Split, splitBy } from "./related.ts";

export type Change =
  | { readonly kind: "delete"; readonly ref: Ref }
  | { readonly kind: "create"; readonly ref: Ref; readonly object: Draft }
  | { readonly kind: "patch"; readonly ref: Ref; readonly body: JsonObject };

/** How a copy ends. */
export interface Rest {
  readonly objects: readonly KubeObject[];
  readonly calls: readonly DriverCall[];
  /** False: somebody goes on for ever. */
  readonly isAtRest: boolean;
  readonly nowMs: Millis;
}

export interface Prediction {
  readonly before: readonly KubeObject[];
  readonly without: Rest;
  readonly after: Rest;
  /** The API server's words, if it does not accept the change. */
  readonly refused: string | undefined;
}

/** The kinds that are copied, and looked at afterwards. Pods only keep claims in use. */
export const copiedKinds = [
  "Namespace",
  "VolumeSnapshot",
  "VolumeSnapshotContent",
  "VolumeSnapshotClass",
  "VolumeSnapshotLink",
  "PersistentVolumeClaim",
  "PersistentVolume",
  "StorageClass",
  "ReferenceGrant",
  "Pod",
] as const satisfies readonly KindName[];

export async function predict(
  before: readonly KubeObject[],
  change: Change,
  nowMs: Millis,
  signal: AbortSignal,
): Promise<Prediction> {
  const split = splitBy(before, change);
  const without = await restOf(split, undefined, nowMs, signal);
  const after = await restOf(split, change, nowMs, signal);
  return { before, without: without.rest, after: after.rest, refused: after.refused };
}

/** Objects that the change cannot reach are left as they are. */
export async function restOf(
  { related: objects, others }: Split,
  change: Change | undefined,
  nowMs: Millis,
  signal?: AbortSignal,
) {
  const world = createVirtualWorld(1, nowMs);
  const copy = createCopy({ world, objects, signal });
  const calls: DriverCall[] = [];
  try {
    const refused = change === undefined ? undefined : await world.run(refusalOf(copy.client, change));
    await copy.start(driversIn(objects, world, (call) => calls.push(call)));
    const isAtRest = await copy.rest();
    const left = copiedKinds.flatMap((kind) => copy.objects(kind));
    return { rest: { objects: [...left, ...others], calls, isAtRest, nowMs: world.now() }, refused };
  } finally {
    copy.stop();
    await world.advance(0);
  }
}

type Client = ReturnType<typeof createCopy>["client"];

async function refusalOf(client: Client, change: Change): Promise<string | undefined> {
  try {
    await apply(client, change);
    return undefined;
  } catch (reason) {
    return Fault.from(reason).message;
  }
}

export async function apply(client: Client, change: Change): Promise<void> {
  if (change.kind === "delete") await client.delete(change.ref);
  else if (change.kind === "create") await client.create(change.ref.kind, change.object);
  else await client.patch(change.ref, { type: "merge", body: change.body });
}

function driversIn(
  objects: readonly KubeObject[],
  world: VirtualWorld,
  note: (call: DriverCall) => void,
): ReadonlyMap<string, Unary> {
  const known = { bytes: new Map(objects.flatMap(volumeIn)), missing: new Set(objects.flatMap(missingIn)) };
  return new Map([...driversOf(objects)].map((name) => [name, notingDriver(name, world, known, note)]));
}

function volumeIn(object: KubeObject): readonly (readonly [handle: string, bytes: bigint])[] {
  if (object.kind !== "PersistentVolume") return [];
  const { csi, capacity } = (object as unknown as VolumeFields).spec ?? {};
  return csi === undefined ? [] : [[csi.volumeHandle, wholeUnits(parseQuantity(capacity?.storage ?? "0"))]];
}

function missingIn(object: KubeObject): readonly string[] {
  if (object.kind !== "VolumeSnapshotContent") return [];
  const { spec, status } = object as VolumeSnapshotContent;
  const handle = status?.snapshotHandle ?? spec.source?.snapshotHandle;
  return handle === undefined || status?.error === undefined || status.readyToUse === true ? [] : [handle];
}

interface VolumeFields {
  readonly spec?: {
    readonly csi?: { readonly volumeHandle: string };
    readonly capacity?: { readonly storage?: string };
  };
}
