/** A controller over two small kinds, on a virtual clock: what was done, and what was said. */
import type { Next, Plan } from "../src/api/plan.ts";
import { settled } from "../src/api/plan.ts";
import { because } from "../src/api/reasons.ts";
import type { ObjectOf } from "../src/api/types.ts";
import { keyOf } from "../src/api/types.ts";
import type { Key, Millis } from "../src/base/brand.ts";
import { keyIn } from "../src/base/brand.ts";
import type { Log } from "../src/base/log.ts";
import { createStores } from "../src/kube/stores.ts";
import type { ControllerObserver, ControllerOptions } from "../src/runtime/controller.ts";
import { createController } from "../src/runtime/controller.ts";
import { createVirtualWorld } from "./virtual-world.ts";

export type Config = ObjectOf<"ConfigMap">;
type Secret = ObjectOf<"Secret">;
export type Act = { readonly kind: "act"; readonly key: Key };
export interface ConfigView {
  readonly facts: { readonly config: Config };
  readonly memory: undefined;
  readonly nowMs: Millis;
}
/** Undefined: the object is gone. */
export const viewOf = (config: Config | undefined, nowMs: Millis): ConfigView | undefined =>
  config && { facts: { config }, memory: undefined, nowMs };
/** A plan that acts once for each look. */
export const actingOn = ({ facts }: ConfigView, next: Next = settled): Plan<Act> => ({
  actions: [{ kind: "act", key: keyOf(facts.config) }],
  next,
  reason: because("Writes", "the action is performed"),
});

let version = 100;
export const nextVersion = (): string => String(++version);
const anObject = (kind: string, name: string, more: object = {}): unknown => ({
  apiVersion: "v1",
  kind,
  metadata: { name, namespace: "team", uid: `uid-${name}`, resourceVersion: nextVersion() },
  ...more,
});
export const aConfig = (name: string, secret?: string): Config =>
  anObject("ConfigMap", name, secret === undefined ? {} : { data: { secret } }) as Config;
export const aSecret = (name: string): Secret => anObject("Secret", name) as Secret;
export const inTeam = (name: string): Key => keyIn("team", name);

const table = {
  ConfigMap: { indexes: { secret: ({ data }: Config) => data?.secret } },
  Secret: {},
} as const;
type Stores = ReturnType<typeof createStores<typeof table>>;

type Overrides = Partial<ControllerOptions<Stores, Millis, ConfigView, Act>> & {
  readonly act?: (key: Key, signal: AbortSignal) => Promise<void>;
};

const ignore = (): void => undefined;
const unobserved: ControllerObserver = { added: ignore, started: ignore, finished: ignore, retried: ignore };

export function setUpController({ act, ...overrides }: Overrides = {}) {
  const world = createVirtualWorld();
  const stores = createStores(table);
  const acted: string[] = [];
  const logged: string[] = [];
  const say =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
      void logged.push(`${level}: ${message} ${fields.key ?? ""}`.trim());
  const log: Log = {
    verbosity: 0,
    trace: () => undefined,
    debug: () => undefined,
    info: say("info"),
    warn: say("warn"),
    error: say("error"),
    with: () => log,
  };
  let counts: Parameters<NonNullable<ControllerObserver["bindWaiting"]>>[0] = () => new Map();
  const controller = createController<Stores, Millis, ConfigView, Act>({
    name: "test",
    stores,
    triggers: {
      ConfigMap: (object) => [keyOf(object)],
      Secret: (object, all) => all.ConfigMap.keysBy("secret", object.metadata.name),
    },
    context: () => world.now(),
    observe: (all, nowMs, key) => viewOf(all.ConfigMap.get(key), nowMs),
    phase: () => "known",
    plan: (view) => actingOn(view),
    handlers: {
      act: async ({ key }, signal) => {
        acted.push(`${key}@${world.elapsed()}`);
        await act?.(key, signal);
      },
    },
    workers: 2,
    world,
    log,
    backoff: { startMs: 1_000, maxMs: 60_000 },
    observer: {
      ...unobserved,
      bindWaiting: (bound) => {
        counts = bound;
      },
    },
    ...overrides,
  });
  const stop = new AbortController();
  const sync = (...configs: readonly Config[]): void => {
    stores.ConfigMap.take({ kind: "all", objects: configs, resourceVersion: nextVersion() });
    stores.Secret.take({ kind: "all", objects: [], resourceVersion: nextVersion() });
  };
  const run = (): Promise<void> => controller.run(stop.signal);
  /** How many objects wait, by reason. */
  const waiting = () => Object.fromEntries([...counts()].map(([reason, { count }]) => [reason, count]));
  return { world, stores, controller, acted, logged, stop, sync, run, waiting };
}
