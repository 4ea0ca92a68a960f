/** Mistakes of users, administrators and drivers: the expected error and the correction. */
import { draftOf } from "../../../src/api/builders.ts";
import { annotations, parameters } from "../../../src/api/names.ts";
import type { Client } from "./client.ts";
import { aClassFor } from "./components.ts";
import type { OddDriver, Oddity } from "./odd-driver.ts";
import type { SnapshotSuite } from "./snapshot-suites.ts";

const namespace = "default";

export interface World {
  readonly stand: SnapshotSuite;
  readonly client: Client;
  readonly driver: OddDriver;
}

interface Wrong {
  readonly what: string;
  /** Makes what is wrong, the snapshot "wrong" among it. */
  make(world: World): Promise<unknown>;
  readonly reason: string;
  readonly told: RegExp;
  /** Corrects the input; without a correction the snapshot can still be deleted. */
  mend?(world: World): Promise<unknown>;
}

const claimRef = (name: string) => ({ kind: "PersistentVolumeClaim", namespace, name }) as const;
export const defaultClass = (on: boolean) => ({
  type: "merge" as const,
  body: { metadata: { annotations: { [annotations.defaultClass]: on ? "true" : null } } },
});
export const classRef = (name: string) => ({ kind: "VolumeSnapshotClass", name }) as const;

async function aClaimWithoutVolume(client: Client, name: string): Promise<void> {
  const spec = {
    accessModes: ["ReadWriteOnce"],
    storageClassName: "",
    volumeName: `late-${name}`,
    resources: { requests: { storage: "1Mi" } },
  };
  await client.create("PersistentVolumeClaim", draftOf("PersistentVolumeClaim", claimRef(name), { spec }));
}

async function aVolumeFor(client: Client, name: string, kind: object): Promise<void> {
  const spec = {
    capacity: { storage: "1Mi" },
    accessModes: ["ReadWriteOnce"],
    persistentVolumeReclaimPolicy: "Retain",
    storageClassName: "",
    claimRef: { namespace, name },
    ...kind,
  };
  await client.create("PersistentVolume", draftOf("PersistentVolume", { name: `late-${name}` }, { spec }));
}

async function aContent(client: Client, driver: string, name: string, snapshotHandle: string, forSnapshot: string) {
  const spec = {
    deletionPolicy: "Delete" as const,
    driver,
    source: { snapshotHandle },
    volumeSnapshotRef: { namespace, name: forSnapshot },
  };
  await client.create("VolumeSnapshotContent", draftOf("VolumeSnapshotContent", { name }, { spec }));
}

/** Events of one kind come in order: who has used a class that was made last knows of all changes of classes before. */
async function untilClassesAreSeen(stand: SnapshotSuite): Promise<void> {
  await aClassFor(stand.fixtures, "made-last", "Delete");
  await stand.take("probe", "good", "made-last");
  await stand.untilReady("probe");
  await stand.remove("probe");
}

const adopting = (client: Client, content: string) =>
  client.create(
    "VolumeSnapshot",
    draftOf(
      "VolumeSnapshot",
      { namespace, name: "wrong" },
      { spec: { source: { volumeSnapshotContentName: content } } },
    ),
  );

/** A driver that replies like this for the claim's volume, until it is corrected. */
const odd = (what: string, oddity: Oddity, told: RegExp): Wrong => ({
  what: `a driver that answers ${what}`,
  make: ({ stand, driver }) => {
    driver.oddities.set(`${namespace}-data`, oddity);
    return stand.take("wrong", "data", stand.classes.delete);
  },
  reason: "SnapshotCreationFailed",
  told,
  mend: async ({ driver }) => driver.oddities.clear(),
});

