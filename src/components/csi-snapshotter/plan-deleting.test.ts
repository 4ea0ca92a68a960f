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
import { annotations } from "../../api/names.ts";
import { Fault } from "../../base/fault.ts";
import { planContent } from "./plan.ts";

const terminatingBeingCreated = {
  ...terminating,
  annotations: { ...beingCreated.annotations, ...terminating.annotations },
};
const halfAnnotated = {
  ...terminating,
  annotations: { ...terminating.annotations, [annotations.deletionSecretName]: "key" },
};
const twoSources = { volumeHandle: "v-1", snapshotHandle: "s-9" };
const preProvisioned = { source: { snapshotHandle: "s-9" } };
testPlans([
  {
    given: "a deletion before the first call for a content created with our annotation",
    view: aView({ content: aContent({ metadata: terminatingBeingCreated }), createSent: "never" }),
    phase: "untaken",
    reason: "Released",
    expect: ["patch annotation"],
  },
  {
    given: "a repeated deletion before the first call for a content created with our annotation",
    view: aView({ content: aContent({ metadata: terminatingBeingCreated }), createSent: "released" }),
    phase: "untaken",
    reason: "Released",
    expect: ["patch annotation"],
  },
  {
    given: "a deletion before any call for a group's member with our annotation",
    view: aView({
      content: aContent({
        metadata: {
          ...terminating,
          annotations: { ...terminatingBeingCreated.annotations, [annotations.groupSnapshotHandle]: "g" },
        },
      }),
      createSent: "never",
    }),
    phase: "foreign",
    reason: "Released",
    expect: ["patch annotation"],
  },
  {
    given: "a deletion of a content that was created with a predecessor's annotation",
    view: aView({
      content: aContent({ metadata: terminatingBeingCreated }),
      createSent: "unknown",
      sidecarId: "another",
    }),
    phase: "untaken",
    reason: "OutcomeUnknown",
    expect: ["annotate, create"],
  },
  {
    given: "a deletion that the controller has confirmed",
    view: aView({ content: aContent({ metadata: terminating, status: ready }) }),
    phase: "removable",
    reason: "WaitsForDriver",
    expect: ["confirm, delete"],
  },
  {
    given: "a successful DeleteSnapshot",
    view: aView({ content: aContent({ metadata: terminating, status: ready }), reply: { kind: "deleted" } }),
    phase: "removable",
    reason: "Released",
    expect: ["patch rest"],
  },
  {
    given: "a failed DeleteSnapshot",
    view: aView({ content: aContent({ metadata: terminating, status: ready }), reply: failure("FailedPrecondition") }),
    phase: "removable",
    reason: "DriverFailed",
    expect: ["patch/status rest", "event SnapshotDeleteError"],
  },
  {
    given: "a deletion whose secret cannot be read",
    view: aView({
      content: aContent({ metadata: terminating, status: ready }),
      reply: { kind: "unsent", fault: new Fault("NotFound", 'secrets "s" not found') },
    }),
    phase: "removable",
    reason: "SecretNotUsable",
    expect: ["patch/status rest", "event SnapshotDeleteError"],
  },
  {
    given: "a deletion with Retain",
    view: aView({ content: aContent({ metadata: terminating, status: ready, spec: { deletionPolicy: "Retain" } }) }),
    phase: "removable",
    reason: "Released",
    expect: ["patch rest"],
  },
  {
    given: "a deletion before any CreateSnapshot",
    view: aView({ content: aContent({ metadata: terminating }) }),
    phase: "removable",
    reason: "Released",
    expect: ["patch rest"],
  },
  {
    given: "a deletion of a group member",
    view: aView({ content: aContent({ metadata: terminating, status: { ...ready, volumeGroupSnapshotHandle: "g" } }) }),
    phase: "removable",
    reason: "Released",
    expect: ["patch rest"],
  },
  {
    given: "a content deleted while its snapshot exists",
    view: aView({ content: aContent({ metadata: { deletionTimestamp }, status: ready }) }),
    phase: "ready",
    reason: "WaitsForDeletionConfirmed",
    expect: [],
  },
  {
    given: "a deletion with an unknown outcome of CreateSnapshot",
    view: aView({
      content: aContent({
        metadata: { deletionTimestamp, annotations: { ...terminating.annotations, ...beingCreated.annotations } },
      }),
    }),
    phase: "untaken",
    reason: "OutcomeUnknown",
    expect: ["confirm, create"],
  },
  {
    given: "a deletion with an unknown outcome of CreateSnapshot and a deleted class",
    view: aView({
      content: aContent({
        metadata: { ...terminating, annotations: { ...terminating.annotations, ...beingCreated.annotations } },
      }),
      snapshotClass: undefined,
    }),
    phase: "untaken",
    reason: "OutcomeUnknown",
    expect: ["confirm, create"],
  },
  {
    given: "a deletion of a ready content with two sources",
    view: aView({ content: aContent({ metadata: terminating, status: ready, spec: { source: twoSources } }) }),
    phase: "removable",
    reason: "WaitsForDriver",
    expect: ["confirm, delete"],
  },
  {
    given: "a deletion of a content with two sources and an unknown outcome of CreateSnapshot",
    view: aView({ content: aContent({ metadata: terminatingBeingCreated, spec: { source: twoSources } }) }),
    phase: "removable",
    reason: "Released",
    expect: ["event SnapshotLeftAtDriver", "patch annotation"],
  },
  {
    given: "a deletion of a content that got a handle instead of its volume, with an unknown outcome of CreateSnapshot",
    view: aView({ content: aContent({ metadata: terminatingBeingCreated, spec: preProvisioned }) }),
    phase: "removable",
    reason: "Released",
    expect: ["event SnapshotLeftAtDriver", "patch annotation"],
  },
  {
    given: "a deletion of a content without a source that was taken and is not ready",
    view: aView({
      content: aContent({
        metadata: terminatingBeingCreated,
        status: { ...ready, readyToUse: false },
        spec: { source: {} },
      }),
    }),
    phase: "removable",
    reason: "Writes",
    expect: ["patch annotation"],
  },
  {
    given: "a deletion of a content without a source and without a uid",
    view: aView({
      content: aContent({
        metadata: { deletionTimestamp },
        spec: { source: {}, volumeSnapshotRef: { namespace: "team", name: "monday" } },
      }),
    }),
    phase: "removable",
    reason: "Released",
    expect: ["patch rest"],
  },
  {
    given: "a deletion that is not confirmed of a content without a source",
    view: aView({ content: aContent({ metadata: { deletionTimestamp }, spec: { source: {} } }) }),
    phase: "foreign",
    reason: "NotOurs",
    expect: [],
  },
  {
    given: "a content with Retain and an unknown outcome whose snapshot and class are gone",
    view: aView({
      content: aContent({
        metadata: { annotations: { ...terminating.annotations, ...beingCreated.annotations } },
        spec: { deletionPolicy: "Retain" },
      }),
      snapshotClass: undefined,
    }),
    phase: "untaken",
    reason: "OutcomeUnknown",
    expect: ["confirm, create"],
  },
  {
    given: "a deletion of a pre-provisioned content that the driver never confirmed",
    view: aView({ content: aContent({ metadata: terminating, spec: preProvisioned }) }),
    phase: "removable",
    reason: "Released",
    expect: ["event SnapshotLeftAtDriver", "patch rest"],
  },
  {
    given: "a deletion of a pre-provisioned content whose ListSnapshots failed",
    view: aView({
      content: aContent({
        metadata: terminating,
        spec: preProvisioned,
        status: { readyToUse: false, error: { message: "secret vault/key cannot be read" } },
      }),
      reply: failure("NotFound"),
    }),
    phase: "removable",
    reason: "Released",
    expect: ["event SnapshotLeftAtDriver", "patch rest"],
  },
  {
    given: "a deletion of a pre-provisioned content that the driver never confirmed, without our finalizer",
    view: aView({
      content: aContent({ metadata: { ...terminating, finalizers: ["x/theirs"] }, spec: preProvisioned }),
    }),
    phase: "removable",
    reason: "Released",
    expect: [],
  },
  {
    given: "a deletion of a pre-provisioned content that the driver has confirmed",
    view: aView({
      content: aContent({
        metadata: terminating,
        spec: preProvisioned,
        status: { snapshotHandle: "s-9", readyToUse: true },
      }),
    }),
    phase: "removable",
    reason: "WaitsForDriver",
    expect: ["confirm, delete"],
  },
  {
    given: "a deletion of a retained pre-provisioned content that the driver never confirmed",
    view: aView({
      content: aContent({ metadata: terminating, spec: { ...preProvisioned, deletionPolicy: "Retain" } }),
    }),
    phase: "removable",
    reason: "Released",
    expect: ["patch rest"],
  },
  {
    given: "a deletion of a pre-provisioned content that never had a snapshot, confirmed by the driver",
    view: aView({
      content: aContent({
        metadata: { deletionTimestamp },
        spec: { ...preProvisioned, volumeSnapshotRef: { name: "monday", namespace: "team" } },
        status: { snapshotHandle: "s-9", readyToUse: true },
      }),
    }),
    phase: "removable",
    reason: "WaitsForDriver",
    expect: ["confirm, delete"],
  },
  {
    given: "a deletion of a content with one of the two deletion-secret annotations",
    view: aView({ content: aContent({ metadata: halfAnnotated, status: ready }) }),
    phase: "removable",
    reason: "SecretNotUsable",
    expect: ["patch/status rest", "event SnapshotDeleteError"],
  },
  {
    given: "a deletion of a content with Retain and one of the two deletion-secret annotations",
    view: aView({ content: aContent({ metadata: halfAnnotated, status: ready, spec: { deletionPolicy: "Retain" } }) }),
    phase: "removable",
    reason: "Released",
    expect: ["patch rest"],
  },
]);

test("the event for an unconfirmed handle names handle, driver and remedy", () => {
  const [event] = planContent(aView({ content: aContent({ metadata: terminating, spec: preProvisioned }) })).actions;
  assert.match(
    event?.kind === "event" ? event.event.message : "",
    new RegExp(
      `without DeleteSnapshot: driver ${driver} never confirmed .* "s-9".*delete it by the means of the storage`,
    ),
  );
});
