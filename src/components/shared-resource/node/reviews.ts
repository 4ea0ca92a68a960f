/**
 * May this service account use this share? Asked once per share, namespace and service account every five seconds while a volume
 * needs it, however many volumes do; where roles are watched, when they change, and every thirty seconds else. A failed request changes no verdict: the last one ages instead, and an old one permits nothing new.
 *
 * Memory: one verdict per subject that a mounted volume has, and for a few seconds those of refused publishes. Lost with the process, and
 * asked again before anything is written.
 */
import { kindRows } from "../../../api/kinds.ts";
import type { Millis } from "../../../base/brand.ts";
import { Fault, loggable } from "../../../base/fault.ts";
import { isObject, type JsonObject } from "../../../base/json.ts";
import type { Log } from "../../../base/log.ts";
import { type World, withDeadline } from "../../../base/world.ts";
import type { PathAsker } from "../../../kube/api.ts";
import { nodeLimits } from "./limits.ts";
import { type Subject, subjectKey } from "./types.ts";

export type Verdict = "allowed" | "denied";

export interface Reviews {
  /** Keeps the verdict current until the answer is called. */
  hold(subject: Subject): () => void;
  /** What was said within the last ten seconds; a denial counts until it is taken back. */
  current(subject: Subject): Verdict | undefined;
  /** For a publish: at most five seconds old, asked for if need be. Throws what the API server failed with. */
  fresh(subject: Subject): Promise<Verdict>;
  /** Roles or bindings are others, in this namespace or anywhere, or are not watched any more: ask soon, and for a while. */
  mayHaveChanged(namespace: string | undefined): void;
  /** There is a connection now: what could not be asked without one is asked at once. */
  connected(): void;
}

export interface ReviewsOptions {
  /** Rejects while there is no connection. */
  readonly api: () => PathAsker;
  readonly world: World;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Whoever changes a permission by RBAC, it is told by `mayHaveChanged`. */
  isWatched?(): boolean;
  /** The verdict is another one, or fresh again. */
  onChange(subject: Subject): void;
}

interface Entry {
  readonly subject: Subject;
  holders: number;
  verdict?: Verdict;
  /** When the last successful review began. */
  reviewedAt: Millis;
  askedAt: Millis;
  /** Roles or bindings have changed: until then it is asked as if they were not watched. */
  soonUntil: Millis;
  /** The fault of the last question. */
  failure?: Fault | undefined;
  asking?: Promise<Verdict> | undefined;
  /** When it is asked next. */
  dueAt: Millis;
  stopTimer: () => void;
}

const never = Number.NEGATIVE_INFINITY;
const ignore = (): void => undefined;

