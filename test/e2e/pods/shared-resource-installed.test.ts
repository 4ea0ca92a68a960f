/** The driver of shares as it is installed: a DaemonSet of our image, with its role, its flags and its memory, serves pods. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { nodeServiceAccount } from "../../../src/api/manifests/shared-resource.ts";
import { readOrEmpty } from "../../../src/runtime/process-identity.ts";
import { type Cluster, untilRemoved, useCluster } from "../harness/cluster.ts";
import { mountsUnder } from "../harness/mounts.ts";
import { createPod, deletePod, readPod, waitForPod } from "../harness/pods.ts";
import { run } from "../harness/run.ts";
import {
  createShare,
  deleteSource,
  letUse,
  revokeUse,
  type ShareRequest,
  shareVolumeOf,
  updateSource,
} from "../harness/share-driver.ts";
import { newNamespace } from "../harness/shared.ts";
import { until } from "../harness/until.ts";

const main = resolve(import.meta.dirname, "../../../src/main.ts");
const driverNamespace = "snapkeep-drivers";

describe("the installed driver of shares", () => {
  let cluster: Cluster;
  let beginning = 0;
  const install = async (...args: readonly string[]): Promise<void> => {
    const components = "--components=webhook,shared-resource-controller,shared-resource";
    const place = [`--kubeconfig=${cluster.plane.kubeconfig}`, `--kubelet-dir=${cluster.node.rootDir}`];
    const words = [main, "install", ...args, components, ...place, "--timeout=100s"];
    const { code, stdout, stderr } = await run(process.execPath, words, { msMax: 150_000 });
    assert.equal(code, 0, `${stdout}${stderr}`);
  };
  before(async () => {
    cluster = await useCluster();
    await untilRemoved(cluster);
    // What others have installed before is denied what it asks for while it is being removed.
    beginning = cluster.plane.auditPosition();
    await install("--apply");
  });
  after(async () => {
    await install("--uninstall");
  });

  for (const kind of ["SharedSecret", "SharedConfigMap"] as const)
    test(`a pod mounts a ${kind}, sees updates, and loses the data with what it refers to, and with the permission`, async () => {
      const { node, plane } = cluster;
      const namespace = await newNamespace(plane, "installed");
      const account = await plane.request("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, {
        metadata: { name: "reader" },
      });
      assert.ok(account.status === 201, account.text);
      const share: ShareRequest = { kind, name: namespace, namespace, data: { token: "v1" } };
      await createShare(plane, share, driverNamespace);
      const use = { kind, share: share.name, namespace };
      await letUse(plane, use);
      const pod = {
        name: "reader",
        namespace,
        script: "sleep 1000000",
        serviceAccountName: "reader",
        volumes: [shareVolumeOf("share", share)],
        volumeMounts: [{ name: "share", mountPath: "/share" }],
      };
      await createPod(node, pod);
      await waitForPod(node, pod, "Running");
      const { uid } = (await readPod(node, namespace, pod.name))?.metadata ?? assert.fail("there is no pod");
      const folder = join(node.rootDir, "pods", uid);
      const volume = join(folder, "volumes/kubernetes.io~csi/share/mount");
      const shows = (version: string | undefined) =>
        until({ what: `the pod sees ${version ?? "nothing"}` }, () => {
          // What is emptied may go between two looks.
          const seen = existsSync(join(volume, "token")) ? readOrEmpty(join(volume, "token")) : undefined;
          return seen === version ? true : undefined;
        });
      await shows("v1");
      await updateSource(plane, { ...share, data: { token: "v2" } });
      await shows("v2");
      await deleteSource(plane, share);
      await shows(undefined);
      await createShare(plane, { ...share, data: { token: "v3" } }, driverNamespace);
      await shows("v3");
      await revokeUse(plane, use);
      await shows(undefined);
      await deletePod(node, pod);
      assert.deepEqual(mountsUnder(folder), []);
    });

  test("nothing that a component asked for was denied", () => {
    const log = cluster.plane.auditLog(beginning);
    const account = `system:serviceaccount:${driverNamespace}:${nodeServiceAccount}`;
    assert.ok(log.some(({ user }) => user.username === account));
    const denied = log
      .filter(({ user, responseStatus }) => responseStatus?.code === 403 && user.username.includes(":snapkeep"))
      // What its owner has not lent, or has taken back, is denied on purpose.
      .filter(({ objectRef }) => !["secrets", "configmaps"].includes(objectRef?.resource ?? ""))
      .map(({ user, verb, requestURI }) => `${user.username} ${verb} ${requestURI}`);
    assert.deepEqual(denied, []);
  });
});
