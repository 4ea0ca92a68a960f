/** Volumes that are there already, and claims bound to them: no provisioner takes part. */
import assert from "node:assert/strict";
import type { Node } from "./node.ts";
import { until } from "./until.ts";

export interface StaticClaim {
  readonly namespace: string;
  /** The name of the claim; the volume has the namespace before it. */
  readonly name: string;
  readonly driver: string;
  readonly volumeHandle: string;
  readonly volumeMode?: "Filesystem" | "Block";
}

export async function create({ plane }: Pick<Node, "plane">, path: string, object: object): Promise<void> {
  const { status, text } = await plane.request("POST", path, object);
  assert.equal(status, 201, text);
}

const volumePath = "/api/v1/persistentvolumes";
const claimsPath = (namespace: string): string => `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
const volumeName = ({ namespace, name }: StaticClaim): string => `${namespace}-${name}`;

export async function createStaticClaim(node: Pick<Node, "plane">, claim: StaticClaim): Promise<void> {
  const { namespace, name, driver, volumeHandle, volumeMode = "Filesystem" } = claim;
  const common = { accessModes: ["ReadWriteOnce"], storageClassName: "", volumeMode };
  await create(node, volumePath, {
    metadata: { name: volumeName(claim) },
    spec: {
      ...common,
      capacity: { storage: "1Mi" },
      persistentVolumeReclaimPolicy: "Retain",
      csi: { driver, volumeHandle },
      claimRef: { namespace, name },
    },
  });
  await create(node, claimsPath(namespace), {
    metadata: { name },
    spec: { ...common, volumeName: volumeName(claim), resources: { requests: { storage: "1Mi" } } },
  });
  // A kubelet that finds a claim unbound looks again only after seconds.
  await until({ what: `claim ${name} is bound` }, async () => {
    const { text } = await node.plane.request("GET", `${claimsPath(namespace)}/${name}`);
    return (JSON.parse(text) as { status?: { phase?: string } }).status?.phase === "Bound" ? true : undefined;
  });
}

export async function deleteStaticClaim({ plane }: Pick<Node, "plane">, claim: StaticClaim): Promise<void> {
  for (const path of [`${claimsPath(claim.namespace)}/${claim.name}`, `${volumePath}/${volumeName(claim)}`])
    assert.equal((await plane.request("DELETE", path)).status, 200, path);
}

/** Without an object of its kind, Kubernetes takes a driver for one that attaches, and knows of no inline volumes. */
export const createCsiDriver = (node: Pick<Node, "plane">, name: string): Promise<void> =>
  create(node, "/apis/storage.k8s.io/v1/csidrivers", {
    metadata: { name },
    spec: { attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: ["Persistent", "Ephemeral"] },
  });

export const deleteCsiDriver = ({ plane }: Pick<Node, "plane">, name: string) =>
  plane.request("DELETE", `/apis/storage.k8s.io/v1/csidrivers/${name}`);

/** The names of the drivers that the kubelet has announced for its node. */
export async function driversOf({ plane, name }: Pick<Node, "plane" | "name">): Promise<readonly string[]> {
  const { status, text } = await plane.request("GET", `/apis/storage.k8s.io/v1/csinodes/${name}`);
  if (status !== 200) return [];
  const { spec } = JSON.parse(text) as { spec: { drivers: readonly { name: string }[] | null } };
  return (spec.drivers ?? []).map((driver) => driver.name);
}