export const badInputs: readonly Wrong[] = [
  {
    what: "a claim that is not bound",
    make: async ({ stand, client }) => {
      await aClaimWithoutVolume(client, "unbound");
      await stand.take("wrong", "unbound", stand.classes.delete);
    },
    reason: "SnapshotContentCreationFailed",
    told: /claim default\/unbound is not bound to a volume \(it is Pending\): a snapshot is taken once it is/,
    mend: ({ client, driver }) =>
      aVolumeFor(client, "unbound", { csi: { driver: driver.driver, volumeHandle: "late" } }),
  },
  {
    what: "a volume of no CSI driver",
    make: async ({ stand, client }) => {
      await aVolumeFor(client, "plain", { hostPath: { path: "/nowhere" } });
      await aClaimWithoutVolume(client, "plain");
      await stand.take("wrong", "plain", stand.classes.delete);
    },
    reason: "SnapshotContentCreationFailed",
    told: /snapshotting non-CSI volumes is not supported: volume late-plain has no spec\.csi; name a claim of a CSI driver/,
  },
  {
    what: "a class that is not there",
    make: ({ stand }) => stand.take("wrong", "data", "unknown"),
    reason: "GetSnapshotClassFailed",
    told: /volumesnapshotclass "unknown" not found: create it, or name another/,
    mend: ({ stand }) => aClassFor(stand.fixtures, "unknown", "Delete"),
  },
  {
    what: "a class of another driver",
    make: async ({ stand, client }) => {
      await aClassFor({ client, driver: "other.example.com" }, "foreign", "Delete");
      await stand.take("wrong", "data", "foreign");
    },
    reason: "SnapshotContentCreationFailed",
    told: /class foreign is for driver other\.example\.com, .* name a class of that driver/,
    mend: ({ client, driver }) => client.patch(classRef("foreign"), { type: "merge", body: { driver: driver.driver } }),
  },
  {
    what: "no default class",
    make: ({ stand }) => stand.take("wrong", "data"),
    reason: "SetDefaultSnapshotClassFailed",
    told: /cannot find default snapshot class for driver odd\.example\.com: annotate one class/,
    mend: ({ client, stand }) => client.patch(classRef(stand.classes.delete), defaultClass(true)),
  },
  {
    what: "two default classes",
    make: async ({ stand, client }) => {
      for (const name of Object.values(stand.classes)) await client.patch(classRef(name), defaultClass(true));
      await untilClassesAreSeen(stand);
      await stand.take("wrong", "data");
    },
    reason: "SetDefaultSnapshotClassFailed",
    told: /2 default snapshot classes were found for driver odd\.example\.com \(delete-odd, retain-odd\): leave one/,
    mend: ({ stand, client }) => client.patch(classRef(stand.classes.retain), defaultClass(false)),
  },
  {
    what: "a secret that is not there",
    make: async ({ stand }) => {
      await aClassFor(stand.fixtures, "secretive", "Delete", {
        [`${parameters.prefix}snapshotter-secret-name`]: `of-\${volumesnapshot.name}`,
        [`${parameters.prefix}snapshotter-secret-namespace`]: `\${volumesnapshot.namespace}`,
      });
      await stand.take("wrong", "data", "secretive");
    },
    reason: "SnapshotCreationFailed",
    told: /secret default\/of-wrong cannot be read: .*; create it, or let the sidecar's role read it/,
    mend: ({ client }) =>
      client.create("Secret", {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { namespace, name: "of-wrong" },
        data: { token: Buffer.from("open sesame").toString("base64") },
      } as never),
  },
  {
    what: "a handle that the driver does not have",
    make: async ({ client, driver }) => {
      await aContent(client, driver.driver, "elsewhere", "of-another-driver", "wrong");
      await adopting(client, "elsewhere");
    },
    reason: "SnapshotContentCheckandUpdateFailed",
    told: /can not find snapshot for snapshotID of-another-driver: correct spec\.source\.snapshotHandle/,
    mend: async ({ driver }) => {
      const creationTime = { seconds: 1_700_000_000n, nanos: 0 };
      const more = { sourceVolumeId: "v", sizeBytes: 1n, readyToUse: true, creationTime };
      driver.snapshots.set("brought-back", { snapshotId: "of-another-driver", ...more });
    },
  },
  {
    what: "a content that names another snapshot",
    make: async ({ client, driver }) => {
      await aContent(client, driver.driver, "theirs", "any", "their-snapshot");
      await adopting(client, "theirs");
    },
    reason: "SnapshotContentMisbound",
    told: /\[theirs\] is bound to a different snapshot: .* names default\/their-snapshot.*name a content of your own/,
  },
  odd(
    "an empty handle",
    () => ({ snapshotId: "" }),
    /snapshot_id is empty; this is a defect of the driver, which is asked again/,
  ),
  odd(
    "another handle when asked again",
    ({ snapshotId }, asked) => ({ readyToUse: false, snapshotId: asked === 1 ? snapshotId : `${snapshotId}-${asked}` }),
    /the driver answered handle ".*" for a snapshot it called ".*" before; the first one is kept/,
  ),
];
