import assert from "node:assert/strict";
import { test } from "node:test";
import { leaseNameFor } from "./lease-name.ts";

test("the lease is named after the driver, in letters, digits and dashes", () => {
  assert.equal(leaseNameFor("hostpath.csi.k8s.io"), "external-snapshotter-leader-hostpath-csi-k8s-io");
  assert.equal(leaseNameFor("odd_"), "external-snapshotter-leader-odd-X");
});
