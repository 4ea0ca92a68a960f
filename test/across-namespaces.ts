/**
 * The whole provisioner on the embedded API server, in one process and on a clock of its own: a snapshot in the namespace prod, and a
 * claim in the namespace test that names it. A test may act before any request of the provisioner and before any call to the driver.
 */
import assert from "node:assert/strict";
import { draftOf } from "../src/api/builders.ts";
import { crossNamespaceCrds } from "../src/api/crds/cross-namespace.ts";
import { snapshotCrds } from "../src/api/crds/index.ts";
import { referenceGrantCrd } from "../src/api/crds/reference-grant.ts";
import { provisioning } from "../src/api/names.ts";
import type { ReferenceGrant, VolumeSnapshot, VolumeSnapshotContent } from "../src/api/types.ts";
import type { ApiServerOptions } from "../src/apiserver/index.ts";
import { Fault } from "../src/base/fault.ts";
import type { HttpRequest, HttpResponse } from "../src/base/http.ts";
import { type Log, silent } from "../src/base/log.ts";
import { type Replacements, type StartOptions, start } from "../src/components/csi-provisioner/start.ts";
import {
  ControllerServiceCapability_RPC_Type as Capability,
  Controller,
  Identity,
  PluginCapability_Service_Type as Service,
} from "../src/csi/gen/csi_pb.js";
import { serve, unaryOf } from "../src/csi/serve.ts";
import { createClient } from "../src/kube/client.ts";
import { createLocalContext } from "../src/runtime/context.ts";
import { startApiServer } from "./api-server.ts";
import { driver } from "./builders.ts";
import { provisionerOptions } from "./volume-plans.ts";

export const [owner, guest] = ["prod", "test"];
export const snapshotGroup = "snapshot.storage.k8s.io";
export const claimsOf = (namespace: string) => ({ group: "", kind: "PersistentVolumeClaim", namespace });
export const linksOf = (namespace: string) => ({ group: snapshotGroup, kind: "VolumeSnapshotLink", namespace });
export const allSnapshots = { group: snapshotGroup, kind: "VolumeSnapshot" };
export const monday = { ...allSnapshots, name: "monday" };
export const goodGrant = { from: [claimsOf(guest)], to: [monday] };

/** What the provisioner does, in order: "GET referencegrants", "CreateVolume". */
export type Step = string;

export interface Across {
  readonly options?: Partial<StartOptions>;
  readonly server?: Partial<ApiServerOptions>;
  readonly replaced?: Replacements;
  readonly log?: Log;
  /** Called before each request of the provisioner that names an object, and before each call to the driver; may answer the request. */
  before?(step: Step, index: number): Promise<unknown> | undefined;
  /** Answers requests of the provisioner that the other does not see: lists, watches, questions about rights. */
  answer?(request: HttpRequest): HttpResponse | undefined;
  /** Called when the volume exists; what it throws is the reply. */
  afterCreate?(count: number): void;
}

export type AcrossStage = Awaited<ReturnType<typeof setUpAcross>>;

const definitions = [...snapshotCrds(3), referenceGrantCrd(), ...crossNamespaceCrds()];

