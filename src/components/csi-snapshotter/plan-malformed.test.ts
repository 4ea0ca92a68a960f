/** Malformed replies are reported, and they prevent no deletion. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { aContent, driver } from "../../../test/builders.ts";
import {
  aYoungView as aView,
  beingCreated,
  deletionTimestamp,
  failure,
  ready,
  terminating,
  testPlans,
} from "../../../test/content-plans.ts";
import { limits } from "../../base/limits.ts";
import { planContent } from "./plan.ts";

const reply = failure("MalformedReply");
const malformedReplies = limits.malformedRepliesMax;
const terminatingBeingCreated = {
  ...terminating,
  annotations: { ...terminating.annotations, ...beingCreated.annotations },
};
testPlans([
  {
    given: "an undecodable reply for a new snapshot",
    view: aView({ content: aContent({ metadata: beingCreated }), reply, malformedReplies: 1 }),
    phase: "untaken",
    reason: "DriverFailed",
    expect: ["patch/status rest", "event SnapshotCreationFailed"],
  },
  {
    given: "many undecodable replies for a wanted snapshot",
    view: aView({ content: aContent({ metadata: beingCreated }), reply, malformedReplies: 50 }),
    phase: "untaken",
    reason: "DriverFailed",
    expect: ["patch/status rest", "event SnapshotCreationFailed"],
  },
  {
    given: "too few undecodable replies for a deleted snapshot",
    view: aView({
      content: aContent({ metadata: terminatingBeingCreated }),
      reply,
      malformedReplies: malformedReplies - 1,
    }),
    phase: "untaken",
    reason: "DriverFailed",
    expect: ["patch/status rest", "event SnapshotCreationFailed"],
  },
  {
    given: "only undecodable replies for a deleted snapshot",
    view: aView({ content: aContent({ metadata: terminatingBeingCreated }), reply, malformedReplies }),
    phase: "untaken",
    reason: "Released",
    expect: ["event SnapshotLeftAtDriver", "patch annotation"],
  },
  {
    given: "an unavailable driver after undecodable replies for a deleted snapshot",
    view: aView({
      content: aContent({ metadata: terminatingBeingCreated }),
      reply: failure("Unavailable"),
      malformedReplies,
    }),
    phase: "untaken",
    reason: "DriverFailed",
    expect: ["patch/status rest", "event SnapshotCreationFailed"],
  },
  {
    given: "only undecodable replies for a deleted content whose snapshot exists",
    view: aView({ content: aContent({ metadata: { ...beingCreated, deletionTimestamp } }), reply, malformedReplies }),
    phase: "untaken",
    reason: "DriverFailed",
    expect: ["patch/status rest", "event SnapshotCreationFailed"],
  },
  {
    given: "only undecodable replies for a deleted snapshot with a handle",
    view: aView({
      content: aContent({ metadata: terminatingBeingCreated, status: { ...ready, readyToUse: false } }),
      reply,
      malformedReplies,
    }),
    phase: "pending",
    reason: "Writes",
    expect: ["patch annotation"],
  },
  {
    given: "a DeleteSnapshot with an undecodable reply",
    view: aView({ content: aContent({ metadata: terminating, status: ready }), reply, malformedReplies: 1 }),
    phase: "removable",
    reason: "DriverFailed",
    expect: ["patch/status rest", "event SnapshotDeleteError"],
  },
  {
    given: "a deletion with only undecodable replies",
    view: aView({ content: aContent({ metadata: terminating, status: ready }), reply, malformedReplies }),
    phase: "removable",
    reason: "Released",
    expect: ["event SnapshotLeftAtDriver", "patch rest"],
  },
]);

const left = [
  {
    given: "handle",
    metadata: terminating,
    status: ready,
    names: `driver ${driver} .*snapshot "s-1" may be left there`,
  },
  {
    given: "name and volume",
    metadata: terminatingBeingCreated,
    status: undefined,
    names: `driver ${driver} .*snapshot "snapshot-uid-snap" of volume "vol-1" may be left there`,
  },
] as const;
for (const { given, metadata, status, names } of left)
  test(`the event names what may be left at the driver by its ${given}`, () => {
    const content = aContent({ metadata, ...(status === undefined ? {} : { status }) });
    const { actions } = planContent(aView({ content, reply, malformedReplies }));
    const [event] = actions;
    assert.match(event?.kind === "event" ? event.event.message : "", new RegExp(names));
  });
