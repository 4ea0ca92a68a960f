/**
 * Asks the server, right before CreateVolume is sent, whether the owner of the source still consents. Caches are behind: the grant may
 * be revoked, and another source may have taken the name of the one that was looked at. What cannot be read is not consented to.
 *
 * The order of reads matters. The grant comes last, and must be the very one that the cache had before the source was read: then it was
 * there when the source was, and a source of the same name that came later is never taken for the one that was granted.
 */
import type { Ref } from "../../../api/plan.ts";
import { Fault } from "../../../base/fault.ts";
import type { Log } from "../../../base/log.ts";
import type { KubeApi } from "../../../kube/api.ts";
import { linkedSource } from "../../../rules/data-source.ts";
import type { GrantFrom, GrantTo } from "../../../rules/reference-grant.ts";
import type { Grants } from "../../../runtime/grants.ts";
import type { Consent, CreateVolumeCall } from "../driver/call.ts";

export type ConsentCheck = (call: CreateVolumeCall, consent: Consent, signal: AbortSignal) => Promise<boolean>;

export interface ConsentCheckOptions {
  readonly api: Pick<KubeApi, "get">;
  readonly grants: Pick<Grants, "finder" | "isStill"> | undefined;
}

export function createConsentCheck({ api, grants }: ConsentCheckOptions): ConsentCheck {
  const isSameSource = async (
    { source }: CreateVolumeCall,
    { to, uid }: Consent,
    signal: AbortSignal,
  ): Promise<boolean> => {
    const { namespace, name } = to;
    if (source?.kind === "snapshot") {
      const ref = { kind: "VolumeSnapshot", namespace, name } satisfies Ref;
      return (await api.get(ref, { signal })).metadata.uid === uid;
    }
    const claim = await api.get({ kind: "PersistentVolumeClaim", namespace, name }, { signal });
    const volumeName = claim.spec?.volumeName;
    if (claim.metadata.uid !== uid || !volumeName) return false;
    const { spec } = await api.get({ kind: "PersistentVolume", name: volumeName }, { signal });
    return spec?.claimRef?.uid === uid && spec.csi?.volumeHandle === source?.handle;
  };
  /** Whether the link still says the same; its source cannot be changed, unless a CRD of another hand allows it. */
  const isSameLink = async ({ from, to, link }: Consent, signal: AbortSignal): Promise<boolean> => {
    if (link === undefined) return true;
    const ref = { kind: "VolumeSnapshotLink", namespace: from.namespace, name: link.name } satisfies Ref;
    const found = await api.get(ref, { signal });
    const source = found.metadata.uid === link.uid ? linkedSource(found) : undefined;
    return source?.namespace === to.namespace && source.name === to.name && source.referrer !== undefined;
  };
  return async (call, consent, signal) => {
    const { from, to } = consent;
    const grant = grants?.finder()?.(from, to);
    if (grants === undefined || grant === undefined) return false;
    // Neither depends on the other, and both come before the grant.
    const same = await Promise.all([isSameLink(consent, signal), isSameSource(call, consent, signal)]);
    return same.every(Boolean) && (await grants.isStill(grant, from, to, signal));
  };
}

/** What cannot be read is not consented to. */
export const deniedUnlessRead =
  (check: ConsentCheck, log: Log): ConsentCheck =>
  async (call, consent, signal) => {
    try {
      return await check(call, consent, signal);
    } catch (reason) {
      if (signal.aborted) throw reason;
      log.info("consent to the use of a source cannot be read, and counts as denied", {
        volume: call.name,
        reason: Fault.from(reason).message,
      });
      return false;
    }
  };

/** Whether the owner of a source still lets the user of a claim know of it. */
export type MayTell = (from: GrantFrom, to: GrantTo, signal: AbortSignal) => Promise<boolean>;

export const createDisclosure =
  (grants: ConsentCheckOptions["grants"]): MayTell =>
  async (from, to, signal) => {
    const grant = grants?.finder()?.(from, to);
    return grant !== undefined && (await grants?.isStill(grant, from, to, signal)) === true;
  };
