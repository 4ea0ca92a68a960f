/** Our components as real processes on a real API server, and what a user has before taking a snapshot. */
import { resolve } from "node:path";
import { draftOf } from "../../../src/api/builders.ts";
import { crossNamespaceCrds } from "../../../src/api/crds/cross-namespace.ts";
import { snapshotCrds } from "../../../src/api/crds/index.ts";
import { referenceGrantCrd } from "../../../src/api/crds/reference-grant.ts";
import { allSidecarRows } from "../../../src/api/manifests/rows.ts";
import type { DeletionPolicy } from "../../../src/api/types.ts";
import { silent } from "../../../src/base/log.ts";
import { realWorld } from "../../../src/base/world.ts";
import { type CsiClient, createCsiClient } from "../../../src/csi/client.ts";
import { VolumeCapability_AccessMode_Mode as AccessMode } from "../../../src/csi/gen/csi_pb.js";
import type { Client } from "./client.ts";
import { componentUser, otherUsers, type Place, type UserOptions } from "./component-users.ts";
import { installCrds } from "./crds.ts";
import type { Daemon } from "./instance.ts";
import type { MemoryGroup } from "./memory-group.ts";
import { shippedContainer } from "./shipped.ts";
import { until } from "./until.ts";

const main = resolve(import.meta.dirname, "../../../src/main.ts");
/** Our program from the sources, as arguments of Node. */
export const componentProgram: readonly string[] = [main];
let started = 0;

export interface StartOptions extends UserOptions {
  readonly environment?: Readonly<Record<string, string>>;
}

export interface StartedComponent extends Daemon {
  /** Serves /healthz, /readyz and /metrics. */
  readonly statusUrl: string;
  /** Has the limit of the manifests, where this machine lets us set it. */
  readonly memory: MemoryGroup | undefined;
}

/**
 * Runs a component from the sources, as it is installed: the rights of its service account, the flags of its container unless one is given,
 * and the memory of its manifest; its log is in the instance's folder.
 */
export async function startComponent(
  place: Place,
  component: string,
  flags: readonly string[] = [],
  { environment = {}, ...user }: StartOptions = {},
): Promise<StartedComponent> {
  started += 1;
  const name = `${component}-${started}`;
  const { kubeconfig, namespace } = await componentUser(place, component, flags, user);
  const { instance } = place;
  const inPod = inPodFlags(component, namespace, flags);
  const shipped = await shippedContainer(instance, component, { name, folders: {}, flags: [...inPod, ...flags] });
  const own = user.as !== undefined && otherUsers[user.as].flags === "given" ? flags : shipped.flags;
  const words = [main, shipped.command, `--kubeconfig=${kubeconfig}`, ...own];
  const daemon = instance.start(name, process.execPath, words, environment, shipped.memory);
  return { ...daemon, statusUrl: shipped.statusUrl, memory: shipped.memory };
}

/** What a sidecar reads from its pod: the namespace of the pod. */
const inPodFlags = (component: string, namespace: string, flags: readonly string[]): readonly string[] =>
  allSidecarRows.some(({ name }) => name === component) &&
  !flags.some((flag) => flag.startsWith("--leader-election-namespace="))
    ? [`--leader-election-namespace=${namespace}`]
    : [];

/** With grants and links, which any cluster may have. */
export async function installSnapshotCrds(client: Client): Promise<void> {
  await installCrds(client, [...snapshotCrds(3), referenceGrantCrd(), ...crossNamespaceCrds()]);
  await snapshotKindsServed(client);
  await grantsServed(client);
  await until({ what: "VolumeSnapshotLinks are served" }, () =>
    client.list("VolumeSnapshotLink").then(
      () => true as const,
      () => undefined,
    ),
  );
}

const snapshotKinds = ["VolumeSnapshot", "VolumeSnapshotContent", "VolumeSnapshotClass"] as const;
export const grantsServed = (client: Client): Promise<true> =>
  until({ what: "ReferenceGrants are served" }, () =>
    client.list("ReferenceGrant").then(
      () => true as const,
      () => undefined,
    ),
  );

/** Definitions are served a moment after they were created, each by itself. */
export async function snapshotKindsServed(client: Client): Promise<void> {
  for (const kind of snapshotKinds)
    await until({ what: `${kind} is served` }, () =>
      client.list(kind).then(
        () => true as const,
        () => undefined,
      ),
    );
}

export const csiClientTo = (socket: string): CsiClient =>
  createCsiClient({ address: socket, world: realWorld, log: silent });

export interface Fixtures {
  readonly client: Client;
  readonly csi: CsiClient;
  readonly driver: string;
  readonly namespace: string;
}

const capability = {
  accessMode: { mode: AccessMode.SINGLE_NODE_WRITER },
  accessType: { case: "mount" as const, value: {} },
};
const capacity = { storage: "1Mi" };
const accessModes = ["ReadWriteOnce"];

/** A volume that only the nodes of this name reach. */
export const onlyOn = (node: string) => ({
  nodeAffinity: {
    required: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [node] }] }],
    },
  },
});

/** A claim bound to a volume that the driver really made; returns the volume's handle. */
export async function aBoundClaim(fixtures: Fixtures, name: string, moreOfVolume: object = {}): Promise<string> {
  const { client, csi, namespace } = fixtures;
  const made = await csi.controller.createVolume(volumeRequest(fixtures, name));
  const volumeHandle = made.volume?.volumeId ?? "";
  const { volume, claim } = claimDrafts(fixtures, name, volumeHandle, moreOfVolume);
  await client.create("PersistentVolume", volume);
  await client.create("PersistentVolumeClaim", claim);
  const ref = { kind: "PersistentVolumeClaim", namespace, name } as const;
  await until({ what: `claim ${name} is bound` }, async () =>
    (await client.get(ref)).status?.phase === "Bound" ? true : undefined,
  );
  return volumeHandle;
}

type Named = Pick<Fixtures, "namespace" | "driver">;
export const volumeNameFor = ({ namespace }: Pick<Named, "namespace">, claim: string): string =>
  `${namespace}-${claim}`.slice(0, 253);

export const volumeRequest = (fixtures: Named, claim: string) => ({
  name: volumeNameFor(fixtures, claim),
  volumeCapabilities: [capability],
  capacityRange: { requiredBytes: 2n ** 20n },
});

/** The two objects that name each other. */
export function claimDrafts(testFixtures: Named, name: string, volumeHandle: string, moreOfVolume: object = {}) {
  const { driver, namespace } = testFixtures;
  const volumeName = volumeNameFor(testFixtures, name);
  const spec = {
    capacity,
    accessModes,
    persistentVolumeReclaimPolicy: "Retain",
    storageClassName: "",
    csi: { driver, volumeHandle },
    claimRef: { namespace, name },
    ...moreOfVolume,
  };
  const claimSpec = { accessModes, storageClassName: "", volumeName, resources: { requests: capacity } };
  return {
    volume: draftOf("PersistentVolume", { name: volumeName }, { spec }),
    claim: draftOf("PersistentVolumeClaim", { namespace, name }, { spec: claimSpec }),
  };
}

export const aClassFor = (
  { client, driver }: Pick<Fixtures, "client" | "driver">,
  name: string,
  deletionPolicy: DeletionPolicy,
  parameters: Record<string, string> = {},
) =>
  client.create(
    "VolumeSnapshotClass",
    draftOf("VolumeSnapshotClass", { name }, { driver, deletionPolicy, parameters }),
  );
