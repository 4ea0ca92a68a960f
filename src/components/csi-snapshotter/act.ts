/**
 * The hand that speaks with the driver. Whatever comes of a call, a reply or a fault, lands in the content's slot and wakes the
 * content; the planner decides what it means. Secrets are read right before the call and not kept.
 */

import type { ClusterAction } from "../../api/plan.ts";
import { keyOf, type VolumeSnapshotContent } from "../../api/types.ts";
import { type Backoff, backoffMs } from "../../base/backoff.ts";
import type { Key, Millis } from "../../base/brand.ts";
import { Fault, isFault, isFinal } from "../../base/fault.ts";
import { limits } from "../../base/limits.ts";
import type { Log } from "../../base/log.ts";
import type { World } from "../../base/world.ts";
import type { CsiClient } from "../../csi/client.ts";
import type { KubeApi } from "../../kube/api.ts";
import { type ActionHandler, type ActionHandlers, notLeading } from "../../runtime/action-handlers.ts";
import type { Passage, Semaphore } from "../../runtime/semaphore.ts";
import type { CreateAttempts } from "./create-attempts.ts";
import { findSnapshot } from "./listing.ts";
import { type CachedReply, type Reply, wantedOf } from "./observe.ts";
import type { CsiCall } from "./plan-calls.ts";
import type { CsiAction } from "./plan-steps.ts";
import { snapshotInfoFrom } from "./reply.ts";

export interface CsiHandlerOptions {
  readonly api: KubeApi;
  readonly csi: CsiClient;
  readonly cluster: ActionHandlers<ClusterAction>;
  readonly replies: ReplyCache;
  readonly attempts: Pick<CreateAttempts, "willCreate">;
  readonly semaphore: Semaphore;
  readonly world: World;
  readonly log: Log;
  leading(): boolean;
  /** Whether the process was told to stop: what waits for its turn then is left to whoever comes next. */
  stopping?(): boolean;
  /** Whether it is still there: what is said of one that is gone is not kept. */
  knows(content: VolumeSnapshotContent): boolean;
  trigger(key: Key): void;
  /** Told of each attempt that failed, be it for want of a secret. */
  failed?(operation: Operation): void;
}

export type Operation = "CreateSnapshot" | "DeleteSnapshot" | "ListSnapshots";
const operations: Readonly<Record<CsiCall["method"], Operation>> = {
  create: "CreateSnapshot",
  delete: "DeleteSnapshot",
  list: "ListSnapshots",
};

/** Replies by the content's uid. Each knows how long it holds: until the next try, the next poll, or for good. */
export interface ReplyCache extends ReadonlyMap<string, CachedReply> {
  put(content: VolumeSnapshotContent, reply: Reply): void;
  /** When, by the monotonic clock, the last of them came. */
  lastAtMs(): Millis;
  forget(uid: string): void;
}

interface Timing {
  readonly backoff: Backoff;
  /** First and longest pause between two questions whether a snapshot is ready. */
  readonly poll: Backoff;
}

export function createReplyCache(world: World, { backoff, poll }: Timing): ReplyCache {
  const slots = new Map<string, CachedReply & { readonly tries: number }>();
  /** Of a secret that could not be read because no API server was there. */
  const away: Backoff = { ...backoff, maxMs: Math.min(backoff.maxMs, limits.unreachedRetryMsMax) };
  const validForMs = (content: VolumeSnapshotContent, reply: Reply, tries: number): Millis => {
    if (isOtherHandle(content, reply)) return backoffMs(backoff, tries, world.random());
    if (reply.kind === "unsent" && reply.fault.code === "Unavailable") return backoffMs(away, tries, world.random());
    if (reply.kind === "failed" || reply.kind === "unsent") return backoffMs(backoff, tries, world.random());
    return reply.kind === "taken" && !reply.snapshot.ready
      ? backoffMs(poll, tries, world.random())
      : Number.POSITIVE_INFINITY;
  };
  let lastAtMs = Number.NEGATIVE_INFINITY;
  return Object.assign(slots, {
    lastAtMs: () => lastAtMs,
    put(content: VolumeSnapshotContent, reply: Reply): void {
      const { uid } = content.metadata;
      const wanted = wantedOf(content);
      const before = slots.get(uid);
      const isAgain = before?.reply.kind === reply.kind && before.wanted === wanted;
      const tries = isAgain ? before.tries + 1 : 0;
      const malformedReplies = malformedWith(reply, before?.wanted === wanted ? before.malformedReplies : 0);
      const cameAtMs = world.elapsed();
      lastAtMs = cameAtMs;
      slots.set(uid, {
        reply,
        wanted,
        tries,
        malformedReplies,
        cameAtMs,
        expiresAtMs: cameAtMs + validForMs(content, reply, tries),
      });
    },
    forget: (uid: string): void => void slots.delete(uid),
  });
}

