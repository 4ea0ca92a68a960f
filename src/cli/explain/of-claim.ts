/**
 * A claim. While it waits for a volume, kube-controller-manager, the scheduler and the csi-provisioner of its class decide; while it is
 * being deleted, whoever uses it does.
 */
import { finalizers, provisioning } from "../../api/names.ts";
import type { Ref } from "../../api/plan.ts";
import type { PersistentVolumeClaim } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import { keyIn } from "../../base/brand.ts";
import { noMemory } from "../../components/snapshot-controller/memory.ts";
import { observeClaim } from "../../components/snapshot-controller/observe.ts";
import { claimPhaseOf } from "../../components/snapshot-controller/phase-claim.ts";
import { planClaim } from "../../components/snapshot-controller/plan-claim.ts";
import type { ClusterCopy } from "./cluster-copy.ts";
import { createdMs, deletedMs, type Finding, type Step, word } from "./finding.ts";
import { meantByProvisioner } from "./go-words.ts";
import { eventsAbout, foreignFinalizer, lastSeen, toldByEvents } from "./outer.ts";
import { provisionedFor } from "./provisioner-side.ts";
import { unreadable } from "./rights.ts";
import { snapshotContext, snapshotStores } from "./snapshot-side.ts";

const known = [finalizers.claimAsSource, provisioning.claimCloningFinalizer];

export function findClaim(copy: ClusterCopy, ref: Ref, nowMs: Millis): Finding | undefined {
  const claim = copy.get("PersistentVolumeClaim", ref.namespace, ref.name);
  if (claim === undefined) return unreadable(copy, ref);
  const outer = foreignFinalizer(ref, claim, known) ?? toldByEvents(copy, ref, claim, nowMs);
  if (outer !== undefined) return outer;
  if (deletedMs(claim) !== undefined) return deletion(copy, ref, claim, nowMs);
  if (claim.status?.phase === "Lost") return lost(ref, claim);
  if (claim.spec?.volumeName) return settled(ref, claim, `the claim has volume ${claim.spec.volumeName}`);
  return unbound(copy, ref, claim, nowMs);
}

const finding = (
  ref: Ref,
  claim: PersistentVolumeClaim,
  more: Pick<Finding, "cause" | "says"> & Partial<Finding>,
): Finding => ({
  object: ref,
  phase: claim.status?.phase,
  waitsFor: [],
  sinceMs: deletedMs(claim) ?? createdMs(claim),
  evidence: [],
  ...more,
});
const settled = (ref: Ref, claim: PersistentVolumeClaim, says: string): Finding =>
  finding(ref, claim, { cause: "NothingWrong", says });

const lost = (ref: Ref, claim: PersistentVolumeClaim): Finding => {
  const name = claim.spec?.volumeName ?? "";
  return finding(ref, claim, {
    cause: "VolumeNotUsable",
    says: `PersistentVolume ${name} of the claim is gone`,
    waitsFor: [{ kind: "PersistentVolume", name }],
  });
};

/** Finalizers of Kubernetes go when no pod uses the claim, ours when no snapshot is being taken of it. */
function deletion(copy: ClusterCopy, ref: Ref, claim: PersistentVolumeClaim, nowMs: Millis): Finding {
  const { finalizers: held = [], namespace } = claim.metadata;
  const pod = copy
    .list("Pod", { namespace })
    .find(({ spec }) =>
      (spec as PodSpec | undefined)?.volumes?.some((each) => each.persistentVolumeClaim?.claimName === ref.name),
    );
  if (pod !== undefined)
    return finding(ref, claim, {
      cause: "VolumeInUse",
      says: `the claim is being deleted, and pod ${pod.metadata.name} uses it`,
      waitsFor: [{ kind: "Pod", namespace, name: pod.metadata.name }],
    });
  const view = observeClaim(snapshotStores(copy), snapshotContext(copy, nowMs, noMemory), keyIn(namespace, ref.name));
  if (view === undefined || !held.includes(finalizers.claimAsSource))
    return finding(ref, claim, {
      cause: "Writes",
      says: `the claim is being deleted, and has the finalizers ${held.join(", ")}`,
    });
  const { reason } = planClaim(view);
  return finding(ref, claim, {
    phase: claimPhaseOf(view),
    cause: reason.code === "Released" ? "Writes" : reason.code,
    says: reason.says,
    waitsFor: reason.waitsFor,
    component: { name: "snapshot-controller" },
  });
}

