/** Writes stored objects as they are, so that the API server stores them in the storage version. */
import type { SnapshotKind } from "../../api/crds/index.ts";
import { backoffMs } from "../../base/backoff.ts";
import { Fault, isFault, isFinal, retryAfterMsOf } from "../../base/fault.ts";
import { withCode } from "../../errors/codes.ts";
import { isNewer } from "../../kube/version.ts";
import { count } from "../findings/count.ts";
import type { MigrateContext } from "./act.ts";

export interface RewriteOptions {
  readonly kind: SnapshotKind;
  /** To speak to the API server. */
  readonly version: string | undefined;
  /** What is newer has been written since, and is stored as it should be. */
  readonly after: string;
  eachPage(): Promise<void>;
}

/** Requests at once. More bring nothing: sixteen keep a kube-apiserver of two cores busy, and it is not only there for us. */
export const inFlightMax = 16;
const retriesMax = 10;
const pause = { startMs: 200, maxMs: 5_000 } as const;
const failuresShownMax = 20;

type Written = { readonly metadata: { name: string; namespace?: string; uid?: string; resourceVersion?: string } };

export async function rewriteObjects(context: MigrateContext, options: RewriteOptions): Promise<void> {
  const { kind } = options;
  const failures: string[] = [];
  let [failed, done] = [0, 0];
  await inParallel(dueObjects(context, options), async (object) => {
    const failure = await rewriteOne(context, options, object);
    done += 1;
    context.progress(() => `rewritten ${count(done, kind)} so far`);
    if (failure === undefined) return;
    failed += 1;
    if (failures.length < failuresShownMax) failures.push(failure);
  });
  if (failed === 0) return;
  for (const failure of failures) context.say(failure);
  throw new Fault(
    "FailedPrecondition",
    withCode(`${count(failed, kind)} could not be rewritten; correct or delete them, then migrate again`, "SNAP-608"),
  );
}

/** One after the other; before each page it is checked that the run may go on. */
async function* dueObjects(
  { api, signal }: MigrateContext,
  { kind, version, after, eachPage }: RewriteOptions,
): AsyncGenerator<Written, void, void> {
  for await (const { objects } of readAhead(api.pages(kind, { version, signal }))) {
    await eachPage();
    for (const object of objects as readonly Written[])
      if (!isNewer(object.metadata.resourceVersion ?? "", after)) yield object;
  }
}

/** The next page is read while the objects of this one are written: nobody waits for a list, and two pages are held. */
async function* readAhead<Page>(pages: AsyncGenerator<Page, void, void>): AsyncGenerator<Page, void, void> {
  for (let next = pages.next(); ; ) {
    const { value, done } = await next;
    if (done === true) return;
    next = pages.next();
    // What goes wrong is told when the page is asked for.
    next.catch(() => undefined);
    yield value;
  }
}

/** If one fails for good, no other begins, and those that are on their way are awaited: after this nothing is written. */
async function inParallel<T>(items: AsyncGenerator<T, void, void>, work: (item: T) => Promise<void>): Promise<void> {
  const worker = async (): Promise<void> => {
    for await (const item of items) await work(item);
  };
  const ended = await Promise.allSettled(Array.from({ length: inFlightMax }, worker));
  for (const end of ended) if (end.status === "rejected") throw end.reason;
}

/** An object that changed meanwhile is stored anew by that, and one that is gone need not be. */
async function rewriteOne(
  { api, world, signal }: MigrateContext,
  { kind, version }: RewriteOptions,
  { metadata: { name, namespace, uid, resourceVersion } }: Written,
): Promise<string | undefined> {
  for (let failures = 0; ; failures += 1) {
    try {
      const body = { metadata: { uid, resourceVersion } };
      await api.patch({ kind, name, namespace }, { type: "merge", body }, { version, signal });
      return undefined;
    } catch (reason) {
      if (isFault(reason, "Conflict", "NotFound")) return undefined;
      const fault = Fault.from(reason);
      if (fault.code === "Cancelled") throw fault;
      if (isFinal(fault)) return `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}: ${fault.message}`;
      if (failures === retriesMax) throw fault;
      await world.sleep(Math.max(retryAfterMsOf(fault), backoffMs(pause, failures, world.random())), signal);
    }
  }
}
