import assert from "node:assert/strict";
import { test } from "node:test";
import { componentFlags } from "./common-flags.ts";
import { parseFlags } from "./flags.ts";

test("unless it is told to, a component does not hold its own requests back", () => {
  const { options } = parseFlags(componentFlags, []);
  assert.deepEqual([options.kubeApiQps, options.kubeApiBurst], [0, 0]);
});
