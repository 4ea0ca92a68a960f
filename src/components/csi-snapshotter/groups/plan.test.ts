/** What the sidecar does with a group content: given what the caches show and the driver answered, then these actions and this reason. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { driver } from "../../../../test/builders.ts";
import { codesIn } from "../../../../test/coded-messages.ts";
import {
  aGroupClass,
  aGroupContent,
  groupBeingCreated,
  groupMembers,
  groupTaken,
  groupTerminating,
} from "../../../../test/group-builders.ts";
import { annotations, parameters } from "../../../api/names.ts";
import { Fault, type FaultCode } from "../../../base/fault.ts";
import { limits } from "../../../base/limits.ts";
import { groupErrorRows } from "../../../errors/groups.ts";
import { noteOfMembers } from "../../../rules/group-members.ts";
import { noGroupMemory } from "./memory.ts";
import type { GroupFacts, GroupView } from "./observe.ts";
import { groupPhaseOf } from "./phase.ts";
import { planGroup } from "./plan.ts";
import type { GroupAction } from "./plan-steps.ts";
import type { GroupInfo } from "./reply.ts";

type Situation = Partial<GroupFacts & GroupView["memory"]>;
const aView = (change: Situation = {}): GroupView => {
  const { reply, isFirstAttempt, malformedReplies, replyLeftMs, ...facts } = change;
  return {
    facts: {
      driver,
      canGroup: true,
      content: aGroupContent(),
      groupClass: aGroupClass(),
      options: {
        groupsnapshotNamePrefix: "groupsnapshot",
        groupsnapshotNameUuidLength: -1,
        extraCreateMetadata: false,
      },
      ...facts,
    },
    memory: {
      ...noGroupMemory,
      ...(reply === undefined ? {} : { reply }),
      ...(malformedReplies === undefined ? {} : { malformedReplies }),
    },
    nowMs: Date.parse("2026-01-01T00:00:05Z"),
  };
};
const info: GroupInfo = {
  handle: "g-1",
  ready: true,
  creationTimeNs: 1_767_225_601_000_000_000n,
  members: groupMembers,
  mismatch: undefined,
};
const taken = (change: Partial<GroupInfo> = {}): GroupView["memory"]["reply"] => ({
  kind: "taken",
  group: { ...info, ...change },
});
const failure = (code: FaultCode): GroupView["memory"]["reply"] => ({ kind: "failed", fault: new Fault(code, "why") });
const unread: GroupView["memory"]["reply"] = { kind: "unsent", fault: new Fault("NotFound", "no such secret") };
const noted = { annotations: { [annotations.groupMembers]: noteOfMembers(groupMembers) } };
const imported = aGroupContent({
  spec: { source: { groupSnapshotHandles: { volumeGroupSnapshotHandle: "g-9", volumeSnapshotHandles: ["s-9"] } } },
});
const unready = { ...groupTaken, readyToUse: false };
const deleted = aGroupContent({ metadata: groupTerminating, status: groupTaken });

const brief = (action: GroupAction): string => {
  if (action.kind === "csi") return `${action.intent.map(({ kind }) => kind).join(" ")} → ${action.call.method}`.trim();
  if (action.kind === "event") return `event ${action.event.reason}`;
  return action.kind === "patch" ? `patch${action.subresource === undefined ? "" : "/status"}` : action.kind;
};

interface Row {
  readonly given: string;
  readonly view: Situation;
  readonly phase: ReturnType<typeof groupPhaseOf>;
  readonly actions: readonly string[];
  readonly code?: string;
}
const word = "event GroupSnapshotCreationFailed";
const rows: readonly Row[] = [
  { given: "a new content", view: {}, phase: "untaken", actions: ["patch → create"] },
  {
    given: "a content that a predecessor may have asked for",
    view: { content: aGroupContent({ metadata: groupBeingCreated }) },
    phase: "untaken",
    actions: ["confirm → create"],
  },
  { given: "another driver's content", view: { driver: "other.example.com" }, phase: "foreign", actions: [] },
  {
    given: "a content of another driver's class",
    view: { groupClass: aGroupClass({ driver: "other.example.com" }) },
    phase: "foreign",
    actions: [],
  },
  { given: "a driver that is away", view: { canGroup: undefined }, phase: "untaken", actions: [] },
  {
    given: "a driver without a group controller",
    view: { canGroup: false },
    phase: "untaken",
    actions: ["patch/status", word],
    code: "SNAP-541",
  },
  { given: "the answer", view: { reply: taken() }, phase: "untaken", actions: ["patch/status"] },
  {
    given: "an answer with other members",
    view: { reply: taken({ ready: false, mismatch: "it has no snapshot of volume" }) },
    phase: "untaken",
    actions: ["patch/status", word],
    code: "SNAP-542",
  },
  {
    given: "an answer with another handle than before",
    view: { content: aGroupContent({ status: unready }), reply: taken({ handle: "g-2" }) },
    phase: "pending",
    actions: ["patch/status", word],
    code: "SNAP-503",
  },
  {
    given: "a final refusal",
    view: { content: aGroupContent({ metadata: groupBeingCreated }), reply: failure("Internal") },
    phase: "untaken",
    actions: ["patch/status", word],
    code: "SNAP-501",
  },
  {
    given: "no answer",
    view: { content: aGroupContent({ metadata: groupBeingCreated }), reply: failure("DeadlineExceeded") },
    phase: "untaken",
    actions: [word],
    code: "SNAP-502",
  },
  {
    given: "a secret that cannot be read",
    view: { reply: unread },
    phase: "untaken",
    actions: ["patch/status", word],
    code: "SNAP-516",
  },
  {
    given: "no uid",
    view: { content: aGroupContent({ spec: { volumeGroupSnapshotRef: { namespace: "team", name: "group" } } }) },
    phase: "untaken",
    actions: ["patch/status", word],
    code: "SNAP-511",
  },
  {
    given: "a class that is gone before the driver was asked",
    view: { groupClass: undefined },
    phase: "untaken",
    actions: ["patch/status", word],
    code: "SNAP-513",
  },
  {
    given: "a class that is gone after the driver answered",
    view: { groupClass: undefined, reply: taken() },
    phase: "untaken",
    actions: ["patch/status"],
  },
  {
    given: "an unknown reserved parameter",
    view: { groupClass: aGroupClass({ parameters: { [`${parameters.prefix}odd`]: "x" } }) },
    phase: "untaken",
    actions: ["patch/status", word],
    code: "SNAP-514",
  },
  {
    given: "half a secret",
    view: { content: aGroupContent({ metadata: { annotations: { [annotations.groupDeletionSecretName]: "s" } } }) },
    phase: "untaken",
    actions: ["patch/status", word],
    code: "SNAP-515",
  },
  {
    given: "a group that is not ready yet",
    view: { content: aGroupContent({ status: unready, metadata: noted }) },
    phase: "pending",
    actions: ["→ get"],
  },
  {
    given: "a driver that does not tell whether it is ready",
    view: { content: aGroupContent({ status: unready, metadata: noted }), reply: failure("Internal") },
    phase: "pending",
    actions: ["patch/status", "event GroupSnapshotContentCheckandUpdateFailed"],
    code: "SNAP-543",
  },
  {
    given: "a ready group with the being-created annotation",
    view: { content: aGroupContent({ status: groupTaken, metadata: groupBeingCreated }) },
    phase: "ready",
    actions: ["patch"],
  },
  {
    given: "a ready group",
    view: { content: aGroupContent({ status: groupTaken, metadata: noted }) },
    phase: "ready",
    actions: [],
  },
  { given: "a pre-provisioned group", view: { content: imported }, phase: "unverified", actions: ["→ get"] },
  {
    given: "a pre-provisioned group that the driver does not know",
    view: { content: imported, reply: failure("NotFound") },
    phase: "unverified",
    actions: ["patch/status", "event GroupSnapshotContentCheckandUpdateFailed"],
    code: "SNAP-521",
  },
  { given: "a deleted group", view: { content: deleted }, phase: "removable", actions: ["confirm → delete"] },
  {
    given: "a deleted group, deleted by the driver",
    view: { content: deleted, reply: { kind: "deleted" } },
    phase: "removable",
    actions: ["patch"],
  },
  {
    given: "a deleted group whose driver refuses",
    view: { content: deleted, reply: failure("Internal") },
    phase: "removable",
    actions: ["patch/status", "event GroupSnapshotDeleteError"],
    code: "SNAP-531",
  },
  {
    given: "a deleted group whose driver answers nonsense for ever",
    view: { content: deleted, reply: failure("MalformedReply"), malformedReplies: limits.malformedRepliesMax },
    phase: "removable",
    actions: ["event GroupSnapshotLeftAtDriver", "patch"],
    code: "SNAP-532",
  },
  {
    given: "a deleted group with Retain",
    view: {
      content: aGroupContent({ metadata: groupTerminating, status: groupTaken, spec: { deletionPolicy: "Retain" } }),
    },
    phase: "removable",
    actions: ["patch"],
  },
  {
    given: "a deleted content that was never asked for",
    view: { content: aGroupContent({ metadata: groupTerminating }), canGroup: false },
    phase: "removable",
    actions: ["patch"],
  },
  {
    given: "a deleted content that may have been asked for",
    view: {
      content: aGroupContent({
        metadata: {
          ...groupTerminating,
          annotations: { ...groupTerminating.annotations, ...groupBeingCreated.annotations },
        },
      }),
      groupClass: undefined,
    },
    phase: "untaken",
    actions: ["confirm → create"],
  },
  {
    given: "a deleted pre-provisioned group that nobody confirmed",
    view: { content: { ...imported, metadata: { ...imported.metadata, ...groupTerminating } } },
    phase: "removable",
    actions: ["event GroupSnapshotLeftAtDriver", "patch"],
    code: "SNAP-533",
  },
  {
    given: "a deletion that the snapshot-controller has not confirmed",
    view: {
      content: aGroupContent({
        metadata: { deletionTimestamp: groupTerminating.deletionTimestamp, ...noted },
        status: groupTaken,
      }),
    },
    phase: "ready",
    actions: [],
  },
];

for (const { given, view, phase, actions, code } of rows)
  test(`given ${given}, the phase is ${phase}, and the actions are ${actions.join(", ") || "none"}`, () => {
    const plan = planGroup(aView(view));
    assert.equal(groupPhaseOf(aView(view).facts), phase);
    assert.deepEqual(plan.actions.map(brief), actions);
    assert.deepEqual([...new Set(codesIn(plan.actions))], code === undefined ? [] : [code]);
  });

test("every code about the calls of groups is shown by a row", () => {
  const shown = new Set(rows.map(({ code }) => code));
  assert.deepEqual(
    Object.keys(groupErrorRows).filter((code) => code.startsWith("SNAP-5") && !shown.has(code)),
    [],
  );
});

test("an error is written once", () => {
  const { actions } = planGroup(aView({ canGroup: false }));
  const [write] = actions;
  assert.ok(write?.kind === "patch" && write.patch.type === "merge");
  const content = aGroupContent({ status: (write.patch.body as { status: object }).status as never });
  assert.deepEqual(planGroup(aView({ canGroup: false, content })).actions, []);
});

test("what a definition of v1beta1 alone has no room for is not written again and again", () => {
  const { volumeSnapshotInfoList: _pruned, ...status } = groupTaken;
  const content = aGroupContent({ status, metadata: noted });
  assert.deepEqual(planGroup(aView({ content, reply: taken() })).actions, []);
  const stillUnready = aGroupContent({ status: { ...status, readyToUse: false }, metadata: noted });
  assert.deepEqual(planGroup(aView({ content: stillUnready, reply: taken({ ready: false }) })).actions, []);
});

test("all ids that the driver has named are deleted, also those of an answer that was not asked for", () => {
  const list = [...groupMembers, { volumeHandle: "vol-9", snapshotHandle: "s-3" }];
  const content = aGroupContent({
    metadata: groupTerminating,
    status: { ...unready, volumeSnapshotInfoList: list },
  });
  const [action] = planGroup(aView({ content })).actions;
  assert.ok(action?.kind === "csi" && action.call.method === "delete");
  assert.deepEqual(action.call.snapshotHandles, ["s-1", "s-2", "s-3"]);
});
