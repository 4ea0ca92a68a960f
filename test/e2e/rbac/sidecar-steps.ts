/** What csi-snapshotter does for classes with secrets, and for snapshots that the driver had before. */
import { draftOf } from "../../../src/api/builders.ts";
import { annotations, parameters } from "../../../src/api/names.ts";
import { guideRights } from "../../guide-rights.ts";
import { grantTo } from "../harness/shipped-accounts.ts";
import { isThere } from "../harness/snapshots.ts";
import { ignoreMissing, type Stage } from "./snapshot-stage.ts";
import { type Step, type Trial, userOf } from "./trial.ts";

const component = "csi-snapshotter";

export function sidecarSteps({ plane, client, driver }: Stage): readonly Step[] {
  const snapshot = (namespace: string, name: string) => ({ kind: "VolumeSnapshot", namespace, name }) as const;
  const take = (at: ReturnType<typeof snapshot>, spec: object) =>
    client.create("VolumeSnapshot", draftOf("VolumeSnapshot", at, { spec } as never));
  const ready = (trial: Trial, at: ReturnType<typeof snapshot>) =>
    trial.until(`snapshot ${at.name} is ready`, async () =>
      (await client.get(at)).status?.readyToUse === true ? true : undefined,
    );
  const removed = async (trial: Trial, at: ReturnType<typeof snapshot>): Promise<void> => {
    const { status } = await client.get(at);
    await client.delete(at);
    const content = { kind: "VolumeSnapshotContent", name: status?.boundVolumeSnapshotContentName ?? "" } as const;
    for (const ref of [at, content])
      await trial.until(`${ref.kind} ${ref.name} is gone`, async () =>
        (await isThere({ client }, ref)) ? undefined : true,
      );
  };
  const withSecret: Step = {
    check: "a snapshot of a class with secrets is taken and deleted, with the right of the guide",
    prove: async (trial) => {
      await grantTo(plane, { user: userOf(component) }, "secrets", guideRights.secrets);
      const name = `secret-${trial.id}`;
      await client.create("Secret", draftOf("Secret", { namespace: trial.id, name: "key" }, {}));
      const secrets = {
        [parameters.snapshotterSecretName]: "key",
        [parameters.snapshotterSecretNamespace]: trial.id,
        [parameters.snapshotterListSecretName]: "key",
        [parameters.snapshotterListSecretNamespace]: trial.id,
      };
      const spec = { driver: driver.driver, deletionPolicy: "Delete" as const, parameters: secrets };
      await client.create("VolumeSnapshotClass", draftOf("VolumeSnapshotClass", { name }, spec));
      const at = snapshot(trial.id, "with-secret");
      await take(at, { source: { persistentVolumeClaimName: "data" }, volumeSnapshotClassName: name });
      await ready(trial, at);
      await removed(trial, at);
      await client.delete({ kind: "VolumeSnapshotClass", name }).catch(ignoreMissing);
    },
  };
  const preProvisioned: Step = {
    check: "a snapshot that the driver had before is looked for, becomes ready and is deleted",
    prove: async (trial) => {
      const name = `imported-${trial.id}`;
      const known = { snapshotId: name, sourceVolumeId: "elsewhere", sizeBytes: 2n ** 20n, readyToUse: true };
      driver.snapshots.set(name, { ...known, creationTime: { seconds: 1n, nanos: 0 } });
      const spec = {
        driver: driver.driver,
        deletionPolicy: "Delete" as const,
        source: { snapshotHandle: name },
        volumeSnapshotRef: { namespace: trial.id, name: "imported" },
      };
      const noted = { [annotations.deletionSecretName]: "key", [annotations.deletionSecretNamespace]: trial.id };
      const draft = draftOf("VolumeSnapshotContent", { name, annotations: noted }, { spec });
      await client.create("VolumeSnapshotContent", draft);
      const at = snapshot(trial.id, "imported");
      await take(at, { source: { volumeSnapshotContentName: name } });
      await ready(trial, at);
      await removed(trial, at);
    },
  };
  return [withSecret, preProvisioned];
}
