/** csi-snapshotter and csi-provisioner in one container in the pod of a CSI driver: what is installed unless separate ones are asked for. */
import type { ComponentRights, Right, SidecarRow } from "./component.ts";
import { csiProvisionerRow } from "./csi-provisioner.ts";
import { csiSnapshotterRow } from "./csi-snapshotter.ts";

const port = 8_081;
const joined = [csiSnapshotterRow, csiProvisionerRow];

/** What another right of the list allows already is left out. */
const uncovered = (rights: readonly Right[]): readonly Right[] =>
  rights.filter(
    (right) =>
      !rights.some(
        (other) =>
          other.verbs.length > right.verbs.length &&
          String([other.apiGroups, other.resources]) === String([right.apiGroups, right.resources]) &&
          right.verbs.every((verb) => other.verbs.includes(verb)),
      ),
  );

const mergedRights = (accesses: readonly ComponentRights[]): ComponentRights => ({
  clusterRules: uncovered(accesses.flatMap(({ clusterRules }) => clusterRules)),
  namespaceRules: accesses.flatMap(({ namespaceRules }) => namespaceRules),
});

export const csiSidecarsRow: SidecarRow = {
  name: "csi-sidecars",
  replaces: "external-snapshotter's sidecar and external-provisioner",
  rights: (driver, needs) => mergedRights(joined.map(({ rights }) => rights(driver, needs))),
  container: (_driver, { path, mount }) => ({
    name: "csi-sidecars",
    args: () => ["csi-sidecars", `--csi-address=${path}`, "--leader-election=true", `--http-endpoint=:${port}`],
    ports: [{ name: "sidecars", containerPort: port }],
    statusPort: "sidecars",
    volumeMounts: () => [mount],
    memory: ["192Mi", "768Mi"],
  }),
};
