import { aClass, aContent, driver } from "../../../test/builders.ts";
import {
  aYoungView as aView,
  cut,
  failure,
  marked,
  markedByAnother,
  ready,
  testPlans,
} from "../../../test/content-plans.ts";
import { annotations } from "../../api/names.ts";

const classNotFound = `Failed to create snapshot: volumesnapshotclass "${aContent().spec.volumeSnapshotClassName}" not found: its parameters are needed to take the snapshot`;
const preProvisioned = { source: { snapshotHandle: "s-9" } };
testPlans([
  { given: "a new content", view: aView(), phase: "untaken", expect: ["mark, create"] },
  {
    given: "a content marked by a predecessor",
    view: aView({ content: aContent({ metadata: markedByAnother }), createSent: "perhaps" }),
    phase: "untaken",
    expect: ["mark, create"],
  },
  {
    given: "a content born with our mark",
    view: aView({ content: aContent({ metadata: marked }), createSent: "never" }),
    phase: "untaken",
    expect: ["create"],
  },
  {
    given: "a content born with our mark and without its finalizer",
    view: aView({ content: aContent({ metadata: { ...marked, finalizers: [] } }), createSent: "never" }),
    phase: "untaken",
    expect: ["mark, create"],
  },
  {
    given: "a content with our mark about which too much has been forgotten",
    view: aView({ content: aContent({ metadata: marked }), createSent: "perhaps" }),
    phase: "untaken",
    expect: ["confirm, create"],
  },
  {
    given: "a content born with our mark that was let go before it was asked about",
    view: aView({ content: aContent({ metadata: marked }), createSent: "let go" }),
    phase: "untaken",
    expect: ["confirm, create"],
  },
  {
    given: "a content with our mark, which a request of ours may yet take off",
    view: aView({ content: aContent({ metadata: marked }), isAnnotationRemovalPending: true }),
    phase: "untaken",
    expect: ["patch mark"],
  },
  {
    given: "a content without a mark, from which a request of ours may yet take one off",
    view: aView({ isAnnotationRemovalPending: true }),
    phase: "untaken",
    expect: ["mark, create"],
  },
  {
    given: "a content with a handle and our mark, which a request of ours may yet take off",
    view: aView({
      content: aContent({ metadata: marked, status: { snapshotHandle: "s-1", readyToUse: false } }),
      isAnnotationRemovalPending: true,
    }),
    phase: "pending",
    expect: ["confirm, create"],
  },
  {
    given: "a content born with our mark whose class is gone",
    view: aView({ content: aContent({ metadata: marked }), createSent: "never", snapshotClass: undefined }),
    phase: "untaken",
    expect: ["patch/status rest", "event SnapshotCreationFailed"],
  },
  {
    given: "a content born with our mark whose class is gone, when that has been told",
    view: aView({
      content: aContent({ metadata: marked, status: { readyToUse: false, error: { message: classNotFound } } }),
      createSent: "never",
      snapshotClass: undefined,
    }),
    phase: "untaken",
    expect: ["patch mark"],
  },
  {
    given: "a content marked by a predecessor whose class is gone, when that has been told",
    view: aView({
      content: aContent({
        metadata: markedByAnother,
        status: { readyToUse: false, error: { message: classNotFound } },
      }),
      createSent: "perhaps",
      snapshotClass: undefined,
    }),
    phase: "untaken",
    expect: [],
  },
  {
    given: "a content marked by this process",
    view: aView({ content: aContent({ metadata: marked }) }),
    phase: "untaken",
    expect: ["confirm, create"],
  },
  {
    given: "a cut that succeeded",
    view: aView({ content: aContent({ metadata: marked }), reply: { kind: "taken", snapshot: cut } }),
    phase: "untaken",
    expect: ["patch/status rest"],
  },
  {
    given: "a ready content with the mark of a predecessor",
    view: aView({ content: aContent({ metadata: marked, status: ready }) }),
    phase: "ready",
    expect: ["patch mark"],
  },
  { given: "a ready content", view: aView({ content: aContent({ status: ready }) }), phase: "ready", expect: [] },
  {
    given: "a cut that is not ready yet",
    view: aView({
      content: aContent({ status: { ...ready, readyToUse: false } }),
      reply: { kind: "taken", snapshot: { ...cut, ready: false } },
    }),
    phase: "pending",
    expect: [],
  },
  {
    given: "a cut whose time to be asked about has come",
    view: aView({ content: aContent({ status: { ...ready, readyToUse: false } }) }),
    phase: "pending",
    expect: ["confirm, create"],
  },
  {
    given: "a final refusal",
    view: aView({ content: aContent({ metadata: marked }), reply: failure("InvalidArgument") }),
    phase: "untaken",
    expect: ["patch/status rest", "event SnapshotCreationFailed"],
  },
  {
    given: "a final refusal that was told already",
    view: aView({
      content: aContent({
        metadata: marked,
        status: {
          readyToUse: false,
          error: {
            message:
              'Failed to create snapshot: failed to take snapshot of the volume vol-1: "rpc error: code = InvalidArgument"',
          },
        },
      }),
      reply: failure("InvalidArgument"),
    }),
    phase: "untaken",
    expect: ["patch mark"],
  },
  {
    given: "no answer in time",
    view: aView({ content: aContent({ metadata: marked }), reply: failure("DeadlineExceeded") }),
    phase: "untaken",
    expect: ["event SnapshotCreationFailed"],
  },
  {
    given: "a call that was given up",
    view: aView({ content: aContent({ metadata: marked }), reply: failure("Cancelled") }),
    phase: "untaken",
    expect: ["event SnapshotCreationFailed"],
  },
  {
    given: "an answer that was lost",
    view: aView({ content: aContent({ metadata: marked }), reply: failure("UnknownOutcome") }),
    phase: "untaken",
    expect: ["event SnapshotCreationFailed"],
  },
  {
    given: "a driver out of reach",
    view: aView({ content: aContent({ metadata: marked }), reply: failure("Unavailable") }),
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
    given: "a group's member without a handle",
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
    view: aView({ content: aContent({ spec: preProvisioned }), facts: { driver, canListSnapshots: false } }),
    phase: "unverified",
    expect: ["patch/status rest"],
  },
  {
    given: "a pre-provisioned content while the driver is away, so that nobody knows whether it can list",
    view: aView({ content: aContent({ spec: preProvisioned }), facts: { driver, canListSnapshots: undefined } }),
    phase: "unverified",
    expect: [],
  },
  {
    given: "a pre-provisioned handle that the driver does not know",
    view: aView({ content: aContent({ spec: preProvisioned }), reply: failure("NotFound") }),
    phase: "unverified",
    expect: ["patch/status rest", "event SnapshotContentCheckandUpdateFailed"],
  },
  {
    given: "a cut whose class went before the answer came",
    view: aView({
      content: aContent({ metadata: marked }),
      snapshotClass: undefined,
      reply: { kind: "taken", snapshot: cut },
    }),
    phase: "untaken",
    expect: ["patch/status rest"],
  },
  {
    given: "a refusal whose class went before it came",
    view: aView({
      content: aContent({ metadata: marked }),
      snapshotClass: undefined,
      reply: failure("InvalidArgument"),
    }),
    phase: "untaken",
    expect: ["patch/status rest", "event SnapshotCreationFailed"],
  },
  {
    given: "a cut that is not ready, and whose class is gone",
    view: aView({
      content: aContent({ status: { ...ready, readyToUse: false } }),
      snapshotClass: undefined,
    }),
    phase: "pending",
    expect: ["confirm, create"],
  },
  {
    given: "a content that names no class, of which there is a handle",
    view: aView({
      content: aContent({ spec: { volumeSnapshotClassName: "" }, status: { ...ready, readyToUse: false } }),
      snapshotClass: undefined,
    }),
    phase: "pending",
    expect: ["confirm, create"],
  },
  {
    given: "a cut that may be under way, and whose class is gone while its snapshot waits for it",
    view: aView({ content: aContent({ metadata: marked }), snapshotClass: undefined }),
    phase: "untaken",
    expect: ["patch/status rest", "event SnapshotCreationFailed"],
  },
]);
