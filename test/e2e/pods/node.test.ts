/** The node the pod suites stand on. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { isAlive } from "../../../src/runtime/process-identity.ts";
import { startByHand } from "../harness/by-hand.ts";
import { startControlPlane } from "../harness/control-plane.ts";
import { boxImage } from "../harness/image.ts";
import { createKubectl } from "../harness/kubectl.ts";
import { sweep } from "../harness/leftovers.ts";
import { mountsUnder } from "../harness/mounts.ts";
import { startNode } from "../harness/node.ts";
import { createPod, runPod, waitForPod } from "../harness/pods.ts";
import { newNamespace } from "../harness/shared.ts";
import { useNode } from "../harness/shared-node.ts";
import { hasNoTraces, hasTraces } from "../harness/traces.ts";

const scratch = {
  volumes: [{ name: "scratch", emptyDir: { medium: "Memory" } }],
  volumeMounts: [{ name: "scratch", mountPath: "/mnt" }],
};

test("a pod's termination message is returned, and its volumes are unmounted when it is gone", async () => {
  const node = await useNode();
  const namespace = await newNamespace(node.plane, "words");
  const script = "echo written > /mnt/file; cat /mnt/file; grep -c ' /mnt tmpfs' /proc/mounts; exit 3";
  const end = await runPod(node, { name: "speaker", namespace, script, ...scratch });
  assert.deepEqual(end, { phase: "Failed", exitCode: 3, message: "written\n1\n" });
  assert.deepEqual(mountsUnder(join(node.rootDir, "pods")), []);
});

test("pods keep running while the kubelet restarts", async () => {
  const node = await useNode();
  const namespace = await newNamespace(node.plane, "restart");
  await createPod(node, { name: "sleeper", namespace, script: "sleep 1000" });
  await waitForPod(node, { name: "sleeper", namespace }, "Running");
  await node.restartKubelet();
  assert.equal(await waitForPod(node, { name: "sleeper", namespace }, "Running", "Failed"), "Running");
});

test("a node that is stopped with a pod on it leaves no process, mount or network link", async () => {
  const plane = await startControlPlane();
  try {
    const node = await startNode(plane);
    const pod = { name: "abandoned", script: "sleep 1000", ...scratch, hostNetwork: false };
    await createPod(node, pod);
    await waitForPod(node, pod, "Running");
    await hasTraces(node.folder);
    node.stop();
    await hasNoTraces(node.folder);
  } finally {
    plane.stop();
  }
});

test("the next start cleans up a node that was killed with a pod on it", async () => {
  const killed = await startByHand("--node");
  const kubectl = createKubectl(killed.kubeconfig);
  const image = [`--image=${boxImage}`, "--image-pull-policy=Never"];
  const { code, stderr } = await kubectl(["run", "abandoned", ...image, "--", "sleep", "1000"]);
  assert.equal(code, 0, stderr);
  const waited = await kubectl(["wait", "pod/abandoned", "--for=condition=Ready", "--timeout=60s"]);
  assert.equal(waited.code, 0, waited.stderr);
  const folder = dirname(killed.kubelet);
  killed.child.kill("SIGKILL");
  await killed.ended;
  await hasTraces(folder);
  sweep();
  await hasNoTraces(folder);
  assert.deepEqual(killed.processes.filter(isAlive), []);
});
