/**
 * A driver that answers another id when a call is repeated leaves a volume behind that only this process knows of: it is deleted, beside
 * what is to be done about the volume of the last answer.
 */
import { settled } from "../../../api/plan.ts";
import { withCode } from "../../../errors/codes.ts";
import { isCallError } from "../../../runtime/reply-cache.ts";
import { strayOf } from "../driver/target.ts";
import { doing, errorOf, later, type ProvisionerPlan, provisioningFailed, send } from "../plan-steps.ts";
import { reasonFor } from "../reasons.ts";
import type { VolumeView } from "./observe.ts";

export function planStray(view: VolumeView): ProvisionerPlan | undefined {
  const { name, claim, driver, volume, intent, isStrayHeld } = view.facts;
  const { stray, repliedTo } = view.memory;
  if (stray === undefined) return undefined;
  if (stray.reply.kind === "deleted" || isStrayHeld === true)
    return doing(
      reasonFor("Settled", `volume "${stray.id}", which driver ${driver.name} answered first, is not left over`),
      settled,
      {
        kind: "forgetStray",
        name,
      },
    );
  const message = `driver ${driver.name} answered volume "${stray.id}" first and another one later, when CreateVolume was repeated for ${name}: the first is deleted`;
  if (stray.reply.kind !== "none") {
    const said = isCallError(stray.reply)
      ? `; its deletion has failed: ${JSON.stringify(stray.reply.fault.message)}`
      : "";
    return doing(reasonFor("VolumeAbandoned", `${message}${said}`), later(stray));
  }
  const secret = (repliedTo ?? intent?.call)?.secret;
  return doing(
    reasonFor("VolumeAbandoned", message, [], view.nowMs),
    settled,
    ...(claim === undefined ? [] : [errorOf(claim, provisioningFailed, withCode(message, "SNAP-347"))]),
    send(
      strayOf(name, stray.id),
      { method: "delete", volumeId: stray.id, ...(secret === undefined ? {} : { secret }) },
      // A cache may be behind: the volume may be stored under the first id.
      ...(volume === undefined
        ? [{ kind: "confirm", ref: { kind: "PersistentVolume", name }, resourceVersion: undefined } as const]
        : []),
    ),
  );
}
