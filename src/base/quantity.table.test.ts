/** The table was printed by the real Kubernetes (test/e2e/quantity.test.ts asks it again). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "./fault.ts";
import table from "./quantity.table.json" with { type: "json" };
import { parseQuantity, printQuantity } from "./quantity.ts";

for (const [given, canonical] of table as [string, string | null][])
  test(`the quantity "${given}" is ${canonical === null ? "refused" : `printed as ${canonical}`}`, () => {
    if (canonical === null)
      assert.throws(
        () => parseQuantity(given),
        (reason) => isFault(reason, "InvalidArgument"),
      );
    else assert.equal(printQuantity(parseQuantity(given)), canonical);
  });
