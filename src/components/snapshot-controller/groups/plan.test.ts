/** What the snapshot-controller does with a group: given what the caches show, then these actions and this reason. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim, aContent, aSnapshot, aVolume, driver } from "../../../../test/builders.ts";
import { codesIn } from "../../../../test/coded-messages.ts";
import {
  aGroup,
  aGroupClass,
  aGroupContent,
  groupContentName,
  groupGoing,
  groupMembers,
  groupTaken,
  groupTerminating,
} from "../../../../test/group-builders.ts";
import { aSnapshotView } from "../../../../test/views.ts";
import { annotations, finalizers, parameters } from "../../../api/names.ts";
import type { ClusterAction } from "../../../api/plan.ts";
import { groupErrorRows } from "../../../errors/groups.ts";
import { memberNamesFor } from "../../../rules/group-members.ts";
import { groupSourcesOf } from "../../../rules/group-sources.ts";
import { planSnapshot } from "../plan.ts";
import type { GroupFacts, GroupView, Member } from "./observe.ts";
import { groupPhaseOf } from "./phase.ts";
import { planGroup } from "./plan.ts";
import { planGroupContent } from "./plan-content.ts";

const selected = (name: string, volumeHandle: string, claimChange: object = {}, volumeChange: object = {}) => ({
  claim: aClaim({
    metadata: { name, uid: `uid-${name}` },
    spec: { volumeName: `pv-${name}` },
    status: { phase: "Bound" },
    ...claimChange,
  }),
  volume: aVolume({
    spec: {
      claimRef: { namespace: "team", name, uid: `uid-${name}` },
      csi: { driver, volumeHandle },
      volumeMode: "Filesystem",
      ...volumeChange,
    },
  }),
});
const claims = [selected("data", "vol-1"), selected("log", "vol-2")];

const aView = (change: Partial<GroupFacts> = {}): GroupView => ({
  facts: {
    group: aGroup(),
    content: undefined,
    groupClass: aGroupClass(),
    defaultClasses: [],
    claims,
    members: [],
    owned: [],
    restoring: [],
    isRestoringUndecided: false,
    keepsVolumeMode: true,
    ...change,
  },
  memory: undefined,
  nowMs: Date.parse("2026-01-01T00:00:05Z"),
});
const bound = aGroup({ status: { boundVolumeGroupSnapshotContentName: groupContentName, readyToUse: false } });

const names = (digit: string) => memberNamesFor(digit.repeat(64));
const owner = {
  apiVersion: "groupsnapshot.storage.k8s.io/v1",
  kind: "VolumeGroupSnapshot",
  name: "group",
  uid: "uid-group",
};
const memberSnapshot = (digit: string, change: object = {}) =>
  aSnapshot({
    metadata: { name: names(digit).snapshot, uid: `uid-${digit}`, ownerReferences: [owner] },
    spec: { source: { persistentVolumeClaimName: "data" } },
    ...change,
  });
const memberContent = (digit: string, status?: object) =>
  aContent({
    metadata: { name: names(digit).content },
    spec: { volumeSnapshotRef: { namespace: "team", name: names(digit).snapshot, uid: `uid-${digit}` } },
    ...(status === undefined ? {} : { status }),
  });
const members = (change: (digit: "1" | "2") => Partial<Member>): readonly Member[] =>
  (["1", "2"] as const).map((digit, index) => ({
    info: groupMembers[index] ?? assert.fail(),
    names: names(digit),
    source: { claim: digit === "1" ? "data" : "log", mode: "Filesystem" },
    snapshot: undefined,
    content: undefined,
    ...change(digit),
  }));
const joined = (status: object) =>
  members((digit) => ({
    snapshot: memberSnapshot(digit, { status }),
    content: memberContent(digit, { snapshotHandle: `s-${digit}`, readyToUse: true }),
  }));
const taken = aGroupContent({ status: groupTaken });
const going = aGroup({ metadata: { deletionTimestamp: groupGoing } });

const brief = (action: ClusterAction): string => {
  if (action.kind === "event") return `event ${action.event.reason}`;
  if (action.kind === "relist") return "relist";
  return `${action.kind}${action.kind === "patch" && action.subresource ? "/status" : ""} ${action.ref.kind.replace("Volume", "")}`;
};

interface Row {
  readonly given: string;
  readonly view: Partial<GroupFacts>;
  readonly phase: ReturnType<typeof groupPhaseOf>;
  readonly actions: readonly string[];
  readonly code?: string;
}
const told = (reason: string): readonly string[] => ["patch/status GroupSnapshot", `event ${reason}`];
const failed = told("GroupSnapshotContentCreationFailed");
const invalid = (given: string, view: Partial<GroupFacts>, code: string, actions = failed): Row => ({
  given,
  view,
  phase: "invalid",
  actions,
  code,
});
const source = (spec: object) => ({ group: aGroup({ spec: spec as never }) });
const rows: readonly Row[] = [
  {
    given: "a new group",
    view: { group: aGroup({ metadata: { finalizers: [] } }) },
    phase: "unbound",
    actions: ["patch GroupSnapshot", "create GroupSnapshotContent", "event CreatingGroupSnapshot"],
    code: "SNAP-294",
  },
  {
    given: "a new group that is protected already",
    view: {},
    phase: "unbound",
    actions: ["confirm GroupSnapshot", "create GroupSnapshotContent", "event CreatingGroupSnapshot"],
    code: "SNAP-294",
  },
  invalid(
    "both sources",
    source({ source: { selector: { matchLabels: { a: "b" } }, volumeGroupSnapshotContentName: "x" } }),
    "SNAP-261",
    told("GroupSnapshotValidationError"),
  ),
  invalid("an empty selector", source({ source: { selector: {} } }), "SNAP-261", told("GroupSnapshotValidationError")),
  invalid(
    "an unknown operator",
    source({ source: { selector: { matchExpressions: [{ key: "a", operator: "Like" }] } } }),
    "SNAP-261",
    told("GroupSnapshotValidationError"),
  ),
  invalid("no claim", { claims: [] }, "SNAP-262"),
  invalid(
    "a claim without a volume",
    { claims: [selected("data", "v", { status: { phase: "Pending" } })] },
    "SNAP-263",
  ),
  invalid(
    "a claim that is being deleted",
    { claims: [selected("data", "v", { metadata: { name: "data", deletionTimestamp: groupGoing } })] },
    "SNAP-263",
  ),
  invalid("a volume that is gone", { claims: [{ ...selected("data", "v"), volume: undefined }] }, "SNAP-263"),
  invalid("a volume without claimRef", { claims: [selected("data", "v", {}, { claimRef: undefined })] }, "SNAP-263"),
  invalid(
    "somebody else's volume",
    { claims: [selected("data", "v", {}, { claimRef: { namespace: "other", name: "data" } })] },
    "SNAP-263",
  ),
  invalid("a volume that is not of CSI", { claims: [selected("data", "v", {}, { csi: undefined })] }, "SNAP-263"),
  invalid("two volumes with one handle", { claims: [selected("data", "v"), selected("log", "v")] }, "SNAP-264"),
  invalid("a class that does not exist", { groupClass: undefined }, "SNAP-265", told("GetGroupSnapshotClassFailed")),
  invalid(
    "no default class",
    { ...source({ source: { selector: { matchLabels: { a: "b" } } } }), groupClass: undefined },
    "SNAP-265",
    told("SetDefaultGroupSnapshotClassFailed"),
  ),
  invalid("another driver's class", { groupClass: aGroupClass({ driver: "other.example.com" }) }, "SNAP-265"),
  invalid(
    "volumes of two drivers",
    {
      claims: [
        ...claims,
        selected("odd", "vol-3", {}, { csi: { driver: "other.example.com", volumeHandle: "vol-3" } }),
      ],
    },
    "SNAP-265",
  ),
  invalid(
    "half a secret",
    { groupClass: aGroupClass({ parameters: { [parameters.groupSnapshotterSecretName]: "s" } }) },
    "SNAP-231",
  ),
  invalid("a lost content", { group: bound }, "SNAP-266", told("GroupSnapshotContentMissing")),
  invalid(
    "a content that does not exist",
    source({ source: { volumeGroupSnapshotContentName: "x" } }),
    "SNAP-266",
    told("GroupSnapshotContentMissing"),
  ),
  invalid(
    "a content of another group",
    {
      content: aGroupContent({ spec: { volumeGroupSnapshotRef: { namespace: "team", name: "group", uid: "other" } } }),
    },
    "SNAP-266",
    told("GroupSnapshotContentMisbound"),
  ),
  {
    given: "a content that is there",
    view: { content: aGroupContent() },
    phase: "taking",
    actions: ["patch/status GroupSnapshot"],
  },
  {
    given: "a content that the group names",
    view: { group: bound, content: aGroupContent() },
    phase: "taking",
    actions: [],
  },
  {
    given: "a list that lacks a volume, as other sidecars store it",
    view: {
      group: bound,
      content: aGroupContent({ status: { ...groupTaken, volumeSnapshotInfoList: groupMembers.slice(1) } }),
    },
    phase: "taking",
    actions: ["patch/status GroupSnapshot"],
  },
  {
    given: "a taken group",
    view: { group: bound, content: taken, members: members(() => ({})) },
    phase: "joining",
    actions: ["create Snapshot", "create Snapshot"],
  },
  {
    given: "members without a content",
    view: { group: bound, content: taken, members: members((digit) => ({ snapshot: memberSnapshot(digit) })) },
    phase: "joining",
    actions: ["create SnapshotContent", "create SnapshotContent"],
  },
  {
    given: "contents without a status",
    view: {
      group: bound,
      content: taken,
      members: members((digit) => ({ snapshot: memberSnapshot(digit), content: memberContent(digit) })),
    },
    phase: "joining",
    actions: ["patch/status SnapshotContent", "patch/status SnapshotContent"],
  },
  {
    given: "a content that upstream's controller has not bound",
    view: {
      group: bound,
      content: taken,
      members: members((digit) => ({
        snapshot: memberSnapshot(digit),
        content: aContent({
          metadata: { name: names(digit).content, finalizers: [] },
          spec: { volumeSnapshotRef: { namespace: "team", name: names(digit).snapshot } },
        }),
      })),
    },
    phase: "joining",
    actions: ["patch SnapshotContent", "patch SnapshotContent"],
  },
  {
    given: "a member that is not ready",
    view: { group: bound, content: taken, members: joined({ readyToUse: false }) },
    phase: "unready",
    actions: ["patch/status GroupSnapshot"],
  },
  {
    given: "members that are all ready",
    view: { group: bound, content: taken, members: joined({ readyToUse: true }) },
    phase: "ready",
    actions: ["patch/status GroupSnapshot", "event GroupSnapshotReady"],
    code: "SNAP-295",
  },
  {
    given: "a deleted group whose member is being restored",
    view: { group: going, content: taken, restoring: [{ claim: aClaim(), grant: undefined }] },
    phase: "deleting",
    actions: told("SnapshotDeletePending"),
    code: "SNAP-268",
  },
  {
    given: "a deleted group",
    view: { group: going, content: taken },
    phase: "deleting",
    actions: ["patch GroupSnapshotContent"],
  },
  {
    given: "a deleted group whose content knows it",
    view: {
      group: going,
      content: aGroupContent({ metadata: { annotations: groupTerminating.annotations }, status: groupTaken }),
      owned: [memberSnapshot("1")],
    },
    phase: "deleting",
    actions: ["delete GroupSnapshotContent", "delete Snapshot"],
  },
  {
    given: "a content that the driver does not delete",
    view: {
      group: going,
      content: aGroupContent({
        metadata: groupTerminating,
        status: { ...groupTaken, error: { message: "why [SNAP-531]" } },
      }),
    },
    phase: "deleting",
    actions: told("GroupSnapshotDeleteError"),
    code: "SNAP-268",
  },
  {
    given: "a deleted group with Retain",
    view: {
      group: going,
      content: aGroupContent({ spec: { deletionPolicy: "Retain" }, status: groupTaken }),
      owned: [memberSnapshot("1")],
    },
    phase: "deleting",
    actions: ["patch GroupSnapshotContent", "delete Snapshot", "patch GroupSnapshot"],
  },
  {
    given: "a deleted group without a content",
    view: { group: going },
    phase: "deleting",
    actions: ["confirm GroupSnapshotContent", "patch GroupSnapshot"],
  },
];

for (const { given, view, phase, actions, code } of rows)
  test(`given ${given}, the phase is ${phase}, and the actions are ${actions.join(", ") || "none"}`, () => {
    const plan = planGroup(aView(view));
    assert.equal(groupPhaseOf(aView(view).facts), phase);
    assert.deepEqual(plan.actions.map(brief), actions);
    assert.deepEqual([...new Set(codesIn(plan.actions))], code === undefined ? [] : [code]);
  });

test("the content has the list of volumes, and notes the claim and the mode of each", () => {
  const created = planGroup(aView()).actions.find((action) => action.kind === "create");
  assert.ok(created?.kind === "create");
  const content = created.object as unknown as ReturnType<typeof aGroupContent>;
  assert.deepEqual(content.spec.source, { volumeHandles: ["vol-1", "vol-2"] });
  assert.equal(content.metadata.name, groupContentName);
  assert.deepEqual(content.metadata.finalizers, [finalizers.groupContentBound]);
  assert.deepEqual(
    [...groupSourcesOf(content)],
    [
      ["vol-1", { claim: "data", mode: "Filesystem" }],
      ["vol-2", { claim: "log", mode: "Filesystem" }],
    ],
  );
});

test("a member is named and owned as upstream does, and its content never leads to CreateSnapshot", () => {
  const [first] = planGroup(aView({ group: bound, content: taken, members: members(() => ({})) })).actions;
  assert.ok(first?.kind === "create");
  assert.deepEqual(first.object.metadata.ownerReferences, [owner]);
  assert.ok(first.object.metadata.finalizers?.includes(finalizers.snapshotInGroup));
  const withSnapshots = members((digit) => ({ snapshot: memberSnapshot(digit) }));
  const [content] = planGroup(aView({ group: bound, content: taken, members: withSnapshots })).actions;
  assert.ok(content?.kind === "create");
  assert.deepEqual(content.object.metadata.annotations, { [annotations.groupSnapshotHandle]: "g-1" });
  const { spec } = content.object as unknown as ReturnType<typeof aContent>;
  assert.equal(spec.volumeSnapshotRef.uid, "uid-1");
  assert.equal(spec.sourceVolumeMode, "Filesystem");
});

const alone: readonly [
  given: string,
  content: ReturnType<typeof aGroupContent>,
  actions: readonly string[],
  code?: string,
][] = [
  [
    "a deleted content whose group is gone",
    aGroupContent({ metadata: { deletionTimestamp: groupGoing } }),
    ["confirm GroupSnapshot", "patch GroupSnapshotContent"],
  ],
  ["a kept content", aGroupContent(), []],
  [
    "a deleted content without a driver",
    aGroupContent({ metadata: groupTerminating, spec: { driver: "" }, status: groupTaken }),
    ["event GroupSnapshotLeftAtDriver", "patch GroupSnapshotContent"],
    "SNAP-269",
  ],
  ["a content that its group has given up", aGroupContent({ metadata: groupTerminating }), []],
];
for (const [given, content, actions, code] of alone)
  test(`given ${given}, the actions are ${actions.join(", ") || "none"}`, () => {
    const plan = planGroupContent({ facts: { content, group: undefined }, memory: undefined, nowMs: 0 });
    assert.deepEqual(plan.actions.map(brief), actions);
    assert.deepEqual(codesIn(plan.actions), code === undefined ? [] : [code]);
  });

test("a member that is deleted by itself stays, and the event says what to delete", () => {
  const snapshot = memberSnapshot("1", {
    metadata: {
      name: names("1").snapshot,
      deletionTimestamp: groupGoing,
      ownerReferences: [owner],
      finalizers: [finalizers.snapshotInGroup],
    },
  });
  const { actions } = planSnapshot(aSnapshotView({ snapshot, group: { kind: "held" } }));
  assert.deepEqual(codesIn(actions as readonly ClusterAction[]), ["SNAP-267"]);
});

test("a member gets no default class, no finalizer on its claim, and its group's name in the status", () => {
  const snapshot = memberSnapshot("1", {
    metadata: {
      name: names("1").snapshot,
      uid: "uid-1",
      ownerReferences: [owner],
      finalizers: [finalizers.snapshotInGroup, finalizers.snapshotAsSource, finalizers.snapshotBound],
    },
  });
  const content = memberContent("1", { snapshotHandle: "s-1", readyToUse: true });
  const { actions } = planSnapshot(aSnapshotView({ snapshot, content, snapshotClass: undefined }));
  const [write] = actions;
  assert.ok(write?.kind === "patch" && write.patch.type === "merge" && write.subresource === "status");
  const { status } = write.patch.body as { status: Record<string, unknown> };
  assert.equal(status.volumeGroupSnapshotName, "group");
  assert.equal(status.boundVolumeSnapshotContentName, names("1").content);
});

test("every code about groups is shown by a row", () => {
  const shown = new Set([...rows.map(({ code }) => code), ...alone.map(([, , , code]) => code), "SNAP-267"]);
  assert.deepEqual(
    Object.keys(groupErrorRows).filter((code) => code.startsWith("SNAP-2") && !shown.has(code)),
    [],
  );
});
