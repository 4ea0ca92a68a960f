/** Drivers reach a real kubelet through our registration, and pods reach their volumes. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Fault } from "../../../src/base/fault.ts";
import { realWorld } from "../../../src/base/world.ts";
import {
  Identity,
  VolumeCapability_AccessMode_Mode as Mode,
  Node as NodeService,
} from "../../../src/csi/gen/csi_pb.js";
import { createRegistration, type DriverRegistration, type RegistrationStatus } from "../../../src/csi/registration.ts";
import { serve } from "../../../src/csi/serve.ts";
import { connectTo, createMemoryLog, startDriver, temporaryFolder } from "../../csi-sockets.ts";
import { registerOnBehalf } from "../../registration-on-behalf.ts";
import { startHostpath } from "../harness/hostpath.ts";
import { createInstance } from "../harness/instance.ts";
import type { Node } from "../harness/node.ts";
import { runPod } from "../harness/pods.ts";
import { newNamespace } from "../harness/shared.ts";
import { useNode } from "../harness/shared-node.ts";
import { createCsiDriver, createStaticClaim, deleteCsiDriver, driversOf } from "../harness/static-claims.ts";
import { until } from "../harness/until.ts";

function surroundings(t: TestContext, node: Node) {
  const stop = new AbortController();
  t.after(() => stop.abort());
  const reports: RegistrationStatus[] = [];
  const options = {
    registryFolder: join(node.rootDir, "plugins_registry"),
    log: createMemoryLog(),
    world: realWorld,
    signal: stop.signal,
    onStatus: (status: RegistrationStatus) => void reports.push(status),
  };
  return { stop, reports, options };
}

const announced = (node: Node, driver: string, wanted: boolean): Promise<true> =>
  until({ what: `the node ${wanted ? "has" : "no longer has"} ${driver}` }, async () =>
    (await driversOf(node)).includes(driver) === wanted ? true : undefined,
  );

const settled = (registration: DriverRegistration): Promise<RegistrationStatus> =>
  until({ what: "the kubelet has reported" }, () =>
    registration.status().kind === "waiting" ? undefined : registration.status(),
  );

test("hostpath is registered on its behalf, and a pod reads what another wrote to its volume", async (t) => {
  const node = await useNode();
  const { options, reports, stop } = surroundings(t, node);
  const instance = createInstance();
  t.after(() => instance.stop());
  const hostpath = await startHostpath(instance, { nodeId: node.name });
  const registration = await registerOnBehalf({ ...options, address: hostpath.socket });
  assert.deepEqual(await settled(registration), { kind: "registered" });
  await announced(node, hostpath.driver, true);

  await createCsiDriver(node, hostpath.driver);
  t.after(() => deleteCsiDriver(node, hostpath.driver));
  const { controller } = connectTo(t, hostpath.socket);
  const { volume } = await controller.createVolume({
    name: "static",
    capacityRange: { requiredBytes: 2n ** 20n },
    volumeCapabilities: [{ accessType: { case: "mount", value: {} }, accessMode: { mode: Mode.SINGLE_NODE_WRITER } }],
  });
  const namespace = await newNamespace(node.plane, "registered");
  const claimName = "static";
  const volumeHandle = volume?.volumeId ?? "";
  await createStaticClaim(node, { namespace, name: claimName, driver: hostpath.driver, volumeHandle });
  const mounted = {
    namespace,
    volumes: [{ name: "data", persistentVolumeClaim: { claimName } }],
    volumeMounts: [{ name: "data", mountPath: "/mnt" }],
  };
  const writer = await runPod(node, { name: "writer", script: "echo kept > /mnt/file", ...mounted });
  assert.deepEqual(writer, { phase: "Succeeded", exitCode: 0, message: "" });

  await node.restartKubelet();
  await until({ what: "the kubelet has found the driver again" }, () => (reports.length > 1 ? true : undefined));
  const reader = await runPod(node, { name: "reader", script: "cat /mnt/file", ...mounted });
  assert.deepEqual(reader, { phase: "Succeeded", exitCode: 0, message: "kept\n" });

  stop.abort();
  await registration.closed;
  await announced(node, hostpath.driver, false);
});

test("a driver of our own registers itself", async (t) => {
  const node = await useNode();
  const { options } = surroundings(t, node);
  const driver = "own.example.com";
  const server = await startDriver(
    t,
    [
      serve(Identity, {
        getPluginInfo: () => ({ name: driver }),
        getPluginCapabilities: () => ({}),
        probe: () => ({}),
      }),
      serve(NodeService, { nodeGetInfo: () => ({ nodeId: node.name }), nodeGetCapabilities: () => ({}) }),
    ],
    { address: join(temporaryFolder(t), "csi.sock") },
  );
  const registration = await createRegistration({ ...options, driver, endpoint: server.path });
  assert.deepEqual(await settled(registration), { kind: "registered" });
  await announced(node, driver, true);
});

test("the kubelet's registration error is reported", async (t) => {
  const node = await useNode();
  const { options } = surroundings(t, node);
  const driver = "broken.example.com";
  const nodeGetInfo = () => {
    throw new Fault("FailedPrecondition", "this node has no disk");
  };
  const server = await startDriver(t, [serve(NodeService, { nodeGetInfo })], {
    address: join(temporaryFolder(t), "csi.sock"),
  });
  const registration = await createRegistration({ ...options, driver, endpoint: server.path });
  const status = await settled(registration);
  assert.ok(status.kind === "refused", status.kind);
  assert.match(status.error, /this node has no disk/);
  assert.ok(
    options.log.lines.some(({ level, message }) => level === "error" && message === "kubelet rejected the driver"),
  );
});