export function createReviews({ api, world, log, signal, isWatched = () => false, onChange }: ReviewsOptions): Reviews {
  const entries = new Map<string, Entry>();
  const everyMs = ({ soonUntil, failure }: Entry): Millis =>
    isWatched() && failure === undefined && world.elapsed() >= soonUntil
      ? nodeLimits.reviewWatchedEveryMs
      : nodeLimits.reviewEveryMs;
  /** An older verdict permits no new byte. */
  const freshMs = (): Millis =>
    nodeLimits.reviewFreshMsMax + (isWatched() ? nodeLimits.reviewWatchedEveryMs - nodeLimits.reviewEveryMs : 0);

  const entryOf = (subject: Subject): Entry => {
    const key = subjectKey(subject);
    const known = entries.get(key);
    if (known !== undefined) return known;
    const entry: Entry = {
      subject,
      holders: 0,
      reviewedAt: never,
      askedAt: never,
      soonUntil: never,
      dueAt: Number.POSITIVE_INFINITY,
      stopTimer: ignore,
    };
    entries.set(key, entry);
    return entry;
  };
  const isFresh = ({ reviewedAt }: Entry, ms: Millis): boolean => world.elapsed() - reviewedAt < ms;

  const take = (entry: Entry, verdict: Verdict, startedAt: Millis): void => {
    const isNews = entry.verdict !== verdict || !isFresh(entry, freshMs());
    entry.verdict = verdict;
    entry.reviewedAt = startedAt;
    if (isNews) onChange(entry.subject);
  };
  const ask = (entry: Entry): Promise<Verdict> => {
    entry.asking ??= askOnce(entry)
      .catch((reason: unknown) => {
        entry.failure = Fault.from(reason);
        throw entry.failure;
      })
      .finally(() => {
        entry.asking = undefined;
        schedule(entry);
      });
    return entry.asking;
  };
  const askOnce = async (entry: Entry): Promise<Verdict> => {
    const startedAt = world.elapsed();
    entry.askedAt = startedAt;
    const verdict = await withDeadline(
      world,
      signal,
      nodeLimits.reviewMsMax,
      (deadline) => review(api(), entry.subject, deadline),
      "SubjectAccessReview was not answered",
    );
    entry.failure = undefined;
    take(entry, verdict, startedAt);
    return verdict;
  };

  /** The next question so long after the last; without a holder, the entry goes then. */
  const schedule = (entry: Entry, at: Millis = entry.askedAt + everyMs(entry)): void => {
    entry.stopTimer();
    if (signal.aborted) return;
    entry.dueAt = at;
    const inMs = Math.max(0, at - world.elapsed());
    entry.stopTimer = world.after(inMs, () => {
      const keptUntil = entry.askedAt + nodeLimits.reviewEveryMs;
      // A change of roles comes earlier: a publish must still find what was asked, and whether it failed.
      if (entry.holders === 0 && world.elapsed() < keptUntil) schedule(entry, keptUntil);
      else if (entry.holders === 0) entries.delete(subjectKey(entry.subject));
      else
        ask(entry).catch((reason: unknown) =>
          log.debug("cannot ask whether a share may be used", { ...entry.subject, reason: loggable(reason) }),
        );
    });
  };

  signal.addEventListener("abort", () => {
    for (const { stopTimer } of entries.values()) stopTimer();
  });

  return {
    hold(subject) {
      const entry = entryOf(subject);
      entry.holders += 1;
      if (entry.holders === 1 && entry.asking === undefined) schedule(entry);
      let held = true;
      return () => {
        if (held) entry.holders -= 1;
        held = false;
      };
    },
    current(subject) {
      const entry = entries.get(subjectKey(subject));
      if (entry === undefined) return undefined;
      return entry.verdict === "denied" || isFresh(entry, freshMs()) ? entry.verdict : undefined;
    },
    async fresh(subject) {
      const entry = entryOf(subject);
      const { verdict, failure } = entry;
      if (verdict !== undefined && isFresh(entry, nodeLimits.reviewEveryMs)) return verdict;
      // Many pods wait for a server that fails: they must not all ask it again and again.
      const isRecent = world.elapsed() - entry.askedAt < nodeLimits.reviewEveryMs;
      if (entry.asking === undefined && failure !== undefined && isRecent) throw failure;
      return ask(entry);
    },
    mayHaveChanged(namespace) {
      const now = world.elapsed();
      for (const entry of entries.values()) {
        if (namespace !== undefined && entry.subject.namespace !== namespace) continue;
        // At once after a quiet time, else not oftener than where nothing is watched: some clusters change roles all the time.
        const notBefore = now < entry.soonUntil ? entry.askedAt + nodeLimits.reviewEveryMs : now;
        entry.soonUntil = now + nodeLimits.reviewSoonMs;
        const at = Math.max(notBefore, now + world.random() * nodeLimits.reviewSpreadMs);
        if (entry.asking === undefined && at < entry.dueAt) schedule(entry, at);
      }
    },
    connected() {
      for (const entry of entries.values()) {
        if (entry.failure === undefined || entry.asking !== undefined) continue;
        entry.failure = undefined;
        entry.askedAt = never;
        schedule(entry);
      }
    },
  };
}

const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

/** With all groups that every service account is in: a binding to any of them counts. */
async function review(api: PathAsker, subject: Subject, signal: AbortSignal): Promise<Verdict> {
  const { shareKind, share, namespace, serviceAccount } = subject;
  const { group, plural: resource } = kindRows[shareKind];
  const body: JsonObject = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    metadata: {},
    spec: {
      user: `system:serviceaccount:${namespace}:${serviceAccount}`,
      groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
      resourceAttributes: { verb: "use", group, resource, namespace, name: share },
    },
  };
  const answer = await api.postPath(path, body, { signal });
  if (!isObject(answer) || !isObject(answer.status))
    throw new Fault("UnknownOutcome", "the API server answered a SubjectAccessReview without a status");
  return answer.status.allowed === true ? "allowed" : "denied";
}
