/** What a NodePublishVolume request asks for, checked in the order of the driver we replace. */

import type { ShareKind } from "../../../api/share-lists.ts";
import { Fault } from "../../../base/fault.ts";
import type { NodePublishVolumeRequest } from "../../../csi/gen/csi_pb.js";
import { withCode } from "../../../errors/codes.ts";
import type { PodInfo, VolumeSpec } from "./types.ts";

export interface PublishRequest extends VolumeSpec {
  readonly readOnly: boolean;
  /** The pod's fsGroup, if it has one. */
  readonly group: number | undefined;
}

const podKeys = {
  name: "csi.storage.k8s.io/pod.name",
  namespace: "csi.storage.k8s.io/pod.namespace",
  uid: "csi.storage.k8s.io/pod.uid",
  serviceAccount: "csi.storage.k8s.io/serviceAccount.name",
} as const satisfies Record<keyof PodInfo, string>;

const shareKeys = { SharedSecret: "sharedSecret", SharedConfigMap: "sharedConfigMap" } as const satisfies Record<
  ShareKind,
  string
>;

export const wrong = (problem: string): Fault => new Fault("InvalidArgument", withCode(problem, "SNAP-701"));

type Given = Pick<NodePublishVolumeRequest, "volumeId" | "targetPath" | "volumeCapability" | "readonly"> & {
  readonly volumeContext: Readonly<Record<string, string>>;
};

export function publishRequestOf({ volumeContext: given, ...request }: Given): PublishRequest {
  const { volumeCapability } = request;
  if (volumeCapability === undefined) throw wrong("volume_capability is required");
  if (request.volumeId === "") throw wrong("volume_id is required");
  if (!isVolumeId(request.volumeId))
    throw wrong(
      `volume_id ${JSON.stringify(request.volumeId)} is not an id of a kubelet: letters, digits, ".", "_", "-"`,
    );
  const target = targetOf(request.targetPath);
  if (Object.keys(given).length === 0)
    throw wrong("volume_context is required: set podInfoOnMount: true in the CSIDriver object");
  const pod = podOf(given);
  const ephemeral = given["csi.storage.k8s.io/ephemeral"] ?? "";
  if (ephemeral !== "" && ephemeral !== "true")
    throw wrong(
      "only inline volumes of pods are served: set volumeLifecycleModes: [Ephemeral] in the CSIDriver object",
    );
  if (volumeCapability.accessType.case !== "mount") throw wrong("volume_capability must be mount, not block");
  const { shareKind, share } = shareOf(given, pod);
  const group = groupOf(volumeCapability.accessType.value.volumeMountGroup);
  const refresh = !goFalse.has(given.refreshResource ?? "");
  return { id: request.volumeId, target, pod, shareKind, share, refresh, readOnly: request.readonly, group };
}

/** The kubelet writes it as a number. */
function groupOf(text: string): number | undefined {
  if (text === "") return undefined;
  const group = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(group < 2 ** 32 - 1)) throw wrong(`volume_mount_group ${JSON.stringify(text)} is no number of a group`);
  return group;
}

/** No path can be made of it that leads elsewhere. */
export const isVolumeId = (id: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id) && !id.includes("..");

/** The parts of the path are the kubelet's; one that climbs or holds a zero byte is not. */
export function targetOf(path: string): string {
  if (path === "") throw wrong("target_path is required");
  const parts = path.split("/");
  const isPlain = parts[0] === "" && parts.slice(1).every((part) => part !== "" && part !== "." && part !== "..");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these must not be in it.
  if (!isPlain || /[\u0000-\u001f]/.test(path))
    throw wrong(`target_path ${JSON.stringify(path)} must be absolute, without ".", ".." and empty parts`);
  return path;
}

function podOf(given: Given["volumeContext"]): PodInfo {
  const missing = Object.values(podKeys).filter((key) => (given[key] ?? "") === "");
  if (missing.length > 0)
    throw wrong(`volume_context lacks ${missing.join(", ")}: set podInfoOnMount: true in the CSIDriver object`);
  const of = (key: keyof PodInfo): string => given[podKeys[key]] ?? "";
  const pod = { name: of("name"), namespace: of("namespace"), uid: of("uid"), serviceAccount: of("serviceAccount") };
  const odd = Object.values(pod).find((value) => !/^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/.test(value));
  if (odd !== undefined) throw wrong(`volume_context holds ${JSON.stringify(odd)}, which is no name of Kubernetes`);
  return pod;
}

function shareOf(
  given: Given["volumeContext"],
  pod: PodInfo,
): { readonly shareKind: ShareKind; readonly share: string } {
  const named = (Object.keys(shareKeys) as ShareKind[]).filter((kind) => shareKeys[kind] in given);
  const about = `of pod ${pod.namespace}/${pod.name}`;
  const [shareKind] = named;
  const share = shareKind === undefined ? "" : (given[shareKeys[shareKind]] ?? "").trim();
  if (named.length > 1)
    throw wrong(`volumeAttributes ${about} name both sharedSecret and sharedConfigMap: use one volume for each`);
  if (shareKind === undefined || share === "")
    throw wrong(`volumeAttributes ${about} name no share: set sharedSecret or sharedConfigMap`);
  return { shareKind, share };
}

/** As Go's strconv.ParseBool; what it cannot read counts as true. */
const goFalse: ReadonlySet<string> = new Set(["0", "f", "F", "false", "FALSE", "False"]);
