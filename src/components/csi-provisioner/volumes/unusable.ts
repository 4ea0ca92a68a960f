/** Why a volume must not be given to the claim that it was made for. */
import type { CodedMessage } from "../../../api/plan.ts";
import { withCode } from "../../../errors/codes.ts";
import type { CreatedVolume, CreateVolumeCall } from "../driver/call.ts";

export function unusable(call: CreateVolumeCall, created: CreatedVolume, driver: string): CodedMessage | undefined {
  if (created.bytes > 0n && created.bytes < BigInt(call.bytes))
    return withCode(
      `driver ${driver} created a volume of ${created.bytes} bytes where ${call.bytes} were requested: the volume is deleted`,
      "SNAP-342",
    );
  const { source } = call;
  if (source === undefined) return undefined;
  const isSame = created.source?.kind === source.kind && created.source.handle === source.handle;
  return isSame
    ? undefined
    : withCode(
        `driver ${driver} did not confirm that the volume was made from ${source.kind} "${source.handle}", so the volume may be empty: it is deleted`,
        "SNAP-343",
      );
}
