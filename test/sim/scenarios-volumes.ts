/** What users do with claims: volumes from nothing, from snapshots and from other claims, kept or deleted. */
import type { PersistentVolume, PersistentVolumeClaim } from "../../src/api/types.ts";
import { aBoundClaim, aClass, aNamespace, aSecret, aSnapshot } from "./fixtures.ts";
import { aNewClaim, aReadySnapshot, aStorageClass, withReadySnapshot } from "./fixtures-volumes.ts";
import { oddityNamed } from "./odd.ts";
import type { Seen } from "./record.ts";
import { drop, gone, monday, type Scenario, scenario, take } from "./scenario.ts";
import type { User } from "./user.ts";

const classes = [aStorageClass("disk"), aStorageClass("kept", { policy: "Retain" })];
/** A claim that snapshots are taken of, and their classes. */
export const furniture = [
  aClass("delete"),
  ...aBoundClaim("data", { uid: "da7a0000-0000-4000-8000-000000000001" }),
  ...classes,
];
const fromMonday = { source: "VolumeSnapshot/monday" };

type Row = Parameters<typeof scenario>[0];
/** Claims alone: no snapshot is taken or deleted. */
const ofClaims = (row: Row): Scenario =>
  scenario({ background: true, components: ["csi-provisioner"], objects: classes, ...row });
/** Restores of a snapshot that is ready from the start. */
export const ofRestores = (row: Row): Scenario =>
  scenario({
    background: true,
    components: ["snapshot-controller", "csi-snapshotter", "csi-provisioner"],
    objects: [...furniture, ...aReadySnapshot],
    prepare: withReadySnapshot,
    ...row,
  });

export const claimOf = (seen: Seen, key: string): PersistentVolumeClaim | undefined =>
  seen.objects("PersistentVolumeClaim").get(key) as PersistentVolumeClaim | undefined;
const bound =
  (...names: readonly string[]) =>
  (seen: Seen): boolean =>
    names.every((name) => claimOf(seen, `default/${name}`)?.status?.phase === "Bound");
/** No claim of that name, and no volume for one. */
export const cleared =
  (name: string, namespace = "default") =>
  (seen: Seen): boolean =>
    claimOf(seen, `${namespace}/${name}`) === undefined &&
    [...seen.objects("PersistentVolume").values()].every((object) => {
      const { claimRef } = (object as PersistentVolume).spec ?? {};
      return claimRef?.name !== name || claimRef.namespace !== namespace;
    });
const volumeOf = (seen: Seen, name: string): string | undefined =>
  claimOf(seen, `default/${name}`)?.spec?.volumeName || undefined;

const claim = async (user: User, name: string, options: Parameters<typeof aNewClaim>[1] = {}): Promise<void> => {
  await user.create("PersistentVolumeClaim", aNewClaim(name, options));
  await user.until(bound(name));
};
export const unclaim = (user: User, name: string): Promise<void> =>
  user.remove("PersistentVolumeClaim", `default/${name}`);
export const shortly = (user: User, dice: () => number, msMax = 120): Promise<void> =>
  user.sleep(Math.floor(dice() * msMax));

/** On the server's clock, a claim from before the snapshot's deletion may be younger: it is not finished then. */
const withoutJumps: Scenario["repeatable"] = ({ struck }) => !struck.includes("clock-jumps");

