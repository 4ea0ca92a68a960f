/** The owner of a claim's source does not consent, or not any more: nothing is sent, and what may have been created is undone. */
import type { PersistentVolumeClaim } from "../../../api/types.ts";
import type { NamedSource } from "../../../rules/data-source.ts";
import { denialOf } from "../../../rules/source-access.ts";
import {
  doing,
  type ErrorAction,
  errorOf,
  forget,
  inMs,
  later,
  type ProvisionerPlan,
  pollMs,
  provisioningFailed,
  sooner,
} from "../plan-steps.ts";
import { refused } from "../reasons.ts";
import type { VolumeView } from "./observe.ts";
import { planAbandoned } from "./plan-abandoned.ts";
import { unlinked } from "./request.ts";

export type Denial = ReturnType<typeof denialOf>;

/**
 * The owner of the source does not consent, or not any more. A volume that was created while there was consent is published; what a call
 * of unknown outcome may have created is not.
 */
export function deniedIn(view: VolumeView): Denial | undefined {
  const { facts, memory } = view;
  const { source, intent } = facts;
  if (!("access" in source)) return deniedOnTheWay(view);
  if (source.access.kind === "none") return undefined;
  if (memory.reply.kind === "created" && !memory.isLearning && intent?.call.consent !== undefined) return undefined;
  if (source.access.kind === "denied") return denialOf(source.named, source.access);
  const isAsked = intent === undefined || intent.call.consent !== undefined;
  return memory.reply.kind === "denied" || memory.isLearning || !isAsked ? uniformDenial(source.named) : undefined;
}

/** The call was stored when its source was named by a link that cannot be followed any more. */
function deniedOnTheWay({ facts: { source, intent }, memory }: VolumeView): Denial | undefined {
  const { consent } = intent?.call ?? {};
  if (consent === undefined || (memory.reply.kind !== "denied" && !memory.isLearning)) return undefined;
  if (source.kind === "unlinked") return unlinked(source);
  const { namespace, name } = consent.to;
  return denialOf({ kind: "snapshot", namespace, name, referrer: consent.from }, { kind: "denied", why: "off" });
}

/** Nothing is sent without consent, except to learn the id of a volume that may exist, which is then deleted. */
export function planDenied(view: VolumeView, claim: PersistentVolumeClaim, { code, message }: Denial): ProvisionerPlan {
  const { facts, memory } = view;
  const reason = refused(facts, claim, code, message);
  // A denial of the server counts as an attempt that failed already.
  const error = { ...errorOf(claim, provisioningFailed, message), isFailure: memory.reply.kind !== "denied" };
  const next = isUnreadable(facts.source) ? sooner(later(memory), inMs(pollMs)) : later(memory);
  if (facts.intent === undefined) return doing(reason, next, error);
  if (!memory.isUncertain) return doing(reason, next, error, forget(facts.name));
  const { actions, next: rest } = planAbandoned(view, facts.intent);
  return doing(reason, rest, error, ...actions);
}

/** Grants cannot be read: each look at the claim has them looked for again. */
const isUnreadable = (source: VolumeView["facts"]["source"]): boolean =>
  "access" in source && source.access.kind === "denied" && source.access.why === "unreadable";

/** What is wrong with a source of another namespace is told only while there is consent, which a cache does not know for sure. */
export function disclosed(source: VolumeView["facts"]["source"], error: ErrorAction): ErrorAction {
  if (!("access" in source) || source.access.kind !== "allowed") return error;
  const { from, to } = source.access;
  return { ...error, consent: { from, to, otherwise: uniformDenial(source.named).message } };
}

const uniformDenial = (source: NamedSource): Denial => denialOf(source, { kind: "denied", why: "no grant" });
