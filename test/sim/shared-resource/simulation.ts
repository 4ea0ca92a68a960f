/**
 * Shares, sources and permissions that come and go, pods that are started and ended, a driver that is killed, and a controller; both are cut
 * off from the API server, and their clock is set: production code, the embedded API server, a machine in memory, one clock, one seed.
 */
import { sharedResourceCrds } from "../../../src/api/crds/shared-resource.ts";
import { type ShareKind, shareKinds } from "../../../src/api/share-lists.ts";
import { createApiServer } from "../../../src/apiserver/index.ts";
import { Fault } from "../../../src/base/fault.ts";
import { readAll } from "../../../src/base/http.ts";
import { silent } from "../../../src/base/log.ts";
import type { World } from "../../../src/base/world.ts";
import { defaultConfig } from "../../../src/components/shared-resource/config.ts";
import type { VolumeHost } from "../../../src/components/shared-resource/node/host.ts";
import { type NodeApi, type NodeOptions, startNode } from "../../../src/components/shared-resource/node/start.ts";
import type { VolumeSpec } from "../../../src/components/shared-resource/node/types.ts";
import { type CsiClient, createCsiClientOver } from "../../../src/csi/client.ts";
import { createClient } from "../../../src/kube/client.ts";
import { createMetrics } from "../../../src/runtime/metrics.ts";
import { createVirtualWorld } from "../../virtual-world.ts";
import { type ConditionsOptions, conditionsBoundMs, startConditions, wrongConditions } from "./conditions.ts";
import { createLine } from "./line.ts";
import { createMachine, createMemoryHost } from "./memory-host.ts";
import { createMonitors } from "./monitors.ts";
import { readLists } from "./read-lists.ts";
import { createTruth } from "./truth.ts";
import { createUsers } from "./users.ts";

/** A seeded bug: production parts, with one of them wrapped. */
export interface Sabotage {
  api?(api: NodeApi["api"]): NodeApi["api"];
  host?(host: VolumeHost): VolumeHost;
  readonly plans?: NodeOptions["plans"];
  /** Replaces the plan of the controller of shares. */
  readonly plan?: ConditionsOptions["plan"];
}

export interface Outcome {
  readonly violations: readonly string[];
  readonly published: number;
  readonly refused: number;
  readonly shown: number;
  readonly kills: number;
}

const definitions = sharedResourceCrds();
const namespaces = ["team-a", "team-b"] as const;
const names = ["one", "two"] as const;
const sourceNames = ["x", "y"] as const;
const sourceNamespace = "owner";

export interface SimulationOptions {
  readonly actions?: number;
  /** An administrator lets the driver watch roles and bindings. */
  readonly watchesRoles?: boolean;
}

