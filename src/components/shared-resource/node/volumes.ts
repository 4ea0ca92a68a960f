/**
 * All volumes of this node: published, kept current, unpublished.
 *
 *   share, source or permission changes ──▶ looks ──▶ observe ──▶ plan ──▶ wipe
 *                                                                    └──▶ writes ──▶ observe ──▶ plan ──▶ write or wipe
 *
 * Two queues: however much there is to write for others, a volume is emptied at once.
 *
 * Memory: per mounted volume its request, the digest of its content, what it follows, and why it is not as it should be. After a restart
 * the records, the mount table and the files themselves say the same.
 */

import type { CodedMessage } from "../../../api/plan.ts";
import { shareMemory } from "../../../api/share-memory.ts";
import type { Key } from "../../../base/brand.ts";
import { Fault, loggable } from "../../../base/fault.ts";
import { equal, type JsonValue } from "../../../base/json.ts";
import type { Log } from "../../../base/log.ts";
import type { World } from "../../../base/world.ts";
import { createQueue, type Queue } from "../../../runtime/queue.ts";
import { createTurns } from "../../../runtime/turns.ts";
import type { VolumeHost } from "./host.ts";
import { nodeLimits } from "./limits.ts";
import { createMemoryUse, type MemoryUse } from "./memory-use.ts";
import { observeVolume, type ShareState } from "./observe.ts";
import { planVolume, type VolumePlan } from "./plan.ts";
import { type FileSizes, footprintOf, type MemoryLimits, sizesOf } from "./plan-memory.ts";
import type { PublishRequest } from "./plan-request.ts";
import { type Attempt, troubleOf } from "./plan-trouble.ts";
import type { VolumeRecord } from "./records.ts";
import { deniedUse, otherVolume, reviewFailed, sourceFailed, sourceRefusal } from "./refusals.ts";
import type { Reviews } from "./reviews.ts";
import { createSerial } from "./serial.ts";
import { createShareReads } from "./share-reads.ts";
import type { SourceState, Sources } from "./sources.ts";
import type { TroubledVolume } from "./trouble-reports.ts";
import {
  type ContentFacts,
  parsedSource,
  type Source,
  type Subject,
  shareKey,
  sourceKey,
  subjectKey,
  subjectOf,
  type VolumeSpec,
  type Written,
} from "./types.ts";
import { createUsers } from "./users.ts";

export interface VolumesOptions {
  readonly host: VolumeHost;
  readonly reviews: Reviews;
  readonly sources: Sources;
  shareState(spec: Pick<VolumeSpec, "shareKind" | "share">): ShareState;
  /** Reads the share from the API server into the cache. */
  readShare(spec: Pick<VolumeSpec, "shareKind" | "share">): Promise<void>;
  /** False: no volume is refreshed, whatever it asks for. */
  readonly refreshResources: boolean;
  readonly memory: { readonly limits: MemoryLimits; readonly pageBytes: number };
  readonly world: World;
  readonly log: Log;
}

export interface Volumes {
  /** Mounts and fills the volume of a permitted request. What fails leaves nothing behind. */
  publish(request: PublishRequest, source: Source, signal: AbortSignal): Promise<void>;
  unpublish(id: string, target: string): Promise<void>;
  /** Takes over what an earlier process has mounted. To be called before all else. */
  recover(): Promise<void>;
  /** Keeps all volumes current until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  shareChanged(share: Pick<VolumeSpec, "shareKind" | "share">): void;
  subjectChanged(subject: Subject): void;
  sourceChanged(source: Source): void;
  /** Looks at all volumes again. */
  resync(): void;
  count(): number;
  /** Those that are not as they should be. */
  inspect(): readonly TroubledVolume[];
  memoryBytes(): number;
}

interface Entry extends Attempt {
  spec: VolumeSpec;
  written: Written | undefined;
  /** What the record says, so that it is written only when that changes. */
  recorded: string | undefined;
  follows?: { readonly source: Source; readonly release: () => void } | undefined;
  readonly releaseReview: () => void;
  refusal?: CodedMessage | undefined;
  failure?: string | undefined;
}

