import assert from "node:assert/strict";
import { test } from "node:test";
import {
  aVolume,
  otherSource,
  present,
  publishView,
  source,
  usable,
  written,
} from "../../../../test/share-volume-views.ts";
import type { ReasonCode } from "../../../api/reasons.ts";
import { Fault, type FaultCode } from "../../../base/fault.ts";
import { withCode } from "../../../errors/codes.ts";
import { type KnownVolume, notListed } from "./observe.ts";
import type { PublishFacts, PublishMemory } from "./observe-publish.ts";
import { type PublishPhase, phaseOfPublish, publishPhases } from "./phase-publish.ts";
import { type PublishAction, planPublish } from "./plan-publish.ts";
import { type SourceState, unlisted } from "./types.ts";

const request = { ...aVolume, readOnly: true, group: undefined };
const full = withCode("too large", "SNAP-711");
const down = new Fault("Unavailable", "nothing answers");
const noRight = new Fault("PermissionDenied", "no");

const counted: Partial<PublishMemory> = { isReadOnlyCounted: true };
const allowed = { kind: "answered", value: "allowed" } as const;
const reviewed: Partial<PublishMemory> = { ...counted, review: { ...allowed, after: undefined } };
const read = (state: SourceState = present("1"), of = source): Partial<PublishMemory> => ({
  ...reviewed,
  source: { kind: "answered", value: state, of },
});
/** What was asked once more after the Secret was read. */
const asked: Partial<PublishMemory> = { ...read(), review: { ...allowed, after: source } };
const mounted = (mount: "new" | "before"): Partial<PublishMemory> => ({ ...asked, mount });
const known = (digest: string | undefined): KnownVolume => ({ spec: aVolume, written: written(digest) });
const empty: KnownVolume = { spec: aVolume, written: undefined };
const reserved = { kind: "unusable", problem: withCode("reserved", "SNAP-152"), isReserved: true } as const;
const unread = { kind: "unknown", because: "its allow-list could not be read", source } as const;

interface Case {
  readonly given: string;
  readonly facts?: Partial<PublishFacts>;
  readonly memory?: Partial<PublishMemory>;
  readonly phase: PublishPhase;
  readonly actions: readonly PublishAction["kind"][];
  readonly reason: ReasonCode;
  /** The error that the kubelet gets: gRPC code, and ours. */
  readonly error?: readonly [FaultCode, string];
}

const refused = (reason: ReasonCode, code: FaultCode, snap: string) =>
  ({ phase: "refused", actions: ["refuse"], reason, error: [code, snap] }) as const;
const review = { phase: "unreviewed", actions: ["review"], reason: "Writes" } as const;
const readIt = { phase: "unread", actions: ["read"], reason: "Writes" } as const;
const mountIt = { phase: "unmounted", actions: ["reserve", "record", "mount"], reason: "Writes" } as const;
const writeIt = { phase: "unfilled", actions: ["write"], reason: "Writes" } as const;
const done = { phase: "published", actions: [], reason: "Settled" } as const;

