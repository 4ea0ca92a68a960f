/**
 * What is to become of the content of one mounted volume:
 *
 *   permitted and the source is known ──▶ write, if it differs and there is room
 *   denied, or share or source gone   ──▶ wipe
 *   not known                         ──▶ keep
 */
import { type Plan, type Ref, settled } from "../../../api/plan.ts";
import { because, type Reason } from "../../../api/reasons.ts";
import { codeOfUnknown, type VolumeFacts, type VolumeView } from "./observe.ts";
import { phaseOf, sourceToFollow, type VolumePhase, type Withdrawal, withdrawalIn } from "./phase.ts";
import type { ContentFacts, Source, SourceState } from "./types.ts";

export type VolumeAction =
  /** Watches this Secret or ConfigMap for the volume, instead of another one. */
  | { readonly kind: "follow"; readonly id: string; readonly source: Source }
  /** Reads the share from the API server, once after its source was seen like this. */
  | { readonly kind: "readShare"; readonly id: string; readonly since: SourceState }
  /** Takes the files away. */
  | { readonly kind: "wipe"; readonly id: string; readonly because: Withdrawal }
  /** Asks the kernel what the volume takes, and goes on only if the set still fits. */
  | { readonly kind: "measure"; readonly id: string; readonly content: ContentFacts }
  /** Replaces the files. */
  | { readonly kind: "write"; readonly id: string; readonly source: Source; readonly content: ContentFacts }
  /** The volume is looked at again when another one needs less. */
  | { readonly kind: "awaitRoom"; readonly id: string; readonly refusal: string };

const again = { kind: "after", ms: 0 } as const;

const plans: Readonly<Record<VolumePhase, (view: VolumeView) => Plan<VolumeAction>>> = {
  unfollowed: planFollow,
  unknown: keep,
  unread: keep,
  unusable: keep,
  outdated: planWrite,
  full: ({ facts: { spec, full = "" } }) => ({
    actions: [{ kind: "awaitRoom", id: spec.id, refusal: full }],
    next: settled,
    reason: because("NoRoom", full),
  }),
  current: () => ({ actions: [], next: settled, reason: because("Settled", "the volume shows what it should") }),
  unconfirmed: ({ facts: { spec, source } }) => ({
    actions: [{ kind: "readShare", id: spec.id, since: source }],
    next: again,
    reason: because("Writes", `${spec.shareKind} ${spec.share} is read, because its Secret or ConfigMap is gone`),
  }),
  withdrawn: planWipe,
  empty: (view) => ({ actions: [], next: settled, reason: reasonOfWithdrawal(view) }),
};

export const planVolume = (view: VolumeView): Plan<VolumeAction> => plans[phaseOf(view)](view);

function planFollow(view: VolumeView): Plan<VolumeAction> {
  const source = sourceToFollow(view);
  if (source === undefined) return keep(view);
  return {
    actions: [{ kind: "follow", id: view.facts.spec.id, source }],
    next: again,
    reason: because("Writes", `the volume follows ${textOf(source)}`),
  };
}

function planWrite(view: VolumeView): Plan<VolumeAction> {
  const { facts, memory } = view;
  if (memory.follows === undefined || facts.source.kind !== "present") return keep(view);
  const { content } = facts.source;
  const { id } = facts.spec;
  return {
    actions: [
      { kind: "measure", id, content },
      { kind: "write", id, source: memory.follows, content },
    ],
    next: settled,
    reason: because("Writes", `the files of ${textOf(memory.follows)} are written`),
  };
}

function planWipe(view: VolumeView): Plan<VolumeAction> {
  const withdrawal = withdrawalIn(view);
  if (withdrawal === undefined) return keep(view);
  return {
    actions: [{ kind: "wipe", id: view.facts.spec.id, because: withdrawal }],
    // Whoever comes back does so through the share, not through what was pinned.
    next: again,
    reason: because("Writes", `the volume is emptied: ${withdrawal}`),
  };
}

function keep(view: VolumeView): Plan<VolumeAction> {
  return { actions: [], next: settled, reason: reasonToKeep(view) };
}

function reasonToKeep({ facts, memory }: VolumeView): Reason {
  const { share, review, source, spec } = facts;
  const follows = memory.follows && textOf(memory.follows);
  const notSaid = (what: string): Reason =>
    because("ServerUnreachable", `the volume stays as it is: the API server has not said yet whether ${what}`);
  if (share.kind === "unknown") return because(codeOfUnknown(share), `the volume stays as it is: ${share.because}`);
  if (review === undefined) return notSaid(`pod ${spec.pod.namespace}/${spec.pod.name} may use ${nameOf(facts)}`);
  if (source.kind === "unusable") return because("Invalid", source.problem, waitsForSource(memory.follows));
  if (source.kind === "unknown" && source.isRefused)
    return because("NotPermitted", `the driver may not read ${follows}`, waitsForSource(memory.follows));
  return notSaid(`${follows} exists`);
}

function reasonOfWithdrawal({ facts, memory }: VolumeView): Reason {
  const { share, review, spec } = facts;
  if (review === "denied")
    return because(
      "UseDenied",
      `service account ${spec.pod.namespace}/${spec.pod.serviceAccount} may not use ${nameOf(facts)}`,
    );
  if (share.kind === "absent")
    return because("ShareNotFound", `${nameOf(facts)} does not exist`, [{ kind: spec.shareKind, name: spec.share }]);
  if (share.kind === "unusable") return because("Invalid", share.problem, [{ kind: spec.shareKind, name: spec.share }]);
  return because(
    "SecretNotFound",
    `${memory.follows && textOf(memory.follows)} does not exist`,
    waitsForSource(memory.follows),
  );
}

const nameOf = ({ spec }: VolumeFacts): string => `${spec.shareKind} ${spec.share}`;
const textOf = ({ kind, namespace, name }: Source): string => `${kind} ${namespace}/${name}`;
const waitsForSource = (source: Source | undefined): readonly Ref[] => (source === undefined ? [] : [source]);
