/** The sidecars as people run them: for those that this process runs, and for those whose flags cannot be known. */
import { limits } from "../base/limits.ts";
import type { ProvisionerOptions } from "../components/csi-provisioner/options.ts";

export const provisionerDefaults: ProvisionerOptions = {
  volumeNamePrefix: "pvc",
  volumeNameUuidLength: -1,
  defaultFsType: "",
  extraCreateMetadata: false,
  strictTopology: false,
  immediateTopology: true,
  preventVolumeModeConversion: true,
  controllerPublishReadonly: false,
  crossNamespace: true,
  crossNamespaceSnapshot: true,
};

/** Without a socket: the driver is in this process as well. */
const inProcess = { csiAddress: "this process", timeout: limits.csiCallMsMax };

export const provisionerInProcess = { ...inProcess, ...provisionerDefaults, namespace: "kube-system" };
export const snapshotterInProcess = {
  ...inProcess,
  snapshotNamePrefix: "snapshot",
  snapshotNameUuidLength: -1,
  extraCreateMetadata: false,
  nodeDeployment: false,
  nodeName: "",
};
