import assert from "node:assert/strict";
import { test } from "node:test";
import { aContent, driver } from "../../../test/builders.ts";
import {
  aYoungView as aView,
  deletionTimestamp,
  failure,
  going,
  marked,
  ready,
  testPlans,
} from "../../../test/content-plans.ts";
import { annotations } from "../../api/names.ts";
import { Fault } from "../../base/fault.ts";
import { planContent } from "./plan.ts";

const bornAndGoing = { ...going, annotations: { ...marked.annotations, ...going.annotations } };
const halfNoted = { ...going, annotations: { ...going.annotations, [annotations.deletionSecretName]: "key" } };
const preProvisioned = { source: { snapshotHandle: "s-9" } };
testPlans([
  {
    given: "a deletion before the driver was asked about a content born with our mark",
    view: aView({ content: aContent({ metadata: bornAndGoing }), createSent: "never" }),
    phase: "removable",
    expect: ["patch mark"],
  },
  {
    given: "a deletion that was tried before, before the driver was asked about a content born with our mark",
    view: aView({ content: aContent({ metadata: bornAndGoing }), createSent: "let go" }),
    phase: "removable",
    expect: ["patch mark"],
  },
  {
    given: "a deletion of a content that was born with the mark of a predecessor",
    view: aView({ content: aContent({ metadata: bornAndGoing }), createSent: "perhaps", sidecarId: "another" }),
    phase: "untaken",
    expect: ["mark, create"],
  },
  {
    given: "a deletion the controller has confirmed",
    view: aView({ content: aContent({ metadata: going, status: ready }) }),
    phase: "removable",
    expect: ["confirm, delete"],
  },
  {
    given: "a deletion the driver has carried out",
    view: aView({ content: aContent({ metadata: going, status: ready }), reply: { kind: "deleted" } }),
    phase: "removable",
    expect: ["patch rest"],
  },
  {
    given: "a deletion the driver refuses",
    view: aView({ content: aContent({ metadata: going, status: ready }), reply: failure("FailedPrecondition") }),
    phase: "removable",
    expect: ["patch/status rest", "event SnapshotDeleteError"],
  },
  {
    given: "a deletion whose secret cannot be read",
    view: aView({
      content: aContent({ metadata: going, status: ready }),
      reply: { kind: "unsent", fault: new Fault("NotFound", 'secrets "s" not found') },
    }),
    phase: "removable",
    expect: ["patch/status rest", "event SnapshotDeleteError"],
  },
  {
    given: "a deletion with Retain",
    view: aView({ content: aContent({ metadata: going, status: ready, spec: { deletionPolicy: "Retain" } }) }),
    phase: "removable",
    expect: ["patch rest"],
  },
  {
    given: "a deletion before anything was cut",
    view: aView({ content: aContent({ metadata: going }) }),
    phase: "removable",
    expect: ["patch rest"],
  },
  {
    given: "a deletion of a group's member",
    view: aView({ content: aContent({ metadata: going, status: { ...ready, volumeGroupSnapshotHandle: "g" } }) }),
    phase: "removable",
    expect: ["patch rest"],
  },
  {
    given: "a content deleted while its snapshot lives",
    view: aView({ content: aContent({ metadata: { deletionTimestamp }, status: ready }) }),
    phase: "ready",
    expect: [],
  },
  {
    given: "a deletion while a cut may be under way",
    view: aView({
      content: aContent({
        metadata: { deletionTimestamp, annotations: { ...going.annotations, ...marked.annotations } },
      }),
    }),
    phase: "untaken",
    expect: ["confirm, create"],
  },
  {
    given: "a deletion while a cut may be under way, and the class is gone",
    view: aView({
      content: aContent({ metadata: { ...going, annotations: { ...going.annotations, ...marked.annotations } } }),
      snapshotClass: undefined,
    }),
    phase: "untaken",
    expect: ["confirm, create"],
  },
  {
    given: "a content to be retained whose snapshot went while a cut may be under way, and the class is gone",
    view: aView({
      content: aContent({
        metadata: { annotations: { ...going.annotations, ...marked.annotations } },
        spec: { deletionPolicy: "Retain" },
      }),
      snapshotClass: undefined,
    }),
    phase: "untaken",
    expect: ["confirm, create"],
  },
  {
    given: "a deletion of a pre-provisioned content that the driver never confirmed",
    view: aView({ content: aContent({ metadata: going, spec: preProvisioned }) }),
    phase: "removable",
    expect: ["event SnapshotLeftAtDriver", "patch rest"],
  },
  {
    given: "a deletion of a pre-provisioned content that could not be looked for",
    view: aView({
      content: aContent({
        metadata: going,
        spec: preProvisioned,
        status: { readyToUse: false, error: { message: "secret vault/key cannot be read" } },
      }),
      reply: failure("NotFound"),
    }),
    phase: "removable",
    expect: ["event SnapshotLeftAtDriver", "patch rest"],
  },
  {
    given: "a deletion of a pre-provisioned content that the driver never confirmed, when our finalizer is off",
    view: aView({ content: aContent({ metadata: { ...going, finalizers: ["x/theirs"] }, spec: preProvisioned }) }),
    phase: "removable",
    expect: [],
  },
  {
    given: "a deletion of a pre-provisioned content that the driver has confirmed",
    view: aView({
      content: aContent({ metadata: going, spec: preProvisioned, status: { snapshotHandle: "s-9", readyToUse: true } }),
    }),
    phase: "removable",
    expect: ["confirm, delete"],
  },
  {
    given: "a deletion of a retained pre-provisioned content that the driver never confirmed",
    view: aView({ content: aContent({ metadata: going, spec: { ...preProvisioned, deletionPolicy: "Retain" } }) }),
    phase: "removable",
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
    expect: ["confirm, delete"],
  },
  {
    given: "a deletion of a content with half of the deletion-secret annotations",
    view: aView({ content: aContent({ metadata: halfNoted, status: ready }) }),
    phase: "removable",
    expect: ["patch/status rest", "event SnapshotDeleteError"],
  },
  {
    given: "a deletion of a content with half of the deletion-secret annotations that is to be retained",
    view: aView({ content: aContent({ metadata: halfNoted, status: ready, spec: { deletionPolicy: "Retain" } }) }),
    phase: "removable",
    expect: ["patch rest"],
  },
]);

test("what is let go unconfirmed is named, with its driver and the remedy", () => {
  const [event] = planContent(aView({ content: aContent({ metadata: going, spec: preProvisioned }) })).actions;
  assert.match(
    event?.kind === "event" ? event.event.message : "",
    new RegExp(
      `without DeleteSnapshot: driver ${driver} never confirmed .* "s-9".*delete it by the means of the storage`,
    ),
  );
});
