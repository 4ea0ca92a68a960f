/**
 * Carries out what is planned for a request to publish a volume, step by step, until the volume shows what it should or the request is
 * refused. What fails leaves nothing behind.
 */
import type { Key } from "../../../base/brand.ts";
import { loggable } from "../../../base/fault.ts";
import type { Log } from "../../../base/log.ts";
import { type ActionHandlers, perform } from "../../../runtime/action-handlers.ts";
import type { Decisions } from "../../../runtime/decisions.ts";
import type { VolumeHost } from "./host.ts";
import type { MemoryUse } from "./memory-use.ts";
import type { Mounted, MountedVolumes } from "./mounted.ts";
import { type Answer, nothingAsked, type PublishMemory, type PublishView } from "./observe-publish.ts";
import { phaseOfPublish } from "./phase-publish.ts";
import type { PublishAction, planPublish } from "./plan-publish.ts";
import type { PublishRequest } from "./plan-request.ts";
import { deniedUse, reviewAged, sourceFailed } from "./refusals.ts";
import type { Reviews } from "./reviews.ts";
import type { createSerial } from "./serial.ts";
import type { Sources } from "./sources.ts";
import { subjectOf, type VolumeSpec } from "./types.ts";
import type { VolumeWriter } from "./volume-writer.ts";

/** What the webhook would have refused, or not. */
export interface PublishCounts {
  reservedName(request: PublishRequest): void;
  readOnly(isReadOnly: boolean): void;
}

export interface PublishOptions {
  observe(request: PublishRequest, memory: PublishMemory): PublishView;
  readonly plan: typeof planPublish;
  readonly mounted: MountedVolumes;
  readonly host: Pick<VolumeHost, "mount">;
  readonly reviews: Pick<Reviews, "fresh">;
  readonly sources: Pick<Sources, "known">;
  readonly writer: VolumeWriter;
  readonly memoryUse: Pick<MemoryUse, "awaitRoom">;
  /** One piece of work per volume at a time. */
  readonly alone: ReturnType<typeof createSerial>;
  readonly counts: PublishCounts;
  readonly decisions: Pick<Decisions, "note" | "forget">;
  readonly log: Log;
}

/** What may take seconds and needs nothing of the volume: it keeps nobody from emptying it meanwhile. */
const beforehand: ReadonlySet<PublishAction["kind"]> = new Set([
  "countReservedName",
  "countReadOnly",
  "review",
  "refuse",
]);

export function createPublish(options: PublishOptions) {
  const { mounted, alone, decisions } = options;
  return async (request: PublishRequest, signal: AbortSignal): Promise<void> => {
    const attempt = createAttempt(options, request, signal);
    const key = request.id as Key;
    const carryOut = async (mayDo: (action: PublishAction) => boolean): Promise<void> => {
      for (;;) {
        const view = attempt.view();
        const { actions, next, reason } = options.plan(view);
        decisions.note(key, { actions, reason, phase: () => phaseOfPublish(view) });
        for (const action of actions) {
          if (!mayDo(action)) return;
          await perform(attempt.handlers, action, signal);
        }
        if (next.kind === "settled") return;
      }
    };
    try {
      await carryOut(({ kind }) => beforehand.has(kind));
      await alone(request.id, async () => {
        const known = mounted.get(request.id);
        await carryOut(() => true).catch(async (reason: unknown) => {
          if (known === undefined) await attempt.undo();
          throw reason;
        });
        attempt.keep();
      });
    } finally {
      decisions.forget(key);
    }
  };
}

function createAttempt(options: PublishOptions, request: PublishRequest, signal: AbortSignal) {
  const { mounted, host, reviews, sources, writer, counts, log } = options;
  const { readOnly: _readOnly, group: _group, ...spec } = request;
  let memory = nothingAsked;
  let entry: Mounted | undefined;
  let isTouched = false;
  const remember = (more: Partial<PublishMemory>): void => {
    memory = { ...memory, ...more };
  };
  const opened = (): Mounted => {
    entry ??= mounted.get(spec.id) ?? mounted.open(spec);
    if (entry.spec.refresh !== spec.refresh) {
      entry.spec = spec;
      entry.recorded = undefined;
    }
    return entry;
  };
  const handlers: ActionHandlers<PublishAction> = {
    countReservedName: async () => counts.reservedName(request),
    countReadOnly: async ({ isReadOnly }) => {
      counts.readOnly(isReadOnly);
      remember({ isReadOnlyCounted: true });
    },
    review: async () =>
      remember({ review: { ...(await answerOf(reviews.fresh(subjectOf(spec)))), after: memory.source?.of } }),
    read: async ({ source }) => {
      mounted.follow(opened(), source);
      remember({ source: { ...(await answerOf(sources.known(source, signal))), of: source } });
    },
    reserve: async ({ setBytes }) => writer.reserve(spec, setBytes),
    record: async ({ source }) => {
      isTouched = true;
      await writer.record(opened(), source);
    },
    mount: async () => remember({ mount: (await host.mount(spec, request.group)) ? "new" : "before" }),
    write: ({ source }) =>
      writer.write(opened(), source, {
        unread: (reason) => sourceFailed(request, source, reason).fault,
        unpermitted: (verdict) => (verdict === "denied" ? deniedUse(request) : reviewAged(request)).fault,
      }),
    awaitRoom: async () => options.memoryUse.awaitRoom(spec.id),
    refuse: async ({ fault }) => {
      throw fault;
    },
  };
  return {
    handlers,
    view: () => options.observe(request, memory),
    keep: () => mounted.add(opened()),
    async undo(): Promise<void> {
      if (isTouched) await writer.remove(spec).catch((left: unknown) => reportLeft(log, spec, left));
      if (entry !== undefined) mounted.close(entry);
    },
  };
}

const answerOf = <T>(asked: Promise<T>): Promise<Answer<T>> =>
  asked.then(
    (value) => ({ kind: "answered", value }),
    (reason: unknown) => ({ kind: "failed", reason }),
  );

const reportLeft = (log: Log, { id, target }: VolumeSpec, reason: unknown): void =>
  log.error("volume could not be removed after a failed publish", { volume: id, target, reason: loggable(reason) });
