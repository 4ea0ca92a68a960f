/** `snapkeep restore vgs/NAME`: a claim per member, all of them or none. */
import type { Draft, KubeObject, PersistentVolumeClaim } from "../../api/types.ts";
import { keyOf } from "../../api/types.ts";
import { Fault, isFault } from "../../base/fault.ts";
import { printableLine } from "../../base/printable.ts";
import { fix, withCode } from "../../errors/codes.ts";
import { exitCodes } from "../../runtime/exit-codes.ts";
import type { RestorePlan, RestoreWishes } from "./claim-draft.ts";
import { type CreateOptions, type VerbContext, waitAndReport } from "./create.ts";
import { claimNameFor, groupRefusal, isMemberOf, planGroupRestore } from "./group-draft.ts";
import { lookAtRestored } from "./looks.ts";
import { printWritten } from "./output.ts";
import { readRestore } from "./read.ts";

export interface GroupWishes extends Omit<RestoreWishes, "to"> {
  readonly toNamespace: string;
  /** With {claim}, {group} and {snapshot}. */
  readonly nameTemplate: string;
  readonly createGrant: boolean;
}

export async function restoreGroup(wishes: GroupWishes, options: CreateOptions, context: VerbContext): Promise<number> {
  const { api, signal, world } = context;
  const startedMs = world.elapsed();
  const plans = await plansFor(wishes, context);
  await createGrants(plans, wishes, options, context);
  const claims = await createAll(plans, options, context);
  const isWhole = options.output === "json" || options.output === "yaml";
  const list = { apiVersion: "v1", kind: "List", metadata: {}, items: claims };
  for (const object of isWhole ? [list] : claims) await printWritten(context, object, "created", options);
  if (!options.wait || options.dryRun !== "none") return exitCodes.good.code;
  let code: number = exitCodes.good.code;
  for (const { metadata } of claims) {
    const about = { kind: "PersistentVolumeClaim", namespace: metadata.namespace, name: metadata.name ?? "" } as const;
    const look = async () => lookAtRestored(await api.get(about, { signal }));
    code = Math.max(code, await waitAndReport({ look, about }, startedMs, options, context));
  }
  return code;
}

async function plansFor(wishes: GroupWishes, { api, signal }: VerbContext): Promise<readonly RestorePlan[]> {
  const { from, toNamespace, nameTemplate } = wishes;
  const group = await api.get({ kind: "VolumeGroupSnapshot", ...from }, { signal });
  const { objects } = await api.list("VolumeSnapshot", { namespace: from.namespace, signal });
  const members = objects.filter(isMemberOf(group));
  const wrong = groupRefusal(group, members);
  if (wrong !== undefined) throw new Fault("FailedPrecondition", wrong.refused);
  const reads = await Promise.all(
    members.map(async (snapshot) => {
      const own = {
        ...wishes,
        from: { namespace: from.namespace, name: snapshot.metadata.name },
        to: { namespace: toNamespace, name: claimNameFor(nameTemplate, from.name, snapshot) },
      };
      return { wishes: own, read: await readRestore(api, own, signal) };
    }),
  );
  const decision = planGroupRestore(group, reads);
  if ("refused" in decision) throw new Fault("FailedPrecondition", decision.refused);
  return decision.plans;
}

async function createGrants(
  plans: readonly RestorePlan[],
  { from, createGrant }: GroupWishes,
  { dryRun }: CreateOptions,
  { api, signal }: VerbContext,
): Promise<void> {
  for (const { missingGrant, grantIsUnknown } of plans) {
    if (missingGrant === undefined || (grantIsUnknown && !createGrant)) continue;
    if (!createGrant)
      throw new Fault(
        "FailedPrecondition",
        withCode(
          `no ReferenceGrant in namespace ${from.namespace} allows the restore of every member; ${fix("SNAP-875")}`,
          "SNAP-875",
        ),
      );
    if (dryRun === "client") continue;
    const options = { signal, dryRun: dryRun === "server" || undefined };
    await api.create("ReferenceGrant", missingGrant, options).catch((reason: unknown) => {
      if (!isFault(reason, "AlreadyExists")) throw reason;
    });
  }
}

type Claim = Draft<PersistentVolumeClaim>;

/** When one claim is refused, those before it are deleted again: half a group is of no use. */
async function createAll(
  plans: readonly RestorePlan[],
  { dryRun }: CreateOptions,
  { api, signal, error }: VerbContext,
): Promise<readonly Claim[]> {
  if (dryRun === "client") return plans.map(({ claim }) => claim);
  const created: PersistentVolumeClaim[] = [];
  try {
    for (const { claim } of plans)
      created.push(
        await api.create("PersistentVolumeClaim", claim, { signal, dryRun: dryRun === "server" || undefined }),
      );
    return created;
  } catch (reason) {
    if (dryRun === "none") for (const claim of created) await remove(claim);
    throw reason;
  }

  async function remove({ metadata }: PersistentVolumeClaim): Promise<void> {
    const { namespace, name, uid } = metadata;
    // Also when the command is interrupted: the signal must not keep a claim alive.
    await api.delete({ kind: "PersistentVolumeClaim", namespace, name }, { uid }).catch((reason: unknown) => {
      if (isFault(reason, "NotFound")) return;
      const left = keyOf({ metadata } as KubeObject);
      error.write(printableLine(`claim ${left} is left and has to be deleted: ${Fault.from(reason).message}`));
    });
  }
}