export async function setUpAcross({
  options = {},
  server = {},
  replaced,
  log = silent,
  before,
  answer,
  afterCreate,
}: Across = {}) {
  const { handler, world, store } = startApiServer({
    definitions,
    featureGates: { CrossNamespaceVolumeDataSource: true },
    ...server,
  });
  const api = createClient({ handler, world });
  const steps: Step[] = [];
  const note = async (step: Step): Promise<HttpResponse | undefined> => {
    steps.push(step);
    return ((await before?.(step, steps.length - 1)) as HttpResponse | undefined) ?? undefined;
  };
  const watched = async (request: HttpRequest): Promise<HttpResponse> => {
    const given = answer?.(request);
    if (given !== undefined) return given;
    const step = stepOf(request);
    return (step === undefined ? undefined : await note(step)) ?? handler(request);
  };
  const volumes = new Map<string, string>();
  const created: string[] = [];
  const secretsSeen: Record<string, string> = {};
  let creations = 0;
  const calls = unaryOf([
    serve(Identity, {
      probe: () => ({}),
      getPluginInfo: () => ({ name: driver }),
      getPluginCapabilities: () => ({
        capabilities: [{ type: { case: "service", value: { type: Service.CONTROLLER_SERVICE } } }],
      }),
    }),
    serve(Controller, {
      controllerGetCapabilities: () => ({
        capabilities: (["CREATE_DELETE_VOLUME", "CREATE_DELETE_SNAPSHOT", "CLONE_VOLUME"] as const).map((name) => ({
          type: { case: "rpc", value: { type: Capability[name] } },
        })),
      }),
      createVolume: async ({ name, volumeContentSource, secrets }) => {
        Object.assign(secretsSeen, secrets);
        await note("CreateVolume");
        const source = volumeContentSource?.type;
        const handle =
          source?.case === "snapshot"
            ? source.value.snapshotId
            : source?.case === "volume"
              ? source.value.volumeId
              : "";
        volumes.set(`vol-${name}`, volumes.get(`vol-${name}`) ?? handle);
        created.push(handle);
        creations += 1;
        afterCreate?.(creations);
        return {
          volume: {
            volumeId: `vol-${name}`,
            ...(volumeContentSource === undefined ? {} : { contentSource: volumeContentSource }),
          },
        };
      },
      deleteVolume: async ({ volumeId }) => {
        await note("DeleteVolume");
        volumes.delete(volumeId);
        return {};
      },
    }),
  ]);
  for (const name of [owner, guest, "kube-system"])
    await world.run(api.create("Namespace", draftOf("Namespace", { name }, {})).catch(() => undefined));
  await world.run(
    api.create("StorageClass", draftOf("StorageClass", { name: "fast" }, { provisioner: driver } as never)),
  );

  /** A ready snapshot of the owner, with its content and its handle. */
  const snapshot = async (
    name: string,
    handle: string,
    more: { driver?: string; ready?: boolean; sourceVolumeMode?: string } = {},
  ) => {
    const drafted = draftOf("VolumeSnapshot", { namespace: owner, name }, {
      spec: { source: { persistentVolumeClaimName: "data" } },
    } as never);
    const made = (await world.run(api.create("VolumeSnapshot", drafted))) as VolumeSnapshot;
    const contentName = `content-${made.metadata.uid}`;
    const content = (await world.run(
      api.create(
        "VolumeSnapshotContent",
        draftOf("VolumeSnapshotContent", { name: contentName }, {
          spec: {
            driver: more.driver ?? driver,
            deletionPolicy: "Retain",
            source: { volumeHandle: "v" },
            ...(more.sourceVolumeMode === undefined ? {} : { sourceVolumeMode: more.sourceVolumeMode }),
            volumeSnapshotRef: { namespace: owner, name, uid: made.metadata.uid },
          },
        } as never),
      ),
    )) as VolumeSnapshotContent;
    const ready = more.ready ?? true;
    await world.run(
      api.replace(
        "VolumeSnapshotContent",
        { ...content, status: { snapshotHandle: handle, readyToUse: ready } },
        { subresource: "status" },
      ),
    );
    await world.run(
      api.replace(
        "VolumeSnapshot",
        { ...made, status: { boundVolumeSnapshotContentName: contentName, readyToUse: ready, restoreSize: "1Mi" } },
        { subresource: "status" },
      ),
    );
    return made;
  };
  const claim = (name: string, source: object, namespace = guest) =>
    world.run(
      api.create(
        "PersistentVolumeClaim",
        draftOf(
          "PersistentVolumeClaim",
          { namespace, name, annotations: { [provisioning.storageProvisioner]: driver } },
          {
            spec: {
              accessModes: ["ReadWriteOnce"],
              storageClassName: "fast",
              resources: { requests: { storage: "1Mi" } },
              ...source,
            },
          } as never,
        ),
      ),
    );
  const link = (name: string, source: object, namespace = guest) =>
    world.run(
      api.create(
        "VolumeSnapshotLink",
        draftOf("VolumeSnapshotLink", { namespace, name }, { spec: { source } } as never),
      ),
    );
  const grant = (name: string, spec: object = goodGrant, namespace = owner): Promise<ReferenceGrant> =>
    world.run(api.create("ReferenceGrant", draftOf("ReferenceGrant", { namespace, name }, { spec } as never)));
  /** Without waiting for the clock: it runs inside of the provisioner's own requests. */
  const revoke = (name: string, namespace = owner) => api.delete({ kind: "ReferenceGrant", namespace, name });

  const running: { stop: AbortController; ended: Promise<unknown> }[] = [];
  const startProvisioner = async (given: Partial<StartOptions> = {}) => {
    const stop = new AbortController();
    const context = createLocalContext({
      name: "csi-provisioner",
      api: createClient({ handler: watched, world }),
      world,
      log,
      signal: stop.signal,
      workers: 10,
      backoff: { startMs: 1_000, maxMs: 60_000 },
    });
    const all: StartOptions = {
      ...provisionerOptions,
      csiAddress: "in this process",
      timeout: 60_000,
      namespace: "kube-system",
      crossNamespace: true,
      crossNamespaceSnapshot: true,
      ...options,
      ...given,
    };
    const component = await world.run(start(context, all, { calls, ...replaced }));
    const ended = Promise.all([component.watch?.(stop.signal), component.run(stop.signal)]);
    const one = { stop, ended };
    running.push(one);
    return {
      metrics: async () => (await context.metrics.scrape()).text,
      stop: async () => {
        stop.abort();
        running.splice(running.indexOf(one), 1);
        await world.run(ended);
      },
    };
  };
  return {
    api,
    world,
    store,
    steps,
    volumes,
    /** The source of each CreateVolume call; "" for an empty volume. */
    created,
    /** What CreateVolume was given as secrets. */
    secretsSeen,
    snapshot,
    claim,
    link,
    grant,
    revoke,
    start: startProvisioner,
    published: async () => (await world.run(api.list("PersistentVolume"))).objects,
    /** Messages about a claim. */
    said: async (name: string, namespace = guest) =>
      (await world.run(api.list("Event", { namespace }))).objects
        .filter(({ involvedObject }) => involvedObject?.name === name)
        .map(({ message }) => message ?? ""),
    end: async () => {
      for (const { stop } of running) stop.abort();
      await world.run(Promise.all(running.map(({ ended }) => ended)));
    },
  };
}

