/** The table that src/base/quantity.ts is tested with is what the real Kubernetes says. */
import assert from "node:assert/strict";
import { test } from "node:test";
import table from "../../src/base/quantity.table.json" with { type: "json" };
import { canonicalByKubectl } from "./harness/quantities.ts";
import { useControlPlane } from "./harness/shared.ts";

test("every row of the committed quantity table is what kubectl prints (else: node test/e2e/quantity-table.ts)", async () => {
  const { kubeconfig } = await useControlPlane();
  const printed = await canonicalByKubectl(
    kubeconfig,
    table.map(([given]) => given ?? ""),
  );
  assert.ok(printed.length > 200);
  assert.deepEqual(printed, table);
});
