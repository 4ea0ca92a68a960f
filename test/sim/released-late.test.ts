/** The request that removes a claim's finalizer outlives its sender, and arrives when the next snapshot is being taken. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bugNamed } from "./bugs/index.ts";
import { brokenIn } from "./once-found.ts";

const found = { scenario: "one-after-the-other", seed: 1, plan: "30:crash-request-arrives-late:340000000" };

test("a controller renews the protection that it has found before it creates a content", async () =>
  assert.deepEqual(await brokenIn(found), []));

test("the claim would be released under the snapshot by a controller that trusts what it finds", async () =>
  assert.deepEqual(await brokenIn(found, bugNamed("takes a claim for protected").sabotage()), ["I-17"]));

/** Between the two writes of a plan the class went, so that the claim was released; then the content was created. */
const outlived = {
  scenario: "policy-flips",
  seed: 732624,
  plan: "17:slow:2136960048,4:user-deletes-class:418914442,2:list-from-the-past:657487182,9:user-recreates-snapshot:1615343086,8:http-500:540572715",
};

test("a plan that has waited creates no content for a claim that was released meanwhile", async () =>
  assert.deepEqual(await brokenIn(outlived), []));