interface PodSpec {
  readonly volumes?: readonly { readonly persistentVolumeClaim?: { readonly claimName?: string } }[];
}

function unbound(copy: ClusterCopy, ref: Ref, claim: PersistentVolumeClaim, nowMs: Millis): Finding {
  const className = claim.spec?.storageClassName;
  if (!className)
    return finding(ref, claim, {
      cause: "ClassNotFound",
      says: "the claim names no class in spec.storageClassName, and no class is the default: name one, or annotate a StorageClass with storageclass.kubernetes.io/is-default-class",
      waitsFor: [],
      next: [
        {
          says: "name a class in spec.storageClassName, or make one the default by its annotation storageclass.kubernetes.io/is-default-class",
          command: "kubectl get storageclasses",
        },
      ],
    });
  const storageClass = copy.get("StorageClass", undefined, className);
  if (storageClass === undefined)
    return (
      unreadable(copy, { kind: "StorageClass", name: className }) ??
      finding(ref, claim, {
        cause: "ClassNotFound",
        says: `StorageClass ${className} does not exist: create it, or create the claim with another one`,
        waitsFor: [{ kind: "StorageClass", name: className }],
      })
    );
  const node = claim.metadata.annotations?.[provisioning.selectedNode];
  if (storageClass.volumeBindingMode === "WaitForFirstConsumer" && node === undefined)
    return unscheduled(copy, ref, claim, className);
  const planned = provisionedFor(copy, claim, storageClass, nowMs);
  const failure = eventsAbout(copy, claim).find(({ reason }) => reason === "ProvisioningFailed");
  if (planned.cause === "NotGranted") return finding(ref, claim, { ...planned, next: grantSteps(claim, planned.says) });
  const isAsked = planned.cause === "Writes" || planned.cause === "WaitsForDriver";
  if (!isAsked || failure === undefined) return finding(ref, claim, planned);
  return finding(ref, claim, {
    ...planned,
    cause: "DriverFailed",
    says: failure.message ?? planned.says,
    ...meantByProvisioner(failure.message ?? ""),
    sinceMs: lastSeen(failure),
    evidence: [`event ProvisioningFailed: ${failure.message}`],
  });
}

/** The class binds its volumes when a pod is scheduled. */
function unscheduled(copy: ClusterCopy, ref: Ref, claim: PersistentVolumeClaim, className: string): Finding {
  const { namespace } = claim.metadata;
  const pod = copy
    .list("Pod", { namespace })
    .find(({ spec }) =>
      (spec as PodSpec | undefined)?.volumes?.some((each) => each.persistentVolumeClaim?.claimName === ref.name),
    );
  const binds = `StorageClass ${className} binds its volumes when a pod is scheduled (WaitForFirstConsumer)`;
  if (pod === undefined)
    return finding(ref, claim, {
      cause: "WaitsForNode",
      actor: "user",
      says: `${binds}, and no pod uses the claim: create a pod that does`,
    });
  const conditions = (pod as unknown as { status?: { conditions?: readonly { type?: string; message?: string }[] } })
    .status?.conditions;
  const why = conditions?.find(({ type }) => type === "PodScheduled")?.message;
  return finding(ref, claim, {
    cause: "WaitsForNode",
    actor: "user",
    says: `${binds}, and pod ${pod.metadata.name} is not scheduled${why === undefined ? "" : `: ${why}`}`,
    waitsFor: [{ kind: "Pod", namespace, name: pod.metadata.name }],
  });
}

/** The grant that would help, ready to apply; it is for the owner of the source to decide. */
function grantSteps({ metadata, spec }: PersistentVolumeClaim, says: string): readonly Step[] {
  const {
    namespace = "",
    kind = "",
    name = "",
    apiGroup,
  } = (spec?.dataSourceRef ?? {}) as Readonly<Record<string, string | undefined>>;
  const from = { group: "", kind: "PersistentVolumeClaim", namespace: metadata.namespace };
  const grant = {
    apiVersion: "gateway.networking.k8s.io/v1beta1",
    kind: "ReferenceGrant",
    metadata: { name: `from-${metadata.namespace}`, namespace },
    spec: { from: [from], to: [{ group: apiGroup ?? "", kind, name }] },
  };
  return [
    {
      says: `${says}. The owner of namespace ${namespace} grants it by`,
      command: `echo ${word(JSON.stringify(grant))} | kubectl apply -f -`,
    },
  ];
}
