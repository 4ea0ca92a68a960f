/** What users do, as scripts. Each runs under every fault; those marked core also under every single fault at every call. */
import { finalizers } from "../../src/api/names.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { type Family, faultNamed } from "./faults/index.ts";
import {
  aBoundClaim,
  aClass,
  aContent,
  aGrant,
  aNamespace,
  aRestoringClaim,
  aSecret,
  aSnapshot,
  aSnapshotOfContent,
  foreignDriver,
} from "./fixtures.ts";
import { type Oddity, oddities } from "./odd.ts";
import {
  contentOf,
  drop,
  fixtures,
  gone,
  isReady,
  monday,
  oldHandle,
  ready,
  type Scenario,
  scenario,
  take,
  withOldSnapshot,
} from "./scenario.ts";
import { acrossNamespaces } from "./scenarios-across-namespaces.ts";
import { invalidObjects } from "./scenarios-invalid.ts";
import { volumeScenarios } from "./scenarios-volumes.ts";

/** Those that neither end a process nor keep it from knowing. */
const harmless: readonly Family[] = ["reply", "http", "csi", "storage", "clock"];

const scripts: readonly Scenario[] = [
  scenario({ name: "dynamic-create", core: true, script: (user) => take(user) }),
  scenario({
    name: "delete",
    core: true,
    script: async (user) => {
      await take(user);
      await drop(user);
    },
  }),
  scenario({
    name: "retain",
    core: true,
    script: async (user) => {
      await take(user, "retain");
      await drop(user);
    },
  }),
  scenario({
    name: "pre-provisioned",
    core: true,
    prepare: withOldSnapshot,
    script: async (user) => {
      await user.create("VolumeSnapshotContent", aContent("old", oldHandle));
      await user.create("VolumeSnapshot", aSnapshotOfContent("monday", "old"));
      await user.until(ready());
      await drop(user);
    },
  }),
  scenario({
    name: "default-class",
    core: true,
    objects: [
      aClass("delete", { isDefault: true }),
      aClass("tape", { isDefault: true, of: foreignDriver }),
      aClass("other"),
      ...aBoundClaim("data"),
    ],
    script: async (user) => {
      await take(user, "");
      await drop(user);
    },
  }),
  scenario({
    name: "out-of-order-deletes",
    core: true,
    script: async (user) => {
      await take(user);
      const content = contentOf(user.seen);
      await user.remove("VolumeSnapshotClass", "delete");
      if (content !== undefined) await user.remove("VolumeSnapshotContent", content);
      await user.sleep(50);
      await drop(user);
    },
  }),
  scenario({
    name: "quick-delete",
    script: async (user, dice) => {
      await user.create("VolumeSnapshot", aSnapshot("monday"));
      await user.sleep(Math.floor(dice() * 120));
      await drop(user);
    },
  }),
  scenario({
    name: "delete-outruns-finalizers",
    // A controller that restarts right then, or sees the wrong thing, does not know what it was about to do.
    repeatable: ({ struck }) => struck.every((name) => harmless.includes(faultNamed(name).family)),
    script: async (user) => {
      await user.create("VolumeSnapshot", aSnapshot("monday"));
      await user.until((seen) => seen.objects("VolumeSnapshot").get(monday)?.metadata.finalizers !== undefined);
      user.snatch("VolumeSnapshot", monday);
    },
  }),
  scenario({
    name: "class-gone-while-cutting",
    script: async (user, dice) => {
      await user.create("VolumeSnapshot", aSnapshot("monday"));
      await user.sleep(Math.floor(dice() * 80));
      await user.remove("VolumeSnapshotClass", "delete");
      await user.sleep(Math.floor(dice() * 80));
      await drop(user);
    },
  }),
  scenario({
    name: "recreate",
    script: async (user, dice) => {
      await user.create("VolumeSnapshot", aSnapshot("monday"));
      await user.sleep(Math.floor(dice() * 150));
      await drop(user);
      await take(user);
    },
  }),
  scenario({
    // The second comes about when the claim is released after the first, and takes long enough for a late request to arrive.
    name: "one-after-the-other",
    prepare: (backend) => {
      backend.readyAfterMs = 1_500;
    },
    script: async (user, dice) => {
      await take(user);
      await user.sleep(2_985 + Math.floor(dice() * 25));
      await user.create("VolumeSnapshot", aSnapshot("tuesday"));
      await user.until(ready("default/tuesday"));
      await drop(user);
      await drop(user, "default/tuesday");
    },
  }),
  scenario({
    name: "slow-driver",
    prepare: (backend) => {
      backend.readyAfterMs = 6_000;
    },
    script: async (user) => {
      await take(user);
      await drop(user);
    },
  }),
  scenario({
    name: "policy-flips",
    script: async (user) => {
      await take(user);
      const content = contentOf(user.seen);
      for (const deletionPolicy of content === undefined ? [] : ["Retain", "Delete", "Retain"])
        await user.patch("VolumeSnapshotContent", content ?? "", { spec: { deletionPolicy } });
      await user.sleep(500);
      await drop(user);
      await user.sleep(500);
      if (content !== undefined) await user.remove("VolumeSnapshotContent", content);
    },
  }),
  scenario({
    name: "restore-holds",
    script: async (user) => {
      await take(user);
      await user.create("PersistentVolumeClaim", aRestoringClaim("restored", "monday"));
      await user.sleep(1_000);
      await user.remove("VolumeSnapshot", monday);
      await user.sleep(2_000);
      await user.patch("PersistentVolumeClaim", "default/restored", { status: { phase: "Bound" } }, "status");
      await user.until(gone());
    },
  }),
  scenario({
    name: "restore-deleted-at-once",
    script: async (user) => {
      await take(user);
      await user.create("PersistentVolumeClaim", aRestoringClaim("restored", "monday"));
      await user.remove("VolumeSnapshot", monday);
      await user.sleep(2_000);
      await user.patch("PersistentVolumeClaim", "default/restored", { status: { phase: "Bound" } }, "status");
      await user.until(gone());
    },
  }),
  scenario({
    name: "restore-across-namespaces",
    // How it ends is drawn: with or without the grant, with or without a bound claim.
    repeatable: () => false,
    grants: true,
    objects: [...fixtures, aNamespace("abroad")],
    script: async (user, dice) => {
      const isGranted = dice() < 0.7;
      const endsWithGrant = dice() < 0.5;
      const isStored = dice() < 0.7;
      const restoring = finalizers.snapshotRestoring;
      /** As a provisioner does, before it stores a call and after it has removed it. */
      const refinalize = async (change: (names: readonly string[]) => readonly string[]): Promise<void> => {
        const { resourceVersion, finalizers: names = [] } = user.find("VolumeSnapshot", monday)?.metadata ?? {};
        const metadata = { resourceVersion, finalizers: change(names) } as unknown as JsonObject;
        await user.patch("VolumeSnapshot", monday, { metadata });
      };
      if (isGranted) await user.create("ReferenceGrant", aGrant("lend", "abroad"));
      await take(user);
      await user.create("PersistentVolumeClaim", aRestoringClaim("restored", "monday", "abroad"));
      await user.sleep(1_000);
      if (isStored) await refinalize((names) => [...names, restoring]);
      await user.remove("VolumeSnapshot", monday);
      await user.sleep(2_000);
      if (isGranted && endsWithGrant) await user.remove("ReferenceGrant", "default/lend");
      else if (isGranted)
        await user.patch("PersistentVolumeClaim", "abroad/restored", { status: { phase: "Bound" } }, "status");
      // A finalizer that is never removed holds the snapshot, and not its content: nobody lets the claim read from it.
      if (isStored && !isGranted) return void (await user.until((seen) => contentOf(seen) === undefined, 60_000));
      await user.sleep(1_000);
      if (isStored) await refinalize((names) => names.filter((name) => name !== restoring));
      await user.until(gone());
    },
  }),
  scenario({
    name: "restore-of-unready",
    // One that gets ready before its deletion is noticed is held by the claim that can now read from it.
    repeatable: ({ entries }) => !entries.some((entry) => entry.type === "write" && isReady(entry.after)),
    prepare: (backend) => {
      backend.readyAfterMs = 60_000;
    },
    script: async (user) => {
      await user.create("VolumeSnapshot", aSnapshot("monday"));
      await user.create("PersistentVolumeClaim", aRestoringClaim("restored", "monday"));
      await user.sleep(2_000);
      await drop(user);
    },
  }),
  scenario({
    name: "never-ready",
    weight: 0,
    prepare: (backend) => {
      backend.readyAfterMs = 36_000_000;
    },
    script: async (user) => {
      await user.create("VolumeSnapshot", aSnapshot("monday"));
      await user.create("PersistentVolumeClaim", aRestoringClaim("restored", "monday"));
      await user.sleep(2_000);
      await user.remove("VolumeSnapshot", monday);
    },
  }),
  scenario({
    name: "namesake",
    prepare: withOldSnapshot,
    script: async (user) => {
      await user.create("VolumeSnapshotContent", aContent("old", oldHandle, { policy: "Retain" }));
      await user.create("VolumeSnapshot", aSnapshotOfContent("monday", "old"));
      await user.create("VolumeSnapshot", aSnapshotOfContent("tuesday", "old"));
      await user.until(ready());
      await drop(user, "default/tuesday");
      await drop(user);
      await user.create("VolumeSnapshot", aSnapshotOfContent("monday", "old"));
      await user.sleep(1_000);
    },
  }),
  scenario({
    name: "hundred-at-once",
    weight: 0.002,
    entriesMax: 100_000,
    script: async (user, dice) => {
      const names = Array.from({ length: 100 }, (_, index) => `number-${index}`);
      for (const name of names) await user.create("VolumeSnapshot", aSnapshot(name));
      await user.sleep(Math.floor(dice() * 300));
      for (const name of names) await user.remove("VolumeSnapshot", `default/${name}`);
      await user.until((seen) => seen.objects("VolumeSnapshot").size === 0);
    },
  }),
  scenario({
    name: "eight-at-once",
    weight: 1 / 8, // Eight lifecycles at once.
    script: async (user, dice) => {
      const names = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
      for (const name of names) await user.create("VolumeSnapshot", aSnapshot(name));
      await user.sleep(Math.floor(dice() * 100));
      for (const name of names) await user.remove("VolumeSnapshot", `default/${name}`);
      await user.until((seen) => seen.objects("VolumeSnapshot").size === 0);
    },
  }),
  scenario({
    name: "secrets",
    objects: [aClass("delete", { withSecret: true }), aSecret(), ...aBoundClaim("data")],
    prepare: (backend) => {
      backend.isRude = true;
    },
    script: async (user) => {
      await take(user);
      await drop(user);
    },
  }),
  scenario({
    name: "two-drivers",
    objects: [
      aClass("delete"),
      aClass("tape", { of: foreignDriver }),
      ...aBoundClaim("data"),
      ...aBoundClaim("reel", { of: foreignDriver }),
    ],
    script: async (user) => {
      await user.create("VolumeSnapshot", aSnapshot("tape", { claim: "reel", className: "tape" }));
      await take(user);
      await drop(user);
    },
  }),
  scenario({
    name: "poison",
    objects: [
      ...fixtures,
      { apiVersion: "snapshot.storage.k8s.io/v1", kind: "VolumeSnapshotContent", metadata: { name: "odd" }, spec: {} },
      {
        apiVersion: "snapshot.storage.k8s.io/v1",
        kind: "VolumeSnapshot",
        metadata: { namespace: "default", name: "odd" },
        spec: { source: {} },
      },
    ],
    script: async (user) => {
      await take(user);
      await drop(user);
    },
  }),
  scenario({
    name: "namespace-deleted",
    background: true,
    objects: [...fixtures, aNamespace("team"), ...aBoundClaim("shop", { namespace: "team" })],
    script: async (user, dice) => {
      await user.create("VolumeSnapshot", aSnapshot("monday", { namespace: "team", claim: "shop" }));
      await user.sleep(Math.floor(dice() * 200));
      await user.remove("Namespace", "team");
      await user.until(gone("team/monday"));
    },
  }),
  scenario({
    name: "claim-deleted-while-cutting",
    background: true,
    script: async (user, dice) => {
      await user.create("VolumeSnapshot", aSnapshot("monday"));
      await user.sleep(Math.floor(dice() * 100));
      await user.remove("PersistentVolumeClaim", "default/data");
      await user.sleep(20_000);
      await drop(user);
    },
  }),
  scenario({
    name: "two-leaders",
    weight: 0.25, // It costs three times as much as most: four processes, whose leases go on through every quiet minute.
    elects: true,
    script: async (user) => {
      await take(user);
      await drop(user);
    },
  }),
];

