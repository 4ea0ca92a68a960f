/** Users who store what is invalid, spoil what was valid, mend it, and delete it: on loose CRDs, with and without the webhook. */
import { labels, oldInvalidLabels } from "../../src/api/names.ts";
import type { Draft } from "../../src/api/types.ts";
import type { ApiObject } from "../../src/apiserver/index.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { aContent, aSnapshot, aSnapshotOfContent } from "./fixtures.ts";
import {
  contentOf,
  drop,
  fixtures,
  gone,
  monday,
  oldHandle,
  ready,
  type Scenario,
  scenario,
  take,
  withOldSnapshot,
} from "./scenario.ts";
import type { User } from "./user.ts";

const [oldSnapshotLabel = "", oldContentLabel = ""] = oldInvalidLabels;

/** An object with other members of its spec, and labels. */
function altered(object: Draft, spec: JsonObject, labelled: JsonObject = {}): Draft {
  const { metadata, spec: before } = object as unknown as { metadata: JsonObject; spec: JsonObject };
  return {
    ...object,
    metadata: { ...metadata, labels: labelled },
    spec: { ...before, ...spec },
  } as unknown as Draft;
}

const claimAndContent = { persistentVolumeClaimName: "data", volumeSnapshotContentName: "elsewhere" };
const withBoth = (name: string, labelled?: JsonObject): Draft =>
  altered(aSnapshot(name), { source: claimAndContent }, labelled);
const withNeither = (name: string): Draft => altered(aSnapshot(name), { source: {} });
const withEmptyClass = (name: string): Draft => altered(aSnapshot(name), { volumeSnapshotClassName: "" });
const validWithOldLabel = (name: string): Draft => altered(aSnapshot(name), {}, { [oldSnapshotLabel]: "" });

/** One of each mistake, as the server may have stored it before there were rules. */
const invalidSnapshots = [
  withBoth("both"),
  withNeither("neither"),
  withEmptyClass("classless"),
  withBoth("known", { [labels.invalidSnapshot]: "" }),
  withBoth("known-by-old-prefix", { [oldSnapshotLabel]: "" }),
];
const invalidContents = [
  altered(aContent("both-handles", "h", { snapshot: "nobody" }), {
    source: { snapshotHandle: "h", volumeHandle: "v" },
  }),
  altered(aContent("no-handle", "h", { snapshot: "nobody" }), { source: {} }, { [oldContentLabel]: "" }),
  altered(aContent("homeless", oldHandle), { volumeSnapshotRef: { name: "monday" } }),
  altered(aContent("nameless", oldHandle), { volumeSnapshotRef: { namespace: "default" } }),
];
const asStored = (...drafts: readonly Draft[]): readonly ApiObject[] => drafts as unknown as readonly ApiObject[];

const names = (drafts: readonly Draft[]): readonly string[] => drafts.map(({ metadata }) => metadata.name ?? "");

async function deleteInvalid(user: User): Promise<void> {
  for (const name of names(invalidSnapshots)) await user.remove("VolumeSnapshot", `default/${name}`);
  for (const name of names(invalidContents)) await user.remove("VolumeSnapshotContent", name);
}

const loose = (row: Parameters<typeof scenario>[0]): Scenario => scenario({ loose: true, weight: 0.4, ...row });
const upTo = (dice: () => number, ms: number): number => Math.floor(dice() * ms);
const changeSnapshot = (user: User, spec: JsonObject, key = monday): Promise<void> =>
  user.patch("VolumeSnapshot", key, { spec });
const mended = { source: { persistentVolumeClaimName: "data", volumeSnapshotContentName: null } };

