/** csi-snapshotter in the pod of a CSI driver. */
import { leaseNameFrom } from "../names.ts";
import type { SidecarRow } from "./component.ts";
import { electionRights, eventRight } from "./rights.ts";

const group = "snapshot.storage.k8s.io";
const groupGroup = "groupsnapshot.storage.k8s.io";
const port = 8_081;

export const csiSnapshotterRow: SidecarRow = {
  name: "csi-snapshotter",
  replaces: "external-snapshotter's sidecar",
  rights: (driver) => ({
    clusterRules: [
      {
        apiGroups: [group],
        resources: ["volumesnapshotcontents"],
        verbs: ["get", "list", "watch", "patch"],
        why: "It takes and deletes the snapshots of contents, and sets their annotations and finalizers.",
      },
      {
        apiGroups: [group],
        resources: ["volumesnapshotcontents/status"],
        verbs: ["patch"],
        why: "It writes handle, size, time and readiness of a snapshot.",
      },
      {
        apiGroups: [group],
        resources: ["volumesnapshotclasses"],
        verbs: ["list", "watch"],
        why: "A class has the parameters of CreateSnapshot.",
      },
      {
        apiGroups: [groupGroup],
        resources: ["volumegroupsnapshotcontents"],
        verbs: ["get", "list", "watch", "patch"],
        why: "It takes and deletes the groups of group contents, and sets their annotations and finalizers.",
      },
      {
        apiGroups: [groupGroup],
        resources: ["volumegroupsnapshotcontents/status"],
        verbs: ["patch"],
        why: "It writes handle, members, time and readiness of a group.",
      },
      {
        apiGroups: [groupGroup],
        resources: ["volumegroupsnapshotclasses"],
        verbs: ["list", "watch"],
        why: "A class has the parameters of CreateVolumeGroupSnapshot.",
      },
      eventRight,
    ],
    namespaceRules: electionRights(leaseNameFrom(`external-snapshotter-leader-${driver}`)),
  }),
  container: (_driver, { path, mount }) => ({
    name: "csi-snapshotter",
    args: () => ["csi-snapshotter", `--csi-address=${path}`, "--leader-election=true", `--http-endpoint=:${port}`],
    ports: [{ name: "snapshotter", containerPort: port }],
    statusPort: "snapshotter",
    volumeMounts: () => [mount],
    memory: ["160Mi", "512Mi"],
  }),
};
