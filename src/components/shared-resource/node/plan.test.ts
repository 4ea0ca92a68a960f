import assert from "node:assert/strict";
import { test } from "node:test";
import { otherSource, present, source, usable, volumeView, written } from "../../../../test/share-volume-views.ts";
import type { ReasonCode } from "../../../api/reasons.ts";
import { withCode } from "../../../errors/codes.ts";
import { noMemory, type VolumeMemory } from "./memory.ts";
import { notListed, type VolumeFacts } from "./observe.ts";
import { phaseOf, type VolumePhase, volumePhases, type Withdrawal } from "./phase.ts";
import { planVolume, type VolumeAction } from "./plan.ts";
import { unlisted } from "./types.ts";

const full = withCode("too large", "SNAP-711");
const unusable = { kind: "unusable", problem: withCode("reserved", "SNAP-152"), isReserved: true } as const;
const notRead = { kind: "unknown", because: "its allow-list could not be read", source } as const;
const changed: Partial<VolumeFacts> = { source: present("2") };
const empty: Partial<VolumeMemory> = { written: undefined };
const part: Partial<VolumeMemory> = { written: written(undefined) };
const gone: Partial<VolumeFacts> = { source: { kind: "absent" } };
const refused: Partial<VolumeFacts> = { source: { kind: "unknown", isRefused: true } };
const odd: Partial<VolumeFacts> = { source: { kind: "unusable", problem: "key a/b cannot be a file name" } };

interface Case {
  readonly given: string;
  readonly facts?: Partial<VolumeFacts>;
  readonly memory?: Partial<VolumeMemory>;
  readonly phase: VolumePhase;
  readonly action?: VolumeAction["kind"] | "measure, write" | Withdrawal;
  readonly reason: ReasonCode;
}

const write = { phase: "outdated", action: "measure, write", reason: "Writes" } as const;
const wipe = (action: Withdrawal) => ({ phase: "withdrawn", action, reason: "Writes" }) as const;

