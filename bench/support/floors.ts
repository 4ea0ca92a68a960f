/** What no component can go below: the API server alone, doing the writes of the protocol, and the driver alone. */
import { draftOf } from "../../src/api/builders.ts";
import type { CsiClient } from "../../src/csi/client.ts";
import type { Client } from "../../test/e2e/harness/client.ts";
import { inLanes, timed } from "./lanes.ts";

const lanes = 32;

interface ApiFloor {
  readonly client: Client;
  readonly namespace: string;
  readonly driver: string;
  readonly volumeHandle: string;
}

/**
 * The user's create, and the five writes it takes: protect the snapshot, create the content with its mark, its status, take
 * the mark off, the snapshot's status. Labels stand for the finalizers, so that nothing has to be let go afterwards.
 */
export async function apiServerRate({ client, namespace, driver, volumeHandle }: ApiFloor, count: number) {
  const one = async (index: number): Promise<void> => {
    const name = `floor-${index}`;
    const snapshot = { kind: "VolumeSnapshot", namespace, name } as const;
    const content = { kind: "VolumeSnapshotContent", name } as const;
    const merge = (body: object) => ({ type: "merge", body: body as never }) as const;
    await client.create(
      "VolumeSnapshot",
      draftOf("VolumeSnapshot", { namespace, name }, { spec: { source: { persistentVolumeClaimName: "floor" } } }),
    );
    await client.patch(snapshot, merge({ metadata: { labels: { protected: "yes" } } }));
    const metadata = { name, annotations: { mark: "yes" } };
    const spec = {
      deletionPolicy: "Retain" as const,
      driver,
      source: { volumeHandle },
      volumeSnapshotRef: { namespace, name },
    };
    await client.create("VolumeSnapshotContent", draftOf("VolumeSnapshotContent", metadata, { spec }));
    const facts = { creationTime: 1_760_000_000_000_000_000n, readyToUse: true, snapshotHandle: name };
    await client.patch(content, merge({ status: facts }), { subresource: "status" });
    await Promise.all([
      client.patch(content, merge({ metadata: { annotations: { mark: null } } })),
      client.patch(snapshot, merge({ status: { readyToUse: true, boundVolumeSnapshotContentName: name } }), {
        subresource: "status",
      }),
    ]);
  };
  const rate = await timed(count, () => inLanes(count, lanes, one));
  await inLanes(count, lanes, async (index) => {
    await client.delete({ kind: "VolumeSnapshot", namespace, name: `floor-${index}` });
    await client.delete({ kind: "VolumeSnapshotContent", name: `floor-${index}` });
  });
  return rate;
}

/** As many calls at once as a sidecar makes. */
const callsAtOnce = 10;

export async function driverRate(csi: CsiClient, sourceVolumeId: string, count: number): Promise<number> {
  const taken: string[] = [];
  const rate = await timed(count, () =>
    inLanes(count, callsAtOnce, async (index) => {
      const { snapshot } = await csi.controller.createSnapshot({ name: `floor-${index}`, sourceVolumeId });
      taken.push(snapshot?.snapshotId ?? "");
    }),
  );
  await inLanes(taken.length, callsAtOnce, (index) =>
    csi.controller.deleteSnapshot({ snapshotId: taken[index] ?? "" }),
  );
  return rate;
}
