/** GetCapacity, and what is read from its answer. */
import type { StorageClass } from "../../../api/types.ts";
import { loggable } from "../../../base/fault.ts";
import type { Log } from "../../../base/log.ts";
import type { CsiClient } from "../../../csi/client.ts";
import type { GetCapacityResponse } from "../../../csi/gen/csi_pb.js";
import type { Segments } from "../driver/topology.ts";
import type { CapacityAnswer } from "./memory.ts";

export interface Question {
  readonly segments: Segments;
  readonly storageClass: StorageClass;
}

/** As external-provisioner asks: all parameters of the class as they are, and no capabilities. */
export async function askForCapacity(
  { controller }: Pick<CsiClient, "controller">,
  { segments, storageClass }: Question,
  log: Log,
  signal: AbortSignal,
): Promise<CapacityAnswer> {
  const request = {
    parameters: { ...storageClass.parameters },
    accessibleTopology: { segments: { ...segments } },
  };
  const reply = await controller.getCapacity(request, { signal });
  const answer = answerFrom(reply, storageClass.metadata.uid);
  if (answer.bytes !== reply.availableCapacity)
    log.warn("the driver answers a negative capacity: none is published", {
      storageClass: storageClass.metadata.name,
      segments: loggable(JSON.stringify(segments)),
      answered: String(reply.availableCapacity),
    });
  return answer;
}

/** Less than nothing is nothing: storage that is overcommitted has no room. A largest volume of less than nothing is none that is named. */
function answerFrom({ availableCapacity, maximumVolumeSize }: GetCapacityResponse, classUid: string): CapacityAnswer {
  const maximumBytes = maximumVolumeSize === undefined || maximumVolumeSize < 0n ? undefined : maximumVolumeSize;
  return { classUid, bytes: availableCapacity < 0n ? 0n : availableCapacity, maximumBytes };
}
