/** What a scenario is, and the steps that scripts share. */
import type { KubeObject, VolumeSnapshot, VolumeSnapshotContent } from "../../src/api/types.ts";
import type { ApiObject } from "../../src/apiserver/index.ts";
import type { Backend } from "./backend.ts";
import type { ComponentName } from "./components.ts";
import { aBoundClaim, aClass, aSnapshot } from "./fixtures.ts";
import type { Entry, Seen } from "./record.ts";
import type { User } from "./user.ts";
import type { FailurePolicy } from "./webhook.ts";

export interface Scenario {
  readonly name: string;
  readonly core: boolean;
  readonly objects: readonly ApiObject[];
  readonly background: boolean;
  readonly elects: boolean;
  readonly components: readonly ComponentName[];
  /** Whether csi-snapshotter and csi-provisioner share a process. */
  readonly joined: boolean;
  /** Whether the csi-provisioner is one of them. */
  readonly provisions: boolean;
  /** Whether ReferenceGrants and VolumeSnapshotLinks are served. */
  readonly grants: boolean;
  /** Whether the csi-provisioner restores across namespaces. */
  readonly consents: boolean;
  /** Whether the CRDs have no rules of their own, as before they were tightened: what is invalid can be stored, and users store it. */
  readonly loose: boolean;
  /** The failurePolicy with which the webhook is registered; absent: it is not. */
  readonly webhook: FailurePolicy | undefined;
  /** How often seeds draw it, relative to others; 0 is run by name only. */
  readonly weight: number;
  /** A run that writes so much runs in a circle. */
  readonly entriesMax: number;
  /** Whether this run of it must end as one without faults does. */
  repeatable(history: History): boolean;
  prepare?(backend: Backend): void;
  script(user: User, dice: () => number): Promise<void>;
}

/** What happened in a run, as far as its end may depend on it. */
export interface History {
  readonly struck: readonly string[];
  readonly entries: readonly Entry[];
}

type Row = Partial<Scenario> & Pick<Scenario, "name" | "script">;

export const fixtures = [aClass("delete"), aClass("retain", { policy: "Retain" }), ...aBoundClaim("data")];
export const scenario = (row: Row): Scenario => ({
  core: false,
  objects: fixtures,
  background: false,
  elects: false,
  joined: false,
  components: ["snapshot-controller", "csi-snapshotter"],
  provisions: row.components?.includes("csi-provisioner") === true,
  grants: false,
  consents: row.grants === true && row.components?.includes("csi-provisioner") === true,
  loose: false,
  webhook: undefined,
  weight: 1,
  entriesMax: 4_000,
  repeatable: () => true,
  ...row,
});

export const monday = "default/monday";
export const isReady = (object: KubeObject | undefined): boolean =>
  (object as VolumeSnapshot | undefined)?.status?.readyToUse === true;
export const ready =
  (key = monday) =>
  (seen: Seen): boolean =>
    isReady(seen.objects("VolumeSnapshot").get(key));
export const gone =
  (key = monday) =>
  (seen: Seen): boolean =>
    !seen.objects("VolumeSnapshot").has(key);
export const contentOf = (seen: Seen, key = monday): string | undefined =>
  [...seen.objects("VolumeSnapshotContent").values()].find((object) => {
    const { namespace, name } = (object as VolumeSnapshotContent).spec.volumeSnapshotRef ?? {};
    return `${namespace}/${name}` === key;
  })?.metadata.name;

export async function take(user: User, className = "delete"): Promise<void> {
  await user.create("VolumeSnapshot", aSnapshot("monday", { className }));
  await user.until(ready());
}
export async function drop(user: User, key = monday): Promise<void> {
  await user.remove("VolumeSnapshot", key);
  await user.until(gone(key));
}
export const oldHandle = "handle-old";
export const withOldSnapshot = ({ snapshots }: Backend): void =>
  void snapshots.set(oldHandle, {
    id: oldHandle,
    name: "made-by-hand",
    volumeId: "vol-x",
    takenAtMs: 1_750_000_000_000,
    readyAtMs: 0,
  });
