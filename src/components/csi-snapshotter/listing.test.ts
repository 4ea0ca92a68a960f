import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { Fault } from "../../base/fault.ts";
import type { CsiClient } from "../../csi/client.ts";
import { ListSnapshotsResponseSchema } from "../../csi/gen/csi_pb.js";
import { sidecarLimits } from "./limits.ts";
import { findSnapshot, impossibleHandle } from "./listing.ts";

interface Entry {
  readonly snapshotId: string;
  readonly readyToUse?: boolean;
}
type Page = { readonly entries: readonly (Entry | undefined)[]; readonly nextToken?: string };
type Answer = (request: { readonly snapshotId: string; readonly startingToken: string }) => Page;

const login = { token: "looking-glass" };
const nowNs = 1_767_225_605_000_000_000n;

/** Looks for s-9 at a driver with these replies, and records the requests. */
async function find(answer: Answer, signal = new AbortController().signal) {
  const requested: string[] = [];
  const listSnapshots = async ({ snapshotId = "", startingToken = "", secrets = {} }) => {
    // The filter, the next page and the impossible handle: no request may be without the secret.
    assert.deepEqual(secrets, login);
    requested.push(`${snapshotId}${startingToken && ` from ${startingToken}`}`);
    const { entries, nextToken = "" } = answer({ snapshotId, startingToken });
    return create(ListSnapshotsResponseSchema, {
      nextToken,
      entries: entries.map((snapshot) => (snapshot === undefined ? {} : { snapshot })),
    });
  };
  const csi = { controller: { listSnapshots } } as unknown as CsiClient;
  const found = await findSnapshot({ csi, handle: "s-9", secrets: login, nowNs, signal }).catch(
    (fault: Fault) => fault,
  );
  return { requested, found };
}
/** Honours the filter by its own notion of what is the same. */
const filtering =
  (entry: Entry | undefined): Answer =>
  ({ snapshotId }) => ({ entries: snapshotId === impossibleHandle ? [] : [entry] });
const notFound = /^can not find snapshot for snapshotID s-9: correct spec\.source\.snapshotHandle/;

test("the entry with the requested handle is used, without further calls", async () => {
  const { requested, found } = await find(filtering({ snapshotId: "s-9", readyToUse: true }));
  assert.deepEqual(found, { handle: "s-9", ready: true, creationTimeNs: nowNs, sizeBytes: 0n, oddities: [] });
  assert.deepEqual(requested, ["s-9"]);
});

test("only the entry with the requested handle is used, at any position of the list", async () => {
  const { requested, found } = await find(() => ({
    entries: [{ snapshotId: "s-1", readyToUse: true }, { snapshotId: "s-9" }],
  }));
  assert.deepEqual(!(found instanceof Fault) && [found.handle, found.ready], ["s-9", false]);
  assert.deepEqual(requested, ["s-9"]);
});

for (const spelled of ["S-9", "/projects/p/snapshots/s-9", ""])
  test(`a single entry spelled "${spelled}" is used, with a warning, and the handle of the spec stays`, async () => {
    const { requested, found } = await find(filtering({ snapshotId: spelled, readyToUse: true }));
    assert.ok(!(found instanceof Fault));
    assert.deepEqual([found.handle, found.ready, found.oddities.length], ["s-9", true, 1]);
    assert.ok(found.oddities[0]?.startsWith(`ListSnapshots answers snapshot_id "${spelled}" for "s-9"`));
    assert.deepEqual(requested, ["s-9", impossibleHandle]);
  });

test("a driver that returns an entry for an impossible id ignores the filter, and its single entry is not used", async () => {
  const { requested, found } = await find(() => ({ entries: [{ snapshotId: "s-1" }] }));
  assert.deepEqual(requested, ["s-9", impossibleHandle]);
  assert.match(found instanceof Fault ? found.message : "", notFound);
});

test("a driver that rejects the impossible id honours the filter", async () => {
  const { found } = await find(({ snapshotId }) => {
    if (snapshotId === impossibleHandle) throw new Fault("InvalidArgument", "no such form of id");
    return { entries: [{ snapshotId: "S-9" }] };
  });
  assert.equal(!(found instanceof Fault) && found.handle, "s-9");
});

test("a failed filter check with the impossible id is repeated", async () => {
  const { found } = await find(({ snapshotId }) => {
    if (snapshotId === impossibleHandle) throw new Fault("Unavailable", "away");
    return { entries: [{ snapshotId: "S-9" }] };
  });
  assert.equal(found instanceof Fault && found.code, "Unavailable");
});

test("several entries mean an ignored filter: the exact entry is searched on every page", async () => {
  const pages: Record<string, Page> = {
    "": { entries: [{ snapshotId: "s-1" }, { snapshotId: "s-2" }], nextToken: "b" },
    b: { entries: [], nextToken: "c" },
    c: { entries: [{ snapshotId: "s-9", readyToUse: true }], nextToken: "d" },
  };
  const { requested, found } = await find(({ startingToken }) => pages[startingToken] as Page);
  assert.deepEqual(requested, ["s-9", "s-9 from b", "s-9 from c"]);
  assert.equal(!(found instanceof Fault) && found.ready, true);
});

test("several entries without an exact match are not found", async () => {
  const { requested, found } = await find(() => ({ entries: [{ snapshotId: "s-1" }, { snapshotId: "S-9" }] }));
  assert.match(found instanceof Fault ? found.message : "", notFound);
  assert.deepEqual(requested, ["s-9"]);
});

test("an empty list is not found", async () => {
  const { found } = await find(() => ({ entries: [] }));
  assert.match(found instanceof Fault ? found.message : "", notFound);
});

test("the number of pages is bounded, and a repeated page token ends the search", async () => {
  const endless = await find(({ startingToken }) => ({
    entries: [{ snapshotId: "s-1" }],
    nextToken: `${Number(startingToken) + 1}`,
  }));
  assert.equal(endless.requested.length, sidecarLimits.listSnapshotsPagesMax);
  assert.match(endless.found instanceof Fault ? endless.found.message : "", /on the first 1000 pages of ListSnapshots/);
  const circle = await find(() => ({ entries: [{ snapshotId: "s-1" }], nextToken: "again" }));
  assert.deepEqual(circle.requested, ["s-9", "s-9 from again"]);
});

test("one entry without a snapshot is a malformed reply", async () => {
  const { found } = await find(filtering(undefined));
  assert.equal(found instanceof Fault && found.code, "MalformedReply");
});
