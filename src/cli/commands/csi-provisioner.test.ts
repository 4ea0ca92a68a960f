import assert from "node:assert/strict";
import { test } from "node:test";
import { parseFlags } from "../../runtime/flags.ts";
import { command } from "./csi-provisioner.ts";

const complaint = (...flags: readonly string[]): string | undefined =>
  command.check?.(parseFlags(command.flags, flags, {}).options, []);

test("flags that contradict each other, or would mix up volumes, are refused with a remedy", () => {
  assert.equal(complaint(), undefined);
  assert.equal(complaint("--master=https://10.0.0.1"), undefined);
  assert.match(complaint("--master=10.0.0.1") ?? "", /for example --master=https:/);
  assert.match(complaint("--node-deployment") ?? "", /NODE_NAME/);
  const onNode = ["--node-deployment", "--node-name=worker-1"];
  assert.match(complaint(...onNode, "--leader-election") ?? "", /every node serves its own claims; drop one/);
  assert.equal(complaint(...onNode), undefined);
  assert.match(complaint("--volume-name-uuid-length=0") ?? "", /one name/);
});

test("capacity is published for a pod that knows its namespace, and its name if an owner is wanted", () => {
  const enabled = ["--enable-capacity", "--capacity-threads=4"];
  assert.match(complaint(...enabled) ?? "", /NAMESPACE; set it from metadata.namespace/);
  assert.match(complaint(...enabled, "--namespace=drivers") ?? "", /POD_NAME.*--capacity-ownerref-level=-1/);
  assert.equal(complaint(...enabled, "--namespace=drivers", "--capacity-ownerref-level=-1"), undefined);
  const { options } = parseFlags(command.flags, enabled, { NAMESPACE: "drivers", POD_NAME: "driver-0" });
  assert.equal(command.check?.(options, []), undefined);
});

test("the gate of restores across namespaces has two names", () => {
  const isOn = (given: string): unknown => {
    const { featureGates } = parseFlags(command.flags, [`--feature-gates=${given}`], {}).options;
    return (featureGates as Readonly<Record<string, boolean>>).CrossNamespaceVolumeDataSource;
  };
  assert.equal(isOn("CrossNamespaceVolumeDataSource=true"), true);
  assert.equal(isOn("CrossNamespaceSourceProvisioning=true"), true);
  assert.equal(isOn("Topology=true"), false);
});

test("flags and gates that release 6.3.0 has added are accepted", () => {
  const added = [
    "--snapshot-orphan-sweep-interval=0",
    "--feature-gates=ReleaseLeaderElectionOnExit=true,Topology=true",
  ];
  assert.equal(complaint(...added, "--automaxprocs", "--enable-pprof"), undefined);
});