export function createVolumes(options: VolumesOptions): Volumes {
  const { host, reviews, sources, shareState, world, log } = options;
  const entries = new Map<string, Entry>();
  const users = createUsers();
  const alone = createSerial();
  const readSince = createShareReads(options);
  const looks = createQueue({ world, backoff: nodeLimits.updateRetry });
  const writes = createQueue({ world, backoff: nodeLimits.updateRetry });
  const trigger = (ids: readonly string[]): void => {
    for (const id of ids) looks.add(id as Key);
  };
  const refreshes = ({ refresh }: VolumeSpec): boolean => refresh && options.refreshResources;
  const memory: MemoryUse = createMemoryUse({ ...options.memory, onRoom: trigger });
  /** Sets of files in memory at once, of updates and of publishes. */
  const writing = createTurns(nodeLimits.writesAtOnceMax);

  const open = (spec: VolumeSpec, { written, source }: { written?: Written; source?: string | undefined }): Entry => {
    users.add(shareKey(spec), spec.id);
    users.add(subjectKey(subjectOf(spec)), spec.id);
    return { spec, written, recorded: source, releaseReview: reviews.hold(subjectOf(spec)) };
  };
  const close = (entry: Entry): void => {
    users.remove(shareKey(entry.spec), entry.spec.id);
    users.remove(subjectKey(subjectOf(entry.spec)), entry.spec.id);
    entry.releaseReview();
    follow(entry, undefined);
  };
  /** The new one is held before the old one is let go: they may be the same. */
  const follow = (entry: Entry, source: Source | undefined): void => {
    const before = entry.follows;
    if (before !== undefined && source !== undefined && sourceKey(before.source) === sourceKey(source)) return;
    entry.follows = source && { source, release: sources.hold(source) };
    if (source !== undefined) users.add(sourceKey(source), entry.spec.id);
    if (before === undefined) return;
    users.remove(sourceKey(before.source), entry.spec.id);
    before.release();
  };

  const take = ({ spec }: Entry, { bytes }: ContentFacts): CodedMessage | undefined =>
    memory.take(spec.id, spec.pod.namespace, bytes);
  /** Only the kernel knows of files that were replaced and that a process in the pod has open. */
  const measure = async ({ id, target }: VolumeSpec): Promise<void> => {
    const use = await host.use(target);
    if (use !== undefined) memory.measured(id, use);
  };
  const settle = async ({ id, target, pod }: VolumeSpec, shown: FileSizes): Promise<void> => {
    const use = await host.use(target);
    memory.settle(id, pod.namespace, footprintOf(shown, options.memory.pageBytes), use);
  };
  const measureUnsettled = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await world.sleep(nodeLimits.inspectEveryMs, signal).catch(() => undefined);
      for (const id of memory.unsettled()) {
        const spec = entries.get(id)?.spec;
        if (spec !== undefined) await measure(spec);
      }
    }
  };
  const write = (entry: Entry, source: Source, unread = (reason: unknown): unknown => reason): Promise<void> =>
    writing(async () => {
      const content = await sources.read(source).catch((reason: unknown) => {
        throw unread(reason);
      });
      // It may be newer than what was looked at.
      const refusal = take(entry, content);
      if (refusal !== undefined) throw new Fault("ResourceExhausted", refusal);
      entry.written = { digest: undefined, source: sourceKey(source) };
      await host.write(entry.spec.target, content.files);
      entry.written = { digest: content.digest, source: sourceKey(source) };
      await settle(entry.spec, sizesOf(content.files));
    });
  const record = async (entry: Entry, source: Source): Promise<void> => {
    if (entry.recorded === sourceKey(source)) return;
    await host.records.write({ spec: entry.spec, source: sourceKey(source) });
    entry.recorded = sourceKey(source);
  };

  /** A volume that is not refreshed follows what it was filled from; the others follow their share. */
  const sourceFor = ({ spec, written, follows }: Entry, share: ShareState): Source | undefined => {
    const pinned = refreshes(spec) || written === undefined ? undefined : parsedSource(written.source);
    return pinned ?? referredBy(share) ?? follows?.source;
  };

  /**
   * The watch of a source may be ahead of the watch of the shares: what was deleted after its share got another reference is no reason to
   * empty the volume. False: the share has changed, which triggers the volume again.
   */
  const stillFollows = async ({ spec, follows }: Entry, state: SourceState): Promise<boolean> => {
    if (!refreshes(spec) || follows === undefined) return true;
    await readSince(state, spec);
    const source = referredBy(shareState(spec));
    return source === undefined || sourceKey(source) === sourceKey(follows.source);
  };
  const observed = ({ spec, written, follows }: Entry, share: ShareState) => {
    const source = follows?.source;
    const state: SourceState = source === undefined ? { kind: "unknown" } : sources.state(source);
    const review = reviews.current(subjectOf(spec));
    const view = observeVolume({ refresh: refreshes(spec), written, share, review, source: state });
    return { source, state, view, plan: planVolume(view) };
  };

  /** What is to be written is handed on, unless it may be written here. */
  const update = async (id: string, mayWrite: boolean): Promise<void> => {
    const entry = entries.get(id);
    if (entry === undefined) return;
    const share = shareState(entry.spec);
    follow(entry, sourceFor(entry, share));
    const { source, state, plan } = observed(entry, share);
    if (plan.kind !== "write") entry.refusal = undefined;
    if (plan.kind === "wipe" && plan.because === "source is gone" && !(await stillFollows(entry, state))) return;
    if (plan.kind === "wipe") await empty(entry, plan);
    else if (plan.kind === "write" && !mayWrite) writes.add(id as Key);
    else if (plan.kind === "write" && source !== undefined && state.kind === "present")
      await replace(entry, source, state.content);
  };
  const aboutOf = ({ spec }: Entry) => ({
    share: shareKey(spec),
    pod: `${spec.pod.namespace}/${spec.pod.name}`,
    volume: spec.id,
  });
  const empty = async (entry: Entry, { because }: VolumePlan & { readonly kind: "wipe" }): Promise<void> => {
    const { spec } = entry;
    entry.written &&= { ...entry.written, digest: undefined };
    await host.wipe(spec.target);
    entry.written = undefined;
    await settle(spec, []);
    log.info("volume emptied", { ...aboutOf(entry), because });
    // Whoever comes back does so through the share, not through what was pinned.
    looks.add(spec.id as Key);
  };
  /** Refused: the old set stays, until there is room or the source changes. */
  const replace = async (entry: Entry, source: Source, content: ContentFacts): Promise<void> => {
    await measure(entry.spec);
    const refusal = take(entry, content);
    if (refusal !== undefined && refusal !== entry.refusal)
      log.warn("volume keeps its old content", { ...aboutOf(entry), reason: refusal });
    entry.refusal = refusal;
    if (refusal !== undefined) return;
    // The record first: killed in between, the next process must not look for what is not in the volume.
    await record(entry, source);
    await write(entry, source);
    log.debug("volume updated", aboutOf(entry));
  };

  const work = async (queue: Queue, mayWrite: boolean, signal: AbortSignal): Promise<void> => {
    for (let key = await queue.next(signal); key !== undefined; key = await queue.next(signal)) {
      const id: string = key;
      try {
        await alone(id, () => update(id, mayWrite));
        queue.forget(key);
        noteFailure(id, undefined);
      } catch (reason) {
        const retryMs = queue.retry(key);
        noteFailure(id, Fault.from(reason).message);
        log.warn("volume cannot be updated, trying again", { volume: id, retryMs, reason: loggable(reason) });
      }
      queue.done(key);
    }
  };
  const noteFailure = (id: string, failure: string | undefined): void => {
    const entry = entries.get(id);
    if (entry !== undefined) entry.failure = failure;
  };

  const fill = async (request: PublishRequest, source: Source, signal: AbortSignal): Promise<void> => {
    const { readOnly: _readOnly, group: _group, ...spec } = request;
    const known = entries.get(spec.id);
    if (known !== undefined && !isSameVolume(known.spec, spec)) throw otherVolume(known.spec);
    const entry = known ?? open(spec, {});
    if (entry.spec.refresh !== spec.refresh) {
      entry.spec = spec;
      entry.recorded = undefined;
    }
    try {
      // A volume that is not refreshed keeps what it has, also when the kubelet asks again.
      follow(entry, sourceFor(entry, { kind: "usable", source }));
      await populate(entry, request, entry.follows?.source ?? source, signal);
    } catch (reason) {
      if (known === undefined) close(entry);
      throw reason;
    }
    entries.set(spec.id, entry);
    trigger([spec.id]);
  };

  const populate = async (
    entry: Entry,
    request: PublishRequest,
    source: Source,
    signal: AbortSignal,
  ): Promise<void> => {
    const { spec } = entry;
    const state = await sources.known(source, signal).catch((reason: unknown) => {
      throw sourceFailed(request, source, reason);
    });
    const refusal = sourceRefusal(request, source, state);
    if (refusal !== undefined || state.kind !== "present") throw refusal;
    // The wait may have been long enough for the permission to go, or for its review to age.
    const verdict = await reviews.fresh(subjectOf(spec)).catch((reason: unknown) => {
      throw reviewFailed(request, reason);
    });
    if (verdict === "denied") throw deniedUse(request);
    const isNew = !entries.has(spec.id);
    const full = entry.written === undefined ? take(entry, state.content) : undefined;
    if (full !== undefined) throw new Fault("ResourceExhausted", full);
    try {
      await mountAndFill(entry, request, source, state.content);
    } catch (reason) {
      if (isNew) await remove(spec).catch((left: unknown) => reportLeft(spec, left));
      throw reason;
    }
  };
  const mountAndFill = async (entry: Entry, request: PublishRequest, source: Source, content: ContentFacts) => {
    const { spec, written } = entry;
    await record(entry, source);
    const isMounted = !(await host.mount(spec, request.group));
    const digest = written?.digest;
    const isCurrent = digest !== undefined && (!refreshes(spec) || digest === content.digest);
    // A set that does not fit keeps a mounted volume as it is, also when the kubelet asks again.
    const isKept = (isMounted && isCurrent) || (isMounted && take(entry, content) !== undefined);
    if (written !== undefined && isKept) return;
    await write(entry, source, (reason) => sourceFailed(request, source, reason));
  };
  const remove = async (spec: VolumeSpec): Promise<void> => {
    await host.unmount({ ...spec, spec });
    await host.records.remove(spec.id);
    memory.release(spec.id);
  };
  const reportLeft = ({ id, target }: VolumeSpec, reason: unknown): void =>
    log.error("volume could not be removed after a failed publish", { volume: id, target, reason: loggable(reason) });

  const takeOver = async ({ spec, source }: VolumeRecord): Promise<void> => {
    const about = { volume: spec.id, target: spec.target };
    const digest = await host.adopt(spec.target).catch((reason: unknown) => {
      log.error("files of a mounted volume cannot be read, replacing them", { ...about, reason: loggable(reason) });
      return "unreadable" as const;
    });
    const { limits } = options.memory;
    await settle(spec, await host.sizes(spec.target).catch(() => [["unreadable", limits.volumeBytes] as const]));
    const known = digest === "unreadable" ? undefined : digest;
    const written = digest === undefined ? {} : { written: { digest: known, source: source ?? "" } };
    entries.set(spec.id, open(spec, { ...written, source }));
    trigger([spec.id]);
  };

  return {
    publish: (request, source, signal) => alone(request.id, () => fill(request, source, signal)),
    unpublish: (id, target) =>
      alone(id, async () => {
        const entry = entries.get(id);
        await host.unmount({ id, target, spec: entry?.spec });
        // Published elsewhere, it stays there.
        if (entry !== undefined && entry.spec.target !== target) return;
        await host.records.remove(id);
        memory.release(id);
        if (entry === undefined) return;
        entries.delete(id);
        close(entry);
      }),
    async recover() {
      const { records, skipped } = await host.records.all();
      for (const [file, reason] of Object.entries(skipped)) log.warn("record of a volume skipped", { file, reason });
      const mounted = await host.mounted(records.map(({ spec }) => spec));
      for (const found of records) {
        const { id, target } = found.spec;
        try {
          if (mounted.has(id)) await takeOver(found);
          else if (await host.isGone(target)) await host.records.remove(id);
          else log.info("volume of a record is not mounted", { volume: id, target });
        } catch (reason) {
          log.error("mounted volume cannot be taken over", { volume: id, target, reason: loggable(reason) });
        }
      }
      if (records.length > 0) log.info("volumes taken over", { records: records.length, mounted: entries.size });
    },
    run: async (signal) => {
      await Promise.all([
        measureUnsettled(signal),
        ...Array.from({ length: nodeLimits.looksAtOnceMax }, () => work(looks, false, signal)),
        ...Array.from({ length: shareMemory.updatesAtOnceMax }, () => work(writes, true, signal)),
      ]);
    },
    shareChanged: (share) => trigger(users.of(shareKey(share))),
    subjectChanged: (subject) => trigger(users.of(subjectKey(subject))),
    sourceChanged: (source) => trigger(users.of(sourceKey(source))),
    resync: () => trigger([...entries.keys()]),
    count: () => entries.size,
    memoryBytes: memory.total,
    inspect: () =>
      [...entries.values()].flatMap((entry) => {
        const { view, plan } = observed(entry, shareState(entry.spec));
        const trouble = troubleOf(view, plan, entry);
        return trouble === undefined ? [] : [{ spec: entry.spec, trouble }];
      }),
  };
}

/** What the share refers to, as far as it is known. */
const referredBy = (share: ShareState): Source | undefined => ("source" in share ? share.source : undefined);

/** The configuration of the driver may have been another one when the volume was recorded. */
const isSameVolume = (one: VolumeSpec, other: VolumeSpec): boolean =>
  equal({ ...one, refresh: true } as unknown as JsonValue, { ...other, refresh: true } as unknown as JsonValue);
