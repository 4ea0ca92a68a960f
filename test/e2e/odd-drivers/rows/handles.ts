/** Pre-provisioned snapshots: how drivers answer when they are asked about a handle, and what a deletion may then delete. */
import assert from "node:assert/strict";
import { parameters } from "../../../../src/api/names.ts";
import { keptNow, type Script } from "../driver.ts";
import { deletesNothing, type Outcome, type Row } from "../row.ts";
import { message, refusal } from "../wire.ts";

const internal = 13;
const entriesOf = (handles: readonly string[], nextToken = "") =>
  message({ entries: handles.map((handle) => ({ snapshot: keptNow(handle) })), nextToken });

/** Knows its snapshots by a form of its own, and finds them by any spelling. */
const canonicalising = (canonical: (handle: string) => string, held: string): Script => ({
  holds: [held],
  listSnapshots: ({ request, storage }) => {
    const found = storage.get(canonical(request.snapshotId));
    return message({ entries: found === undefined ? [] : [{ snapshot: found }] });
  },
  deleteSnapshot: ({ request, storage }) => {
    storage.delete(canonical(request.snapshotId));
    return message({});
  },
});

const keepsHandle =
  (wanted: string) =>
  ({ handle, deletes }: Outcome): void => {
    assert.equal(handle, wanted, `the handle is ${handle}, and not the spec's`);
    assert.deepEqual([...new Set(deletes)], [wanted], `DeleteSnapshot was sent for ${JSON.stringify(deletes)}`);
  };

const notFound = /can not find snapshot for snapshotID/;
const naming = (handle: string): RegExp => new RegExp(`let go without DeleteSnapshot.*"${handle}"`);

const path = (name: string): string => `/pools/1/snapshots/${name}`;

export const handleRows: readonly Row[] = [
  {
    driver: "lists a handle in another case",
    handle: "Kept",
    script: canonicalising((handle) => handle.toLowerCase(), "kept"),
    reports: /Warning OddDriverReply .*"kept"/,
    shows: keepsHandle("Kept"),
  },
  {
    driver: "lists the full path of a snapshot for its bare name",
    handle: "kept",
    script: canonicalising((handle) => (handle.startsWith("/") ? handle : path(handle)), path("kept")),
    reports: /Warning OddDriverReply .*"\/pools\/1\/snapshots\/kept"/,
    shows: keepsHandle("kept"),
  },
  {
    driver: "ignores the filter, has one snapshot, and is asked for another",
    handle: "missing",
    script: { holds: ["other"], listSnapshots: ({ storage }) => entriesOf([...storage.keys()]) },
    right: { ready: false, left: ["other"] },
    says: notFound,
    shows: deletesNothing,
  },
  {
    driver: "ignores the filter, has many snapshots, and is asked for one that it does not have",
    handle: "missing",
    script: { holds: ["first", "second"], listSnapshots: ({ storage }) => entriesOf([...storage.keys()]) },
    right: { ready: false, left: ["first", "second"] },
    says: notFound,
    shows: deletesNothing,
  },
  {
    driver: "ignores the filter, and has what it is asked for on its third page",
    handle: "kept",
    script: {
      holds: ["first", "second", "third", "fourth", "kept"],
      listSnapshots: ({ request, storage }) => {
        const from = Number(request.startingToken || "0");
        const handles = [...storage.keys()];
        return entriesOf(handles.slice(from, from + 2), from + 2 < handles.length ? String(from + 2) : "");
      },
    },
    right: { left: ["first", "fourth", "second", "third"] },
    shows: keepsHandle("kept"),
  },
  {
    driver: "has not got the handle",
    handle: "missing",
    script: { holds: ["other"] },
    right: { ready: false, left: ["other"] },
    says: notFound,
    reports: naming("missing"),
    shows: deletesNothing,
  },
  {
    driver: "cannot list at the moment, and has the handle",
    handle: "kept",
    script: { holds: ["kept"], listSnapshots: () => refusal(internal, "the index is being rebuilt") },
    right: { ready: false, left: ["kept"] },
    says: /the index is being rebuilt/,
    reports: naming("kept"),
    shows: deletesNothing,
  },
  {
    driver: "needs a secret to list, which is not there",
    handle: "kept",
    parameters: {
      [`${parameters.prefix}snapshotter-list-secret-name`]: "nowhere",
      [`${parameters.prefix}snapshotter-list-secret-namespace`]: "default",
    },
    script: { holds: ["kept"] },
    right: { ready: false, left: ["kept"] },
    says: /secret/,
    reports: naming("kept"),
    shows: deletesNothing,
  },
  {
    driver: "cannot list at all",
    handle: "kept",
    script: { holds: ["kept"], canList: false },
    shows: keepsHandle("kept"),
  },
  {
    driver: "could list when it was first asked, and after a restart cannot",
    handle: "kept",
    script: { holds: ["kept"] },
    before: ({ driver }) => driver.restart({ canList: false }),
    shows: keepsHandle("kept"),
  },
  {
    driver: "could not list when it was first asked, and after a restart can, but has not got the handle",
    handle: "missing",
    script: { holds: ["other"], canList: false },
    before: ({ driver }) => driver.restart({}),
    right: { ready: false, left: ["other"] },
    says: notFound,
    shows: deletesNothing,
  },
];
