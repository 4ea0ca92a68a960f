/** Restores from another namespace, by the owner's grant: named by the claim itself, or by a link. */
import { draftOf } from "../../src/api/builders.ts";
import { kindRows } from "../../src/api/kinds.ts";
import type { Draft } from "../../src/api/types.ts";
import { aGrant, aNamespace } from "./fixtures.ts";
import { aNewClaim, aReadySnapshot } from "./fixtures-volumes.ts";
import { drop, type Scenario, type scenario, take } from "./scenario.ts";
import { claimOf, cleared, furniture, ofRestores, shortly } from "./scenarios-volumes.ts";
import type { User } from "./user.ts";

type Way = "ref" | "link";
const drawWay = (dice: () => number): Way => (dice() < 0.5 ? "ref" : "link");
const { group } = kindRows.VolumeSnapshotLink;

const aLink = draftOf(
  "VolumeSnapshotLink",
  { namespace: "abroad", name: "bridge" },
  { spec: { source: { namespace: "default", name: "monday" } } },
);
const aClaimElsewhere = (way: Way): Draft => {
  const { spec, ...claim } = aNewClaim("restored", { namespace: "abroad" }) as unknown as Draft & { spec: object };
  const dataSourceRef =
    way === "link"
      ? { apiGroup: group, kind: "VolumeSnapshotLink", name: "bridge" }
      : { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "monday", namespace: "default" };
  return { ...claim, spec: { ...spec, dataSourceRef } } as unknown as Draft;
};
/** Lends to claims, or to links. A grant for one is none for the other. */
const aGrantFor = (way: Way, name = "lend"): Draft => {
  const grant = aGrant(name, "abroad") as unknown as Draft & { spec: object };
  const from = way === "ref" ? grant : { ...grant, spec: { ...grant.spec, from: [{ group, ...linkFrom }] } };
  return from as unknown as Draft;
};
const linkFrom = { kind: "VolumeSnapshotLink", namespace: "abroad" };

const grants = (user: User, way: Way, name?: string): Promise<void> =>
  user.create("ReferenceGrant", aGrantFor(way, name));
const revokes = (user: User, name = "lend"): Promise<void> => user.remove("ReferenceGrant", `default/${name}`);
const asks = async (user: User, way: Way): Promise<void> => {
  if (way === "link") await user.create("VolumeSnapshotLink", aLink);
  await user.create("PersistentVolumeClaim", aClaimElsewhere(way));
};
const isBound = (seen: User["seen"]): boolean => claimOf(seen, "abroad/restored")?.status?.phase === "Bound";
const leaves = async (user: User): Promise<void> => {
  await user.remove("PersistentVolumeClaim", "abroad/restored");
  await user.until(cleared("restored", "abroad"));
};

type Row = Parameters<typeof scenario>[0];
const ofAnotherNamespace = (row: Row): Scenario =>
  ofRestores({
    grants: true,
    objects: [...furniture, ...aReadySnapshot, aNamespace("abroad")],
    // What comes first, the volume or the end of the grant, depends on the moment.
    repeatable: () => false,
    ...row,
  });

const direct = (["ref", "link"] as const).map((way) =>
  ofAnotherNamespace({
    name: `across-namespaces-by-${way}`,
    repeatable: () => true,
    script: async (user) => {
      await grants(user, way);
      await asks(user, way);
      await user.until(isBound);
      await drop(user);
    },
  }),
);

const revokedUntil = (name: string, claimStays: Scenario["script"]): Scenario =>
  ofAnotherNamespace({
    name,
    weight: 2,
    script: async (user, dice) => {
      const way = drawWay(dice);
      await grants(user, way);
      await asks(user, way);
      await shortly(user, dice);
      await revokes(user);
      await claimStays(user, dice);
      await leaves(user);
      await drop(user);
    },
  });

export const acrossNamespaces: readonly Scenario[] = [
  ...direct,
  ofAnotherNamespace({
    name: "across-namespaces-granted-late",
    script: async (user, dice) => {
      const way = drawWay(dice);
      await asks(user, way);
      await shortly(user, dice, 500);
      await grants(user, way);
      await user.until(isBound);
    },
  }),
  revokedUntil("across-namespaces-revoked", (user, dice) => shortly(user, dice, 3_000)),
  // The claim stays for longer than a request of a predecessor may be late.
  revokedUntil("across-namespaces-revoked-for-good", (user) => user.sleep(75_000)),
  ofAnotherNamespace({
    name: "across-namespaces-granted-again",
    script: async (user, dice) => {
      const way = drawWay(dice);
      await grants(user, way);
      await asks(user, way);
      await shortly(user, dice);
      await revokes(user);
      await shortly(user, dice, 200);
      await grants(user, way, "lend-again");
      await user.until(isBound);
    },
  }),
  ofAnotherNamespace({
    // Under the same name come other data, which nobody grants.
    name: "across-namespaces-swapped",
    weight: 2,
    script: async (user, dice) => {
      const way = drawWay(dice);
      await grants(user, way);
      if (dice() < 0.5) await asks(user, way);
      await shortly(user, dice, 60);
      await revokes(user);
      await user.remove("VolumeSnapshot", "default/monday");
      await user.until((seen) => !seen.objects("VolumeSnapshot").has("default/monday"), 20_000);
      await asks(user, way);
      await take(user);
      await shortly(user, dice, 3_000);
      await leaves(user);
      await drop(user);
    },
  }),
  ofAnotherNamespace({
    name: "across-namespaces-by-the-wrong-grant",
    script: async (user, dice) => {
      const way = drawWay(dice);
      await grants(user, way === "ref" ? "link" : "ref");
      await asks(user, way);
      await user.sleep(3_000);
      await leaves(user);
      await drop(user);
    },
  }),
];
