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
  { given: "a new content", view: aView(), phase: "uncut", expect: ["mark, create"] },
  {
    given: "a content marked by a predecessor",
    view: aView({ content: aContent({ metadata: markedByAnother }), asked: "perhaps" }),
    phase: "uncut",
    expect: ["mark, create"],
  },
  {
    given: "a content born with our mark",
    view: aView({ content: aContent({ metadata: marked }), asked: "never" }),
    phase: "uncut",
    expect: ["create"],
  },
  {
    given: "a content born with our mark and without its finalizer",
    view: aView({ content: aContent({ metadata: { ...marked, finalizers: [] } }), asked: "never" }),
    phase: "uncut",
    expect: ["mark, create"],
  },
  {
    given: "a content with our mark about which too much has been forgotten",
    view: aView({ content: aContent({ metadata: marked }), asked: "perhaps" }),
    phase: "uncut",
    expect: ["confirm, create"],
  },
  {
    given: "a content born with our mark that was let go before it was asked about",
    view: aView({ content: aContent({ metadata: marked }), asked: "let go" }),
    phase: "uncut",
    expect: ["confirm, create"],
  },
  {
    given: "a content with our mark, which a request of ours may yet take off",
    view: aView({ content: aContent({ metadata: marked }), unmarking: true }),
    phase: "uncut",
    expect: ["patch mark"],
  },
  {
    given: "a content without a mark, from which a request of ours may yet take one off",
    view: aView({ unmarking: true }),
    phase: "uncut",
    expect: ["mark, create"],
  },
  {
    given: "a content with a handle and our mark, which a request of ours may yet take off",
    view: aView({
      content: aContent({ metadata: marked, status: { snapshotHandle: "s-1", readyToUse: false } }),
      unmarking: true,
    }),
    phase: "pending",
    expect: ["confirm, create"],
  },
  {
    given: "a content born with our mark whose class is gone",
    view: aView({ content: aContent({ metadata: marked }), asked: "never", snapshotClass: undefined }),
    phase: "uncut",
    expect: ["patch/status rest", "event SnapshotCreationFailed"],
  },
  {
    given: "a content born with our mark whose class is gone, when that has been told",
    view: aView({
      content: aContent({ metadata: marked, status: { readyToUse: false, error: { message: classNotFound } } }),
      asked: "never",
      snapshotClass: undefined,
    }),
    phase: "uncut",
    expect: ["patch mark"],
  },
  {
    given: "a content marked by a predecessor whose class is gone, when that has been told",
    view: aView({
      content: aContent({
        metadata: markedByAnother,
        status: { readyToUse: false, error: { message: classNotFound } },
      }),
      asked: "perhaps",
      snapshotClass: undefined,
    }),
    phase: "uncut",
    expect: [],
  },
  {
    given: "a content marked by this process",
    view: aView({ content: aContent({ metadata: marked }) }),
    phase: "uncut",
    expect: ["confirm, create"],
  },
  {
    given: "a cut that succeeded",
    view: aView({ content: aContent({ metadata: marked }), reply: { kind: "taken", snapshot: cut } }),
    phase: "uncut",
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
    phase: "uncut",
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
    phase: "uncut",
    expect: ["patch mark"],
  },
  {
    given: "no answer in time",
    view: aView({ content: aContent({ metadata: marked }), reply: failure("DeadlineExceeded") }),
    phase: "uncut",
    expect: ["event SnapshotCreationFailed"],
  },
  {
    given: "a call that was given up",
    view: aView({ content: aContent({ metadata: marked }), reply: failure("Cancelled") }),
    phase: "uncut",
    expect: ["event SnapshotCreationFailed"],
  },
  {
    given: "an answer that was lost",
    view: aView({ content: aContent({ metadata: marked }), reply: failure("Lost") }),
    phase: "uncut",
    expect: ["event SnapshotCreationFailed"],
  },
  {
    given: "a driver out of reach",
    view: aView({ content: aContent({ metadata: marked }), reply: failure("Unavailable") }),
    phase: "uncut",
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
    phase: "uncut",
    expect: ["patch/status rest"],
  },
  {
    given: "a refusal whose class went before it came",
    view: aView({
      content: aContent({ metadata: marked }),
      snapshotClass: undefined,
      reply: failure("InvalidArgument"),
    }),
    phase: "uncut",
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
    phase: "uncut",
    expect: ["patch/status rest", "event SnapshotCreationFailed"],
  },
]);
