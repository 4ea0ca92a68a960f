/** What the demo and the printed commands work with: a claim, its snapshot, and a claim that is restored from the snapshot. */
import { join } from "node:path";
import { draftOf } from "../../api/builders.ts";
import { kindRows } from "../../api/kinds.ts";
import type { PersistentVolumeClaim } from "../../api/types.ts";
import { Fault } from "../../base/fault.ts";
import type { Stack } from "./stack.ts";
import { until, type WaitingContext } from "./waiting.ts";

export const namespace = "default";
export const names = { claim: "data", snapshot: "monday", restored: "restored", file: "notes.txt" } as const;
export const claimRef = { kind: "PersistentVolumeClaim", namespace, name: names.claim } as const;
export const restoredRef = { ...claimRef, name: names.restored } as const;
export const groupRef = { kind: "VolumeGroupSnapshot", namespace, name: "both" } as const;
/** What the group's selector looks for. */
const groupLabels = { app: "demo" } as const;
export const inGroup = { type: "merge", body: { metadata: { labels: groupLabels } } } as const;
export const snapshotRef = { kind: "VolumeSnapshot", namespace, name: names.snapshot } as const;

type ClaimSpec = NonNullable<PersistentVolumeClaim["spec"]>;
const claimOf = (name: string, source: Pick<ClaimSpec, "dataSource"> = {}) => {
  const spec: ClaimSpec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...source };
  return draftOf("PersistentVolumeClaim", { name }, { spec });
};

/** As a user writes them: no class, no namespace. */
export const manifests = {
  claim: claimOf(names.claim),
  snapshot: draftOf(
    "VolumeSnapshot",
    { name: names.snapshot },
    { spec: { source: { persistentVolumeClaimName: names.claim } } },
  ),
  group: draftOf(
    "VolumeGroupSnapshot",
    { name: groupRef.name },
    { spec: { source: { selector: { matchLabels: groupLabels } } } },
  ),
  restored: claimOf(names.restored, {
    dataSource: { apiGroup: kindRows.VolumeSnapshot.group, kind: "VolumeSnapshot", name: names.snapshot },
  }),
};

export interface DemoVolume {
  readonly name: string;
  /** The file in the volume, as it lies on this machine. */
  readonly file: string;
}

/** Creates the claim and waits until the provisioner has made its volume. */
export async function createClaim(
  waiting: WaitingContext & { readonly stack: Pick<Stack, "driver"> },
  { metadata, ...claim }: (typeof manifests)["claim"],
): Promise<DemoVolume> {
  await waiting.stack.client.create("PersistentVolumeClaim", { ...claim, metadata: { namespace, ...metadata } });
  const name = metadata.name ?? "";
  const isBound = ({ status }: PersistentVolumeClaim): boolean => status?.phase === "Bound";
  await until(waiting, { ...claimRef, name }, `PersistentVolumeClaim ${namespace}/${name} was not bound`, isBound);
  return volumeOf(waiting.stack, name);
}

/** Finds the volume of a bound claim. */
export async function volumeOf(
  { client, driver: { storage } }: Pick<Stack, "client" | "driver">,
  claimName: string,
): Promise<DemoVolume> {
  const claim = await client.get({ ...claimRef, name: claimName });
  const name = claim.spec?.volumeName ?? "";
  const { spec } = await client.get({ kind: "PersistentVolume", name });
  const volume = storage.volumes.get(spec?.csi?.volumeHandle ?? "");
  if (volume === undefined) throw new Fault("NotFound", `the driver does not know volume ${name}`);
  return { name, file: join(storage.dataOf(volume), names.file) };
}
