/** Our components as real processes on a real API server, and what a user has before taking a snapshot. */
import { resolve } from "node:path";
import { draftOf } from "../../../src/api/builders.ts";
import { crossNamespaceCrds } from "../../../src/api/crds/cross-namespace.ts";
import { snapshotCrds } from "../../../src/api/crds/index.ts";
import { referenceGrantCrd } from "../../../src/api/crds/reference-grant.ts";
import type { DeletionPolicy } from "../../../src/api/types.ts";
import { silent } from "../../../src/base/log.ts";
import { realWorld } from "../../../src/base/world.ts";
import { type CsiClient, createCsiClient } from "../../../src/csi/client.ts";
import { VolumeCapability_AccessMode_Mode as AccessMode } from "../../../src/csi/gen/csi_pb.js";
import type { Client } from "./client.ts";
import type { ControlPlane } from "./control-plane.ts";
import { installCrds } from "./crds.ts";
import type { Daemon } from "./instance.ts";
import { until } from "./until.ts";

const main = resolve(import.meta.dirname, "../../../src/main.ts");
/** Our program from the sources, as arguments of Node. */
export const componentProgram: readonly string[] = [main];
let started = 0;

/** Runs `snapkeep <component>` from the sources; its log is in the instance's folder. */
export function startComponent(
  { instance, kubeconfig }: Pick<ControlPlane, "instance" | "kubeconfig">,
  component: string,
  flags: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Daemon {
  started += 1;
  return instance.start(`${component}-${started}`, "env", [
    ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    process.execPath,
    main,
    component,
    `--kubeconfig=${kubeconfig}`,
    ...flags,
  ]);
}

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
