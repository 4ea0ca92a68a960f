import assert from "node:assert/strict";
import { test } from "node:test";
import { quantile } from "./quantile.ts";

test("the 99th percentile of few values is the maximum", () => {
  assert.equal(quantile([3, 1, 2], 0.5), 2);
  assert.equal(quantile([3, 1, 2], 0.99), 3);
  assert.equal(quantile([], 0.5), 0);
});
