/** Claims that wait for a volume from a snapshot, and so hold it. */
import { draftOf } from "../../../src/api/builders.ts";
import { namespace, type ScenarioContext } from "./scenario.ts";
import { until } from "./until.ts";

/** A claim that stays pending: no provisioner serves its class. */
export async function aWaitingClaim(
  { client }: Pick<ScenarioContext, "client">,
  name: string,
  space: string,
  snapshot: string,
) {
  const ref = { kind: "PersistentVolumeClaim", namespace: space, name } as const;
  const source = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: snapshot };
  const spec = {
    accessModes: ["ReadWriteOnce"],
    storageClassName: "nobody-serves-this",
    resources: { requests: { storage: "1Mi" } },
    ...(space === namespace ? { dataSource: source } : { dataSourceRef: { ...source, namespace } }),
  };
  await client.create("PersistentVolumeClaim", draftOf("PersistentVolumeClaim", ref, { spec }));
  await until({ what: `claim ${name} is pending` }, async () =>
    (await client.get(ref)).status?.phase === "Pending" ? true : undefined,
  );
  return ref;
}

/** An event on the snapshot names the claim that blocks its deletion. */
export const untilHeldBy = ({ client }: Pick<ScenarioContext, "client">, claim: string): Promise<true> =>
  until({ what: `an event names ${claim}` }, async () =>
    (await client.list("Event", { namespace })).objects.some(
      ({ reason, message }) =>
        reason === "SnapshotDeletePending" &&
        [`restore a PVC: ${claim} [SNAP-`, `restore a PVC: ${claim}; `].some((told) => message?.includes(told)),
    )
      ? true
      : undefined,
  );
