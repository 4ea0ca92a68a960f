/** The controller of shares beside the driver: production code on a line of its own, and whether its conditions say what is true. */
import { shareConditions } from "../../../src/api/names.ts";
import { type ShareKind, shareKinds } from "../../../src/api/share-lists.ts";
import type { Handler } from "../../../src/base/http.ts";
import { readAll } from "../../../src/base/http.ts";
import { silent } from "../../../src/base/log.ts";
import {
  createShareController,
  type ShareControllerDeps,
} from "../../../src/components/shared-resource/controller/index.ts";
import { shareControllerMetrics } from "../../../src/components/shared-resource/controller/metrics.ts";
import { createClient } from "../../../src/kube/client.ts";
import { platformAllowLists } from "../../../src/rules/share-allow-lists.ts";
import { controllerObservers } from "../../../src/runtime/measure.ts";
import { createMetrics } from "../../../src/runtime/metrics.ts";
import type { VirtualWorld } from "../../virtual-world.ts";
import { sourceId, type Truth } from "./truth.ts";

/** Short, so that a schedule sees many of them. */
const relistMs = 5_000;
/** One interval, one more for a request that failed, and the longest wait for an API server that was away. */
export const conditionsBoundMs = 2 * relistMs + 11_000;

export interface ConditionsOptions {
  readonly world: VirtualWorld;
  readonly handler: Handler;
  readonly signal: AbortSignal;
  readonly plan: ShareControllerDeps["plan"];
}

export function startConditions({ world, handler, signal, plan }: ConditionsOptions): void {
  const metrics = createMetrics();
  const controller = createShareController({
    api: createClient({ handler, world, userAgent: "controller" }),
    world,
    log: silent,
    leading: () => true,
    workers: 2,
    backoff: { startMs: 1_000, maxMs: 60_000 },
    observer: controllerObservers(metrics, "shared-resource"),
    record: () => undefined,
    instruments: metrics.instruments(shareControllerMetrics),
    relistMs,
    lists: () => platformAllowLists,
    plan,
  });
  for (const work of [controller.watch(signal), controller.run(signal)]) work.catch(() => undefined);
}

interface StoredShare {
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<string, { readonly namespace: string; readonly name: string }>>;
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** Shares whose condition Available does not say whether their Secret or ConfigMap exists. */
export async function wrongConditions(server: Handler, truth: Truth): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const kind of shareKinds)
    for (const { metadata, spec, status } of await sharesOf(server, kind)) {
      const [reference] = Object.values(spec);
      const exists = reference !== undefined && truth.sources.has(sourceId(kind, reference));
      const said = status?.conditions?.find(({ type }) => type === shareConditions.available)?.status;
      if (said !== (exists ? "True" : "False"))
        wrong.push(
          `${kind} ${metadata.name} says Available ${said}, and its reference ${exists ? "exists" : "does not exist"}`,
        );
    }
  return wrong;
}

async function sharesOf(server: Handler, kind: ShareKind): Promise<readonly StoredShare[]> {
  const path = `/apis/sharedresource.openshift.io/v1alpha1/${kind.toLowerCase()}s`;
  const { body } = await server({ method: "GET", path, headers: {} });
  return (JSON.parse(String(await readAll(body))) as { readonly items: readonly StoredShare[] }).items;
}
