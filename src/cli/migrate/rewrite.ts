/** Writes stored objects as they are, so that the API server stores them in the storage version. */
import type { SnapshotKind } from "../../api/crds/index.ts";
import { backoffMs } from "../../base/backoff.ts";
import { Fault, isFault, isFinal } from "../../base/fault.ts";
import { isNewer } from "../../kube/version.ts";
import { withCode } from "../../rules/error-codes.ts";
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

const parallel = 16;
const retriesMax = 10;
const pause = { startMs: 200, maxMs: 5_000 } as const;
const failuresShownMax = 20;

type Written = { readonly metadata: { name: string; namespace?: string; uid?: string; resourceVersion?: string } };

export async function rewriteObjects(context: MigrateContext, options: RewriteOptions): Promise<void> {
  const { api, signal, progress } = context;
  const { kind, version, after } = options;
  const failures: string[] = [];
  let failed = 0;
  let seen = 0;
  for await (const { objects } of api.pages(kind, { version, signal })) {
    await options.eachPage();
    const due = (objects as readonly Written[]).filter(
      ({ metadata }) => !isNewer(metadata.resourceVersion ?? "", after),
    );
    await inParallel(due, async (object) => {
      const failure = await rewriteOne(context, options, object);
      if (failure === undefined) return;
      failed += 1;
      if (failures.length < failuresShownMax) failures.push(failure);
    });
    seen += objects.length;
    progress(() => `rewritten ${count(seen, kind)} so far`);
  }
  if (failed === 0) return;
  for (const failure of failures) context.say(failure);
  throw new Fault(
    "FailedPrecondition",
    withCode(`${count(failed, kind)} could not be rewritten; correct or delete them, then migrate again`, "SNAP-608"),
  );
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
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
      await world.sleep(backoffMs(pause, failures, world.random()), signal);
    }
  }
}
