import assert from "node:assert/strict";
import { test } from "node:test";
import { idFor } from "./ids.ts";

const kept = ["pvc-1", "snapshot-0f2c", "A.b_c-9", "x".repeat(100), "x-short"];
for (const name of kept) test(`the name ${name.slice(0, 20)} is its own id`, () => assert.equal(idFor(name), name));

const hostile = [
  "",
  ".",
  "..",
  "a..b",
  ".hidden",
  "-rf",
  "a/b",
  "/etc/passwd",
  "a\0b",
  "a b",
  "ünïcödé",
  "x".repeat(101),
  `x-${"0".repeat(40)}`,
];
for (const name of hostile)
  test(`the name ${JSON.stringify(name.slice(0, 20))} gets its hash as id`, () =>
    assert.match(idFor(name), /^x-[0-9a-f]{40}$/));

test("no name can get the id of another name", () => {
  const id = idFor("a/b");
  assert.notEqual(idFor(id), id);
});
