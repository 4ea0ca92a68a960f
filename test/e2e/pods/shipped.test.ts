/** The harness gives a component what an installation gives it: a test that passes because of more proves nothing. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { suite, test } from "node:test";
import { createInstance } from "../harness/instance.ts";
import { memoryGroup } from "../harness/memory-group.ts";
import { useControlPlane } from "../harness/shared.ts";
import { shipped } from "../harness/shipped.ts";
import { shippedAccount, shippedSidecarAccount } from "../harness/shipped-accounts.ts";

const memoryEater = "const all = []; for (;;) all.push(Buffer.alloc(8 * 2 ** 20, 1));";

suite("what ships", () => {
  test("a process that exceeds its limit is killed by the kernel, which its last words say, and its group goes with the instance", async () => {
    const instance = createInstance();
    const group = memoryGroup(instance.folder, "eater", "128Mi");
    assert.ok(group, "this machine has no control groups for memory");
    const daemon = instance.start("eater", process.execPath, ["-e", memoryEater], {}, group);
    await daemon.ended;
    assert.equal(group.oomKills(), 1);
    assert.match(daemon.lastWords(), /killed it: out of memory, its limit is 128Mi$/);
    instance.stop();
    assert.equal(existsSync(group.folder), false);
  });

  test("an account may do what the rendered roles of its component allow, and nothing else", async () => {
    const plane = await useControlPlane();
    const node = await shippedAccount(plane, "shared-resource");
    const sidecar = await shippedSidecarAccount(plane, "csi-snapshotter", {
      driver: "shipped.example.com",
      topology: false,
      attachments: false,
      capacity: false,
    });
    const may = async (user: string, verb: string, group: string, resource: string, more = {}): Promise<boolean> => {
      const resourceAttributes = { verb, group, resource, ...more };
      const { text } = await plane.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        spec: { user, resourceAttributes },
      });
      return (JSON.parse(text) as { status: { allowed: boolean } }).status.allowed;
    };
    const shares = ["sharedresource.openshift.io", "sharedsecrets"] as const;
    const lists = { namespace: shipped.namespace, name: "ocp-sharedsecret-list" };
    const lease = { namespace: sidecar.namespace, name: "external-snapshotter-leader-shipped-example-com" };
    assert.deepEqual(
      await Promise.all([
        may(node.user, "get", ...shares),
        may(node.user, "update", ...shares),
        may(node.user, "get", "", "configmaps", lists),
        may(node.user, "get", "", "secrets", { namespace: "default", name: "any" }),
        may(sidecar.user, "patch", "snapshot.storage.k8s.io", "volumesnapshotcontents"),
        may(sidecar.user, "delete", "snapshot.storage.k8s.io", "volumesnapshotcontents"),
        may(sidecar.user, "update", "coordination.k8s.io", "leases", lease),
        may(sidecar.user, "update", "coordination.k8s.io", "leases", { ...lease, name: "another" }),
      ]),
      [true, false, true, false, true, false, true, false],
    );
    const asked = await plane.request("GET", "/api/v1/secrets", undefined, node.token);
    assert.equal(asked.status, 403, "its token is that of the account");
    assert.match(asked.text, /system:serviceaccount:default-drivers:shared-resource-node/);
  });
});
