/** The control plane the other suites stand on: it starts, keeps its data, counts its requests and leaves nothing behind. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { createKubectl } from "./harness/kubectl.ts";
import { freePort } from "./harness/ports.ts";
import { newNamespace, useControlPlane } from "./harness/shared.ts";
import { modules, olderKubernetes, pinnedVersion } from "./harness/tools.ts";
import { until } from "./harness/until.ts";

const configMaps = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;

test("the control plane is ready within 15 seconds once its programs are built", async () => {
  await useControlPlane();
  const startedAt = performance.now();
  const plane = await startControlPlane();
  try {
    assert.ok(performance.now() - startedAt < 15_000);
    assert.equal((await plane.request("GET", "/readyz")).text, "ok");
  } finally {
    plane.stop();
  }
});

test("it is the Kubernetes that is pinned, or that KUBERNETES names", async () => {
  const plane = await useControlPlane();
  const { gitVersion } = JSON.parse((await plane.request("GET", "/version")).text);
  assert.equal(gitVersion, pinnedVersion("kubernetes", modules.kubernetes.pinned));
  if (olderKubernetes !== undefined) assert.ok(gitVersion.startsWith(`v${olderKubernetes}.`), gitVersion);
});

test("if a port is taken, another one is tried", async () => {
  const held: Socket[] = [];
  const thief = createServer((socket) => held.push(socket)).listen(0, "127.0.0.1");
  await once(thief, "listening");
  const taken = (thief.address() as AddressInfo).port;
  // etcd gets the taken one, then a free one; then the API server does.
  const ports = [taken, await freePort(), await freePort(), taken, await freePort(), await freePort()];
  const plane = await startControlPlane({ port: async () => ports.shift() ?? assert.fail("too many tries") });
  try {
    assert.deepEqual(ports, []);
    assert.equal((await plane.request("GET", "/readyz")).status, 200);
  } finally {
    plane.stop();
    thief.close();
    for (const socket of held) socket.destroy();
  }
});

test("a client without the CA rejects the API server", async () => {
  const { url } = await useControlPlane();
  await assert.rejects(
    fetch(`${url}/readyz`),
    (reason: Error) => (reason.cause as { code?: string }).code === "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  );
});

test("kubectl works with the kubeconfig", async () => {
  const { kubeconfig } = await useControlPlane();
  const { code, stdout, stderr } = await createKubectl(kubeconfig)(["get", "namespace", "default", "-o", "name"]);
  assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: "namespace/default\n", stderr: "" });
});

test("a user has no rights until a role is bound", async () => {
  const plane = await startControlPlane({ tokens: [{ token: "of-reader", user: "reader" }] });
  try {
    const read = () => plane.request("GET", "/api/v1/nodes", undefined, "of-reader");
    assert.equal((await read()).status, 403);
    const rbac = "/apis/rbac.authorization.k8s.io/v1";
    const rules = [{ apiGroups: [""], resources: ["nodes"], verbs: ["list"] }];
    await plane.request("POST", `${rbac}/clusterroles`, { metadata: { name: "node-reader" }, rules });
    await plane.request("POST", `${rbac}/clusterrolebindings`, {
      metadata: { name: "reader" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "node-reader" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "reader" }],
    });
    await until({ what: "the binding is seen" }, async () => ((await read()).status === 200 ? true : undefined));
    const { code } = await createKubectl(plane.kubeconfigFor("reader", "of-reader"))(["get", "pods"]);
    assert.equal(code, 1);
  } finally {
    plane.stop();
  }
});

test("the audit log counts every request once", async () => {
  const plane = await useControlPlane();
  const namespace = await newNamespace(plane, "audited");
  const from = plane.auditPosition();
  for (let index = 0; index < 10; index += 1)
    await plane.request("POST", configMaps(namespace), { metadata: { name: `map-${index}` } });
  const creations = () =>
    plane
      .auditLog(from)
      .filter(({ verb, objectRef }) => verb === "create" && objectRef?.namespace === namespace)
      .filter(({ objectRef }) => objectRef?.resource === "configmaps");
  await until({ what: "ten creations are logged" }, () => (creations().length >= 10 ? true : undefined));
  assert.equal(creations().length, 10);
});

const disasters: Readonly<Record<string, (plane: ControlPlane) => Promise<void>>> = {
  "a restart of the API server": (plane) => plane.restartApiServer(),
  "a kill of the API server": async (plane) => {
    await plane.killApiServer();
    await assert.rejects(plane.request("GET", "/readyz"));
    await plane.startApiServer();
  },
  "a restart of etcd": (plane) => plane.restartEtcd(),
};

test("data survives a restart of any part", async () => {
  const plane = await startControlPlane();
  try {
    const write = { metadata: { name: "kept" }, data: { key: "value" } };
    assert.equal((await plane.request("POST", configMaps("default"), write)).status, 201);
    for (const [what, strike] of Object.entries(disasters)) {
      await strike(plane);
      const { status, text } = await plane.request("GET", `${configMaps("default")}/kept`);
      assert.deepEqual([status, JSON.parse(text).data], [200, { key: "value" }], `after ${what}`);
    }
    // The controllers have outlived it all: one of them still removes namespaces.
    await plane.request("POST", "/api/v1/namespaces", { metadata: { name: "brief" } });
    await plane.request("DELETE", "/api/v1/namespaces/brief");
    await until({ what: "the namespace is gone", msMax: 60_000 }, async () =>
      (await plane.request("GET", "/api/v1/namespaces/brief")).status === 404 ? true : undefined,
    );
  } finally {
    plane.stop();
  }
});
