/** A system at rest stays at rest: every possible end state is left alone for ten minutes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { VolumeSnapshot, VolumeSnapshotContent } from "../../src/api/types.ts";
import { aBoundClaim, aClass, aContent, aSnapshot, aSnapshotOfContent } from "./fixtures.ts";
import type { Entry, Seen } from "./record.ts";
import { runOne } from "./run-one.ts";
import type { Scenario } from "./scenario.ts";
import { scenarioNamed } from "./scenarios.ts";

const idleMs = 600_000;
/** The last status is written when a claim has been released and every retry has its maximum delay. */
const settleMs = 30_000;
const begins = "from here on nobody does anything";

const snapshotOf = (seen: Seen, name: string) =>
  seen.objects("VolumeSnapshot").get(`default/${name}`) as unknown as VolumeSnapshot | undefined;
const contentOf = (seen: Seen, name: string) =>
  [...seen.objects("VolumeSnapshotContent").values()]
    .map((object) => object as unknown as VolumeSnapshotContent)
    .find(({ spec }) => spec.volumeSnapshotRef.name === name);

/** What each is to have come to; a driver that refuses for good is asked again and again, and is no system at rest. */
const ends: Readonly<Record<string, (seen: Seen, name: string) => boolean>> = {
  ready: (seen, name) => snapshotOf(seen, name)?.status?.readyToUse === true,
  imported: (seen, name) => snapshotOf(seen, name)?.status?.readyToUse === true,
  unclassed: (seen, name) => /not found/.test(snapshotOf(seen, name)?.status?.error?.message ?? ""),
  unclaimed: (seen, name) => /not found/.test(snapshotOf(seen, name)?.status?.error?.message ?? ""),
  secretless: (seen, name) => /cannot be read/.test(snapshotOf(seen, name)?.status?.error?.message ?? ""),
  retained: (seen, name) => snapshotOf(seen, name) === undefined && contentOf(seen, name)?.status?.readyToUse === true,
  unbound: (seen, name) => contentOf(seen, name)?.status?.readyToUse === true,
};
const haveEnded = (seen: Seen): boolean => Object.entries(ends).every(([name, isAsWanted]) => isAsWanted(seen, name));

const scenario: Scenario = {
  ...scenarioNamed("two-leaders"),
  name: "settled",
  objects: [
    aClass("delete"),
    aClass("retain", { policy: "Retain" }),
    aClass("locked", { withSecret: true }),
    ...aBoundClaim("data"),
  ],
  prepare: ({ snapshots }) => {
    for (const id of ["handle-a", "handle-b"])
      snapshots.set(id, { id, name: `by-hand-${id}`, volumeId: "vol-x", takenAtMs: 1_750_000_000_000, readyAtMs: 0 });
  },
  script: async (user) => {
    await user.create("VolumeSnapshotContent", aContent("by-hand", "handle-a", { snapshot: "imported" }));
    await user.create("VolumeSnapshotContent", aContent("unbound", "handle-b", { snapshot: "unbound" }));
    await user.create("VolumeSnapshot", aSnapshotOfContent("imported", "by-hand"));
    for (const [name, options] of [
      ["ready", {}],
      ["retained", { className: "retain" }],
      ["unclassed", { className: "nobody-made-this" }],
      ["unclaimed", { claim: "nobody-made-this" }],
      ["secretless", { className: "locked" }],
    ] as const)
      await user.create("VolumeSnapshot", aSnapshot(name, options));
    await user.until((seen) => snapshotOf(seen, "retained")?.status?.readyToUse === true);
    await user.remove("VolumeSnapshot", "default/retained");
    assert.ok(await user.until(haveEnded), "everything has come to its end");
    await user.sleep(settleMs);
    await user.patch("VolumeSnapshotClass", "retain", { metadata: { annotations: { note: begins } } });
    await user.sleep(idleMs);
  },
};

const isBeginning = (entry: Entry): boolean =>
  entry.type === "note" && entry.what === "user" && entry.text.includes(begins);
/** A write to the API server, whether or not it changed anything, or a call to the driver. Leases are not noted as calls. */
const isAct = (entry: Entry): boolean =>
  (entry.type === "note" && entry.what === "call" && !entry.text.startsWith("GET ")) ||
  (entry.type === "write" && entry.kind !== "Lease" && entry.actor !== "user");

test("a system at rest writes only leases for ten minutes", async () => {
  const { entries, violations, trace } = await runOne({ scenario, seed: 16, faults: [] });
  assert.deepEqual(violations, [], trace().join("\n"));
  const since = entries.slice(entries.findIndex(isBeginning));
  const [lines, last] = [trace().slice(-since.length), entries.at(-1)];
  assert.ok((last?.atMs ?? 0) - (since[0]?.atMs ?? 0) >= idleMs);
  assert.deepEqual(
    lines.filter((_, index) => isAct(since[index] as Entry)),
    [],
  );
  const leases = since.filter((entry) => entry.type === "write" && entry.kind === "Lease");
  assert.ok(leases.length >= 100, `${leases.length} writes of leases`);
  assert.ok(entries.some(isAct), "before that there was something to do");
});
