/** A claim that waits for a volume, as the csi-provisioner of its class decides it. */
import type { PersistentVolumeClaim, StorageClass } from "../../api/types.ts";
import type { Key, Millis } from "../../base/brand.ts";
import { provisionerOf, volumeNameFor } from "../../components/csi-provisioner/claims/claim.ts";
import { volumeKey } from "../../components/csi-provisioner/identity.ts";
import type { DriverFacts } from "../../components/csi-provisioner/options.ts";
import { noVolumeMemory } from "../../components/csi-provisioner/volumes/memory.ts";
import {
  observeVolume,
  type VolumeContext,
  type VolumeStores,
} from "../../components/csi-provisioner/volumes/observe.ts";
import { volumePhaseOf } from "../../components/csi-provisioner/volumes/phase.ts";
import { planVolume } from "../../components/csi-provisioner/volumes/plan.ts";
import { grantAllows } from "../../rules/reference-grant.ts";
import { provisionerDefaults } from "../sidecar-defaults.ts";
import type { ClusterCopy } from "./cluster-copy.ts";
import { createdMs, type Finding } from "./finding.ts";
import { unreadable } from "./rights.ts";

export function provisionedFor(
  copy: ClusterCopy,
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  nowMs: Millis,
): Pick<Finding, "cause" | "says"> & Partial<Finding> {
  const driver = driverOf(copy, provisionerOf(claim) ?? storageClass.provisioner);
  const component = { name: "csi-provisioner", driver: driver.name } as const;
  // kube-controller-manager gives the claim to the driver of its class first.
  if (provisionerOf(claim) === undefined)
    return {
      cause: "Writes",
      says: `kube-controller-manager has not given the claim to driver ${driver.name} yet`,
      sinceMs: createdMs(claim),
      component,
    };
  const key = volumeKey(volumeNameFor(provisionerDefaults, claim.metadata.uid));
  const view = observeVolume(storesOf(copy, claim), contextOf(copy, driver, nowMs), key);
  if (view === undefined) return { cause: "NothingWrong", says: "nothing is wanted for the claim" };
  const { source } = view.facts;
  if ("named" in source && source.kind === "snapshot" && source.snapshot === undefined) {
    const { namespace, name } = source.named;
    const hidden = unreadable(copy, { kind: "VolumeSnapshot", namespace, name });
    if (hidden !== undefined) return { ...hidden, waitsFor: [hidden.object] };
  }
  const { reason } = planVolume(view);
  const waitsForDriver =
    reason.code === "Writes"
      ? {
          cause: "WaitsForDriver" as const,
          says: `driver ${driver.name} is asked for the volume by its csi-provisioner`,
        }
      : { cause: reason.code, says: reason.says };
  return {
    phase: volumePhaseOf(view),
    ...waitsForDriver,
    waitsFor: reason.waitsFor,
    // A plan that remembers nothing is about to send the call: since when it is asked is not stored.
    sinceMs: createdMs(claim),
    component,
  };
}

/** What the driver says of itself is not known from here. Topology is: its nodes have keys. */
function driverOf(copy: ClusterCopy, name: string): DriverFacts {
  const hasTopology = copy
    .list("CSINode")
    .some(({ spec }) => spec?.drivers?.some((each) => each.name === name && (each.topologyKeys?.length ?? 0) > 0));
  return {
    name,
    plugin: new Set(hasTopology ? ["VOLUME_ACCESSIBILITY_CONSTRAINTS"] : []),
    controller: new Set(["CREATE_DELETE_VOLUME", "CREATE_DELETE_SNAPSHOT", "CLONE_VOLUME"]),
  } as DriverFacts;
}

function storesOf(copy: ClusterCopy, claim: PersistentVolumeClaim): VolumeStores {
  const get =
    <K extends "PersistentVolumeClaim" | "PersistentVolume" | "StorageClass">(kind: K) =>
    (key: Key) =>
      copy.get(kind, ...placeOf(key));
  const all = <K extends "Node" | "CSINode" | "StorageClass">(kind: K) => ({
    get: () => undefined,
    all: () => copy.list(kind),
    by: () => [],
  });
  return {
    PersistentVolumeClaim: { get: get("PersistentVolumeClaim"), all: () => [claim], by: () => [claim] },
    PersistentVolume: { get: get("PersistentVolume"), all: () => [], by: () => [] },
    StorageClass: { ...all("StorageClass"), get: get("StorageClass") },
    Node: all("Node"),
    CSINode: all("CSINode"),
  } as VolumeStores;
}

const contextOf = (copy: ClusterCopy, driver: DriverFacts, nowMs: Millis): VolumeContext => ({
  nowMs,
  driver,
  // Flags of the running provisioner are not known.
  options: provisionerDefaults,
  memory: { about: () => noVolumeMemory },
  identity: "",
  watchesSnapshots: true,
  protectsSnapshots: false,
  intents: { get: () => undefined },
  attributes: { get: () => ({ kind: "missing" }) },
  snapshots: {
    pair: (key) => {
      const snapshot = copy.get("VolumeSnapshot", ...placeOf(key));
      const bound = snapshot?.status?.boundVolumeSnapshotContentName;
      return {
        snapshot,
        content: bound === undefined ? undefined : copy.get("VolumeSnapshotContent", undefined, bound),
      };
    },
  },
  grants: {
    isOn: () => true,
    find: (from, to) =>
      copy.list("ReferenceGrant", { namespace: to.namespace }).find((grant) => grantAllows(grant, from, to)),
  },
  links: { isServed: () => true, get: (key) => copy.get("VolumeSnapshotLink", ...placeOf(key)) },
});

/** Namespace and name. */
function placeOf(key: Key): readonly [string | undefined, string] {
  const [name = "", namespace] = String(key).split("/").reverse();
  return [namespace, name];
}