export const invalidObjects: readonly Scenario[] = [
  loose({
    name: "invalid-stored",
    objects: [...fixtures, ...asStored(...invalidSnapshots, ...invalidContents, validWithOldLabel("valid"))],
    prepare: withOldSnapshot,
    script: async (user, dice) => {
      await user.sleep(upTo(dice, 3_000));
      await take(user);
      await deleteInvalid(user);
      await drop(user);
      await drop(user, "default/valid");
    },
  }),
  scenario({
    // Tightened CRDs refuse a change that leaves an object invalid, unless what is invalid does not change.
    name: "invalid-under-strict-rules",
    weight: 0.4,
    objects: [...fixtures, ...asStored(...invalidSnapshots, ...invalidContents, validWithOldLabel("valid"))],
    prepare: withOldSnapshot,
    script: async (user, dice) => {
      await user.sleep(upTo(dice, 3_000));
      await deleteInvalid(user);
      await drop(user, "default/valid");
    },
  }),
  loose({
    name: "invalid-mended",
    core: true,
    script: async (user) => {
      await user.create("VolumeSnapshot", withNeither("monday"));
      await user.until((seen) => seen.objects("VolumeSnapshot").get(monday)?.metadata.labels !== undefined);
      await changeSnapshot(user, mended);
      await user.until(ready());
      await drop(user);
    },
  }),
  loose({
    name: "invalid-deleted",
    script: async (user, dice) => {
      for (const object of [withBoth("monday"), withEmptyClass("tuesday")]) await user.create("VolumeSnapshot", object);
      for (const object of invalidContents) await user.create("VolumeSnapshotContent", object);
      await user.sleep(upTo(dice, 100));
      await drop(user);
      await drop(user, "default/tuesday");
      for (const name of names(invalidContents)) await user.remove("VolumeSnapshotContent", name);
    },
  }),
  loose({
    name: "spoiled-while-taken",
    script: async (user, dice) => {
      await user.create("VolumeSnapshot", aSnapshot("monday"));
      await user.sleep(upTo(dice, 150));
      await changeSnapshot(user, { source: claimAndContent });
      await user.sleep(upTo(dice, 150));
      await changeSnapshot(user, mended);
      await user.until(ready());
      await drop(user);
    },
  }),
  ...(["delete", "retain"] as const).map((className) =>
    loose({
      name: `spoiled-after-ready-${className}`,
      script: async (user, dice) => {
        await take(user, className);
        await changeSnapshot(user, { source: claimAndContent });
        await user.sleep(upTo(dice, 1_000));
        await drop(user);
      },
    }),
  ),
  loose({
    name: "invalid-corrected-and-kept",
    objects: [...fixtures, ...asStored(withBoth("monday", { [labels.invalidSnapshot]: "" }))],
    script: async (user) => {
      await changeSnapshot(user, mended);
      await user.until(ready());
    },
  }),
  loose({
    name: "spoiled-and-kept",
    // A source that is edited before the driver has answered leaves another status.
    repeatable: () => false,
    script: async (user) => {
      await take(user);
      // Not by a handle that does not exist: the sidecar would ask for it for ever.
      await user.patch("VolumeSnapshotContent", contentOf(user.seen) ?? "", {
        spec: { volumeSnapshotRef: { namespace: null } },
      });
      await changeSnapshot(user, { source: claimAndContent });
    },
  }),
  loose({
    name: "spoiled-pre-provisioned",
    prepare: withOldSnapshot,
    script: async (user, dice) => {
      await user.create("VolumeSnapshotContent", aContent("old", oldHandle));
      await user.create("VolumeSnapshot", aSnapshotOfContent("monday", "old"));
      await user.until(ready());
      await changeSnapshot(user, { source: { persistentVolumeClaimName: "data" } });
      await user.sleep(upTo(dice, 1_000));
      await drop(user);
    },
  }),
  loose({
    name: "spoiled-content",
    // Whether its snapshot deletes it depends on what the controller saw last of it.
    repeatable: () => false,
    script: async (user, dice) => {
      await take(user);
      const content = contentOf(user.seen) ?? "";
      const mistakes: readonly JsonObject[] = [
        { source: { snapshotHandle: "h" } },
        { source: { volumeHandle: null } },
        { volumeSnapshotRef: { namespace: null } },
        { volumeSnapshotRef: { name: null } },
      ];
      const spec = mistakes[upTo(dice, mistakes.length)] ?? {};
      await user.patch("VolumeSnapshotContent", content, { spec });
      await user.sleep(upTo(dice, 1_000));
      await user.remove("VolumeSnapshot", monday);
      await user.sleep(upTo(dice, 1_000));
      await user.remove("VolumeSnapshotContent", content);
      await user.until(gone());
    },
  }),
  loose({
    name: "content-without-driver",
    prepare: withOldSnapshot,
    script: async (user, dice) => {
      await user.create("VolumeSnapshotContent", altered(aContent("old", oldHandle), { driver: "" }));
      await user.create("VolumeSnapshot", aSnapshotOfContent("monday", "old"));
      await user.sleep(upTo(dice, 3_000));
      await drop(user);
      await user.remove("VolumeSnapshotContent", "old");
    },
  }),
  loose({
    // What is left at the driver then is named in an event.
    name: "driver-emptied",
    script: async (user, dice) => {
      await user.create("VolumeSnapshot", aSnapshot("monday"));
      if (dice() < 0.7) await user.until(ready());
      else await user.sleep(upTo(dice, 200));
      const content = contentOf(user.seen);
      if (content !== undefined) await user.patch("VolumeSnapshotContent", content, { spec: { driver: "" } });
      await user.sleep(upTo(dice, 100));
      await drop(user);
    },
    repeatable: () => false,
  }),
  loose({
    name: "invalid-labels-edited",
    objects: [...fixtures, ...asStored(withBoth("both"))],
    script: async (user, dice) => {
      await take(user);
      const edit = (key: string, edited: JsonObject): Promise<void> =>
        user.patch("VolumeSnapshot", key, { metadata: { labels: edited } });
      await edit("default/both", { [labels.invalidSnapshot]: null });
      await user.sleep(upTo(dice, 50));
      await edit(monday, { [labels.invalidSnapshot]: "mine", [oldSnapshotLabel]: "mine", team: "blue" });
      await user.sleep(upTo(dice, 50));
      await edit("default/both", { [oldSnapshotLabel]: "", team: "red" });
    },
  }),
  ...(["Ignore", "Fail"] as const).map((webhook) =>
    loose({
      name: `webhook-${webhook.toLowerCase()}`,
      webhook,
      objects: [...fixtures, ...asStored(withBoth("both"), withEmptyClass("classless"))],
      script: async (user, dice) => {
        await user.create("VolumeSnapshot", withNeither("refused"));
        await take(user);
        await changeSnapshot(user, { source: claimAndContent });
        await user.sleep(upTo(dice, 500));
        await changeSnapshot(user, mended, "default/both");
        await user.sleep(upTo(dice, 500));
        await drop(user, "default/classless");
        await drop(user);
        await drop(user, "default/refused");
      },
    }),
  ),
];
