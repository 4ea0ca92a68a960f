/** A workload as the vendor of a CSI driver ships it, for what puts our sidecars into it. */
import type { JsonObject } from "../src/base/json.ts";
import { at } from "../src/cli/install/fields.ts";

export const image = "snapkeep:1.2.3";
export const workload = (...containers: JsonObject[]): JsonObject => ({
  kind: "Deployment",
  spec: { template: { spec: { containers } } },
});
export const containersOf = (object: JsonObject) =>
  at(object, "spec", "template", "spec", "containers") as readonly JsonObject[];
export const volumeMounts = [{ name: "socket-dir", mountPath: "/csi" }];
export const env = [{ name: "ADDRESS", value: "/csi/csi.sock" }];
export const driver = {
  name: "driver",
  image: "vendor/driver:1",
  args: ["--endpoint=unix:///csi/csi.sock"],
  volumeMounts,
};
