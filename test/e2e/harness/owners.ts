/** Objects that own pods, on a control plane without the controllers that would look after them. */
import assert from "node:assert/strict";
import type { ControlPlane } from "./control-plane.ts";

const template = { metadata: { labels: { app: "x" } }, spec: { containers: [{ name: "main", image: "none" }] } };
const spec = { selector: { matchLabels: { app: "x" } }, replicas: 0, template };
const pod = { spec: { ...template.spec, nodeName: "nowhere" } };

/** The pod driver-0 of StatefulSet driver, and the pod deployed-1-x of Deployment deployed. */
export async function createOwners({ request }: Pick<ControlPlane, "request">, namespace: string): Promise<void> {
  const create = async (path: string, name: string, body: object, owner?: object): Promise<object> => {
    const ownerReferences = owner === undefined ? [] : [{ ...owner, controller: true }];
    const metadata = { name, namespace, ownerReferences, labels: { app: "x" } };
    const { status, text } = await request("POST", path, { metadata, ...body });
    assert.equal(status, 201, text);
    const { apiVersion, kind, metadata: made } = JSON.parse(text);
    return { apiVersion, kind, name, uid: made.uid };
  };
  const apps = `/apis/apps/v1/namespaces/${namespace}`;
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const set = await create(`${apps}/statefulsets`, "driver", { spec: { ...spec, serviceName: "driver" } });
  await create(pods, "driver-0", pod, set);
  const deployment = await create(`${apps}/deployments`, "deployed", { spec });
  const replicas = await create(`${apps}/replicasets`, "deployed-1", { spec }, deployment);
  await create(pods, "deployed-1-x", pod, replicas);
}
