/** Grants on the embedded server, as its users have rights. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiServer } from "../../test/api-server.ts";
import { aSnapshot } from "../../test/builders.ts";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { draftOf } from "../api/builders.ts";
import { referenceGrantCrd } from "../api/crds/reference-grant.ts";
import type { ReferenceGrant, VolumeSnapshot } from "../api/types.ts";
import { silent } from "../base/log.ts";
import { createClient } from "../kube/client.ts";
import { grantToOf, referrerOf } from "../rules/data-source.ts";
import { createGrants } from "./grants.ts";

const spec = {
  from: [{ group: "", kind: "PersistentVolumeClaim", namespace: "abroad" }],
  to: [{ group: "snapshot.storage.k8s.io", kind: "VolumeSnapshot" }],
};
const aGrant = (namespace: string) => draftOf("ReferenceGrant", { namespace, name: "lend" }, { spec });

async function setUp(definitions = [referenceGrantCrd()]) {
  const { handler, world } = startApiServer({ definitions });
  const api = createClient({ handler, world });
  for (const name of ["team", "other"]) await world.run(api.create("Namespace", draftOf("Namespace", { name }, {})));
  const grants = createGrants({ api, world, log: silent });
  const stop = new AbortController();
  const changed: string[] = [];
  grants.onChange((before, after) => changed.push((after ?? before)?.metadata.namespace ?? ""));
  const allows = (claimNamespace: string, { metadata: { namespace = "", name } }: VolumeSnapshot): boolean =>
    grants.finder()?.(
      referrerOf("PersistentVolumeClaim", claimNamespace),
      grantToOf({ kind: "snapshot", namespace, name }),
    ) !== undefined;
  const watching = grants.watch(stop.signal);
  await world.run(grants.known(stop.signal));
  const end = (): Promise<void> => {
    stop.abort();
    return world.run(watching);
  };
  return { api, handler, world, grants, allows, changed, end };
}

test("a grant is valid in the snapshot's namespace only", async () => {
  const { api, world, allows, changed, end } = await setUp();
  const [here, elsewhere] = ["team", "other"].map((namespace) => aSnapshot({ metadata: { namespace } }));
  const allowed = () => [here, elsewhere].map((snapshot) => allows("abroad", snapshot ?? aSnapshot()));
  assert.deepEqual(allowed(), [false, false]);
  await world.run(api.create("ReferenceGrant", aGrant("team")));
  await world.advance(100);
  assert.deepEqual(allowed(), [true, false]);
  assert.equal(allows("far", aSnapshot()), false);
  await world.run(api.delete({ kind: "ReferenceGrant", namespace: "team", name: "lend" }));
  await world.advance(100);
  assert.deepEqual(allowed(), [false, false]);
  assert.deepEqual(changed, ["team", "team"]);
  await end();
});

test("without served grants nothing is granted, and grants take effect as soon as they are served", async () => {
  const { api, world, allows, end } = await setUp([]);
  assert.equal(allows("abroad", aSnapshot()), false);
  await world.run(api.create("CustomResourceDefinition", referenceGrantCrd()));
  await world.advance(1_000);
  await world.run(api.create("ReferenceGrant", aGrant("team")));
  await world.advance(60_000);
  assert.equal(allows("abroad", aSnapshot()), true);
  await end();
});

test("the server is asked whether it still has the very grant of the cache", async () => {
  const { api, world, grants, end } = await setUp();
  const from = referrerOf("PersistentVolumeClaim", "abroad");
  const to = grantToOf({ kind: "snapshot", namespace: "team", name: "snap" });
  const stop = new AbortController();
  const grant = await world.run(api.create("ReferenceGrant", aGrant("team")));
  await world.advance(100);
  const isStill = () => world.run(grants.isStill(grant, from, to, stop.signal));
  assert.equal(await isStill(), true);
  assert.equal(await world.run(grants.isStill(grant, { ...from, namespace: "far" }, to, stop.signal)), false);
  const changed = { ...grant, spec: { ...grant.spec, from: [{ ...spec.from[0], namespace: "far" }, ...spec.from] } };
  await world.run(api.replace("ReferenceGrant", changed as never));
  assert.equal(await isStill(), false, "it was changed since, though it still allows the reference");
  await world.run(api.delete({ kind: "ReferenceGrant", namespace: "team", name: "lend" }));
  assert.equal(await isStill(), false, "it is gone");
  await world.run(api.create("ReferenceGrant", aGrant("team")));
  assert.equal(await isStill(), false, "it is another one of the same name");
  await end();
});

for (const version of ["v1", "v1beta1", "v1alpha2"])
  test(`grants are read and asked for in ${version} where only that is served`, async () => {
    const crd = referenceGrantCrd();
    const versions = [{ ...crd.spec?.versions?.[0], name: version, served: true, storage: true }];
    const { handler, world, grants, allows, end } = await setUp([{ ...crd, spec: { ...crd.spec, versions } } as never]);
    const inVersion = createClient({ handler, world, versions: { "gateway.networking.k8s.io": version } });
    const grant = await world.run(inVersion.create("ReferenceGrant", aGrant("team")));
    await world.advance(100);
    assert.equal(allows("abroad", aSnapshot()), true);
    const to = grantToOf({ kind: "snapshot", namespace: "team", name: "snap" });
    const isStill = grants.isStill(
      grant,
      referrerOf("PersistentVolumeClaim", "abroad"),
      to,
      new AbortController().signal,
    );
    assert.equal(await world.run(isStill), true);
    await end();
  });

for (const count of [1, 10_000])
  test(`a grant is found among ${count} of its namespace without a look at any other`, async () => {
    const world = createVirtualWorld();
    let looks = 0;
    const objects = Array.from({ length: count }, (_, index) => ({
      ...(aGrant("team") as unknown as ReferenceGrant),
      metadata: { namespace: "team", name: `grant-${index}`, uid: `u-${index}`, resourceVersion: "1" },
      get spec() {
        looks += 1;
        return spec;
      },
    }));
    const api = {
      findVersion: async () => "v1",
      postPath: async () => ({ status: { allowed: true } }),
      list: async () => ({ objects, resourceVersion: "1" }),
      watch: () => new Promise(() => undefined),
    };
    const grants = createGrants({ api: api as never, world, log: silent });
    const stop = new AbortController();
    void grants.watch(stop.signal);
    await world.run(grants.known(stop.signal));
    looks = 0;
    const find = grants.finder();
    const from = referrerOf("PersistentVolumeClaim", "abroad");
    assert.ok(find);
    assert.ok(find(from, grantToOf({ kind: "snapshot", namespace: "team", name: "monday" })));
    assert.equal(
      find({ ...from, namespace: "far" }, grantToOf({ kind: "snapshot", namespace: "team", name: "x" })),
      undefined,
    );
    assert.equal(looks, 0);
    stop.abort();
  });
