import { aClass, aContent } from "../../../test/builders.ts";
import {
  aYoungView as aView,
  beingCreated,
  beingCreatedByAnother,
  failure,
  info,
  ready,
  testPlans,
} from "../../../test/content-plans.ts";
import { annotations } from "../../api/names.ts";

const classNotFound = `Failed to create snapshot: volumesnapshotclass "${aContent().spec.volumeSnapshotClassName}" not found: its parameters are needed to take the snapshot [SNAP-513]`;
const preProvisioned = { source: { snapshotHandle: "s-9" } };
testPlans([
  { given: "a new content", view: aView(), phase: "untaken", expect: ["annotate, create"] },
  {
    given: "a content with a predecessor's annotation",
    view: aView({ content: aContent({ metadata: beingCreatedByAnother }), createSent: "unknown" }),
    phase: "untaken",
    expect: ["annotate, create"],
  },
  {
    given: "a content created with our annotation",
    view: aView({ content: aContent({ metadata: beingCreated }), createSent: "never" }),
    phase: "untaken",
    expect: ["create"],
  },
  {
    given: "a content created with our annotation and without its finalizer",
    view: aView({ content: aContent({ metadata: { ...beingCreated, finalizers: [] } }), createSent: "never" }),
    phase: "untaken",
    expect: ["annotate, create"],
  },
  {
    given: "a content with our annotation, after older entries were dropped from memory",
    view: aView({ content: aContent({ metadata: beingCreated }), createSent: "unknown" }),
    phase: "untaken",
    expect: ["confirm, create"],
  },
  {
    given: "a content created with our annotation that was released without a call",
    view: aView({ content: aContent({ metadata: beingCreated }), createSent: "released" }),
    phase: "untaken",
    expect: ["confirm, create"],
  },
  {
    given: "a content with our annotation, which a late request of ours may remove",
    view: aView({ content: aContent({ metadata: beingCreated }), isRemovalPending: true }),
    phase: "untaken",
    expect: ["patch annotation"],
  },
  {
    given: "a content without the annotation, with a late removal request in flight",
    view: aView({ isRemovalPending: true }),
    phase: "untaken",
    expect: ["annotate, create"],
  },
  {
    given: "a content with a handle and our annotation, which a late request of ours may remove",
    view: aView({
      content: aContent({ metadata: beingCreated, status: { snapshotHandle: "s-1", readyToUse: false } }),
      isRemovalPending: true,
    }),
    phase: "pending",
    expect: ["confirm, create"],
  },
  {
    given: "a content created with our annotation whose class is gone",
    view: aView({ content: aContent({ metadata: beingCreated }), createSent: "never", snapshotClass: undefined }),
    phase: "untaken",
    expect: ["patch/status rest", "event SnapshotCreationFailed"],
  },
  {
    given: "a content created with our annotation whose class is gone, with the error already written",
    view: aView({
      content: aContent({ metadata: beingCreated, status: { readyToUse: false, error: { message: classNotFound } } }),
      createSent: "never",
      snapshotClass: undefined,
    }),
    phase: "untaken",
    expect: ["patch annotation"],
  },
  {
    given: "a content with a predecessor's annotation whose class is gone, with the error already written",
    view: aView({
      content: aContent({
        metadata: beingCreatedByAnother,
        status: { readyToUse: false, error: { message: classNotFound } },
      }),
      createSent: "unknown",
      snapshotClass: undefined,
    }),
    phase: "untaken",
    expect: [],
  },
  {
    given: "a content that this process annotated",
    view: aView({ content: aContent({ metadata: beingCreated }) }),
    phase: "untaken",
    expect: ["confirm, create"],
  },
  {
    given: "a successful CreateSnapshot",
    view: aView({ content: aContent({ metadata: beingCreated }), reply: { kind: "taken", snapshot: info } }),
    phase: "untaken",
    expect: ["patch/status rest"],
  },
  {
    given: "a ready content with a predecessor's annotation",
    view: aView({ content: aContent({ metadata: beingCreated, status: ready }) }),
    phase: "ready",
    expect: ["patch annotation"],
  },
  { given: "a ready content", view: aView({ content: aContent({ status: ready }) }), phase: "ready", expect: [] },
  {
    given: "a snapshot that was taken and is not ready",
    view: aView({
      content: aContent({ status: { ...ready, readyToUse: false } }),
      reply: { kind: "taken", snapshot: { ...info, ready: false } },
    }),
    phase: "pending",
    expect: [],
  },
  {
    given: "a snapshot that was taken and whose readiness poll is due",
    view: aView({ content: aContent({ status: { ...ready, readyToUse: false } }) }),
    phase: "pending",
    expect: ["confirm, create"],
  },
  {
    given: "a final error",
    view: aView({ content: aContent({ metadata: beingCreated }), reply: failure("InvalidArgument") }),
    phase: "untaken",
    expect: ["patch/status rest", "event SnapshotCreationFailed"],
  },
  {
    given: "a final error that was already reported",
    view: aView({
      content: aContent({
        metadata: beingCreated,
        status: {
          readyToUse: false,
          error: {
            message:
              'Failed to create snapshot: failed to take snapshot of the volume vol-1: "rpc error: code = InvalidArgument" [SNAP-501]',
          },
        },
      }),
      reply: failure("InvalidArgument"),
    }),
    phase: "untaken",
    expect: ["patch annotation"],
  },
  {
    given: "a timeout",
    view: aView({ content: aContent({ metadata: beingCreated }), reply: failure("DeadlineExceeded") }),
    phase: "untaken",
    expect: ["event SnapshotCreationFailed"],
  },
  {
    given: "a cancelled call",
    view: aView({ content: aContent({ metadata: beingCreated }), reply: failure("Cancelled") }),
    phase: "untaken",
    expect: ["event SnapshotCreationFailed"],
  },
  {
    given: "a lost reply",
    view: aView({ content: aContent({ metadata: beingCreated }), reply: failure("UnknownOutcome") }),
    phase: "untaken",
    expect: ["event SnapshotCreationFailed"],
  },
  {
    given: "an unavailable driver",
    view: aView({ content: aContent({ metadata: beingCreated }), reply: failure("Unavailable") }),
    phase: "untaken",
    expect: ["patch/status rest", "event SnapshotCreationFailed"],
  },
  {
    given: "another driver's content",
    view: aView({ content: aContent({ spec: { driver: "tape" } }) }),
    phase: "foreign",
    expect: [],
  },
  {
    given: "a content whose class is another driver's",
    view: aView({ snapshotClass: aClass({ driver: "tape" }) }),
    phase: "foreign",
    expect: [],
  },
  {
    given: "a group member without a handle",
    view: aView({ content: aContent({ metadata: { annotations: { [annotations.groupSnapshotHandle]: "g" } } }) }),
    phase: "foreign",
    expect: [],
  },
  {
    given: "a pre-provisioned content",
    view: aView({ content: aContent({ spec: preProvisioned }) }),
    phase: "unverified",
    expect: ["list"],
  },
  {
    given: "a pre-provisioned content of a driver that cannot list",
    view: aView({ content: aContent({ spec: preProvisioned }), canListSnapshots: false }),
    phase: "unverified",
    expect: ["patch/status rest"],
  },
  {
    given: "a pre-provisioned content while the driver is unavailable and its capabilities unknown",
    view: aView({ content: aContent({ spec: preProvisioned }), canListSnapshots: undefined }),
    phase: "unverified",
    expect: [],
  },
  {
    given: "a pre-provisioned handle that the driver does not have",
    view: aView({ content: aContent({ spec: preProvisioned }), reply: failure("NotFound") }),
    phase: "unverified",
    expect: ["patch/status rest", "event SnapshotContentCheckandUpdateFailed"],
  },
  {
    given: "a successful CreateSnapshot whose class was deleted before the reply",
    view: aView({
      content: aContent({ metadata: beingCreated }),
      snapshotClass: undefined,
      reply: { kind: "taken", snapshot: info },
    }),
    phase: "untaken",
    expect: ["patch/status rest"],
  },
  {
    given: "a final error whose class was deleted before the reply",
    view: aView({
      content: aContent({ metadata: beingCreated }),
      snapshotClass: undefined,
      reply: failure("InvalidArgument"),
    }),
    phase: "untaken",
    expect: ["patch/status rest", "event SnapshotCreationFailed"],
  },
  {
    given: "a snapshot that is taken and not ready, whose class is gone",
    view: aView({
      content: aContent({ status: { ...ready, readyToUse: false } }),
      snapshotClass: undefined,
    }),
    phase: "pending",
    expect: ["confirm, create"],
  },
  {
    given: "a content without a class name and with a handle",
    view: aView({
      content: aContent({ spec: { volumeSnapshotClassName: "" }, status: { ...ready, readyToUse: false } }),
      snapshotClass: undefined,
    }),
    phase: "pending",
    expect: ["confirm, create"],
  },
  {
    given: "an unknown outcome with a deleted class and an existing snapshot",
    view: aView({ content: aContent({ metadata: beingCreated }), snapshotClass: undefined }),
    phase: "untaken",
    expect: ["patch/status rest", "event SnapshotCreationFailed"],
  },
]);
