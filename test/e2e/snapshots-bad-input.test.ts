/** What users, administrators and drivers get wrong: each is told, names its remedy, hurts nobody else, and heals when mended. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { annotations, parameters } from "../../src/api/names.ts";
import { Fault } from "../../src/base/fault.ts";
import type { Client } from "./harness/client.ts";
import { aBoundClaim, aClassFor, startComponent } from "./harness/components.ts";
import type { Daemon } from "./harness/instance.ts";
import { type OddDriver, type Oddity, startOddDriver } from "./harness/odd-driver.ts";
import { leftovers } from "./harness/snapshots.ts";
import { type Ground, grounds, type Stand, standFor } from "./harness/stands.ts";
import { until } from "./harness/until.ts";

const namespace = "default";
const longName = "n".repeat(253);
const retries = ["--retry-interval-start=200ms", "--retry-interval-max=1s"];

interface World {
  readonly stand: Stand;
  readonly client: Client;
  readonly driver: OddDriver;
}

interface Wrong {
  readonly what: string;
  /** Makes what is wrong, the snapshot "wrong" among it. */
  make(world: World): Promise<unknown>;
  readonly reason: string;
  readonly told: RegExp;
  /** Puts it right; where nobody can, the snapshot can still be deleted. */
  mend?(world: World): Promise<unknown>;
}

const claimRef = (name: string) => ({ kind: "PersistentVolumeClaim", namespace, name }) as const;
const defaultClass = (on: boolean) => ({
  type: "merge" as const,
  body: { metadata: { annotations: { [annotations.defaultClass]: on ? "true" : null } } },
});
const classRef = (name: string) => ({ kind: "VolumeSnapshotClass", name }) as const;

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
async function untilClassesAreSeen(stand: Stand): Promise<void> {
  await aClassFor(stand.furniture, "made-last", "Delete");
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

/** A driver that answers like this about the volume of the claim, until it is mended. */
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

const wrongs: readonly Wrong[] = [
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
    mend: ({ stand }) => aClassFor(stand.furniture, "unknown", "Delete"),
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
      await aClassFor(stand.furniture, "secretive", "Delete", {
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
  odd("a negative size", () => ({ sizeBytes: -1n }), /size_bytes is -1; this is a defect of the driver/),
  odd("the year 1970", () => ({ creationTime: { seconds: 0n, nanos: 0 } }), /creation_time lies in 1970 or before/),
  odd(
    "another handle when asked again",
    ({ snapshotId }, asked) => ({ readyToUse: false, snapshotId: asked === 1 ? snapshotId : `${snapshotId}-${asked}` }),
    /the driver answered handle ".*" for a snapshot it called ".*" before; the first one is kept/,
  ),
];

describe("bad input", () => {
  let place: Ground;
  let world: World;
  let daemons: readonly Daemon[];
  before(async () => {
    place = await grounds["real control plane"]();
    const driver = await startOddDriver(place.instance.folder);
    const controller = startComponent(place, "snapshot-controller", retries);
    const stand = await standFor(place, place.connection, driver, retries);
    world = { stand, client: place.connection.client, driver };
    daemons = [controller, stand.sidecar];
    await aBoundClaim(stand.furniture, "data");
    await aBoundClaim(stand.furniture, "good");
  });
  after(async () => {
    world?.stand.furniture.csi.close();
    await world?.driver.close();
    place?.stop();
  });

  for (const { what, make, reason, told, mend } of wrongs)
    test(`${what} is told with its remedy, hurts no other snapshot${mend === undefined ? ", and can be deleted" : ", and heals when mended"}`, async () => {
      const { stand } = world;
      await make(world);
      await stand.untilTold("wrong", told);
      await untilEvent(reason, told);
      await stand.take("good", "good", stand.classes.delete);
      await stand.untilReady("good", 15_000);
      await stand.remove("good");
      await mend?.(world);
      if (mend !== undefined) assert.equal((await stand.untilReady("wrong")).status?.error, undefined);
      await tidyUp();
    });

  /** On the snapshot, or on its content where the sidecar found it. */
  const untilEvent = (reason: string, told: RegExp) =>
    until({ what: `there is an event ${reason}` }, async () =>
      (await world.client.list("Event")).objects.some(
        (event) => event.reason === reason && told.test(event.message ?? "") && event.type === "Warning",
      )
        ? true
        : undefined,
    );

  async function tidyUp(): Promise<void> {
    const { stand, client, driver } = world;
    await stand.remove("wrong");
    for (const { metadata } of (await client.list("VolumeSnapshotContent")).objects)
      if (metadata.name === "theirs") await client.delete({ kind: "VolumeSnapshotContent", name: "theirs" });
    for (const name of Object.values(stand.classes)) await client.patch(classRef(name), defaultClass(false));
    await until({ what: "nothing is left" }, async () =>
      (await leftovers(stand.furniture)).length === 0 ? true : undefined,
    );
    assert.deepEqual([...driver.snapshots.keys()], []);
    for (const daemon of daemons) assert.ok(daemon.running(), daemon.lastWords());
  }

  const refusing =
    /Waiting for VolumeSnapshotContent snapcontent-.* to be deleted: Failed to delete snapshot: .*it is in use/;
  for (const remedy of ["the driver is mended", "the policy says Retain"] as const)
    test(`a driver that refuses to delete is told of on the snapshot, which goes as soon as ${remedy}`, async () => {
      const { stand, client, driver } = world;
      await stand.take("wrong", "data", stand.classes.delete);
      await stand.untilReady("wrong");
      const { metadata } = await stand.contentOf("wrong");
      driver.refusals.delete.push(
        ...Array.from({ length: 500 }, () => new Fault("FailedPrecondition", "it is in use")),
      );
      await client.delete(stand.ref("wrong"));
      await stand.untilTold("wrong", refusing);
      await untilEvent("SnapshotDeleteError", refusing);
      const body = { spec: { deletionPolicy: "Retain" } };
      const ref = { kind: "VolumeSnapshotContent", name: metadata.name } as const;
      if (remedy === "the driver is mended") driver.refusals.delete.length = 0;
      else await client.patch(ref, { type: "merge", body });
      await stand.untilGone(stand.ref("wrong"));
      await stand.untilGone(ref);
      assert.equal(driver.snapshots.size, remedy === "the driver is mended" ? 0 : 1);
      driver.refusals.delete.length = 0;
      driver.snapshots.clear();
    });

  test("names of 253 characters, of claim, class and snapshot, are taken as any others, and told of", async () => {
    const { stand, client } = world;
    await aBoundClaim(stand.furniture, longName);
    await aClassFor(stand.furniture, longName, "Delete");
    await stand.take(longName, longName, longName);
    await stand.untilReady(longName);
    await until({ what: "an event tells of it" }, async () =>
      (await client.list("Event", { namespace })).objects.some(
        ({ involvedObject, reason }) => involvedObject.name === longName && reason === "SnapshotReady",
      )
        ? true
        : undefined,
    );
    await stand.remove(longName);
  });

  test("all this lets the claim go", async () => {
    await world.stand.untilUnprotected("data");
  });

  test("the driver is told parameters and names without the reserved keys, and the secret's values", () => {
    const secretive = world.driver.asked.find(({ secrets }) => Object.keys(secrets).length > 0);
    assert.deepEqual(secretive?.secrets, { token: "open sesame" });
    assert.deepEqual(secretive?.parameters, {});
    assert.match(secretive?.name ?? "", /^snapshot-[0-9a-f-]{36}$/);
  });
});