/** More than anybody asks who deletes a snapshot; whoever is asked for one for good gets an answer after minutes. */
const oddAnswersMax = 40;
const asksForGood = ({ on }: Oddity): boolean => on.some((method) => method !== "DeleteSnapshot");
/** A driver that stays odd: with any of its replies, deleted objects are removed. */
const oddDrivers = oddities.map((oddity) =>
  scenario({
    name: `odd-driver-${oddity.name}`,
    weight: 1 / oddities.length,
    // What is left at the driver depends on what it had done when nothing could be read of it.
    repeatable: () => false,
    prepare: (backend) => {
      withOldSnapshot(backend);
      backend.odd = { oddity, left: asksForGood(oddity) ? oddAnswersMax : Number.POSITIVE_INFINITY };
    },
    script: async (user, dice) => {
      await user.create("VolumeSnapshotContent", aContent("old", oldHandle, { snapshot: "adopted" }));
      await user.create("VolumeSnapshot", aSnapshotOfContent("adopted", "old"));
      await user.create("VolumeSnapshot", aSnapshot("monday"));
      await user.sleep(Math.floor(dice() * 30_000));
      await drop(user, "default/adopted");
      await drop(user);
      await user.remove("VolumeSnapshotContent", "old");
    },
  }),
);
export const scenarios: readonly Scenario[] = [
  ...scripts,
  ...oddDrivers,
  ...invalidObjects,
  ...volumeScenarios,
  ...acrossNamespaces,
];

export function scenarioNamed(name: string): Scenario {
  const found = scenarios.find((row) => row.name === name);
  if (found === undefined)
    throw new Error(`there is no scenario "${name}"; there are ${scenarios.map((row) => row.name).join(", ")}`);
  return found;
}
