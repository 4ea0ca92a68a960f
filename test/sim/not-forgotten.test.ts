import assert from "node:assert/strict";
import { test } from "node:test";
import { brokenIn } from "./once-found.ts";

/** A sidecar asks for what a late write then records as ready; the driver takes a minute, and forgets other names meanwhile. */
const found = {
  scenario: "slow-driver",
  seed: 500036629,
  plan: "33:paused-while-sending:728417711,42:crash-request-arrives-late:1812542707,49:driver-forgets-names:592809743,14:relist-everything:722938326,35:crash-after-effect:1182538046,59:user-flips-policy:908656137,42:effect-after-the-deadline:853720632",
};

test("a simulated driver does not forget a name that it is working on", async () =>
  assert.deepEqual(await brokenIn(found), []));
