/** CreateVolume, and what has to be done before it is sent. */
import { refOf } from "../../../api/builders.ts";
import type { ClusterAction } from "../../../api/plan.ts";
import type { PersistentVolumeClaim } from "../../../api/types.ts";
import type { Key } from "../../../base/brand.ts";
import type { VolumeCall } from "../driver/call.ts";
import { creationOf } from "../driver/target.ts";
import { type LogAction, type ProvisionerAction, send } from "../plan-steps.ts";
import { claimText, type ProvisionerReason, reasonFor } from "../reasons.ts";
import type { Intent } from "../stored-calls/intent.ts";
import type { VolumeView } from "./observe.ts";

/** CreateVolume is sent now; the reason stands until its reply is there. */
export const creating = ({ facts, nowMs }: VolumeView, claim: PersistentVolumeClaim, why = ""): ProvisionerReason =>
  reasonFor(
    "WaitsForDriver",
    `${claimText(claim)}: ${why}driver ${facts.driver.name} is asked to create volume ${facts.name}`,
    [],
    nowMs,
  );

/** The server is asked; an earlier reply does not count: the cache may have that very version, and the claim may be gone since. */
export const confirmationOf = ({ memory }: VolumeView, claim: PersistentVolumeClaim): readonly ClusterAction[] =>
  memory.isUnconfirmed
    ? [
        {
          kind: "confirm",
          ref: refOf("PersistentVolumeClaim", claim),
          resourceVersion: claim.metadata.resourceVersion,
        },
      ]
    : [];

export const isSameCall = (a: VolumeCall | undefined, b: VolumeCall): boolean =>
  JSON.stringify(a) === JSON.stringify(b);

export function sendCreation(
  { facts, memory }: VolumeView,
  intent: Intent,
  first: readonly ClusterAction[] = [],
): ProvisionerAction {
  const { name, source } = facts;
  const protects = source.kind === "claim" || (source.kind === "snapshot" && facts.protectsSnapshots);
  const protect: readonly LogAction[] = protects
    ? [
        {
          kind: "protectSource",
          source: { kind: source.kind, key: source.key },
          // A call that this process has not made proves nothing: somebody else may have written it.
          isRequired: (facts.intent === undefined || memory.isAdopted) && isOfAnotherNamespace(source.key, intent),
        },
      ]
    : [];
  return send(creationOf(name), intent.call, ...first, ...protect, { kind: "logIntent", name, intent, from: "claim" });
}

/** The snapshot-controller keeps a snapshot for claims of its namespace; for others only while it has the finalizer. */
const isOfAnotherNamespace = (source: Key, { claim }: Intent): boolean => !source.startsWith(`${claim.namespace}/`);
