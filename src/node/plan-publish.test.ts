import assert from "node:assert/strict";
import { test } from "node:test";
import { type PublishPlan, type PublishView, planPublish } from "./plan-publish.ts";

const aView = (change: Partial<PublishView> = {}): PublishView => ({
  volumeId: "v",
  target: "/target",
  found: "nothing",
  readOnly: false,
  options: [],
  otherUse: undefined,
  ...change,
});
const asReader = { readOnly: true, options: ["ro"] };

const plans: readonly { given: string; view: PublishView; gives: PublishPlan }[] = [
  { given: "nothing there", view: aView(), gives: { bind: true, remount: [] } },
  { given: "nothing there, for a reader", view: aView(asReader), gives: { bind: true, remount: ["ro"] } },
  {
    given: "nothing there, with options",
    view: aView({ options: ["nosuid", "nodev"] }),
    gives: { bind: true, remount: ["nosuid", "nodev"] },
  },
  { given: "the volume there", view: aView({ found: { options: ["rw"] } }), gives: { bind: false, remount: [] } },
  {
    given: "the volume there for readers, for a reader",
    view: aView({ found: { options: ["ro"] }, ...asReader }),
    gives: { bind: false, remount: [] },
  },
  {
    given: "a crash between binding and setting options",
    view: aView({ found: { options: ["rw", "nosuid"] }, readOnly: true, options: ["ro", "nosuid"] }),
    gives: { bind: false, remount: ["ro", "nosuid"] },
  },
  {
    given: "the volume there, alone, and elsewhere too",
    view: aView({ found: { options: ["rw"] }, otherUse: "/other" }),
    gives: { bind: false, remount: [] },
  },
];
for (const { given, view, gives } of plans)
  test(`given ${given}, publishing ${gives.bind ? "binds" : "does not bind"} and sets ${gives.remount.join(", ") || "nothing"}`, () =>
    assert.deepEqual(planPublish(view), gives));

const refusals: readonly { given: string; view: PublishView; code: string; message: RegExp }[] = [
  {
    given: "something else there",
    view: aView({ found: "other" }),
    code: "AlreadyExists",
    message: /at \/target something else is mounted already: unpublish it first/,
  },
  {
    given: "the volume there for readers, for a writer",
    view: aView({ found: { options: ["ro"] } }),
    code: "AlreadyExists",
    message: /unpublish it first/,
  },
  {
    given: "a volume for one pod that another has",
    view: aView({ otherUse: "/other" }),
    code: "FailedPrecondition",
    message: /volume v is for one pod at a time, and in use at \/other/,
  },
];
for (const { given, view, code, message } of refusals)
  test(`given ${given}, publishing is refused`, () => assert.throws(() => planPublish(view), { code, message }));
