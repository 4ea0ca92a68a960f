/** One controller over the shares of both kinds. This file only wires. */
import { pathOf } from "../../../api/kinds.ts";
import { type ShareKind, shareKinds } from "../../../api/share-lists.ts";
import { keyOf } from "../../../api/types.ts";
import type { Millis } from "../../../base/brand.ts";
import { isFault } from "../../../base/fault.ts";
import { metadataOnly } from "../../../kube/api.ts";
import { createStores, type StoresOf, type StoreTable, watchStores } from "../../../kube/stores.ts";
import type { AllowLists, Severity } from "../../../rules/share-allow-lists.ts";
import { severityOf } from "../../../rules/shared-resources.ts";
import { createActionHandlers } from "../../../runtime/action-handlers.ts";
import type { ComponentContext } from "../../../runtime/component.ts";
import { createController, type Triggers } from "../../../runtime/controller.ts";
import type { Instruments } from "../../../runtime/metrics.ts";
import { becameNotTrue, isNotTrue } from "./conditions.ts";
import { createMemory, type Finding } from "./memory.ts";
import type { shareControllerMetrics } from "./metrics.ts";
import {
  observeShare,
  referredKinds,
  type ShareContext,
  type ShareFacts,
  type ShareView,
  shareKey,
} from "./observe.ts";
import { phaseOf } from "./phase.ts";
import { planShare, type ShareAction } from "./plan.ts";

const table = { SharedSecret: {}, SharedConfigMap: {} } as const satisfies StoreTable;
type Stores = StoresOf<typeof table>;

const triggers: Triggers<Stores> = {
  SharedSecret: (share) => [shareKey("SharedSecret", share.metadata.name)],
  SharedConfigMap: (share) => [shareKey("SharedConfigMap", share.metadata.name)],
};

const name = "shared-resource-controller";

export interface ShareControllerDeps extends Pick<ComponentContext, "api" | "world" | "log" | "leading" | "workers"> {
  readonly backoff: ComponentContext["backoff"];
  readonly observer: ComponentContext["observer"];
  readonly record: ReturnType<ComponentContext["recordAs"]>;
  readonly instruments: Instruments<typeof shareControllerMetrics>;
  readonly relistMs: Millis;
  /** Undefined until they have been read. */
  readonly lists: () => AllowLists | undefined;
  readonly plan?: typeof planShare | undefined;
}

export function createShareController(deps: ShareControllerDeps) {
  const { api, world, log, leading, instruments, relistMs, lists } = deps;
  const stores = createStores(table, log);
  const memory = createMemory();

  const find = async ({ kind, reference }: ShareFacts, signal: AbortSignal): Promise<Finding> => {
    const { namespace, name: referred } = reference;
    // The schema allows empty texts, and no object has an empty name.
    if (namespace === "" || referred === "") return "missing";
    try {
      // Only that it exists is of interest: its data is not sent.
      const path = pathOf(referredKinds[kind], { namespace, name: referred });
      await api.getPath(path, { signal, accept: metadataOnly.object });
      return "found";
    } catch (reason) {
      if (isFault(reason, "NotFound") || isFault(reason, "InvalidArgument")) return "missing";
      if (isFault(reason, "PermissionDenied")) return "forbidden";
      throw reason;
    }
  };

  const controller = createController<Stores, ShareContext, ShareView, ShareAction>({
    name,
    stores,
    triggers,
    context: () => ({ memory, lists: lists(), relistMs, nowMs: world.now(), elapsedMs: world.elapsed() }),
    observe: observeShare,
    phase: phaseOf,
    plan: deps.plan ?? planShare,
    handlers: {
      ...createActionHandlers({ api, stores, leading, record: deps.record }),
      look: async ({ facts }, signal) => {
        const { reference, share } = facts;
        const { generation, uid } = share.metadata;
        const finding = await find(facts, signal);
        memory.looked(uid, { generation, reference, finding, atMs: world.elapsed() });
      },
      written: async ({ uid }) => memory.written(uid),
      count: async ({ share, uid, reference }) => {
        memory.count(uid, reference);
        if (reference === undefined) return;
        if (share === "SharedSecret") instruments.secretNameFailures.add({});
        else instruments.configMapNameFailures.add({});
      },
    },
    workers: deps.workers,
    world,
    log,
    backoff: deps.backoff,
    leading,
    observer: deps.observer(name),
  });

  const follow = (kind: ShareKind): void =>
    void stores[kind].onChange((before, after) => {
      if (before !== undefined && after === undefined) memory.forget(before.metadata.uid);
      // Of several replicas one counts: alerts add the counters up.
      if (before !== undefined && after !== undefined && leading())
        instruments.notTrue.add({}, becameNotTrue(before, after));
    });
  for (const kind of shareKinds) follow(kind);

  const bySeverity = (): Readonly<Record<Severity, number>> => {
    const counts = { info: 0, warning: 0, critical: 0 };
    const known = lists();
    for (const kind of shareKinds)
      for (const share of stores[kind].all())
        if (isNotTrue(share) && known !== undefined) counts[severityOf(kind, String(keyOf(share)), known)]++;
    return counts;
  };

  return {
    stores,
    bySeverity,
    watch: (signal: AbortSignal) => watchStores(api, table, stores, { world, log, signal }),
    run: controller.run,
    /** To be called when the allow-lists have been read. */
    listsRead: controller.resync,
  };
}
