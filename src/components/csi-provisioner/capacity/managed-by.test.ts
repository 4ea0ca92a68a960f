import assert from "node:assert/strict";
import { test } from "node:test";
import { managedByOf } from "./managed-by.ts";

// The right column was printed by the function of external-provisioner 5.3.0.
for (const [what, node, expected] of [
  ["no characters, which is one provisioner for the cluster,", undefined, "external-provisioner"],
  ["8 characters", "worker-1", "external-provisioner-worker-1"],
  ["42 characters", "n".repeat(42), `external-provisioner-${"n".repeat(42)}`],
  ["43 characters", "n".repeat(43), `external-p-53f40b57-${"n".repeat(43)}`],
  ["52 characters", "n".repeat(52), `e-53f40b57-${"n".repeat(52)}`],
  ["53 characters", "n".repeat(53), "external-provisioner-698d23b8"],
  ["253 characters", "n".repeat(253), "external-provisioner-1a4f7268"],
] as const)
  test(`the label of a node whose name has ${what} fits into a label value, as external-provisioner writes it`, () => {
    assert.equal(managedByOf(node), expected);
    assert.ok(managedByOf(node).length <= 63);
  });
