/** What to do about one segment and class: ask the driver, publish its answer, remove what is published in vain. */
import { draftOf, refOf } from "../../../api/builders.ts";
import { capacityLabels } from "../../../api/names.ts";
import { type ClusterAction, type Plan, settled } from "../../../api/plan.ts";
import type { CSIStorageCapacity, Draft, StorageClass } from "../../../api/types.ts";
import type { Key } from "../../../base/brand.ts";
import { binaryQuantity, printQuantity } from "../../../base/quantity.ts";
import type { Segments } from "../driver/topology.ts";
import { type ProvisionerReason, reasonFor } from "../reasons.ts";
import { classAndSegmentOf, segmentText } from "./key.ts";
import type { CapacityAnswer } from "./memory.ts";
import type { CapacityView, Publisher } from "./observe.ts";
import { capacityPhaseOf } from "./phase.ts";

/** GetCapacity; the answer is remembered, and the key is looked at again. */
interface AskAction {
  readonly kind: "ask";
  readonly key: Key;
  readonly segments: Segments;
  readonly storageClass: StorageClass;
}
export type CapacityAction = AskAction | Extract<ClusterAction, { kind: "create" | "replace" | "delete" }>;

/** Every decision says why. */
interface CapacityPlan extends Plan<CapacityAction> {
  readonly reason: ProvisionerReason;
}

export function planCapacity(view: CapacityView): CapacityPlan {
  const { facts, memory, nowMs } = view;
  const { storageClass, segments, objects, publisher } = facts;
  const phase = capacityPhaseOf(view);
  const [object, ...doubles] = objects;
  if (storageClass === undefined || segments === undefined) return planUnwanted(view);
  const { answer, answerLeftMs } = memory;
  // Two processes may have published the same; the scheduler would believe whichever has more room.
  const actions: CapacityAction[] = [...removing(doubles)];
  const named = `capacity of StorageClass ${storageClass.metadata.name} in ${segmentText(segments)}`;
  if (phase === "unasked" || answer === undefined)
    return {
      actions: [...actions, { kind: "ask", key: facts.key, segments, storageClass }],
      next: settled,
      reason: reasonFor("WaitsForDriver", `${named}: driver ${publisher.driver} is asked for it`, [], nowMs),
    };
  if (object === undefined)
    actions.push(creating(draftFor(storageClass.metadata.name, segments, answer, publisher), publisher));
  else if (phase === "outdated")
    actions.push({
      kind: "replace",
      ref: refOf("CSIStorageCapacity", object),
      object: withAnswer(object, answer, publisher),
    });
  const reason =
    actions.length > 0
      ? reasonFor("Writes", `${named} is brought up to date`)
      : reasonFor("Settled", `${named} is right`);
  return { actions, next: { kind: "after", ms: answerLeftMs }, reason };
}

function planUnwanted({ facts: { key, objects, storageClass } }: CapacityView): CapacityPlan {
  const { className, segment } = classAndSegmentOf(key);
  const why = storageClass === undefined ? `StorageClass ${className} is not published` : `no node has ${segment}`;
  const actions = removing(objects);
  const reason = reasonFor(actions.length > 0 ? "Writes" : "Settled", `no capacity is wanted: ${why}`);
  return { actions, next: settled, reason };
}

/** What is being deleted already only waits for its finalizers. */
const removing = (objects: readonly CSIStorageCapacity[]): readonly CapacityAction[] =>
  objects
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((object) => ({
      kind: "delete",
      ref: refOf("CSIStorageCapacity", object),
      resourceVersion: object.metadata.resourceVersion,
    }));

const creating = (object: Draft<CSIStorageCapacity>, { namespace }: Publisher): CapacityAction => ({
  kind: "create",
  ref: { kind: "CSIStorageCapacity", namespace, name: "" },
  object,
});

/** A name that the server makes: a computed one could be taken by somebody else's object, or by ours with its labels removed. */
const draftFor = (
  storageClassName: string,
  segments: Segments,
  answer: CapacityAnswer,
  { driver, namespace, managedBy, owner }: Publisher,
): Draft<CSIStorageCapacity> =>
  draftOf(
    "CSIStorageCapacity",
    {
      generateName: "csisc-",
      namespace,
      labels: { [capacityLabels.driver]: driver, [capacityLabels.managedBy]: managedBy },
      ...(owner === undefined ? {} : { ownerReferences: [owner] }),
    },
    { storageClassName, nodeTopology: { matchLabels: { ...segments } }, ...quantitiesOf(answer) },
  );

const quantitiesOf = ({ bytes, maximumBytes }: CapacityAnswer) => ({
  capacity: printQuantity(binaryQuantity(bytes)),
  ...(maximumBytes === undefined ? {} : { maximumVolumeSize: printQuantity(binaryQuantity(maximumBytes)) }),
});

/** The server allows one owner that is the controller: the one of the replaced provisioner makes room, others stay. */
function withAnswer(
  { maximumVolumeSize: _, ...object }: CSIStorageCapacity,
  answer: CapacityAnswer,
  { owner }: Publisher,
): CSIStorageCapacity {
  const { metadata } = object;
  const others = metadata.ownerReferences?.filter(({ uid, controller }) => uid !== owner?.uid && controller !== true);
  return {
    ...object,
    ...quantitiesOf(answer),
    metadata: owner === undefined ? metadata : { ...metadata, ownerReferences: [...(others ?? []), owner] },
  };
}
