import assert from "node:assert/strict";
import { test } from "node:test";
import type { ObjectOf } from "../../../api/types.ts";
import { createContents } from "./contents.ts";

const secret = (keys: number, bytes: number): ObjectOf<"Secret"> =>
  ({
    kind: "Secret",
    metadata: { name: "x" },
    data: Object.fromEntries(Array.from({ length: keys }, (_, at) => [`key-${at}`, "x".repeat(bytes)])),
  }) as unknown as ObjectOf<"Secret">;

test("the data of the objects that were seen last is kept, and never more than the limit", () => {
  const contents = createContents(10_000);
  for (const key of ["a", "b", "c"]) contents.put(key, secret(1, 4_000));
  assert.deepEqual(
    ["a", "b", "c"].map((key) => contents.get(key) !== undefined),
    [false, true, true],
  );
  contents.put("b", secret(1, 10));
  assert.ok(contents.bytes() < 5_000, "a smaller version takes the place of a larger one");
  contents.put("d", secret(1, 20_000));
  assert.equal(contents.get("d"), undefined, "one that is too large pushes nothing out");
  assert.notEqual(contents.get("c"), undefined);
  contents.put("e", secret(1_000, 0));
  assert.equal(contents.get("e"), undefined, "keys without a value count too");
  for (const key of ["b", "c", "c"]) contents.drop(key);
  assert.equal(contents.bytes(), 0);
});
