import assert from "node:assert/strict";
import { test } from "node:test";
import { parse, print } from "./json.ts";

test("an integer beyond 2^53 survives parse and print", () => {
  const text = '{"creationTime":1763200000123456789,"small":1}';
  assert.equal(print(parse(text)), text);
});