const claims: readonly Scenario[] = [
  ofClaims({ name: "claim", core: true, script: (user) => claim(user, "shop") }),
  ofClaims({
    name: "claim-deleted",
    core: true,
    script: async (user) => {
      await claim(user, "shop");
      await unclaim(user, "shop");
      await user.until(cleared("shop"));
    },
  }),
  ofClaims({
    name: "claim-retained",
    core: true,
    script: async (user) => {
      await claim(user, "shop", { className: "kept" });
      const volume = volumeOf(user.seen, "shop");
      await unclaim(user, "shop");
      await user.until((seen) => claimOf(seen, "default/shop") === undefined);
      if (volume !== undefined) await user.remove("PersistentVolume", volume);
    },
  }),
  ofClaims({
    name: "claim-cloned",
    core: true,
    script: async (user) => {
      await claim(user, "shop");
      await claim(user, "copy", { source: "PersistentVolumeClaim/shop" });
      await unclaim(user, "shop");
      await user.until(cleared("shop"));
    },
  }),
  ofClaims({
    name: "claim-deleted-at-once",
    script: async (user, dice) => {
      await user.create("PersistentVolumeClaim", aNewClaim("shop"));
      await shortly(user, dice);
      await unclaim(user, "shop");
      await user.until(cleared("shop"));
    },
  }),
  ofClaims({
    name: "clone-deleted-at-once",
    script: async (user, dice) => {
      await claim(user, "shop");
      await user.create("PersistentVolumeClaim", aNewClaim("copy", { source: "PersistentVolumeClaim/shop" }));
      await shortly(user, dice);
      const [first = "shop", second = "copy"] = dice() < 0.5 ? ["shop", "copy"] : ["copy", "shop"];
      await unclaim(user, first);
      await shortly(user, dice);
      await unclaim(user, second);
      await user.until((seen) => cleared("shop")(seen) && cleared("copy")(seen));
    },
  }),
  ofClaims({
    // The second clone comes when the finalizer for the first is about to be removed.
    name: "clones-one-after-the-other",
    script: async (user, dice) => {
      await claim(user, "shop");
      await claim(user, "copy", { source: "PersistentVolumeClaim/shop" });
      await user.sleep(1_985 + Math.floor(dice() * 25));
      await claim(user, "copy-2", { source: "PersistentVolumeClaim/shop" });
      await unclaim(user, "shop");
      await user.until(cleared("shop"));
    },
  }),
  ofClaims({
    name: "claim-recreated",
    script: async (user, dice) => {
      await user.create("PersistentVolumeClaim", aNewClaim("shop"));
      await shortly(user, dice, 150);
      await unclaim(user, "shop");
      await user.until((seen) => claimOf(seen, "default/shop") === undefined);
      await claim(user, "shop");
    },
  }),
  ofClaims({
    // The owner decides to keep the data when it is in use.
    name: "volume-kept",
    script: async (user, dice) => {
      await claim(user, "shop");
      await shortly(user, dice, 2_000);
      const volume = volumeOf(user.seen, "shop") ?? "";
      const kept = { spec: { persistentVolumeReclaimPolicy: "Retain" } };
      await user.patch("PersistentVolume", volume, kept);
      await unclaim(user, "shop");
      await shortly(user, dice, 200);
      await user.remove("PersistentVolume", volume);
      await user.until(cleared("shop"));
    },
  }),
  ofClaims({
    name: "class-comes-and-goes",
    objects: [],
    script: async (user, dice) => {
      await user.create("PersistentVolumeClaim", aNewClaim("shop"));
      await user.sleep(500);
      await user.create("StorageClass", aStorageClass("disk") as never);
      await shortly(user, dice);
      await user.remove("StorageClass", "disk");
      await user.sleep(1_000);
      await user.create("StorageClass", aStorageClass("disk") as never);
      await user.until(bound("shop"));
      await user.remove("StorageClass", "disk");
      await unclaim(user, "shop");
      await user.until(cleared("shop"));
    },
  }),
  ofClaims({
    name: "eight-claims",
    weight: 1 / 4,
    script: async (user, dice) => {
      const names = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
      for (const name of names) await user.create("PersistentVolumeClaim", aNewClaim(name));
      await shortly(user, dice, 200);
      for (const name of names) await unclaim(user, name);
      await user.until((seen) => names.every((name) => cleared(name)(seen)));
    },
  }),
  ofClaims({
    name: "claim-with-secret",
    objects: [aStorageClass("disk", { withSecret: true }), aSecret()],
    prepare: (backend) => {
      backend.isRude = true;
    },
    script: async (user, dice) => {
      await user.create("PersistentVolumeClaim", aNewClaim("shop"));
      if (dice() < 0.5) await user.until(bound("shop"));
      else await shortly(user, dice, 600);
      if (dice() < 0.5) await user.remove("Secret", "default/login");
      await unclaim(user, "shop");
      await user.until(cleared("shop"));
    },
  }),
  ofClaims({
    name: "claims-of-a-namespace",
    objects: [...classes, aNamespace("team")],
    script: async (user, dice) => {
      for (const name of ["one", "two"])
        await user.create("PersistentVolumeClaim", aNewClaim(name, { namespace: "team" }));
      await shortly(user, dice, 200);
      await user.remove("Namespace", "team");
      await user.until((seen) => ["one", "two"].every((name) => cleared(name, "team")(seen)));
    },
  }),
  ofClaims({
    // A driver that refuses for good: whatever has happened before, everything can be deleted.
    name: "refusing-driver",
    prepare: (backend) => {
      backend.volumes.refuses = true;
    },
    script: async (user, dice) => {
      await user.create("PersistentVolumeClaim", aNewClaim("shop"));
      await shortly(user, dice, 20_000);
      await unclaim(user, "shop");
      await user.until(cleared("shop"));
    },
  }),
  ofClaims({
    name: "two-provisioners",
    weight: 0.25, // As two-leaders of snapshots.
    elects: true,
    script: async (user) => {
      await claim(user, "shop");
      await unclaim(user, "shop");
      await user.until(cleared("shop"));
    },
  }),
];

