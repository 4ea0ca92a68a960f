/** Clusters in every phase of the snapshot CRDs, and `snapkeep migrate` on them. */
import assert from "node:assert/strict";
import { draftOf } from "../../../src/api/builders.ts";
import { type CrdDraft, crdNameOf, snapshotKinds } from "../../../src/api/crds/index.ts";
import { startCommand } from "../../command-line.ts";
import { type Client, type Connection, connect } from "./client.ts";
import { type ControlPlane, startControlPlane } from "./control-plane.ts";
import { deleteCrds, installCrds, withoutCreateDelay } from "./crds.ts";
import { createInstance } from "./instance.ts";
import { until } from "./until.ts";

export const snapshotGroup = "snapshot.storage.k8s.io";
const namespace = "default";

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly error: string;
  /** Both, in the order it was written. */
  readonly text: string;
}

export interface MigrationGround {
  readonly plane: ControlPlane;
  /** As an administrator of that version would. */
  readonly clients: Readonly<Record<"v1" | "v1beta1", Client>>;
  snapkeep(command: string, ...words: readonly string[]): Promise<Ended>;
  /** With a short time to settle: there is one API server. */
  migrate(...words: readonly string[]): Promise<Ended>;
  /** The same, and it must succeed. */
  migrated(...words: readonly string[]): Promise<void>;
  /** Deletes the CRDs with all objects, and installs others. */
  install(crds: readonly CrdDraft[]): Promise<void>;
  /** Objects of CRDs that were created a moment ago are created without the API server's delay. */
  withoutCreateDelay(): Promise<void>;
  /** As kubectl replace does: no preflight, no rewrite. */
  replace(crds: readonly CrdDraft[]): Promise<void>;
  /** The API server's cache of these objects forgets every revision but the newest: it is made anew when the spec of the CRD changes. */
  newCacheOf(kind: (typeof snapshotKinds)[number]): Promise<void>;
  phase(): Promise<unknown>;
  /** The versions in which etcd holds objects of the group. */
  storedIn(): Promise<readonly (string | undefined)[]>;
  /** status.storedVersions of all CRDs, without repetition. */
  storedVersions(): Promise<readonly string[]>;
  stop(): void;
}

const crdRef = (kind: (typeof snapshotKinds)[number]) =>
  ({ kind: "CustomResourceDefinition", name: crdNameOf(kind) }) as const;

/** Every change of a CRD makes new OpenAPI documents: collecting the old ones took a quarter of the API server's CPU time. */
const fewerCollections = { GOGC: "400" };
let shared: Promise<ControlPlane> | undefined;
let suites = 0;

/**
 * One control plane for all suites that change the snapshot CRDs. Call it when the suite is declared, so that the suites are counted
 * before the first one ends; the last one stops the control plane. What a suite starts is stopped with that suite.
 */
export function sharedMigrationGround(): () => Promise<MigrationGround> {
  suites += 1;
  return async () => {
    shared ??= startControlPlane({ apiServerEnvironment: fewerCollections });
    const plane = await shared;
    const instance = createInstance();
    const ground = await migrationGroundOn({ ...plane, instance });
    await clear(plane.kubeconfig);
    return {
      ...ground,
      stop: () => {
        ground.stop();
        instance.stop();
        suites -= 1;
        if (suites > 0) return;
        shared = undefined;
        plane.stop();
      },
    };
  };
}

/** Deletes all CRDs with their objects. No component of the suite before runs any more: nobody else removes the finalizers. */
async function clear(kubeconfig: string): Promise<void> {
  const { client, close } = await connect(kubeconfig);
  const { objects: crds } = await client.list("CustomResourceDefinition");
  const isThere = (kind: (typeof snapshotKinds)[number]) =>
    crds.some(({ metadata }) => metadata.name === crdNameOf(kind));
  for (const kind of snapshotKinds.filter(isThere))
    for (const { metadata } of (await client.list(kind)).objects)
      await client.patch(
        { kind, namespace: metadata.namespace, name: metadata.name },
        { type: "merge", body: { metadata: { finalizers: null } } },
      );
  await deleteCrds(
    client,
    crds.map(({ metadata }) => metadata.name),
  );
  close();
}

