/** WaitForFirstConsumer with the real kube-scheduler, and two nodes that are registered only. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { type Connection, connect } from "./harness/client.ts";
import { startComponent } from "./harness/components.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { type OddDriver, startOddDriver } from "./harness/odd-driver.ts";
import { tool } from "./harness/tools.ts";
import { until } from "./harness/until.ts";

const scheduler = await tool("kube-scheduler");
const namespace = "default";
const zone = "odd.example.com/zone";

describe("a driver with topology, two nodes and kube-scheduler", () => {
  let plane: ControlPlane;
  let connection: Connection;
  let driver: OddDriver;

  before(async () => {
    plane = await startControlPlane({});
    connection = await connect(plane.kubeconfig);
    driver = await startOddDriver(plane.instance.folder, { hasTopology: true });
    for (const name of ["a", "b"]) await aNode(name);
    const flags = [`--kubeconfig=${plane.kubeconfig}`, "--leader-elect=false", "--secure-port=0"];
    plane.instance.start("kube-scheduler", scheduler, flags);
    const more = { provisioner: driver.driver, reclaimPolicy: "Delete", volumeBindingMode: "WaitForFirstConsumer" };
    await connection.client.create("StorageClass", draftOf("StorageClass", { name: "late" }, more as never));
    startComponent(plane, "csi-provisioner", [`--csi-address=${driver.socket}`, "--v=4"]);
  });
  after(async () => {
    connection?.close();
    await driver?.close();
    plane?.stop();
  });

  /** As a kubelet registers itself and the driver. */
  const aNode = async (name: string): Promise<void> => {
    const { client } = connection;
    await client.create("Node", draftOf("Node", { name, labels: { [zone]: name } }, {}));
    const room = { cpu: "4", memory: "4Gi", pods: "10" };
    const conditions = [{ type: "Ready", status: "True" }];
    const body = { status: { capacity: room, allocatable: room, conditions } };
    await client.patch({ kind: "Node", name }, { type: "merge", body }, { subresource: "status" });
    const drivers = [{ name: driver.driver, nodeID: name, topologyKeys: [zone] }];
    await client.create("CSINode", draftOf("CSINode", { name }, { spec: { drivers } }));
  };
  const claimRef = (name: string) => ({ kind: "PersistentVolumeClaim", namespace, name }) as const;
  const createClaim = (name: string) =>
    connection.client.create(
      "PersistentVolumeClaim",
      draftOf("PersistentVolumeClaim", claimRef(name), {
        spec: {
          accessModes: ["ReadWriteOnce"],
          storageClassName: "late",
          resources: { requests: { storage: "1Mi" } },
        },
      }),
    );
  const createPod = async (name: string, inZone: string): Promise<void> => {
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace },
      spec: {
        nodeSelector: { [zone]: inZone },
        tolerations: [{ operator: "Exists" }],
        containers: [{ name: "main", image: "none" }],
        volumes: [{ name: "data", persistentVolumeClaim: { claimName: name } }],
      },
    };
    const { status, text } = await plane.request("POST", `/api/v1/namespaces/${namespace}/pods`, pod);
    assert.equal(status, 201, text);
  };

  for (const inZone of ["b", "a"])
    test(`a claim waits for its pod, and gets its volume in zone ${inZone}, where the pod runs`, async () => {
      const name = `data-${inZone}`;
      await createClaim(name);
      await until({ what: "the claim waits for its first consumer" }, async () =>
        (await connection.client.list("Event", { namespace })).objects.some(
          ({ reason, involvedObject }) => reason === "WaitForFirstConsumer" && involvedObject?.name === name,
        )
          ? true
          : undefined,
      );
      assert.equal(driver.volumes.size, inZone === "b" ? 0 : 1);
      await createPod(name, inZone);
      const volumeName = await until({ what: "the claim is bound" }, async () => {
        const { spec, status } = await connection.client.get(claimRef(name));
        return status?.phase === "Bound" ? spec?.volumeName : undefined;
      });
      const { spec } = await connection.client.get({ kind: "PersistentVolume", name: volumeName });
      assert.deepEqual(spec?.nodeAffinity?.required?.nodeSelectorTerms, [
        { matchExpressions: [{ key: zone, operator: "In", values: [inZone] }] },
      ]);
    });
});