const restores: readonly Scenario[] = [
  ofRestores({
    name: "restore",
    core: true,
    script: async (user) => {
      await claim(user, "restored", fromMonday);
      await drop(user);
    },
  }),
  ofRestores({
    name: "restore-of-deleted",
    repeatable: withoutJumps,
    core: true,
    script: async (user) => {
      await user.create("PersistentVolumeClaim", aNewClaim("restored", fromMonday));
      await user.remove("VolumeSnapshot", monday);
      await user.until(bound("restored"));
      await user.until(gone());
    },
  }),
  ofRestores({
    name: "restore-then-delete",
    repeatable: withoutJumps,
    script: async (user, dice) => {
      await user.create("PersistentVolumeClaim", aNewClaim("restored", fromMonday));
      await shortly(user, dice);
      await user.remove("VolumeSnapshot", monday);
      await user.until(bound("restored"));
      await user.until(gone());
    },
  }),
  ofRestores({
    name: "restore-abandoned",
    script: async (user, dice) => {
      await user.create("PersistentVolumeClaim", aNewClaim("restored", fromMonday));
      await shortly(user, dice);
      await unclaim(user, "restored");
      await shortly(user, dice, 50);
      await drop(user);
      await user.until(cleared("restored"));
    },
  }),
  ofRestores({
    name: "restore-waits",
    objects: furniture,
    prepare: () => undefined,
    script: async (user) => {
      await user.create("PersistentVolumeClaim", aNewClaim("restored", { ...fromMonday, storage: "2Gi" }));
      await user.sleep(300);
      await take(user);
      await user.until(bound("restored"));
      await drop(user);
    },
  }),
  ofRestores({
    name: "restores-at-once",
    repeatable: withoutJumps,
    weight: 1 / 4,
    script: async (user, dice) => {
      const names = ["one", "two", "three", "four", "five", "six"];
      for (const name of names) await user.create("PersistentVolumeClaim", aNewClaim(name, fromMonday));
      await shortly(user, dice, 200);
      const [first = "", ...others] = names;
      await unclaim(user, first);
      await user.remove("VolumeSnapshot", monday);
      await user.until(bound(...others));
      await user.until(gone());
    },
  }),
  ofRestores({
    name: "restore-of-recreated",
    script: async (user, dice) => {
      await user.create("PersistentVolumeClaim", aNewClaim("restored", fromMonday));
      await shortly(user, dice);
      await unclaim(user, "restored");
      await drop(user);
      await user.create("VolumeSnapshot", aSnapshot("monday"));
      await claim(user, "restored", fromMonday);
      await drop(user);
    },
  }),
  ofRestores({
    name: "restore-refused",
    prepare: (backend) => {
      withReadySnapshot(backend);
      backend.volumes.refuses = true;
    },
    script: async (user, dice) => {
      await user.create("PersistentVolumeClaim", aNewClaim("restored", fromMonday));
      await shortly(user, dice, 20_000);
      await unclaim(user, "restored");
      await drop(user);
      await user.until(cleared("restored"));
    },
  }),
  ofRestores({
    // A driver that makes volumes too small, and does not delete them for long.
    name: "restore-undeletable",
    weight: 0.5,
    prepare: (backend) => {
      withReadySnapshot(backend);
      backend.volumes.undeletable = 15;
      backend.odd = { oddity: oddityNamed("volume-smaller"), left: Number.POSITIVE_INFINITY };
    },
    script: async (user, dice) => {
      await user.create("PersistentVolumeClaim", aNewClaim("restored", fromMonday));
      await shortly(user, dice, 20_000);
      await unclaim(user, "restored");
      await drop(user);
      await user.until(cleared("restored"));
    },
  }),
  ofRestores({
    name: "restore-unreadable",
    weight: 0.5,
    // What is left at the driver depends on what it had done when nothing could be read of it.
    repeatable: () => false,
    prepare: (backend) => {
      withReadySnapshot(backend);
      backend.odd = { oddity: oddityNamed("volume-unreadable"), left: Number.POSITIVE_INFINITY };
    },
    script: async (user, dice) => {
      await user.create("PersistentVolumeClaim", aNewClaim("restored", fromMonday));
      await shortly(user, dice, 20_000);
      await unclaim(user, "restored");
      await drop(user);
      await user.until(cleared("restored"));
    },
  }),
  ofRestores({
    name: "joined-sidecars",
    joined: true,
    script: async (user) => {
      await claim(user, "restored", fromMonday);
      await drop(user);
      await unclaim(user, "restored");
      await user.until(cleared("restored"));
    },
  }),
  ofRestores({
    name: "joined-sidecars-with-two-leaders",
    weight: 0.1, // Six controllers in four processes.
    joined: true,
    elects: true,
    script: async (user) => {
      await claim(user, "restored", fromMonday);
      await drop(user);
    },
  }),
  ofRestores({
    name: "restores-with-two-leaders",
    weight: 0.1, // Six processes.
    elects: true,
    script: async (user) => {
      await claim(user, "restored", fromMonday);
      await drop(user);
    },
  }),
];

export const volumeScenarios: readonly Scenario[] = [...claims, ...restores];