async function migrationGroundOn(plane: ControlPlane): Promise<MigrationGround> {
  const connections: Connection[] = [];
  const clientOf = async (version: "v1" | "v1beta1", userAgent: string): Promise<Client> => {
    const connection = await connect(plane.kubeconfig, { versions: { [snapshotGroup]: version }, userAgent });
    connections.push(connection);
    return connection.client;
  };
  const clients = {
    v1: await clientOf("v1", "kubectl-create"),
    v1beta1: await clientOf("v1beta1", "old-client"),
  };
  const admin = clients.v1;
  const snapkeep: MigrationGround["snapkeep"] = async (command, ...words) => {
    const { code, said } = startCommand(command, `--kubeconfig=${plane.kubeconfig}`, ...words);
    return { code: await code, ...said };
  };
  const migrate: MigrationGround["migrate"] = (...words) => snapkeep("migrate", "--settle-duration=100ms", ...words);
  const untilServed = async (crds: readonly CrdDraft[]) => {
    for (const { spec } of crds)
      for (const { name, served } of spec.versions)
        await until({ what: `${spec.names.plural} in ${name} are ${served ? "" : "not "}served` }, async () =>
          ((await plane.request("GET", `/apis/${snapshotGroup}/${name}/${spec.names.plural}`)).status === 200) ===
          served
            ? true
            : undefined,
        );
  };
  return {
    plane,
    clients,
    snapkeep,
    migrate,
    withoutCreateDelay: () => withoutCreateDelay(admin, snapshotKinds.map(crdNameOf)),
    migrated: async (...words) => {
      const { code, text } = await migrate(...words);
      assert.equal(code, 0, text);
    },
    install: async (crds) => {
      await deleteCrds(admin, snapshotKinds.map(crdNameOf));
      await installCrds(admin, crds);
      await untilServed(crds);
    },
    replace: async (crds) => {
      for (const crd of crds) {
        const name = crd.metadata.name ?? "";
        const { metadata } = await admin.get({ kind: "CustomResourceDefinition", name });
        const merged = { ...crd.metadata, name, resourceVersion: metadata.resourceVersion };
        await admin.replace("CustomResourceDefinition", { ...crd, metadata: merged } as never);
      }
      await untilServed(crds);
    },
    newCacheOf: async (kind) => {
      const body = { spec: { names: { categories: ["storage"] } } };
      await admin.patch(crdRef(kind), { type: "merge", body });
    },
    phase: async () => JSON.parse((await snapkeep("migrate", "--status", "-o", "json")).out).phase,
    storedIn: async () => {
      const texts = await plane.stored(`${snapshotGroup}/`);
      return [...new Set(texts.map((text) => /"apiVersion":"snapshot[^"/]*\/([^"]*)"/.exec(text)?.[1]))].sort();
    },
    storedVersions: async () => {
      const crds = await Promise.all(snapshotKinds.map((kind) => admin.get(crdRef(kind))));
      return [...new Set(crds.flatMap(({ status }) => status?.storedVersions ?? []))].sort();
    },
    stop: () => {
      for (const { close } of connections) close();
    },
  };
}

export const snapshotDraft = (name: string, source: object) =>
  draftOf("VolumeSnapshot", { namespace, name }, { spec: { source } } as never);

/** With the fields that came with v1. */
export const contentDraft = (name: string, source: object = { snapshotHandle: `handle-of-${name}` }) =>
  draftOf("VolumeSnapshotContent", { name }, {
    spec: {
      driver: "any.example.com",
      deletionPolicy: "Retain",
      source,
      sourceVolumeMode: "Filesystem",
      volumeSnapshotRef: { namespace, name },
    },
  } as never);