const cases: readonly Case[] = [
  { given: "a request that has just come", ...review },
  {
    given: "shares that are not listed",
    facts: { share: notListed },
    ...refused("ServerUnreachable", "Unavailable", "SNAP-705"),
  },
  {
    given: "an allow-list that is not read",
    facts: { share: unread },
    ...refused("NotPermitted", "Unavailable", "SNAP-705"),
  },
  {
    given: "no such share",
    facts: { share: { kind: "absent" } },
    ...refused("ShareNotFound", "InvalidArgument", "SNAP-702"),
  },
  {
    given: "a reserved name",
    facts: { share: reserved },
    ...refused("Invalid", "InvalidArgument", "SNAP-152"),
    actions: ["countReservedName", "refuse"],
  },
  {
    given: "a reference that is no name",
    facts: { share: { ...reserved, isReserved: false } },
    ...refused("Invalid", "InvalidArgument", "SNAP-152"),
  },

  {
    given: "no answer to the review",
    memory: { review: { kind: "failed", reason: down, after: undefined } },
    ...refused("ServerUnreachable", "Unavailable", "SNAP-705"),
  },
  {
    given: "a driver that may not ask",
    memory: { review: { kind: "failed", reason: noRight, after: undefined } },
    ...refused("NotPermitted", "PermissionDenied", "SNAP-705"),
  },
  {
    given: "a denied review",
    memory: { review: { kind: "answered", value: "denied", after: undefined } },
    ...refused("UseDenied", "PermissionDenied", "SNAP-704"),
  },
  {
    given: "a writable volume of a pod that may not use the share",
    facts: { request: { ...request, readOnly: false } },
    memory: { review: { kind: "answered", value: "denied", after: undefined } },
    ...refused("UseDenied", "PermissionDenied", "SNAP-704"),
  },
  {
    given: "a writable volume",
    facts: { request: { ...request, readOnly: false } },
    memory: { ...reviewed, isReadOnlyCounted: false },
    ...refused("Invalid", "InvalidArgument", "SNAP-151"),
    actions: ["countReadOnly", "refuse"],
  },
  {
    given: "an id that is in use for another pod",
    facts: { known: { ...empty, spec: { ...aVolume, pod: { ...aVolume.pod, name: "other" } } } },
    memory: reviewed,
    ...refused("Invalid", "AlreadyExists", "SNAP-710"),
  },

  {
    given: "a permission",
    memory: { ...reviewed, isReadOnlyCounted: false },
    ...readIt,
    actions: ["countReadOnly", "read"],
  },
  { given: "a permission that was counted", memory: reviewed, ...readIt },
  {
    given: "a share that got another reference while the first one was read",
    facts: { share: { ...usable, source: otherSource } },
    memory: asked,
    ...readIt,
  },
  {
    given: "a Secret that does not answer",
    memory: { ...reviewed, source: { kind: "failed", reason: down, of: source } },
    ...refused("ServerUnreachable", "Unavailable", "SNAP-705"),
  },
  {
    given: "a Secret that the driver may not read",
    memory: { ...reviewed, source: { kind: "failed", reason: noRight, of: source } },
    ...refused("NotPermitted", "PermissionDenied", "SNAP-707"),
  },
  {
    given: "a Secret that is not listed",
    memory: read(unlisted),
    ...refused("ServerUnreachable", "Unavailable", "SNAP-705"),
  },
  { given: "no such Secret", memory: read({ kind: "absent" }), ...refused("SecretNotFound", "NotFound", "SNAP-706") },
  {
    given: "a key that is no file name",
    memory: read({ kind: "unusable", problem: withCode("key a/b", "SNAP-708") }),
    ...refused("Invalid", "FailedPrecondition", "SNAP-708"),
  },

  { given: "a Secret that was read: it may have taken long", memory: read(), ...review },
  {
    given: "a permission that went while the Secret was read",
    memory: { ...read(), review: { kind: "answered", value: "denied", after: source } },
    ...refused("UseDenied", "PermissionDenied", "SNAP-704"),
  },
  {
    given: "a share that went while its Secret was read",
    facts: { share: { kind: "absent" } },
    memory: asked,
    ...refused("ShareNotFound", "InvalidArgument", "SNAP-702"),
  },
  { given: "no room", facts: { full }, memory: asked, ...refused("NoRoom", "ResourceExhausted", "SNAP-711") },
  {
    given: "no room for a mounted volume that is empty",
    facts: { full, known: empty },
    memory: asked,
    ...refused("NoRoom", "ResourceExhausted", "SNAP-711"),
  },
  { given: "no room, before the permission is asked for again", facts: { full }, memory: read(), ...review },
  { given: "everything", memory: asked, ...mountIt },
  {
    given: "everything for a volume that has a set already",
    facts: { known: known("1") },
    memory: asked,
    ...mountIt,
    actions: ["record", "mount"],
  },

  { given: "a new mount", memory: mounted("new"), ...writeIt },
  { given: "a new mount of a volume that had a set", facts: { known: known("1") }, memory: mounted("new"), ...writeIt },
  { given: "an old mount without files", facts: { known: empty }, memory: mounted("before"), ...writeIt },
  {
    given: "an old mount with a part of a set",
    facts: { known: known(undefined) },
    memory: mounted("before"),
    ...writeIt,
  },
  { given: "an old mount with another set", facts: { known: known("0") }, memory: mounted("before"), ...writeIt },
  {
    given: "an old mount with another set, and no room",
    facts: { known: known("0"), full },
    memory: mounted("before"),
    phase: "kept",
    actions: ["awaitRoom"],
    reason: "NoRoom",
  },
  { given: "an old mount with the same set", facts: { known: known("1") }, memory: mounted("before"), ...done },
  {
    given: "an old mount with another set that is not refreshed",
    facts: { known: known("0"), refresh: false },
    memory: mounted("before"),
    ...done,
  },
];
for (const { given, facts, memory, phase, actions, reason, error } of cases)
  test(`R73: a request with ${given} is ${phase}${actions.length === 0 ? "" : `: ${actions.join(", ")}`}`, () => {
    const view = publishView(facts, memory);
    const plan = planPublish(view);
    assert.deepEqual(
      [phaseOfPublish(view), plan.actions.map(({ kind }) => kind), plan.reason?.code],
      [phase, actions, reason],
    );
    const refusal = plan.actions.find((action) => action.kind === "refuse");
    assert.equal(refusal?.fault.code, error?.[0]);
    if (error !== undefined) assert.match(refusal?.fault.message ?? "", new RegExp(`\\[${error[1]}\\]$`));
  });

test("every phase of a request has a case", () =>
  assert.deepEqual(
    publishPhases.filter((phase) => !cases.some((one) => one.phase === phase)),
    [],
  ));

test("bytes are given by no plan before the permission was asked for after its Secret was read", () => {
  const giving: readonly PublishAction["kind"][] = ["reserve", "record", "mount", "write"];
  for (const { memory, facts } of cases) {
    const view = publishView(facts, memory);
    const { review: answer } = view.memory;
    const isAllowed = answer?.kind === "answered" && answer.value === "allowed" && answer.after !== undefined;
    if (!isAllowed) assert.ok(!planPublish(view).actions.some(({ kind }) => giving.includes(kind)));
  }
});

test("a volume that is not refreshed reads what it was filled from, however its share has changed", () => {
  const share = { ...usable, source: otherSource };
  const sourceRead = (refresh: boolean) => {
    const { actions } = planPublish(publishView({ refresh, share, known: known("1") }, reviewed));
    return actions.map((action) => (action.kind === "read" ? action.source : action.kind));
  };
  assert.deepEqual([sourceRead(true), sourceRead(false)], [[otherSource], [source]]);
});