/** Only an answer that can be read begins the count anew: a driver that cannot be reached now and then has said nothing. */
function malformedWith(reply: Reply, before: number): number {
  if (reply.kind === "unsent") return before;
  if (reply.kind !== "failed" || isFinal(reply.fault)) return 0;
  return isFault(reply.fault, "MalformedReply") ? before + 1 : before;
}

/** Another handle than the one that is known may be mended at the driver, so it does not hold for good. */
const isOtherHandle = ({ status }: VolumeSnapshotContent, reply: Reply): boolean =>
  reply.kind === "taken" && Boolean(status?.snapshotHandle) && status?.snapshotHandle !== reply.snapshot.handle;

export function createCsiHandler({
  api,
  csi,
  cluster,
  replies,
  attempts,
  semaphore,
  world,
  log,
  leading,
  stopping = () => false,
  knows,
  trigger,
  failed = () => undefined,
}: CsiHandlerOptions): ActionHandler<CsiAction> {
  const readSecret = async (call: CsiCall, signal: AbortSignal): Promise<Record<string, string>> => {
    if (call.secret === undefined) return {};
    const { namespace, name } = call.secret;
    const secret = await api.get({ kind: "Secret", namespace, name }, { signal });
    return Object.fromEntries(
      Object.entries(secret.data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]),
    );
  };

  const keepReply = ({ about, call }: CsiAction, reply: Reply): void => {
    if (reply.kind === "failed" || reply.kind === "unsent") failed(operations[call.method]);
    if (!knows(about)) return;
    replies.put(about, reply);
    trigger(keyOf(about));
  };

  const passageOf = ({ about, call }: CsiAction): Passage<Reply> => {
    const before = replies.get(about.metadata.uid)?.reply;
    return {
      sort: call.method,
      hungBefore: before?.kind === "failed" && isFault(before.fault, "DeadlineExceeded"),
      isAnswer: (reply) => !(reply.kind === "failed" && isFault(reply.fault, ...unanswered)),
      onHanging: () =>
        log.info("csi call hangs, others go on without it", { method: operations[call.method], key: keyOf(about) }),
    };
  };

  return async (action, signal) => {
    const { call, intent } = action;
    let secrets: Record<string, string>;
    try {
      secrets = await readSecret(call, signal);
    } catch (reason) {
      if (signal.aborted) throw reason;
      return keepReply(action, { kind: "unsent", fault: unreadable(call, Fault.from(reason)) });
    }
    // Before our name is written on what a predecessor has begun: from then on it could be taken for ours alone.
    if (call.method === "create") attempts.willCreate(action.about);
    for (const write of intent) await cluster[write.kind](write as never, signal);
    const reply = await semaphore(passageOf(action), async () => {
      if (!leading()) throw notLeading();
      if (stopping()) throw new Fault("Cancelled", "told to stop before the driver was asked");
      return ask(csi, call, secrets, BigInt(world.now()) * 1_000_000n, signal);
    });
    // A call that the line kept back when the lease was gone has not been made, and has not failed.
    if (reply.kind === "failed" && !leading()) throw reply.fault;
    keepReply(action, reply);
  };
}

const unanswered = ["DeadlineExceeded", "Cancelled", "UnknownOutcome", "Unavailable"] as const;

const unreadable = ({ secret }: CsiCall, { code, message }: Fault): Fault =>
  new Fault(
    code,
    `secret ${secret?.namespace}/${secret?.name} cannot be read: ${message}; create it, or let the sidecar's role read it`,
  );

async function ask(
  csi: CsiClient,
  call: CsiCall,
  secrets: Record<string, string>,
  nowNs: bigint,
  signal: AbortSignal,
): Promise<Reply> {
  try {
    switch (call.method) {
      case "create": {
        const { name, volumeHandle: sourceVolumeId, parameters } = call;
        const { snapshot } = await csi.controller.createSnapshot(
          { name, sourceVolumeId, parameters: { ...parameters }, secrets },
          { signal },
        );
        return { kind: "taken", snapshot: snapshotInfoFrom(snapshot, nowNs) };
      }
      case "list":
        return { kind: "taken", snapshot: await findSnapshot({ csi, handle: call.handle, secrets, nowNs, signal }) };
      case "delete":
        await csi.controller.deleteSnapshot({ snapshotId: call.handle, secrets }, { signal });
        return { kind: "deleted" };
    }
  } catch (reason) {
    if (signal.aborted) throw reason;
    return { kind: "failed", fault: Fault.from(reason) };
  }
}
