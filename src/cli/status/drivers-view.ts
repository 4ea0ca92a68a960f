/** The CSI drivers of a cluster, and what can be known of them without asking them. Pure. */
import type { ClusterCopy } from "../explain/cluster-copy.ts";
import type { ComponentView, DriverView } from "./view.ts";

/** Those that are installed, and those that snapshots are or were taken by. */
export function driverNames(copy: ClusterCopy): ReadonlySet<string> {
  return new Set([
    ...copy.list("CSIDriver").map(({ metadata }) => metadata.name),
    ...copy.list("VolumeSnapshotClass").map(({ driver }) => driver),
    ...copy.list("VolumeSnapshotContent").map(({ spec }) => spec.driver),
  ]);
}

export function driversView(copy: ClusterCopy, components: readonly ComponentView[]): readonly DriverView[] {
  return [...driverNames(copy)].toSorted().map((name) => {
    const registered = copy
      .list("CSINode")
      .flatMap(({ spec }) => spec?.drivers?.filter((driver) => driver.name === name) ?? []);
    return {
      name,
      nodes: registered.length,
      capabilities: capabilitiesOf(copy, name, {
        hasTopology: registered.some(({ topologyKeys = [] }) => topologyKeys.length > 0),
        beside: components.filter((one) => one.driver === name && one.state !== "does not run"),
      }),
      snapshotClasses: copy
        .list("VolumeSnapshotClass")
        .filter(({ driver }) => driver === name)
        .map(({ metadata }) => metadata.name),
      storageClasses: copy
        .list("StorageClass")
        .filter(({ provisioner }) => provisioner === name)
        .map(({ metadata }) => metadata.name),
    };
  });
}

function capabilitiesOf(
  copy: ClusterCopy,
  name: string,
  { hasTopology, beside }: { readonly hasTopology: boolean; readonly beside: readonly ComponentView[] },
): readonly string[] {
  const spec = copy.get("CSIDriver", undefined, name)?.spec;
  const runs = (component: string): boolean => beside.some((one) => one.name === component && one.state !== "unknown");
  return [
    runs("csi-snapshotter") ? "snapshots" : undefined,
    runs("csi-provisioner") ? "volumes" : undefined,
    hasTopology ? "topology" : undefined,
    spec?.attachRequired === true ? "attach" : undefined,
    spec?.storageCapacity === true ? "capacity" : undefined,
    spec?.volumeLifecycleModes?.includes("Ephemeral") === true ? "ephemeral" : undefined,
    spec?.podInfoOnMount === true ? "pod-info" : undefined,
    spec?.seLinuxMount === true ? "selinux-mount" : undefined,
  ].filter((word) => word !== undefined);
}
