/** A SharedSecret or SharedConfigMap, as the controller of shares decides it. */

import { shareConditions } from "../../api/names.ts";
import type { Ref } from "../../api/plan.ts";
import type { ShareKind } from "../../api/share-lists.ts";
import type { Millis } from "../../base/brand.ts";
import { type Look, noMemory } from "../../components/shared-resource/controller/memory.ts";
import { observeShare, type Share, shareKey } from "../../components/shared-resource/controller/observe.ts";
import { phaseOf } from "../../components/shared-resource/controller/phase.ts";
import { planShare } from "../../components/shared-resource/controller/plan.ts";
import type { ClusterCopy } from "./cluster-copy.ts";
import { createdMs, type Finding } from "./finding.ts";
import { unreadable } from "./rights.ts";

const relistMs = 600_000;

export function findShare(copy: ClusterCopy, ref: Ref, nowMs: Millis): Finding | undefined {
  const kind = ref.kind as ShareKind;
  const share = copy.get(kind, undefined, ref.name) as Share | undefined;
  if (share === undefined) return unreadable(copy, ref);
  const stores = {
    SharedSecret: { get: () => copy.get("SharedSecret", undefined, ref.name) },
    SharedConfigMap: { get: () => copy.get("SharedConfigMap", undefined, ref.name) },
  };
  const about = () => ({ ...noMemory, look: lookOf(share) });
  const view = observeShare(
    stores,
    { memory: { about }, lists: undefined, relistMs, nowMs, elapsedMs: 0 },
    shareKey(kind, ref.name),
  );
  if (view === undefined) return undefined;
  const { reason } = planShare(view);
  if (reason === undefined) return undefined;
  const isGood = reason.code === "Settled";
  return {
    object: ref,
    phase: phaseOf(view),
    cause: isGood ? "NothingWrong" : reason.code,
    says: reason.says,
    waitsFor: reason.waitsFor,
    sinceMs: reason.sinceMs ?? createdMs(share),
    component: { name: "shared-resource" },
    evidence: [],
  };
}

/** The condition says what the controller has found last. */
function lookOf(share: Share): (Look & { readonly ageMs: Millis }) | undefined {
  const condition = share.status?.conditions?.find(({ type }) => type === shareConditions.available);
  if (condition === undefined) return undefined;
  const finding = condition.status === "True" ? "found" : condition.status === "False" ? "missing" : "forbidden";
  const reference = "secretRef" in share.spec ? share.spec.secretRef : share.spec.configMapRef;
  return { generation: share.metadata.generation, reference, finding, atMs: 0, isWritten: true, ageMs: 0 };
}
