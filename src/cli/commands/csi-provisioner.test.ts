import assert from "node:assert/strict";
import { test } from "node:test";
import { parseFlags } from "../../runtime/flags.ts";
import { command } from "./csi-provisioner.ts";

const complaint = (...flags: readonly string[]): string | undefined =>
  command.check?.(parseFlags(command.flags, flags, {}).options, []);

test("flags that would change what is served, and are not supported, are refused with a remedy", () => {
  assert.equal(complaint(), undefined);
  assert.match(complaint("--master=https://10.0.0.1") ?? "", /into a kubeconfig/);
  assert.match(complaint("--node-deployment") ?? "", /run one csi-provisioner for the cluster/);
  assert.match(complaint("--volume-name-uuid-length=0") ?? "", /one name/);
});

test("flags of what is not done here are accepted", () => {
  assert.equal(complaint("--enable-capacity", "--capacity-threads=4", "--node-deployment-base-delay=1s"), undefined);
});
