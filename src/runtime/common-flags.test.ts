import assert from "node:assert/strict";
import { test } from "node:test";
import { componentFlags } from "./common-flags.ts";
import { parseFlags } from "./flags.ts";

test("by default a component does not limit its request rate", () => {
  const { options } = parseFlags(componentFlags, []);
  assert.deepEqual([options.kubeApiQps, options.kubeApiBurst], [0, 0]);
});
