/**
 * Where the capacity of a class in a topology segment is.
 *
 *   unasked ──▶ unpublished ──▶ current            unwanted ──▶ (gone)
 *      ▲   └──▶ outdated ──────────┘ │                 ▲
 *      └─────────────────────────────┘ too old         └── from any phase
 *
 * unwanted:    the class or the segment is gone, or the capacity of the class is not published.
 * unasked:     the driver has not been asked, or too long ago, or about another class of the name.
 * unpublished: the driver has answered, and there is no object.
 * outdated:    the object says otherwise than the driver, or has another owner.
 * current:     the object says what the driver has answered.
 */
import type { CSIStorageCapacity } from "../../../api/types.ts";
import { parseQuantity, wholeUnits } from "../../../base/quantity.ts";
import type { CapacityAnswer } from "./memory.ts";
import type { CapacityView, Publisher } from "./observe.ts";

export const capacityPhases = ["unwanted", "unasked", "unpublished", "outdated", "current"] as const;
export type CapacityPhase = (typeof capacityPhases)[number];

export function capacityPhaseOf({ facts, memory: { answer } }: Pick<CapacityView, "facts" | "memory">): CapacityPhase {
  const { storageClass, segments, objects, publisher } = facts;
  const [object] = objects;
  if (storageClass === undefined || segments === undefined) return "unwanted";
  if (answer === undefined || answer.classUid !== storageClass.metadata.uid) return "unasked";
  if (object === undefined) return "unpublished";
  return isCurrent(object, answer, publisher) ? "current" : "outdated";
}

const isCurrent = (object: CSIStorageCapacity, answer: CapacityAnswer, publisher: Publisher): boolean =>
  bytesOf(object.capacity) === answer.bytes &&
  bytesOf(object.maximumVolumeSize) === answer.maximumBytes &&
  isOwned(object, publisher);

/** Undefined where none, or none that can be read, is published. */
function bytesOf(quantity: CSIStorageCapacity["capacity"]): bigint | undefined {
  try {
    return quantity === undefined ? undefined : wholeUnits(parseQuantity(quantity));
  } catch {
    return undefined;
  }
}

/** Without an owner of our own, whoever owns the object may go on owning it. */
const isOwned = ({ metadata }: CSIStorageCapacity, { owner }: Publisher): boolean =>
  owner === undefined ||
  metadata.ownerReferences?.some(({ uid, controller }) => uid === owner.uid && controller === true) === true;
