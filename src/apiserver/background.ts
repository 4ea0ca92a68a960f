/** Runs background work: one key queue and one worker for each piece. Commits fill the queues. */
import type { Key } from "../base/brand.ts";
import type { Log } from "../base/log.ts";
import type { World } from "../base/world.ts";
import { createQueue } from "../runtime/queue.ts";
import type { Background, Store, StoreEvent } from "./contracts.ts";

const backoff = { startMs: 50, maxMs: 10_000 } as const;

/** Works until the signal aborts. What was stored before is looked at first. */
export async function runBackground(
  works: readonly Background[],
  { store, world, log }: { readonly store: Store; readonly world: World; readonly log: Log },
  signal: AbortSignal,
  collections: readonly string[],
): Promise<void> {
  const stops: (() => void)[] = [];
  const loops = works.map((work) => {
    const queue = createQueue({ world, backoff });
    const enqueue = (event: StoreEvent): void => {
      for (const key of work.keysFor(event)) queue.add(key as Key);
    };
    for (const collection of collections)
      for (const stored of store.list(collection))
        enqueue({ type: "ADDED", collection, key: stored.object.metadata.name as Key, now: stored, before: undefined });
    stops.push(store.onCommit((events) => events.forEach(enqueue)));
    return loop(work, queue, log, signal);
  });
  await Promise.all(loops);
  for (const stop of stops) stop();
}

async function loop(
  work: Background,
  queue: ReturnType<typeof createQueue>,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  for (let key = await queue.next(signal); key !== undefined; key = await queue.next(signal)) {
    try {
      const again = await work.reconcile(key, signal);
      queue.forget(key);
      queue.done(key);
      if (again !== undefined) queue.add(key, again);
    } catch (reason) {
      queue.done(key);
      const afterMs = queue.retry(key);
      log.debug("background work failed, retrying", { work: work.name, key, reason, afterMs });
    }
  }
}
