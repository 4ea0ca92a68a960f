/** Programs started as a person starts them, by their command line, on the embedded API server and a driver of a few lines. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { draftOf } from "../src/api/builders.ts";
import { type CrdDraft, snapshotCrds } from "../src/api/crds/index.ts";
import { createApiServer, kubeconfigText, volumeBinder } from "../src/apiserver/index.ts";
import type { Handler, HttpRequest, HttpResponse } from "../src/base/http.ts";
import { silent } from "../src/base/log.ts";
import { realWorld, type World } from "../src/base/world.ts";
import { commands } from "../src/cli/commands.ts";
import { runCommandLine } from "../src/cli/run.ts";
import {
  ControllerServiceCapability_RPC_Type as Capability,
  Controller,
  Identity,
  PluginCapability_Service_Type as Service,
} from "../src/csi/gen/csi_pb.js";
import { serve } from "../src/csi/serve.ts";
import { createClient } from "../src/kube/client.ts";
import { overHttp } from "../src/runtime/serve.ts";
import { inTime, startDriver, temporaryFolder } from "./csi-sockets.ts";

export const driver = "plain.example.com";
const creationTime = { seconds: 1_700_000_000n, nanos: 0 };
export const policy = { driver, deletionPolicy: "Delete" as const };

export interface HarnessOptions {
  readonly capabilities?: readonly Capability[];
  /** What the driver announces of itself; absent: that it has a controller. */
  readonly announces?: readonly Service[];
  /** Awaited before the driver replies; the signal aborts when the caller stops waiting. */
  beforeCreateSnapshot?(name: string, signal: AbortSignal): Promise<unknown>;
  readonly environment?: Readonly<Record<string, string>>;
  /** The CRDs that the server has; absent: those of phase 3. */
  readonly definitions?: readonly CrdDraft[];
  /** The clock of the programs, where it is another than the server's. */
  readonly world?: World;
  /** Awaited before the API server looks at a request of a program; the tests' own client does not come this way. */
  beforeRequest?(request: HttpRequest): Promise<unknown> | undefined;
  /** What a program is answered instead of what the API server would say. */
  answer?(request: HttpRequest): HttpResponse | undefined;
}

/** An API server with the CRDs, and a driver with these capabilities; whatever is started ends with the test. */
export async function startHarness(t: TestContext, options: HarnessOptions = {}) {
  const { capabilities = [Capability.CREATE_DELETE_SNAPSHOT], announces = [Service.CONTROLLER_SERVICE] } = options;
  const { beforeCreateSnapshot: beforeCut, beforeRequest } = options;
  const folder = temporaryFolder(t);
  const stop = new AbortController();
  const { definitions = snapshotCrds(3) } = options;
  const api = createApiServer({ definitions, plugins: [volumeBinder] });
  const held: Handler = async (request) => {
    await beforeRequest?.(request);
    return options.answer?.(request) ?? api.handler(request);
  };
  const server = await overHttp(held, { address: { host: "127.0.0.1", port: 0 }, log: silent, world: realWorld });
  const ends: Promise<unknown>[] = [api.run(stop.signal)];
  t.after(async () => {
    stop.abort();
    await inTime("the programs have stopped", Promise.allSettled(ends));
    await server.close();
  });
  const kubeconfig = join(folder, "config");
  writeFileSync(kubeconfig, kubeconfigText({ server: server.url, authority: "", token: "any" }));
  const socket = join(folder, "csi.sock");
  const rpc = (type: Capability) => ({ type: { case: "rpc" as const, value: { type } } });
  const services = [
    serve(Identity, {
      getPluginInfo: () => ({ name: driver, vendorVersion: "1" }),
      getPluginCapabilities: () => ({
        capabilities: announces.map((type) => ({ type: { case: "service" as const, value: { type } } })),
      }),
      probe: () => ({ ready: true }),
    }),
    serve(Controller, {
      controllerGetCapabilities: () => ({ capabilities: capabilities.map(rpc) }),
      createVolume: ({ name, capacityRange }) => ({
        volume: { volumeId: name, capacityBytes: capacityRange?.requiredBytes ?? 1n },
      }),
      async createSnapshot({ name, sourceVolumeId }, signal) {
        await beforeCut?.(name, signal);
        return { snapshot: { snapshotId: name, sourceVolumeId, sizeBytes: 1n, readyToUse: true, creationTime } };
      },
    }),
  ];
  await startDriver(t, services, { address: socket });
  const start = (...argv: readonly string[]) => {
    let said = "";
    const write = (text: string): void => {
      said += text;
    };
    const code = runCommandLine(commands, [...argv, `--kubeconfig=${kubeconfig}`], {
      environment: options.environment ?? {},
      signal: stop.signal,
      world: options.world ?? realWorld,
      out: { write },
      error: { write },
      version: "1.2.3",
    });
    ends.push(code);
    return { code, said: () => said };
  };
  const client = createClient({ handler: api.handler, world: realWorld, userAgent: "tester" });
  return { client, kubeconfig, socket, start, stop: () => stop.abort() };
}

type Client = Awaited<ReturnType<typeof startHarness>>["client"];

/** A volume of the driver, the claim `data` bound to it, and the class `fast`. */
export async function createClaim(client: Client, more: object = {}): Promise<void> {
  const place = { namespace: "default", name: "data" };
  const sized = { accessModes: ["ReadWriteOnce"], storageClassName: "" };
  const csi = { driver, volumeHandle: "v-1" };
  const volume = { ...sized, capacity: { storage: "1Mi" }, csi, claimRef: place, volumeMode: "Filesystem", ...more };
  await client.create("PersistentVolume", draftOf("PersistentVolume", { name: "pv" }, { spec: volume }));
  const claim = { ...sized, volumeName: "pv", resources: { requests: { storage: "1Mi" } } };
  await client.create("PersistentVolumeClaim", draftOf("PersistentVolumeClaim", place, { spec: claim }));
  await client.create("VolumeSnapshotClass", draftOf("VolumeSnapshotClass", { name: "fast" }, policy));
}

/** A snapshot of that claim, by that class. */
export async function createSnapshot(client: Client, name: string) {
  const snapshot = { kind: "VolumeSnapshot", namespace: "default", name } as const;
  const spec = { source: { persistentVolumeClaimName: "data" }, volumeSnapshotClassName: "fast" };
  await client.create("VolumeSnapshot", draftOf("VolumeSnapshot", snapshot, { spec }));
  return snapshot;
}