export async function simulate(
  seed: number,
  sabotage: Sabotage = {},
  { actions = 60, watchesRoles = false }: SimulationOptions = {},
): Promise<Outcome> {
  const world = createVirtualWorld(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(world.random() * list.length)] as T;
  const server = createApiServer({ world, definitions, managedFields: false });
  const truth = createTruth();
  const machine = createMachine();
  const monitors = createMonitors(() => world.elapsed(), truth, machine, watchesRoles);
  const counts = { published: 0, refused: 0, shown: 0, kills: 0 };
  const specs = new Map<string, VolumeSpec>();
  let calmSinceMs = 0;
  let cutUntilMs = -20_000;
  let versions = 0;

  const ask = async (method: string, path: string, body?: unknown): Promise<number> => {
    const headers = { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
    const text = body === undefined ? undefined : JSON.stringify(body);
    const response = await server.handler({ method, path, headers, body: text });
    await readAll(response.body);
    return response.status;
  };
  const must = async (method: string, path: string, body?: unknown): Promise<void> => {
    const status = await ask(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status}`);
    truth.changedMs = world.elapsed();
  };

  const users = createUsers(must, truth);
  const ending = new AbortController();
  const controllerLine = createLine({
    ...faulty(),
    isAlive: () => true,
    onRequest: (request) => monitors.request(request, "shared-resource-controller"),
    onReply: () => undefined,
  });
  startConditions({ world, handler: controllerLine.handler, signal: ending.signal, plan: sabotage.plan });
  let driver = await boot();

  /** What both lines have in common. */
  function faulty() {
    return {
      world,
      server: server.handler,
      lossRate: 0.01,
      isCut: () => world.elapsed() < cutUntilMs,
      onFault: () => {
        calmSinceMs = world.elapsed();
      },
    };
  }

  async function boot() {
    const life = { isAlive: true };
    const alive = (): boolean => life.isAlive;
    const stop = new AbortController();
    const never = <T>(): Promise<T> => new Promise(() => undefined);
    const step = async (): Promise<void> => {
      await world.sleep(world.random() * 10);
      if (!life.isAlive) await never();
    };
    const onShown = (target: string): void => {
      counts.shown += 1;
      monitors.shown(target);
    };
    const line = createLine({
      ...faulty(),
      server: async (request) =>
        request.path.endsWith("/selfsubjectaccessreviews")
          ? { status: 201, headers: {}, body: JSON.stringify({ status: { allowed: watchesRoles } }) }
          : server.handler(request),
      isAlive: alive,
      onRequest: (request) => monitors.request(request, "shared-resource"),
      onReply: monitors.reply,
    });
    const api = createClient({ handler: line.handler, world, userAgent: "driver" });
    const host = createMemoryHost(machine, { step, onShown });
    const component = await world.run(
      startNode(
        { world: world as World, log: silent, metrics: createMetrics(), signal: stop.signal },
        {
          name: "csi.sharedresource.openshift.io",
          version: "1",
          nodeId: "node",
          maxVolumesPerNode: 0,
          recordFolder: "",
          kubeletFolder: "",
          config: defaultConfig,
          host: sabotage.host?.(host) ?? host,
          plans: sabotage.plans,
          connect: async () => ({ api: sabotage.api?.(api) ?? api, lists: readLists }),
        },
      ),
    );
    component.run(stop.signal).catch(() => undefined);
    const csi = createCsiClientOver(component.calls, { world, log: silent, timeoutMs: 20_000 });
    return { life, stop, line, csi };
  }

  async function restart(): Promise<void> {
    counts.kills += 1;
    driver.life.isAlive = false;
    driver.stop.abort(new Fault("Cancelled", "killed"));
    driver.line.cutWatches();
    monitors.restarted();
    await world.advance(world.random() * 3_000);
    driver = await boot();
    calmSinceMs = world.elapsed();
  }

  const actionsOf: Readonly<Record<string, () => Promise<void>>> = {
    grant: () => users.grant(pick(shareKinds), pick(names), pick(namespaces)),
    revoke: () => users.revoke(pick(shareKinds), pick(names), pick(namespaces)),
    share: () => users.point(pick(shareKinds), pick(names), { namespace: sourceNamespace, name: pick(sourceNames) }),
    unshare: () => users.unshare(pick(shareKinds), pick(names)),
    write: () =>
      users.write(pick(shareKinds), { namespace: sourceNamespace, name: pick(sourceNames) }, `v.${versions++}`),
    remove: () => users.removeSource(pick(shareKinds), { namespace: sourceNamespace, name: pick(sourceNames) }),
    publish: async () => {
      const id = `csi-${counts.published + counts.refused}`;
      const spec = specFor(id, pick(shareKinds), pick(names), pick(namespaces), world.random() < 0.8);
      monitors.published(spec);
      await publish(driver.csi, spec).then(
        () => {
          counts.published += 1;
          specs.set(id, spec);
        },
        () => {
          counts.refused += 1;
          // What was refused may have been given up by us in the middle: the kubelet unpublishes it.
          specs.set(id, spec);
        },
      );
    },
    unpublish: async () => {
      const [spec] = specs.values();
      if (spec !== undefined) await unpublish(spec);
    },
    cut: async () => {
      // Never one cut after the other: a watch that resumes must have had the time to tell what happened meanwhile.
      if (world.elapsed() < cutUntilMs + 20_000) return;
      cutUntilMs = world.elapsed() + 500 + world.random() * 25_000;
      calmSinceMs = cutUntilMs;
      cutWatches();
    },
    dropWatches: async () => cutWatches(),
    // By up to two hours, forward or back, as a time server does.
    setClock: async () => world.jump((world.random() - 0.5) * 4 * 3_600_000),
  };

  function cutWatches(): void {
    driver.line.cutWatches();
    controllerLine.cutWatches();
  }

  async function unpublish({ id, target }: VolumeSpec): Promise<void> {
    monitors.unpublishing(id);
    const done = await driver.csi.node.nodeUnpublishVolume({ volumeId: id, targetPath: target }).then(
      () => true,
      () => false,
    );
    if (!done) return;
    monitors.unpublished(id);
    specs.delete(id);
  }

  /** Half a second at a time on average, with a look at all volumes after each. */
  async function pass(steps: number): Promise<void> {
    for (let left = steps; left > 0; left--) {
      await world.advance(1_000 * world.random());
      monitors.look({ calmSinceMs });
      const calmMs = world.elapsed() - Math.max(calmSinceMs, truth.changedMs);
      if (calmMs > conditionsBoundMs) monitors.conditions(await wrongConditions(server.handler, truth), calmMs);
    }
  }

  async function furnish(): Promise<void> {
    await users.furnish([...namespaces, sourceNamespace]);
    for (const kind of shareKinds)
      for (const name of names) {
        const reference = { namespace: sourceNamespace, name: name === "one" ? "x" : "y" };
        await users.write(kind, reference, `v.${versions++}`);
        await users.point(kind, name, reference);
        await users.grant(kind, name, "team-a");
      }
  }

  async function unpublishAll(): Promise<void> {
    for (let round = 0; round < 5; round++) for (const spec of [...specs.values()]) await unpublish(spec);
  }

  const plan = pick(schedules);
  await world.run(furnish());
  await world.advance(2_000);
  for (let count = 0; count < actions; count++) {
    const name = pick(plan);
    // A restart lets time pass by itself.
    if (name === "restart") await restart();
    else await world.run(actionsOf[name]?.() ?? Promise.resolve());
    // Now and then long enough for all that is due to have happened.
    await pass(world.random() < 0.15 ? 26 : 1 + world.random() * 4);
  }
  cutUntilMs = 0;
  calmSinceMs = world.elapsed();
  await pass(60);
  await world.run(unpublishAll());
  monitors.end();
  driver.life.isAlive = false;
  for (const stop of [driver.stop, ending]) stop.abort(new Fault("Cancelled", "the end"));
  return { violations: monitors.violations, ...counts };
}

/** What happens more often in some runs than in others. */
const usual = ["grant", "revoke", "share", "unshare", "write", "remove", "publish", "publish", "unpublish"];
const schedules: readonly (readonly string[])[] = [
  usual,
  [...usual, "cut", "dropWatches"],
  [...usual, "setClock", "setClock"],
  [...usual, "restart"],
  [...usual, "cut", "dropWatches", "restart", "publish", "setClock"],
  // Nothing is taken away here, so nothing may be missing.
  ["publish", "publish", "write", "cut", "dropWatches", "restart", "setClock", "grant", "unpublish"],
  ["publish", "publish", "write", "write", "share", "cut", "restart", "unpublish", "grant", "grant", "revoke"],
];

const specFor = (id: string, shareKind: ShareKind, share: string, namespace: string, refresh: boolean): VolumeSpec => ({
  id,
  target: `/pods/${id}/mount`,
  shareKind,
  share,
  refresh,
  pod: { namespace, name: `pod-${id}`, uid: `uid-${id}`, serviceAccount: "reader" },
});

async function publish(csi: CsiClient, spec: VolumeSpec): Promise<void> {
  await csi.node.nodePublishVolume({
    volumeId: spec.id,
    targetPath: spec.target,
    readonly: true,
    volumeCapability: { accessType: { case: "mount", value: {} } },
    volumeContext: {
      [spec.shareKind === "SharedSecret" ? "sharedSecret" : "sharedConfigMap"]: spec.share,
      refreshResource: String(spec.refresh),
      "csi.storage.k8s.io/pod.name": spec.pod.name,
      "csi.storage.k8s.io/pod.namespace": spec.pod.namespace,
      "csi.storage.k8s.io/pod.uid": spec.pod.uid,
      "csi.storage.k8s.io/serviceAccount.name": spec.pod.serviceAccount,
    },
  });
}
