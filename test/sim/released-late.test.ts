/** The request that removes a claim's finalizer outlives its sender, and arrives when the next snapshot is being taken. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bugNamed } from "./bugs/index.ts";
import { brokenIn } from "./once-found.ts";

const found = { scenario: "one-after-the-other", seed: 1, plan: "30:crash-request-arrives-late:340000000" };

test("a controller renews an existing claim finalizer before it creates a content", async () =>
  assert.deepEqual(await brokenIn(found), []));

test("a controller that trusts an existing finalizer would release the claim during CreateSnapshot", async () =>
  assert.deepEqual(await brokenIn(found, bugNamed("treats a claim as protected").sabotage()), ["I-17"]));

/** Between the two writes of a plan the class went, so that the claim was released; then the content was created. */
const outlived = {
  scenario: "policy-flips",
  seed: 732624,
  plan: "17:slow:2136960048,4:user-deletes-class:418914442,2:list-from-the-past:657487182,9:user-recreates-snapshot:1615343086,8:http-500:540572715",
};

test("a delayed plan creates no content for a claim that was released in the meantime", async () =>
  assert.deepEqual(await brokenIn(outlived), []));

/** While the controller reads the evidence for a release, the snapshot is corrected and its content is created. */
const corrected = {
  scenario: "spoiled-while-taken",
  seed: 3001338,
  plan: "18:paused-while-sending:388231844,6:crash-after-reply:327142029,0:http-504-after-effect:1538493064",
};

test("a delayed release is not sent when a content was created for the claim in the meantime", async () =>
  assert.deepEqual(await brokenIn(corrected), []));