export const jsonAnswer = (status: number, body: object): HttpResponse => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

/** A reply that never came. */
export const lostReply = (): never => {
  throw new Fault("DeadlineExceeded", "no reply in time");
};

/** Requests about objects of snapshots, grants, volumes and stored calls; not those of caches, events and discovery. */
function stepOf({ method, path }: HttpRequest): Step | undefined {
  const [bare = ""] = path.split("?", 1);
  const found =
    /\/(volumesnapshots|volumesnapshotcontents|volumesnapshotlinks|referencegrants|persistentvolumes|persistentvolumeclaims|leases)(\/[^/]+)?$/.exec(
      bare,
    );
  if (found === null || (method === "GET" && found[2] === undefined)) return undefined;
  return `${method} ${found[1]}`;
}

export const ref = (name = "monday", namespace = owner) => ({
  dataSourceRef: { apiGroup: snapshotGroup, kind: "VolumeSnapshot", name, namespace },
});
export const byLink = (name: string) => ({
  dataSourceRef: { apiGroup: snapshotGroup, kind: "VolumeSnapshotLink", name },
});
export const denial = /^no ReferenceGrant in namespace prod lets .* use VolumeSnapshot prod\/\w+: .*\[SNAP-361\]$/;

export async function assertDenied(stage: AcrossStage, claim = "copy", namespace = guest): Promise<void> {
  await stage.world.advance(30_000);
  assert.deepEqual(stage.created, [], "nothing is created, and nothing empty either");
  assert.deepEqual(await stage.published(), []);
  const said = await stage.said(claim, namespace);
  assert.ok(said.length > 0 && said.every((message) => /SNAP-(361|336|362)/.test(message)), said.join("\n"));
}
