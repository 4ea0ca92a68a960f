/** `snapkeep gather` on a real kube-apiserver with secret values wherever people and programs leave them. */
import assert from "node:assert/strict";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { KindName } from "../../src/api/kinds.ts";
import { startCommand } from "../command-line.ts";
import { type PlantedCluster, plantedCluster, spellingsOf } from "../gather-canaries.ts";
import { type Connection, connect } from "./harness/client.ts";
import { installSnapshotCrds } from "./harness/components.ts";
import type { ControlPlane } from "./harness/control-plane.ts";
import { newNamespace, useControlPlane } from "./harness/shared.ts";
import { until } from "./harness/until.ts";

describe("gather on a real kube-apiserver", () => {
  const parent = mkdtempSync(join(tmpdir(), "snapkeep-gather-"));
  let plane: ControlPlane;
  let connection: Connection;
  let planted: PlantedCluster;
  let home: string;

  before(async () => {
    plane = await useControlPlane();
    connection = await connect(plane.kubeconfig);
    await installSnapshotCrds(connection.client);
    home = await newNamespace(plane, "gather");
    planted = plantedCluster(home);
    for (const { path, object, status, kind } of planted.objects) {
      const created = await plane.request("POST", path, object);
      assert.equal(created.status, 201, `${kind}: ${created.text}`);
      if (status === undefined) continue;
      const { name, namespace } = object.metadata as { name: string; namespace?: string };
      const ref = { kind: kind as KindName, name, ...(namespace === undefined ? {} : { namespace }) };
      await connection.client.patch(ref, { type: "merge", body: { status } }, { subresource: "status" });
    }
  });
  after(async () => {
    await connection?.close();
    rmSync(parent, { recursive: true, force: true });
    for (const { path, object } of planted?.objects ?? [])
      await plane.request("DELETE", `${path}/${(object.metadata as { name: string }).name}`);
  });

  test("no secret value that the API server has is in the bundle, and every object is", async () => {
    const folder = join(parent, "bundle");
    const { code, said } = startCommand("gather", `--kubeconfig=${plane.kubeconfig}`, `--out=${folder}`, "-o", "json");
    assert.equal(await code, 0, said.text);
    const { problems } = JSON.parse(said.out) as { problems: readonly string[] };
    const files = globSync("**/*", { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile());
    const everything = files.map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8")).join("\n");
    const stored = (
      await Promise.all([...new Set(planted.objects.map(({ path }) => path))].map((path) => plane.request("GET", path)))
    )
      .map(({ text }) => text)
      .join("\n");
    const isStored = planted.canaries.filter(({ value }) => stored.includes(value));
    assert.ok(isStored.length >= 42, `the API server has only ${isStored.length}`);
    const found = planted.canaries.filter((canary) => spellingsOf(canary).some((text) => everything.includes(text)));
    assert.deepEqual(
      found.map(({ where }) => where),
      [],
    );
    for (const { kind, object } of planted.objects)
      if (kind !== "ConfigMap")
        assert.ok(everything.includes(`name: ${(object.metadata as { name: string }).name}`), kind);
    assert.match(everything, /login failed: password=\*\*\* was refused/);
    // The pod runs nowhere, so it has neither log nor metrics.
    assert.ok(
      problems.every((problem) =>
        /^components\/|groupsnapshot|gateway|volumesnapshotlinks|shared|referencegrants/.test(problem),
      ),
      problems.join("\n"),
    );
  });

  const asReader = async (name: string) => {
    const accounts = `/api/v1/namespaces/${home}/serviceaccounts`;
    assert.equal((await plane.request("POST", accounts, { metadata: { name } })).status, 201);
    const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${home}/roles`;
    const rules = [{ apiGroups: ["*"], resources: ["*"], verbs: ["get", "list"] }];
    assert.equal((await plane.request("POST", roles, { metadata: { name }, rules })).status, 201);
    const bound = await plane.request("POST", `/apis/rbac.authorization.k8s.io/v1/namespaces/${home}/rolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", name, namespace: home }],
    });
    assert.equal(bound.status, 201, bound.text);
    const { text } = await plane.request("POST", `${accounts}/${name}/token`, { spec: {} });
    const kubeconfig = plane.kubeconfigFor(`${home}-${name}`, JSON.parse(text).status.token);
    const { client, close } = await connect(kubeconfig);
    await until({ what: "the API server knows the binding" }, () =>
      client.list("PersistentVolumeClaim", { namespace: home }).catch(() => undefined),
    );
    await close();
    return kubeconfig;
  };

  test("a user who may read one namespace, and not the list of namespaces, gets what is in it", async () => {
    const folder = join(parent, "of-one-namespace");
    const flags = [`--kubeconfig=${await asReader("reader")}`, `--out=${folder}`, `--namespace=${home}`, "-o=json"];
    const { code, said } = startCommand("gather", ...flags);
    assert.equal(await code, 0, said.text);
    const { problems, files } = JSON.parse(said.out) as { problems: readonly string[]; files: number };
    assert.ok(problems.some((problem) => problem.startsWith("objects/namespaces.yaml: ")));
    const claims = planted.objects.filter(({ kind }) => kind === "PersistentVolumeClaim");
    const bundled = readFileSync(join(folder, "objects/persistentvolumeclaims.yaml"), "utf8");
    for (const { object } of claims) assert.ok(bundled.includes(`name: ${(object.metadata as { name: string }).name}`));
    assert.ok(claims.length > 0 && files > 10, `${claims.length} claims, ${files} files`);
  });

  test("a server that cannot be asked leaves no folder, so that the next run can make it", async () => {
    const folder = join(parent, "of-nobody");
    const kubeconfig = plane.kubeconfigFor("nobody", "wrong-token");
    const failed = startCommand("gather", `--kubeconfig=${kubeconfig}`, `--out=${folder}`);
    assert.equal(await failed.code, 1, failed.said.text);
    assert.ok(!existsSync(folder));
    const next = startCommand("gather", `--kubeconfig=${plane.kubeconfig}`, `--out=${folder}`);
    assert.equal(await next.code, 0, next.said.text);
  });
});
