/** Nodes that are registered only, and kube-scheduler: pods are placed and never run. */
import assert from "node:assert/strict";
import { draftOf } from "../../../src/api/builders.ts";
import type { Client } from "./client.ts";
import type { ControlPlane } from "./control-plane.ts";
import { tool } from "./tools.ts";
import { until } from "./until.ts";

/** At import, so that a build counts against no test's time. */
const scheduler = await tool("kube-scheduler");

export const startScheduler = ({ instance, kubeconfig }: Pick<ControlPlane, "instance" | "kubeconfig">) =>
  instance.start("kube-scheduler", scheduler, [
    `--kubeconfig=${kubeconfig}`,
    "--leader-elect=false",
    "--secure-port=0",
  ]);

/** As a kubelet registers itself and its drivers. */
export async function registerNode(
  client: Client,
  name: string,
  labels: Readonly<Record<string, string>>,
  drivers: readonly string[],
): Promise<void> {
  await client.create("Node", draftOf("Node", { name, labels }, {}));
  const room = { cpu: "4", memory: "4Gi", pods: "10" };
  const conditions = [{ type: "Ready", status: "True" }];
  const body = { status: { capacity: room, allocatable: room, conditions } };
  await client.patch({ kind: "Node", name }, { type: "merge", body }, { subresource: "status" });
  const registered = drivers.map((driver) => ({ name: driver, nodeID: name, topologyKeys: Object.keys(labels) }));
  await client.create("CSINode", draftOf("CSINode", { name }, { spec: { drivers: registered } }));
}

/** Pods with a claim of their own name. */
export const podsOf = ({ request }: Pick<ControlPlane, "request">, namespace = "default") => {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  return {
    create: async (name: string, nodeSelector: Readonly<Record<string, string>> = {}): Promise<void> => {
      const { status, text } = await request("POST", path, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name, namespace },
        spec: {
          nodeSelector,
          tolerations: [{ operator: "Exists" }],
          containers: [{ name: "main", image: "none" }],
          volumes: [{ name: "data", persistentVolumeClaim: { claimName: name } }],
        },
      });
      assert.equal(status, 201, text);
    },
    remove: (name: string) => request("DELETE", `${path}/${name}?gracePeriodSeconds=0`),
    nodeOf: async (name: string): Promise<string | undefined> =>
      (JSON.parse((await request("GET", `${path}/${name}`)).text) as { spec: { nodeName?: string } }).spec.nodeName,
    /** Waits for what kube-scheduler says about a pod that it cannot place. */
    untilUnplaced: (name: string, why: RegExp) =>
      until({ what: `pod ${name} is not placed: ${why}` }, async () => {
        const { text } = await request("GET", `${path}/${name}`);
        const { status } = JSON.parse(text) as { status: { conditions?: readonly { message?: string }[] } };
        return status.conditions?.find(({ message }) => why.test(message ?? ""));
      }),
  };
};
