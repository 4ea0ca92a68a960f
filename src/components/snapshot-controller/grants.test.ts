/** Grants on the embedded server, as its users have rights. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiServer } from "../../../test/api-server.ts";
import { aSnapshot } from "../../../test/builders.ts";
import { draftOf } from "../../api/builders.ts";
import { referenceGrantCrd } from "../../api/crds/reference-grant.ts";
import { silent } from "../../base/log.ts";
import { createClient } from "../../kube/client.ts";
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
  grants.onChange((namespace) => changed.push(namespace));
  const watching = grants.watch(stop.signal);
  await world.run(grants.known(stop.signal));
  const end = (): Promise<void> => {
    stop.abort();
    return world.run(watching);
  };
  return { api, world, grants, changed, end };
}

test("a grant is valid in the snapshot's namespace only", async () => {
  const { api, world, grants, changed, end } = await setUp();
  const [here, elsewhere] = ["team", "other"].map((namespace) => aSnapshot({ metadata: { namespace } }));
  const allowed = () => [here, elsewhere].map((snapshot) => grants.allows("abroad", snapshot ?? aSnapshot()));
  assert.deepEqual(allowed(), [false, false]);
  await world.run(api.create("ReferenceGrant", aGrant("team")));
  await world.advance(100);
  assert.deepEqual(allowed(), [true, false]);
  assert.equal(grants.allows("far", aSnapshot()), false);
  await world.run(api.delete({ kind: "ReferenceGrant", namespace: "team", name: "lend" }));
  await world.advance(100);
  assert.deepEqual(allowed(), [false, false]);
  assert.deepEqual(changed, ["team", "team"]);
  await end();
});

test("without served grants nothing is granted, and grants take effect as soon as they are served", async () => {
  const { api, world, grants, end } = await setUp([]);
  assert.equal(grants.allows("abroad", aSnapshot()), false);
  await world.run(api.create("CustomResourceDefinition", referenceGrantCrd()));
  await world.advance(1_000);
  await world.run(api.create("ReferenceGrant", aGrant("team")));
  await world.advance(60_000);
  assert.equal(grants.allows("abroad", aSnapshot()), true);
  await end();
});
