/**
 * Whether a pod gets a volume, and with what in it: the next steps of one request. Each step's answer is an observation of the next plan.
 */
import { type Plan, settled } from "../../../api/plan.ts";
import { because } from "../../../api/reasons.ts";
import type { Fault } from "../../../base/fault.ts";
import type { PublishView } from "./observe-publish.ts";
import { type PublishPhase, phaseOfPublish, readIn, refusalIn, sourceToRead } from "./phase-publish.ts";
import { deniedUse } from "./refusals.ts";
import type { Source } from "./types.ts";

export type PublishAction =
  /** Counts that the driver has found what the webhook would have refused. */
  | { readonly kind: "countReservedName" }
  | { readonly kind: "countReadOnly"; readonly isReadOnly: boolean }
  /** Asks whether the pod may use the share. */
  | { readonly kind: "review" }
  /** Watches the Secret or ConfigMap from now on, and waits for its first list. */
  | { readonly kind: "read"; readonly source: Source }
  /** Takes the room that the set needs. */
  | { readonly kind: "reserve"; readonly setBytes: number }
  | { readonly kind: "record"; readonly source: Source }
  | { readonly kind: "mount" }
  | { readonly kind: "write"; readonly source: Source }
  | { readonly kind: "awaitRoom"; readonly refusal: string }
  /** The kubelet gets this error. */
  | { readonly kind: "refuse"; readonly fault: Fault };

type PublishPlan = Plan<PublishAction>;
const again = { kind: "after", ms: 0 } as const;

const plans: Readonly<Record<PublishPhase, (view: PublishView) => PublishPlan>> = {
  unreviewed: (view) => sending([{ kind: "review" }], `it is asked whether the pod may use ${nameOf(view)}`),
  unread: planRead,
  unmounted: planMount,
  unfilled: planWrite,
  kept: ({ facts: { full = "" } }) => ({
    actions: [{ kind: "awaitRoom", refusal: full }],
    next: settled,
    reason: because("NoRoom", full),
  }),
  published: () => ({ actions: [], next: settled, reason: because("Settled", "the volume shows what it should") }),
  refused: planRefusal,
};

export function planPublish(view: PublishView): PublishPlan {
  const plan = plans[phaseOfPublish(view)](view);
  return { ...plan, actions: [...readOnlyCount(view), ...plan.actions] };
}

function planRead(view: PublishView): PublishPlan {
  const source = sourceToRead(view);
  // A share without one is refused.
  if (source === undefined) return planRefusal(view);
  return sending([{ kind: "read", source }], `${source.kind} ${source.namespace}/${source.name} is read`);
}

/** The record first: killed in between, the next process must not look for what is not in the volume. */
function planMount(view: PublishView): PublishPlan {
  const read = readIn(view);
  if (read === undefined) return planRead(view);
  const reserve: PublishAction = { kind: "reserve", setBytes: read.content.bytes };
  return sending(
    [
      ...(view.facts.known?.written === undefined ? [reserve] : []),
      { kind: "record", source: read.source },
      { kind: "mount" },
    ],
    "the volume is mounted",
  );
}

function planWrite(view: PublishView): PublishPlan {
  const read = readIn(view);
  if (read === undefined) return planRead(view);
  return {
    actions: [{ kind: "write", source: read.source }],
    next: settled,
    reason: because("Writes", "the files are written"),
  };
}

function planRefusal(view: PublishView): PublishPlan {
  const { share, request } = view.facts;
  // Whatever has no better answer is no permission.
  const { reason, fault } = refusalIn(view) ?? deniedUse(request);
  const isReserved = share.kind === "unusable" && share.isReserved;
  return {
    actions: [...(isReserved ? [{ kind: "countReservedName" } as const] : []), { kind: "refuse", fault }],
    next: settled,
    reason: because(reason, fault.message),
  };
}

/** Once for each request that may use the share. */
function readOnlyCount({
  facts: { request },
  memory: { review, isReadOnlyCounted },
}: PublishView): readonly PublishAction[] {
  const isAllowed = review?.kind === "answered" && review.value === "allowed";
  return isAllowed && !isReadOnlyCounted ? [{ kind: "countReadOnly", isReadOnly: request.readOnly }] : [];
}

const sending = (actions: readonly PublishAction[], says: string): PublishPlan => ({
  actions,
  next: again,
  reason: because("Writes", says),
});

const nameOf = ({ facts: { request } }: PublishView): string => `${request.shareKind} ${request.share}`;
