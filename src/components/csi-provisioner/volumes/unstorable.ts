/** What the claim is told when the server refuses its PersistentVolume for good. */
import type { PersistentVolumeClaim } from "../../../api/types.ts";
import { isFault, isFinal } from "../../../base/fault.ts";
import { withCode } from "../../../errors/codes.ts";
import type { VolumeName } from "../identity.ts";
import { type ErrorAction, errorOf, provisioningFailed } from "../plan-steps.ts";

export function unstorable(
  claim: PersistentVolumeClaim | undefined,
  name: VolumeName,
  reason: unknown,
): ErrorAction | undefined {
  const isRefused = isFault(reason) && isFinal(reason) && reason.code !== "Conflict";
  if (claim === undefined || !isRefused) return undefined;
  const text = `PersistentVolume ${name} cannot be stored: ${JSON.stringify(reason.message)}; the volume is kept meanwhile`;
  return errorOf(claim, provisioningFailed, withCode(text, "SNAP-345"));
}
