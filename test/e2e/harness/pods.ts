/** Running pods on the harness's node. Whatever a pod's script prints are its last words, and come back with it. */

import { join } from "node:path";
import { boxImage } from "./image.ts";
import { mountsUnder } from "./mounts.ts";
import type { Node } from "./node.ts";
import { withProgress } from "./progress.ts";
import { until } from "./until.ts";

export interface PodRequest {
  readonly name: string;
  readonly namespace?: string;
  /** For /bin/sh. */
  readonly script: string;
  readonly volumes?: readonly unknown[];
  readonly volumeMounts?: readonly unknown[];
  /** Block volumes: where the pod finds their devices. */
  readonly volumeDevices?: readonly unknown[];
  /** The node's own network is quicker to have than one of its own; true unless said otherwise. */
  readonly hostNetwork?: boolean;
  readonly serviceAccountName?: string;
  readonly securityContext?: unknown;
  /** The node is left to kube-scheduler. */
  readonly isScheduled?: boolean;
}

export type PodPhase = "Pending" | "Running" | "Succeeded" | "Failed";

export interface PodEnd {
  readonly phase: PodPhase;
  readonly exitCode: number;
  /** What it printed, at most 4096 bytes. */
  readonly message: string;
}

interface PodObject {
  readonly metadata: { readonly uid: string };
  readonly status?: {
    readonly phase?: PodPhase;
    readonly containerStatuses?: readonly {
      readonly state?: { readonly terminated?: { readonly exitCode: number; readonly message?: string } };
    }[];
  };
}

const podMsMax = 60_000;
const pathOf = (namespace: string, name = ""): string => `/api/v1/namespaces/${namespace}/pods/${name}`;

export async function createPod({ plane, name: nodeName }: Node, pod: PodRequest): Promise<void> {
  const {
    name,
    namespace = "default",
    script,
    volumes = [],
    volumeMounts = [],
    volumeDevices = [],
    hostNetwork = true,
    serviceAccountName,
    securityContext,
    isScheduled = false,
  } = pod;
  const { status, text } = await plane.request("POST", pathOf(namespace), {
    metadata: { name },
    spec: {
      ...(isScheduled ? { tolerations: [{ operator: "Exists" }] } : { nodeName }),
      hostNetwork,
      serviceAccountName,
      securityContext,
      restartPolicy: "Never",
      terminationGracePeriodSeconds: 1, // With none, the object would be gone before the mounts are.
      automountServiceAccountToken: false,
      volumes,
      containers: [
        {
          name: "main",
          image: boxImage,
          imagePullPolicy: "Never",
          command: ["/bin/sh", "-c", `( ${script}\n) > /dev/termination-log 2>&1`],
          volumeMounts,
          volumeDevices,
        },
      ],
    },
  });
  if (status !== 201) throw new Error(`pod ${namespace}/${name} was not created: ${text}`);
}

export async function readPod({ plane }: Node, namespace: string, name: string): Promise<PodObject | undefined> {
  const { status, text } = await plane.request("GET", pathOf(namespace, name));
  return status === 200 ? (JSON.parse(text) as PodObject) : undefined;
}

/** Waits until the pod is in one of these phases; when it is not in time, says what it was waiting for. */
export async function waitForPod(
  node: Node,
  { name, namespace = "default" }: Pick<PodRequest, "name" | "namespace">,
  ...phases: readonly PodPhase[]
): Promise<PodPhase> {
  const look = async () => {
    const phase = (await readPod(node, namespace, name))?.status?.phase;
    return phase !== undefined && phases.includes(phase) ? phase : undefined;
  };
  const what = `pod ${namespace}/${name} is ${phases.join(" or ")}`;
  try {
    return await withProgress(`waiting until ${what}`, () => until({ what, msMax: podMsMax, everyMs: 100 }, look));
  } catch (reason) {
    throw new Error(`${(reason as Error).message}: ${await lastEvent(node, namespace, name)}`);
  }
}

async function lastEvent({ plane }: Node, namespace: string, name: string): Promise<string> {
  const selector = `fieldSelector=involvedObject.name%3D${name}`;
  const { text } = await plane.request("GET", `/api/v1/namespaces/${namespace}/events?${selector}`);
  const { items = [] } = JSON.parse(text) as { items?: readonly { readonly message?: string }[] };
  return items.at(-1)?.message ?? "it has no events";
}

/** Waits until the object is gone and the kubelet has unmounted its volumes, in whichever order. */
export async function deletePod(node: Node, pod: Pick<PodRequest, "name" | "namespace">): Promise<void> {
  const { name, namespace = "default" } = pod;
  const uid = (await readPod(node, namespace, name))?.metadata.uid;
  if (uid === undefined) return;
  await node.plane.request("DELETE", pathOf(namespace, name));
  const what = `pod ${namespace}/${name} and its mounts are gone`;
  await until({ what, msMax: podMsMax, everyMs: 100 }, async () => {
    if (mountsOf(node, uid).length > 0) return undefined;
    return (await readPod(node, namespace, name)) === undefined ? true : undefined;
  });
}

/** In the pod's own folder, and for block volumes in the folder of the CSI plugin: there the last part of the path is the pod's uid. */
const mountsOf = ({ rootDir }: Node, uid: string): readonly string[] =>
  mountsUnder(rootDir).filter((path) => path.startsWith(join(rootDir, "pods", uid)) || path.endsWith(`/${uid}`));

/** Creates the pod, waits for its end, deletes it with its mounts. */
export async function runPod(node: Node, pod: PodRequest): Promise<PodEnd> {
  await createPod(node, pod);
  try {
    const phase = await waitForPod(node, pod, "Succeeded", "Failed");
    const object = await readPod(node, pod.namespace ?? "default", pod.name);
    const terminated = object?.status?.containerStatuses?.[0]?.state?.terminated;
    return { phase, exitCode: terminated?.exitCode ?? -1, message: terminated?.message ?? "" };
  } finally {
    await deletePod(node, pod);
  }
}
