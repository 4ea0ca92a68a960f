/** What csi-provisioner does with --enable-capacity: objects come, change and go, and one is read when the watch is silent. */
import type { FaultProxy } from "../../fault-proxy.ts";
import { aStorageClass } from "../harness/claims.ts";
import { installation } from "./rights.ts";
import { ignoreMissing, type Stage, storageClass } from "./snapshot-stage.ts";
import type { Step, Trial } from "./trial.ts";

const namespace = installation.driverNamespace;
export const capacityFlags = [
  "--enable-capacity",
  "--capacity-for-immediate-binding",
  "--capacity-poll-interval=1s",
  "--capacity-ownerref-level=2",
  "--kube-api-capacity-qps=-1",
] as const;
export const capacityEnvironment = { NAMESPACE: namespace, POD_NAME: "deployed-1-x" } as const;

export function capacitySteps({ client, driver }: Stage, proxyNow: () => FaultProxy | undefined): readonly Step[] {
  let room = 1_024n;
  const objectOf = async (className: string) =>
    (await client.list("CSIStorageCapacity", { namespace })).objects.find(
      ({ storageClassName }) => storageClassName === className,
    );
  const untilRoom = (trial: Trial, expected: string) =>
    trial.until(`${expected} are published`, async () =>
      (await objectOf(storageClass))?.capacity === expected ? true : undefined,
    );
  const published: Step = {
    check: "storage capacity is published, owned by the Deployment",
    prove: async (trial) => {
      room = 1_024n;
      driver.capacity.answer = () => ({ availableCapacity: room });
      await untilRoom(trial, "1Ki");
      room = 2_048n;
      await untilRoom(trial, "2Ki");
    },
  };
  const withdrawn: Step = {
    check: "storage capacity of a class that is gone is withdrawn",
    prove: async (trial) => {
      await aStorageClass(client, trial.id, driver.driver);
      await trial.until("the class has its object", () => objectOf(trial.id));
      await client.delete({ kind: "StorageClass", name: trial.id }).catch(ignoreMissing);
      await trial.until("the object is gone", async () =>
        (await objectOf(trial.id)) === undefined ? true : undefined,
      );
    },
  };
  /** The write meets a newer version, and the watch does not tell of it: the object is read. */
  const unseen: Step = {
    check: "storage capacity is published while the watch of its objects is silent",
    prove: async (trial) => {
      proxyNow()?.stall((request) => /\/csistoragecapacities\?.*watch=/.test(request));
      const { name = "" } = (await objectOf(storageClass))?.metadata ?? {};
      const body = { metadata: { annotations: { touched: trial.id } } };
      await client.patch({ kind: "CSIStorageCapacity", namespace, name }, { type: "merge", body });
      room = 4_096n;
      await untilRoom(trial, "4Ki");
    },
  };
  return [published, withdrawn, unseen];
}
