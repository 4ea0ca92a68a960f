/** What no component can go below: the API server alone, doing the writes of the protocol, and the driver alone. */
import { draftOf } from "../../src/api/builders.ts";
import { provisioning } from "../../src/api/names.ts";
import type { PersistentVolumeClaim } from "../../src/api/types.ts";
import type { CsiClient } from "../../src/csi/client.ts";
import { VolumeCapability_AccessMode_Mode } from "../../src/csi/gen/csi_pb.js";
import { createTurns } from "../../src/runtime/turns.ts";
import type { Client } from "../../test/e2e/harness/client.ts";
import type { Crowd } from "./crowd.ts";
import { inLanes, timed } from "./lanes.ts";
import { untilVolumesAreGone } from "./volumes.ts";

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

interface BindingFloor {
  readonly client: Client;
  readonly crowd: Crowd<"PersistentVolumeClaim">;
  /** What all programs have used so far. */
  cpuSeconds(): number;
  /** Makes the volumes; without it there are none. */
  readonly driver?: { readonly csi: CsiClient; readonly snapshotId: string } | undefined;
}
export interface Floor {
  readonly perSecond: number;
  readonly cpuSeconds: number;
}

/** As many CreateVolume calls at once as our provisioner sends to a driver that replies quickly. */
const creationsAtOnce = 8;

/**
 * Claims bound when a provisioner costs no more than what none can leave out: this process, which watches the claims anyway, restores a
 * volume for each as soon as kube-controller-manager asks for it, and stores its PersistentVolume. There is no other watch, no read, no
 * event and no stored call.
 */
export async function bindingFloor(
  { client, crowd, driver, ...programs }: BindingFloor,
  count: number,
): Promise<Floor> {
  const volumes: Promise<Made>[] = [];
  const asked = new Set<string>();
  const inTurn = createTurns(creationsAtOnce);
  const stop = crowd.onState((claim) => {
    const { uid, annotations } = claim.metadata;
    const driverName = annotations?.[provisioning.storageProvisioner];
    if (driverName === undefined || claim.spec?.volumeName || asked.has(uid)) return;
    asked.add(uid);
    const name = `pvc-${uid}`;
    const make = async (): Promise<Made> => {
      const handle = driver === undefined ? name : await inTurn(() => restore(driver, name));
      await createVolumeFor(client, claim, { driver: driverName, volumeHandle: handle });
      return { name, handle };
    };
    volumes.push(make());
  });
  const before = programs.cpuSeconds();
  const seconds = await crowd.make(count);
  const cpuSeconds = programs.cpuSeconds() - before;
  stop();
  await crowd.removeAll();
  await removeVolumes(client, driver, await Promise.all(volumes));
  return { perSecond: count / (seconds.at(-1) ?? Number.POSITIVE_INFINITY), cpuSeconds };
}

interface Made {
  readonly name: string;
  readonly handle: string;
}

async function restore({ csi, snapshotId }: NonNullable<BindingFloor["driver"]>, name: string): Promise<string> {
  const { volume } = await csi.controller.createVolume({
    name,
    capacityRange: { requiredBytes: 2n ** 20n },
    volumeCapabilities: [
      {
        accessMode: { mode: VolumeCapability_AccessMode_Mode.SINGLE_NODE_WRITER },
        accessType: { case: "mount", value: {} },
      },
    ],
    volumeContentSource: { type: { case: "snapshot", value: { snapshotId } } },
  });
  if (volume === undefined) throw new Error(`the driver restored no volume for ${name}`);
  return volume.volumeId;
}

/** kube-controller-manager removes its finalizers afterwards: what is measured next must not share the machine with that. */
async function removeVolumes(client: Client, driver: BindingFloor["driver"], made: readonly Made[]): Promise<void> {
  await inLanes(made.length, lanes, async (index) => {
    const { name = "", handle: volumeId = "" } = made[index] ?? {};
    await client.delete({ kind: "PersistentVolume", name });
    await driver?.csi.controller.deleteVolume({ volumeId });
  });
  await untilVolumesAreGone(client);
}

/** Retained, so that nobody else has to delete it. */
async function createVolumeFor(
  client: Client,
  claim: PersistentVolumeClaim,
  csi: { readonly driver: string; readonly volumeHandle: string },
): Promise<void> {
  const { namespace, name, uid, resourceVersion } = claim.metadata;
  const spec = {
    accessModes: claim.spec?.accessModes ?? [],
    capacity: { storage: "1Mi" },
    persistentVolumeReclaimPolicy: "Retain" as const,
    storageClassName: claim.spec?.storageClassName ?? "",
    claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid, resourceVersion },
    csi,
  };
  await client.create("PersistentVolume", draftOf("PersistentVolume", { name: `pvc-${uid}` }, { spec } as never));
}