const cases: readonly Case[] = [
  { given: "the same set in the source", phase: "current", reason: "Settled" },
  { given: "another set in the source", facts: changed, ...write },
  { given: "an empty volume", memory: empty, ...write },
  { given: "a part of a set", memory: part, ...write },
  { given: "a part of a set and refreshResource: false", facts: { refresh: false }, memory: part, ...write },
  {
    given: "another set, and no room for it",
    facts: { ...changed, full },
    phase: "full",
    action: "awaitRoom",
    reason: "NoRoom",
  },
  { given: "the same set, and no room for a second one", facts: { full }, phase: "current", reason: "Settled" },

  { given: "a denied review", facts: { review: "denied" }, ...wipe("denied") },
  { given: "a part of a set and a denied review", facts: { review: "denied" }, memory: part, ...wipe("denied") },
  {
    given: "a denied review and a source that cannot be read",
    facts: { ...refused, review: "denied" },
    ...wipe("denied"),
  },
  { given: "a denied review and no room", facts: { ...changed, full, review: "denied" }, ...wipe("denied") },
  {
    given: "a denied review of an empty volume",
    facts: { review: "denied" },
    memory: empty,
    phase: "empty",
    reason: "UseDenied",
  },
  { given: "a share that is gone", facts: { share: { kind: "absent" } }, ...wipe("share is gone") },
  {
    given: "a share that is gone, and no answer to the review",
    facts: { share: { kind: "absent" }, review: undefined },
    ...wipe("share is gone"),
  },
  {
    given: "an empty volume of a share that is gone",
    facts: { share: { kind: "absent" } },
    memory: empty,
    phase: "empty",
    reason: "ShareNotFound",
  },
  { given: "a share with a reserved name", facts: { share: unusable }, ...wipe("share is not valid") },
  {
    given: "an empty volume of a share with a reserved name",
    facts: { share: unusable },
    memory: empty,
    phase: "empty",
    reason: "Invalid",
  },
  {
    given: "a source that is gone, and a share that was read since",
    facts: gone,
    memory: { isShareRead: true },
    ...wipe("source is gone"),
  },
  {
    given: "a source that is gone, and a share that was not read since",
    facts: gone,
    phase: "unconfirmed",
    action: "readShare",
    reason: "Writes",
  },
  {
    given: "a source that is gone, and a share that is not known",
    facts: { ...gone, share: notListed },
    phase: "unconfirmed",
    action: "readShare",
    reason: "Writes",
  },
  {
    given: "an empty volume whose source is gone",
    facts: gone,
    memory: empty,
    phase: "empty",
    reason: "SecretNotFound",
  },
  {
    given: "refreshResource: false and a source that is gone",
    facts: { ...gone, refresh: false },
    ...wipe("source is gone"),
  },
  {
    given: "refreshResource: false and a denied review",
    facts: { refresh: false, review: "denied" },
    ...wipe("denied"),
  },

  {
    given: "no answer to the review",
    facts: { ...changed, review: undefined },
    phase: "unknown",
    reason: "ServerUnreachable",
  },
  {
    given: "no answer to the review and an empty volume",
    facts: { review: undefined },
    memory: empty,
    phase: "unknown",
    reason: "ServerUnreachable",
  },
  {
    given: "shares that are not listed",
    facts: { ...changed, share: notListed },
    phase: "unknown",
    reason: "ServerUnreachable",
  },
  {
    given: "a reserved name and no allow-list",
    facts: { ...changed, share: notRead },
    phase: "unknown",
    reason: "NotPermitted",
  },
  { given: "a source that is not listed", facts: { source: unlisted }, phase: "unread", reason: "ServerUnreachable" },
  { given: "a source that may not be read", facts: refused, phase: "unread", reason: "NotPermitted" },
  { given: "a source with a key that is no file name", facts: odd, phase: "unusable", reason: "Invalid" },

  {
    given: "refreshResource: false and another set",
    facts: { ...changed, refresh: false },
    phase: "current",
    reason: "Settled",
  },
  { given: "refreshResource: false and an empty volume", facts: { refresh: false }, memory: empty, ...write },

  {
    given: "a share that refers to another source",
    facts: { share: { ...usable, source: otherSource } },
    phase: "unfollowed",
    action: "follow",
    reason: "Writes",
  },
  {
    given: "a volume that follows nothing yet",
    memory: { follows: undefined },
    phase: "unfollowed",
    action: "follow",
    reason: "Writes",
  },
  {
    given: "refreshResource: false and a share that refers to another source",
    facts: { refresh: false, share: { ...usable, source: otherSource } },
    phase: "current",
    reason: "Settled",
  },
  {
    given: "a share that is not known, of a volume that follows nothing",
    facts: { share: notListed, source: unlisted },
    memory: { follows: undefined },
    phase: "unknown",
    reason: "ServerUnreachable",
  },
];
for (const { given, facts, memory, phase, action, reason } of cases)
  test(`R73: given ${given}, then ${phase}${action === undefined ? "" : `: ${action}`}`, () => {
    const view = volumeView(facts, memory);
    const plan = planVolume(view);
    const done = plan.actions.map((one) => (one.kind === "wipe" ? one.because : one.kind));
    assert.deepEqual([phaseOf(view), done, plan.reason?.code], [phase, action?.split(", ") ?? [], reason]);
  });

test("every phase of a volume has a case", () =>
  assert.deepEqual(
    volumePhases.filter((phase) => !cases.some((one) => one.phase === phase)),
    [],
  ));

test("a process that remembers nothing follows the source of the share first", () => {
  const view = { ...volumeView(), memory: noMemory };
  assert.deepEqual(planVolume(view).actions, [{ kind: "follow", id: "csi-1", source }]);
});

test("what changes only what is remembered is followed by another look at once, a write by none", () => {
  const next = (facts: Partial<VolumeFacts>, memory: Partial<VolumeMemory> = {}) =>
    planVolume(volumeView(facts, memory)).next;
  assert.deepEqual(next({}, { follows: undefined }), { kind: "after", ms: 0 });
  assert.deepEqual(next(gone), { kind: "after", ms: 0 });
  assert.deepEqual(next({ review: "denied" }), { kind: "after", ms: 0 });
  assert.deepEqual(next(changed), { kind: "settled" });
});

test("the reason names the object and what has to change first", () => {
  const { reason } = planVolume(volumeView(gone, empty));
  assert.deepEqual([reason?.says, reason?.waitsFor], ["Secret owner/x does not exist", [source]]);
  assert.match(
    planVolume(volumeView({ review: "denied" }, empty)).reason?.says ?? "",
    /team\/reader may not use SharedSecret one/,
  );
});
