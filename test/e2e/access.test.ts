/** `snapkeep access` on a real kube-apiserver: its grants, its default RBAC, its exit codes. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { startCommand } from "../command-line.ts";
import { type Connection, connect } from "./harness/client.ts";
import { installSnapshotCrds } from "./harness/components.ts";
import type { ControlPlane } from "./harness/control-plane.ts";
import { newNamespace, useControlPlane } from "./harness/shared.ts";
import { until } from "./harness/until.ts";

const rbac = "/apis/rbac.authorization.k8s.io/v1";

describe("access on a real kube-apiserver", () => {
  let plane: ControlPlane;
  let connection: Connection;
  let prod: string;
  let dev: string;

  before(async () => {
    plane = await useControlPlane();
    connection = await connect(plane.kubeconfig);
    const { client } = connection;
    await installSnapshotCrds(client);
    [prod, dev] = [await newNamespace(plane, "access-prod"), await newNamespace(plane, "access-dev")];
    const source = { persistentVolumeClaimName: "data" };
    await client.create(
      "VolumeSnapshot",
      draftOf("VolumeSnapshot", { namespace: prod, name: "monday" }, { spec: { source } }),
    );
    await content(`${prod}-own`, { namespace: prod, name: "monday" });
    await content(`${prod}-shortcut`, { namespace: dev, name: "shortcut" });
    await grant("to-dev", "monday");
    await grant("outdated", "last-year");
    await client.create(
      "PersistentVolumeClaim",
      draftOf("PersistentVolumeClaim", { namespace: dev, name: "copy" }, {
        spec: {
          accessModes: ["ReadWriteOnce"],
          storageClassName: "served-by-nobody",
          resources: { requests: { storage: "1Mi" } },
          dataSourceRef: {
            apiGroup: "snapshot.storage.k8s.io",
            kind: "VolumeSnapshot",
            namespace: prod,
            name: "monday",
          },
        },
      } as never),
    );
    await letCreateClaims(dev, "ann");
  });
  after(() => connection?.close());

  /** Both have one handle. */
  const content = (name: string, volumeSnapshotRef: { readonly namespace: string; readonly name: string }) =>
    connection.client.create(
      "VolumeSnapshotContent",
      draftOf("VolumeSnapshotContent", { name }, {
        spec: {
          driver: "disk.example.com",
          deletionPolicy: "Retain",
          source: { snapshotHandle: `handle of ${prod}` },
          volumeSnapshotRef,
        },
      } as never),
    );

  const grant = (name: string, snapshot: string) =>
    connection.client.create(
      "ReferenceGrant",
      draftOf("ReferenceGrant", { namespace: prod, name }, {
        spec: {
          from: [{ group: "", kind: "PersistentVolumeClaim", namespace: dev }],
          to: [{ group: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: snapshot }],
        },
      } as never),
    );

  /** A role that lets a user create claims, and its binding. */
  async function letCreateClaims(namespace: string, user: string): Promise<void> {
    const at = `${rbac}/namespaces/${namespace}`;
    const metadata = { name: `lets-${user}` };
    const rules = [{ verbs: ["create"], apiGroups: [""], resources: ["persistentvolumeclaims"] }];
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: metadata.name };
    const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }];
    for (const [path, body] of [
      ["roles", { metadata, rules }],
      ["rolebindings", { metadata, roleRef, subjects }],
    ] as const) {
      const { status, text } = await plane.request("POST", `${at}/${path}`, body);
      assert.equal(status, 201, text);
    }
  }

  async function access(...words: readonly string[]) {
    const { code, said } = startCommand("access", `--kubeconfig=${plane.kubeconfig}`, ...words);
    return { code: await code, ...said };
  }

  test("a snapshot: the namespaces with their grants, who creates claims there, who needs no grant, which claims name it", async () => {
    const { code, out, error } = await access(`${prod}/monday`);
    assert.equal(code, 0, error);
    const granted = `namespace ${dev}: ReferenceGrant ${prod}/to-dev, by a PersistentVolumeClaim; claims are created there by\n`;
    assert.ok(out.includes(granted), out);
    const [, creators = ""] = out.split(granted);
    assert.match(creators, new RegExp(`^(    .*\\n)*    User ann \\(.*${dev}/lets-ann.*\\)\\n`));
    assert.match(out, /Past all grants, .*\n( {4}.*\n)* {4}Group system:masters \(/);
    assert.ok(out.includes(`  VolumeSnapshot ${dev}/shortcut: VolumeSnapshotContent ${prod}-shortcut\n`), out);
    assert.ok(out.includes(`Claims that name it\n  ${dev}/copy: no volume yet`), out);
    assert.ok(out.includes(`  ReferenceGrant ${prod}/outdated: no VolumeSnapshot of namespace ${prod} matches`), out);
  });

  test("a claim that an earlier snapshot of the name has filled is listed apart from those of the present one", async () => {
    const spec = {
      accessModes: ["ReadWriteOnce"],
      storageClassName: "served-by-nobody",
      resources: { requests: { storage: "1Mi" } },
      dataSource: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "tuesday" },
    };
    const { client } = connection;
    const made = async (name: string) => {
      const volumeName = `${prod}-${name}`;
      const at = { namespace: prod, name };
      const claim = await client.create(
        "PersistentVolumeClaim",
        draftOf("PersistentVolumeClaim", at, { spec: { ...spec, volumeName } } as never),
      );
      const { uid } = claim.metadata;
      const claimRef = { apiVersion: "v1", kind: "PersistentVolumeClaim", ...at, uid };
      const { accessModes, storageClassName } = spec;
      const capacity = { storage: "1Mi" };
      const csi = { driver: "disk.example.com", volumeHandle: volumeName };
      const volume = {
        accessModes,
        storageClassName,
        capacity,
        claimRef,
        csi,
        persistentVolumeReclaimPolicy: "Retain",
      };
      return client.create(
        "PersistentVolume",
        draftOf("PersistentVolume", { name: volumeName }, { spec: volume } as never),
      );
    };
    const take = () =>
      client.create(
        "VolumeSnapshot",
        draftOf(
          "VolumeSnapshot",
          { namespace: prod, name: "tuesday" },
          { spec: { source: { persistentVolumeClaimName: "data" } } },
        ),
      );
    const early = await made("early");
    await until({ what: "a later second has begun" }, async () =>
      Date.now() >= Date.parse(early.metadata.creationTimestamp ?? "") + 1_100 ? true : undefined,
    );
    const first = await take();
    await client.delete({ kind: "VolumeSnapshot", namespace: prod, name: "tuesday" });
    const second = await take();
    assert.notEqual(second.metadata.uid, first.metadata.uid);
    await made("late");
    const { out, error } = await access(`${prod}/tuesday`);
    assert.match(out, new RegExp(`Claims that name it\n  ${prod}/late: volume ${prod}-late\n`), error);
    assert.match(out, new RegExp(`with a volume of an earlier .*\n  ${prod}/early: volume ${prod}-early\n`));
  });

  test("-o json has the same, and --namespace is the reverse", async () => {
    const found = JSON.parse((await access(`--namespace=${prod}`, "monday", "-o", "json")).out);
    const [own, other] = found.namespaces;
    assert.deepEqual(
      [found.snapshot, found.namespaces.length, own.namespace, own.way],
      [`${prod}/monday`, 2, prod, "own namespace"],
    );
    assert.deepEqual(
      [other.namespace, other.way, other.grant, other.wildcard],
      [dev, "claim", `${prod}/to-dev`, false],
    );
    const named = (people: readonly { subject: string }[]) => people.map(({ subject }) => subject);
    assert.ok(named(other.creators).includes("User ann"));
    assert.ok(!named(own.creators).includes("User ann"));
    assert.ok(!named(found.bypass).includes("User ann"));
    const { code, out } = await access(`--namespace=${dev}`, "-o", "json");
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(out).snapshots, [
      { snapshot: `${prod}/monday`, way: "claim", grant: `${prod}/to-dev`, wildcard: false },
    ]);
  });

  test("a claim whose grant is gone is shown as not allowed any more; exit codes tell what is wrong with the command", async () => {
    await connection.client.delete({ kind: "ReferenceGrant", namespace: prod, name: "to-dev" });
    const { restored } = JSON.parse((await access(`${prod}/monday`, "-o", "json")).out);
    assert.deepEqual(restored, [{ claim: `${dev}/copy`, way: "claim", allowed: false }]);
    const missing = await access(`${prod}/never`);
    assert.deepEqual([missing.code, missing.out], [1, ""]);
    assert.match(missing.error, /there is no VolumeSnapshot access-prod-\d+\/never; /);
    assert.equal((await access()).code, 2);
  });
});
