import assert from "node:assert/strict";
import { test } from "node:test";
import { driver } from "../../../test/builders.ts";
import { createFakeKube, type Hook } from "../../../test/fake-kube.ts";
import { createVirtualWorld } from "../../../test/virtual-world.ts";
import { aPendingClaim, aStorageClass, provisionerOptions } from "../../../test/volume-plans.ts";
import { Fault } from "../../base/fault.ts";
import { silent } from "../../base/log.ts";
import {
  ControllerServiceCapability_RPC_Type as Capability,
  Controller,
  Identity,
  PluginCapability_Service_Type as Service,
} from "../../csi/gen/csi_pb.js";
import { serve, unaryOf } from "../../csi/serve.ts";
import type { ComponentContext } from "../../runtime/component.ts";
import { createLocalContext } from "../../runtime/context.ts";
import { start } from "./start.ts";

interface Setting {
  readonly capabilities?: readonly (keyof typeof Capability)[];
  readonly services?: readonly (keyof typeof Service)[];
  readonly claims?: readonly string[];
  readonly world?: ReturnType<typeof createVirtualWorld>;
  readonly hook?: Hook;
}

async function setUp({ capabilities = [], services = [], claims = ["new"], hook, ...given }: Setting = {}) {
  const { world = createVirtualWorld() } = given;
  const kube = Object.assign(createFakeKube(hook), {
    getPath: async () => ({ kind: "APIGroup", versions: [] }),
    postPath: async () => ({ status: { allowed: false } }),
  });
  for (const object of [aStorageClass(), ...claims.map((name) => aPendingClaim({ metadata: { name } }))])
    await kube.create(object.kind as never, object as never);
  const stop = new AbortController();
  const context = createLocalContext({
    name: "csi-provisioner",
    api: kube as unknown as ComponentContext["api"],
    world,
    log: silent,
    signal: stop.signal,
    workers: 10,
    backoff: { startMs: 1_000, maxMs: 60_000 },
  });
  const refusals = [new Fault("Internal", "not yet")];
  const calls = unaryOf([
    serve(Identity, {
      probe: () => ({}),
      getPluginInfo: () => ({ name: driver }),
      getPluginCapabilities: () => ({
        capabilities: ["CONTROLLER_SERVICE" as const, ...services].map((name) => ({
          type: { case: "service", value: { type: Service[name] } },
        })),
      }),
    }),
    serve(Controller, {
      controllerGetCapabilities: () => ({
        capabilities: ["CREATE_DELETE_VOLUME" as const, ...capabilities].map((name) => ({
          type: { case: "rpc", value: { type: Capability[name] } },
        })),
      }),
      createVolume: async ({ name }) => {
        const refusal = refusals.shift();
        if (refusal !== undefined) throw refusal;
        await world.sleep(300);
        return { volume: { volumeId: `vol-${name}` } };
      },
      deleteVolume: () => ({}),
    }),
  ]);
  const options = { ...provisionerOptions, csiAddress: "in this process", timeout: 60_000, namespace: "kube-system" };
  const component = await start(context, options, { calls });
  const running = Promise.all([component.watch?.(stop.signal), component.run(stop.signal)]);
  return {
    world,
    kube,
    context,
    component,
    stop: async () => {
      stop.abort();
      await world.run(running);
    },
  };
}

test("attempts, failures and durations are counted by class and source", async () => {
  const { world, kube, context, component, stop } = await setUp();
  assert.equal(component.leaseName, "disk-example-com");
  await world.advance(15_000);
  const [volume] = kube.stored("PersistentVolume");
  assert.ok(volume !== undefined);
  await kube.delete({ kind: "PersistentVolumeClaim", namespace: "team", name: "new" });
  await kube.replace("PersistentVolume", { ...volume, status: { phase: "Released" } });
  await world.advance(5_000);
  const { text } = await context.metrics.scrape();
  for (const line of [
    'controller_persistentvolumeclaim_provision_total{class="fast",source=""} 1',
    'controller_persistentvolumeclaim_provision_failed_total{class="fast",source=""} 1',
    'controller_persistentvolumeclaim_provision_duration_seconds_bucket{le="0.25",class="fast",source=""} 0',
    'controller_persistentvolumeclaim_provision_duration_seconds_bucket{le="0.5",class="fast",source=""} 1',
    'controller_persistentvolume_delete_total{class="fast"} 1',
    'controller_persistentvolume_delete_duration_seconds_count{class="fast"} 1',
  ])
    assert.ok(text.includes(line), `${line} is missing in\n${text}`);
  await stop();
});

test("the event of a volume that is stored waits while others are being stored or bound", async () => {
  const world = createVirtualWorld();
  let stored = 0;
  const hook: Hook = async ({ verb, kind }, when) => {
    if (verb !== "create" || kind !== "PersistentVolume" || when === "after") return;
    stored += 1;
    if (stored === 1) await world.sleep(8_000);
  };
  const { kube, stop } = await setUp({ world, hook, claims: ["one", "two"] });
  const succeeded = () => kube.stored("Event").filter(({ reason }) => reason === "ProvisioningSucceeded").length;
  for (let looks = 0; kube.stored("PersistentVolume").length === 0 && looks < 300; looks++) await world.advance(100);
  await world.advance(2_000);
  assert.deepEqual([kube.stored("PersistentVolume").length, succeeded()], [1, 0]);
  await world.advance(7_000);
  assert.deepEqual([kube.stored("PersistentVolume").length, succeeded()], [2, 0]);
  for (const volume of kube.stored("PersistentVolume"))
    await kube.replace("PersistentVolume", { ...volume, status: { phase: "Bound" } });
  await world.advance(1_000);
  assert.equal(succeeded(), 2);
  await stop();
});

for (const [given, setting, watched] of [
  ["a plain driver", {}, []],
  ["a driver with topology", { services: ["VOLUME_ACCESSIBILITY_CONSTRAINTS"] }, ["CSINode", "Node"]],
  ["a driver that attaches volumes", { capabilities: ["PUBLISH_UNPUBLISH_VOLUME"] }, ["VolumeAttachment"]],
] as const)
  test(`with ${given}, ${watched.join(" and ") || "neither nodes nor attachments"} are watched beside claims, volumes and classes`, async () => {
    const { world, kube, stop } = await setUp(setting as Setting);
    await world.advance(1_000);
    const kinds = new Set(kube.calls.filter(({ verb }) => verb === "watch").map(({ kind }) => kind));
    const always = ["PersistentVolume", "PersistentVolumeClaim", "StorageClass"];
    assert.deepEqual([...kinds].toSorted(), [...always, ...watched].toSorted());
    await stop();
  });
