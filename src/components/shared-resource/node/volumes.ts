/**
 * All volumes of this node: published, kept current, unpublished.
 *
 *   share, source or permission changes ──▶ queue ──▶ observe ──▶ plan ──▶ write or wipe
 *
 * Memory: per mounted volume its request, the digest of its content and what it follows. After a restart the records, the mount table
 * and the files themselves say the same.
 */
import type { Key } from "../../../base/brand.ts";
import { isFault, loggable } from "../../../base/fault.ts";
import { equal, type JsonValue } from "../../../base/json.ts";
import type { Log } from "../../../base/log.ts";
import type { World } from "../../../base/world.ts";
import { createQueue } from "../../../runtime/queue.ts";
import type { VolumeHost } from "./host.ts";
import { nodeLimits } from "./limits.ts";
import { observeVolume, type ShareState } from "./observe.ts";
import { planVolume } from "./plan.ts";
import type { PublishRequest } from "./plan-request.ts";
import type { VolumeRecord } from "./records.ts";
import { deniedUse, otherVolume, sourceFailed, sourceRefusal } from "./refusals.ts";
import type { Reviews } from "./reviews.ts";
import { createSerial } from "./serial.ts";
import type { SourceState, Sources } from "./sources.ts";
import {
  type Content,
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
}

interface Entry {
  spec: VolumeSpec;
  written: Written | undefined;
  /** What the record says, so that it is written only when that changes. */
  recorded: string | undefined;
  follows?: { readonly source: Source; readonly release: () => void } | undefined;
  readonly releaseReview: () => void;
}

export function createVolumes(options: VolumesOptions): Volumes {
  const { host, reviews, sources, shareState, world, log } = options;
  const entries = new Map<string, Entry>();
  const users = createUsers();
  const alone = createSerial();
  const queue = createQueue({ world, backoff: nodeLimits.updateRetry });
  const trigger = (ids: readonly string[]): void => {
    for (const id of ids) queue.add(id as Key);
  };
  const refreshes = ({ refresh }: VolumeSpec): boolean => refresh && options.refreshResources;

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

  const write = async (entry: Entry, source: Source, { files, digest }: Content): Promise<void> => {
    await host.write(entry.spec.target, files);
    entry.written = { digest, source: sourceKey(source) };
  };
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
    await readShareSince(state, spec);
    const source = referredBy(shareState(spec));
    return source === undefined || sourceKey(source) === sourceKey(follows.source);
  };
  /** Once per share after each observation of a source, however many volumes there are. */
  const readSince = new WeakMap<SourceState, Map<string, Promise<void>>>();
  const readShareSince = (state: SourceState, spec: VolumeSpec): Promise<void> => {
    const reads = readSince.get(state) ?? new Map<string, Promise<void>>();
    readSince.set(state, reads);
    const read =
      reads.get(shareKey(spec)) ??
      options.readShare(spec).catch((reason: unknown) => {
        // The deletion was seen, and this read only orders two watches: where it is refused, there is nothing to wait for.
        if (isFault(reason, "PermissionDenied"))
          return log.warn("share cannot be read; the deletion of its source counts", {
            share: shareKey(spec),
            reason: loggable(reason),
            remedy: "let the service account of the driver get shares",
          });
        reads.delete(shareKey(spec));
        throw reason;
      });
    reads.set(shareKey(spec), read);
    return read;
  };

  const update = async (id: string): Promise<void> => {
    const entry = entries.get(id);
    if (entry === undefined) return;
    const { spec, written } = entry;
    const share = shareState(spec);
    follow(entry, sourceFor(entry, share));
    const source = entry.follows?.source;
    const state = source === undefined ? ({ kind: "unknown" } as const) : sources.state(source);
    const review = reviews.current(subjectOf(spec));
    const refresh = refreshes(spec);
    const plan = planVolume(observeVolume({ refresh, written, share, review, source: state }));
    if (plan.kind === "wipe" && plan.because === "source is gone" && !(await stillFollows(entry, state))) return;
    const about = { share: shareKey(spec), pod: `${spec.pod.namespace}/${spec.pod.name}`, volume: spec.id };
    if (plan.kind === "wipe") {
      await host.wipe(spec.target);
      entry.written = undefined;
      log.info("volume emptied", { ...about, because: plan.because });
      // Whoever comes back does so through the share, not through what was pinned.
      queue.add(id as Key);
    } else if (plan.kind === "write" && source !== undefined && state.kind === "present") {
      // The record first: killed in between, the next process must not look for what is not in the volume.
      await record(entry, source);
      await write(entry, source, state.content);
      log.debug("volume updated", about);
    }
  };

  const work = async (signal: AbortSignal): Promise<void> => {
    for (let key = await queue.next(signal); key !== undefined; key = await queue.next(signal)) {
      const id: string = key;
      try {
        await alone(id, () => update(id));
        queue.forget(key);
      } catch (reason) {
        const retryMs = queue.retry(key);
        log.warn("volume cannot be updated, trying again", { volume: id, retryMs, reason: loggable(reason) });
      }
      queue.done(key);
    }
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
    // The wait may have been long enough for the permission to go.
    if (reviews.current(subjectOf(spec)) !== "allowed") throw deniedUse(request);
    const isNew = !entries.has(spec.id);
    try {
      await record(entry, source);
      const isMounted = !(await host.mount(spec, request.group));
      const isUnchanged = isMounted && (!refreshes(spec) || entry.written?.digest === state.content.digest);
      if (entry.written === undefined || !isUnchanged) await write(entry, source, state.content);
    } catch (reason) {
      if (isNew) await remove(spec).catch((left: unknown) => reportLeft(spec, left));
      throw reason;
    }
  };
  const remove = async (spec: VolumeSpec): Promise<void> => {
    await host.unmount({ ...spec, spec });
    await host.records.remove(spec.id);
  };
  const reportLeft = ({ id, target }: VolumeSpec, reason: unknown): void =>
    log.error("volume could not be removed after a failed publish", { volume: id, target, reason: loggable(reason) });

  const takeOver = async ({ spec, source }: VolumeRecord): Promise<void> => {
    const about = { volume: spec.id, target: spec.target };
    const digest = await host.adopt(spec.target).catch((reason: unknown) => {
      log.error("files of a mounted volume cannot be read, replacing them", { ...about, reason: loggable(reason) });
      return "unreadable";
    });
    const written = digest === undefined ? {} : { written: { digest, source: source ?? "" } };
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
      await Promise.all(Array.from({ length: nodeLimits.updatesAtOnceMax }, () => work(signal)));
    },
    shareChanged: (share) => trigger(users.of(shareKey(share))),
    subjectChanged: (subject) => trigger(users.of(subjectKey(subject))),
    sourceChanged: (source) => trigger(users.of(sourceKey(source))),
    resync: () => trigger([...entries.keys()]),
    count: () => entries.size,
  };
}

/** What the share refers to, as far as it is known. */
const referredBy = (share: ShareState): Source | undefined => ("source" in share ? share.source : undefined);

/** The configuration of the driver may have been another one when the volume was recorded. */
const isSameVolume = (one: VolumeSpec, other: VolumeSpec): boolean =>
  equal({ ...one, refresh: true } as unknown as JsonValue, { ...other, refresh: true } as unknown as JsonValue);

/** Back from the text of a record; undefined for upstream's records, which do not say it. */
function parsedSource(text: string): Source | undefined {
  const [kind, namespace, name] = text.split(" ");
  return (kind === "Secret" || kind === "ConfigMap") && namespace !== undefined && name !== undefined
    ? { kind, namespace, name }
    : undefined;
}
