/**
 * Why an object is as it is: from the object along what it waits for to one root cause. The links are decided by the controllers' own
 * phases and plans (of-*.ts); what no controller can see is judged here, in this order, at the last link:
 *
 *   the component that has to act does not run  ▷  a known defect of the Go component that runs  ▷  it waits for no longer than usual
 *   ▷  the reason of the plan
 */
import type { KindName } from "../../api/kinds.ts";
import type { Ref } from "../../api/plan.ts";
import type { Actor } from "../../api/reasons.ts";
import type { Millis } from "../../base/brand.ts";
import { type Cause, causeRowOf, isOuterCause } from "./causes.ts";
import type { ClusterCopy } from "./cluster-copy.ts";
import { type Finding, isSame, type Step, textOf } from "./finding.ts";
import { judged } from "./judge.ts";
import { findClaim } from "./of-claim.ts";
import { findContent } from "./of-content.ts";
import { findShare } from "./of-share.ts";
import { findSnapshot } from "./of-snapshot.ts";
import { gapText, hiddenFrom, newerVersion } from "./rights.ts";
import { type Component, type RunningComponent, runningOf } from "./running.ts";

export type Verdict =
  /** The object is as it should be. */
  | "good"
  /** It waits, and for no longer than usual. */
  | "waits"
  /** It waits until somebody does something, or for longer than usual. */
  | "stuck"
  /** What the answer needs cannot be read, or is newer than this program. */
  | "unknown";

export interface Explanation {
  readonly object: Ref;
  readonly verdict: Verdict;
  readonly cause: Cause;
  /** The object on which the cause lies. */
  readonly at: Ref;
  readonly says: string;
  readonly actor: Actor;
  readonly sinceMs: Millis | undefined;
  /** From the object that was asked about to the one at which the cause was found. */
  readonly chain: readonly Finding[];
  readonly next: readonly Step[];
  /** Who acts on the objects of the chain, and whether they run; none where nobody has to. */
  readonly running: readonly RunningComponent[];
  /** What the caller may not read, or the API server does not serve. */
  readonly gaps: readonly string[];
}

export type Finder = (copy: ClusterCopy, ref: Ref, nowMs: Millis) => Finding | undefined;

const finders: Partial<Readonly<Record<KindName, Finder>>> = {
  VolumeSnapshot: findSnapshot,
  VolumeSnapshotContent: findContent,
  PersistentVolumeClaim: findClaim,
  SharedSecret: findShare,
  SharedConfigMap: findShare,
};
export const explainedKinds = Object.keys(finders) as readonly KindName[];

const linksMax = 12;
/** The object that is named there is not waited for: it is the wrong one. */
const wrongOnes: ReadonlySet<Cause> = new Set([
  "ContentNotUsable",
  "ClassNotUsable",
  "SourceNotUsable",
  "VolumeNotUsable",
]);

/** Undefined: there is no such object. */
export function explain(copy: ClusterCopy, ref: Ref, nowMs: Millis): Explanation | undefined {
  const chain = chainFrom(copy, ref, nowMs);
  const last = chain.at(-1);
  if (last === undefined) return undefined;
  const running = last.cause === "NothingWrong" ? [] : runningIn(copy, chain, nowMs);
  const { verdict, cause, at, says, actor, next } = judged(copy, last, running, nowMs);
  return {
    object: ref,
    verdict,
    cause,
    at,
    says,
    actor: actor ?? causeRowOf(cause).actor,
    sinceMs: last.sinceMs,
    chain,
    next,
    running,
    gaps: [...new Set(copy.gaps().map(gapText))],
  };
}

/** From the object along what each waits for, to the last that has something to tell. */
function chainFrom(copy: ClusterCopy, ref: Ref, nowMs: Millis): readonly Finding[] {
  const chain: Finding[] = [];
  for (let at: Ref | undefined = ref; at !== undefined && chain.length < linksMax; ) {
    const found: Finding | undefined = newerVersion(copy, at) ?? finders[at.kind]?.(copy, at, nowMs);
    if (found === undefined) break;
    // A link that is as it should be explains nothing: the one before it is the last.
    if (chain.length > 0 && found.cause === "NothingWrong") break;
    const finding = withHolders(copy, withoutGuess(copy, found));
    chain.push(finding);
    at = wrongOnes.has(finding.cause)
      ? undefined
      : finding.waitsFor.find(
          (next) => finders[next.kind] !== undefined && !chain.some(({ object }) => isSame(object, next)),
        );
    if (finding.cause === "NotReadable") break;
  }
  return chain;
}

/** Who keeps an object that is being deleted is seen in its finalizers. */
function withHolders(copy: ClusterCopy, finding: Finding): Finding {
  const { kind, namespace, name } = finding.object;
  const { deletionTimestamp, finalizers = [] } = copy.get(kind, namespace, name)?.metadata ?? {};
  if (deletionTimestamp === undefined || finalizers.length === 0) return finding;
  const holders = `${textOf(finding.object)}: deletionTimestamp ${deletionTimestamp}, finalizers ${finalizers.join(", ")}`;
  return { ...finding, evidence: [...finding.evidence, holders] };
}

/** What cannot be seen cannot be said to be missing. */
function withoutGuess(copy: ClusterCopy, finding: Finding): Finding {
  const hidden = isOuterCause(finding.cause) ? undefined : hiddenFrom(copy, finding);
  if (hidden === undefined) return finding;
  const { object, phase } = finding;
  return { ...hidden, object, phase, waitsFor: isSame(hidden.object, object) ? [] : [hidden.object] };
}

/** Each component that acts on an object of the chain, once. */
function runningIn(copy: ClusterCopy, chain: readonly Finding[], nowMs: Millis): readonly RunningComponent[] {
  const components = new Map<string, Component>();
  for (const { component } of chain)
    if (component !== undefined) components.set(`${component.name} ${component.driver ?? ""}`, component);
  return [...components.values()].map((component) => runningOf(copy, component, nowMs));
}
