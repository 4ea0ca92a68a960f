/** Clusters in every phase of the snapshot CRDs, and `snapkeep migrate` on them. */
import assert from "node:assert/strict";
import { draftOf } from "../../../src/api/builders.ts";
import { type CrdDraft, crdNameOf, snapshotKinds } from "../../../src/api/crds/index.ts";
import { isFault } from "../../../src/base/fault.ts";
import { startCommand } from "../../command-line.ts";
import { type Client, type Connection, connect } from "./client.ts";
import { type ControlPlane, startControlPlane } from "./control-plane.ts";
import { until } from "./until.ts";
import { oldReleaseFile, releaseFile } from "./upstream.ts";

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
  /** As kubectl replace does: no preflight, no rewrite. */
  replace(crds: readonly CrdDraft[]): Promise<void>;
  phase(): Promise<unknown>;
  /** The versions in which etcd holds objects of the group. */
  storedIn(): Promise<readonly (string | undefined)[]>;
  /** status.storedVersions of all CRDs, without repetition. */
  storedVersions(): Promise<readonly string[]>;
  stop(): void;
}

const crdRef = (kind: (typeof snapshotKinds)[number]) =>
  ({ kind: "CustomResourceDefinition", name: crdNameOf(kind) }) as const;

export async function migrationGround(): Promise<MigrationGround> {
  const plane = await startControlPlane();
  const ground = await migrationGroundOn(plane);
  return {
    ...ground,
    stop: () => {
      ground.stop();
      plane.stop();
    },
  };
}

/** On a control plane that somebody else stops. */
export async function migrationGroundOn(plane: ControlPlane): Promise<MigrationGround> {
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
    migrated: async (...words) => {
      const { code, text } = await migrate(...words);
      assert.equal(code, 0, text);
    },
    install: async (crds) => {
      for (const kind of snapshotKinds)
        await admin.delete(crdRef(kind)).catch((reason: unknown) => {
          if (!isFault(reason, "NotFound")) throw reason;
        });
      for (const kind of snapshotKinds)
        await until({ what: `the CRD of ${kind} is gone` }, () =>
          admin.get(crdRef(kind)).then(
            () => undefined,
            () => true as const,
          ),
        );
      for (const crd of crds) await admin.create("CustomResourceDefinition", crd);
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

const crdFiles = snapshotKinds.map((kind) => `config/crd/${snapshotGroup}_${crdNameOf(kind).split(".", 1)[0]}.yaml`);

/** The CRDs of the current upstream release. */
export async function upstreamCrds(): Promise<readonly CrdDraft[]> {
  return (await Promise.all(crdFiles.map((file) => releaseFile(file)))).flat() as unknown as readonly CrdDraft[];
}

/** The CRDs of the last upstream release that had v1beta1 alone. */
export async function oldUpstreamCrds(): Promise<readonly CrdDraft[]> {
  return (await Promise.all(crdFiles.map((file) => oldReleaseFile(file)))).flat() as unknown as readonly CrdDraft[];
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
