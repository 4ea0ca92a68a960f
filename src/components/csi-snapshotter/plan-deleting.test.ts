import { aContent } from "../../../test/builders.ts";
import {
  aYoungView as aView,
  deletionTimestamp,
  failure,
  going,
  marked,
  ready,
  testPlans,
} from "../../../test/content-plans.ts";
import { Fault } from "../../base/fault.ts";

const bornAndGoing = { ...going, annotations: { ...marked.annotations, ...going.annotations } };
const preProvisioned = { source: { snapshotHandle: "s-9" } };
testPlans([
  {
    given: "a deletion before the driver was asked about a content born with our mark",
    view: aView({ content: aContent({ metadata: bornAndGoing }), asked: "never" }),
    phase: "removable",
    expect: ["patch mark"],
  },
  {
    given: "a deletion that was tried before, before the driver was asked about a content born with our mark",
    view: aView({ content: aContent({ metadata: bornAndGoing }), asked: "let go" }),
    phase: "removable",
    expect: ["patch mark"],
  },
  {
    given: "a deletion of a content that was born with the mark of a predecessor",
    view: aView({ content: aContent({ metadata: bornAndGoing }), asked: "perhaps", term: "another" }),
    phase: "uncut",
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
    phase: "uncut",
    expect: ["confirm, create"],
  },
  {
    given: "a deletion while a cut may be under way, and the class is gone",
    view: aView({
      content: aContent({ metadata: { ...going, annotations: { ...going.annotations, ...marked.annotations } } }),
      snapshotClass: undefined,
    }),
    phase: "uncut",
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
    phase: "uncut",
    expect: ["confirm, create"],
  },
  {
    given: "a deletion of a pre-provisioned content that never had a snapshot",
    view: aView({
      content: aContent({
        metadata: { deletionTimestamp },
        spec: { ...preProvisioned, volumeSnapshotRef: { name: "monday", namespace: "team" } },
      }),
    }),
    phase: "removable",
    expect: ["confirm, delete"],
  },
]);
